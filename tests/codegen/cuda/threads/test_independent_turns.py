"""Loops whose turns are said to be independent are, by enumeration of what each turn touches."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.codegen.cuda.threads.independent_turns import are_independent, most, width
from workbench.codegen.kernel_records import (
    KernelRecord,
    Let,
    Load,
    Local,
    Loop,
    Number,
    Store,
    Update,
    Variable,
)
from workbench.polyhedral.expression import Expression, expression, minimum, size, variable

TURNS, INSIDE = 4, 3
r, k, outside = variable("r"), variable("k"), variable("t")


def loop(*body: KernelRecord, turns: int = TURNS) -> Loop:
    return Loop("r", expression(0), expression(turns), body)


def inner(*body: KernelRecord) -> Loop:
    return Loop("k", expression(0), expression(INSIDE), body)


def stored(at: Expression, read: Expression | None = None) -> Store:
    value = Number(1.0, "float") if read is None else Load("x", read, "float")
    return Store("x", at, value)


places = st.builds(
    lambda by_turn, by_inner, by_outside, constant: (
        r * by_turn + k * by_inner + outside * by_outside + constant
    ),
    *(st.integers(-6, 6), st.integers(-2, 2), st.integers(0, 1), st.integers(-3, 3)),
)


@given(st.lists(st.tuples(places, st.none() | places), min_size=1, max_size=3))
def test_turns_said_to_be_independent_are(touched: list[tuple[Expression, Expression]]) -> None:
    made = loop(inner(*(stored(at, read) for at, read in touched)))
    if not are_independent(made):
        return
    for t in (0, 5):
        turns = []
        for turn in range(TURNS):
            values = [{"r": turn, "k": n, "t": t} for n in range(INSIDE)]
            written = {at.evaluate(v) for at, _ in touched for v in values}
            read = {e.evaluate(v) for _, e in touched if e is not None for v in values}
            turns.append((written, written | read))
        for (writes, all_), (other_writes, other_all) in combinations(turns, 2):
            assert not writes & other_all and not other_writes & all_


@pytest.mark.parametrize(
    ("body", "independent"),
    [
        ([stored(r)], True),
        ([stored(r * 64 + outside)], True),
        ([stored(r * 2), stored(r * 2 + 1)], True),
        ([stored(r * 2), stored(r * 2 + 2)], False),
        ([stored(r, r)], True),
        ([stored(r, r + 1)], False),
        ([stored(outside)], False),
        ([inner(stored(r * 3 + k))], True),
        ([inner(stored(r * 2 + k))], False),
        ([stored(r * size("N"))], False),  # N may be anything
        ([Let("a", Load("y", outside, "float")), stored(r)], True),
        ([Let("at", Load("y", r, "int32")), stored(r * 9 + variable("at"))], False),
        ([Variable("sum", Number(0.0, "float")), Update("sum", Number(1.0, "float"))], True),
        ([Update("sum", Local("sum", "float"), "add")], False),
    ],
)
def test_loops(body: list[KernelRecord], independent: bool) -> None:
    assert are_independent(loop(*body)) is independent


@pytest.mark.parametrize(
    ("own", "body", "independent"),
    [
        ("x", [stored(r * size("N"))], True),
        ("x", [stored(r * size("N"), r * size("N") + k)], True),
        ("y", [stored(r * size("N"))], False),
        ("x", [stored(r * size("N")), Store("y", outside, Number(1.0, "float"))], False),
        ("x", [stored(r * size("N")), Update("sum", Local("sum", "float"), "add")], False),
    ],
)
def test_turns_have_elements_of_their_own(
    own: str, body: list[KernelRecord], independent: bool
) -> None:
    """In the buffer that an axis says, and in no other."""
    assert are_independent(replace(loop(*body), own=own)) is independent


def test_the_most_turns_of_a_loop() -> None:
    n = size("N")
    assert width(loop()) == TURNS
    assert most(minimum(n, 3 + expression(4)) - 2) == 5
    assert most(minimum(n - 1, outside * 16 + 15) + 1 - outside * 16) == 16
    assert most(n) is None and most(-minimum(n, expression(1))) is None
