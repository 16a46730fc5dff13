"""Random affine programs: traced, ordered, and the order executes every dependence forwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.programs import PROGRAMS
from workbench.backends.reference.evaluator import Reference
from workbench.errors import ProgramError
from workbench.polyhedral.expression import Expression
from workbench.polyhedral.sets.relations import points
from workbench.polyhedral.tree import Loop, Path, paths
from workbench.program.bodies import Read
from workbench.program.values import Program, Statement

LONGEST = 2
"""Slices that an array has before its recurrence starts, in every dimension."""

PROPER = ("a cycle with no delay: ", "no order of loops was found", "mean over no points")


@dataclass(frozen=True)
class Term:
    """A read of array `source`: slices back in the first dim, which slice of the second."""

    source: int
    back: int
    across: str


@dataclass(frozen=True)
class Rule:
    """One recurrent array over `p`, or `p` and `q`; `backwards` starts it from the end."""

    two: bool
    backwards: bool
    body: str
    terms: tuple[Term, ...]


ACROSS = ("same", "before", "first", "last", "mirrored")
BODIES = ("sum", "product", "where", "maximum", "tanh")


@st.composite
def rules(draw: st.DrawFn, causal: bool) -> list[Rule]:
    """One to three arrays. `causal` ones run in one direction and read the present of earlier ones
    only; the others may be anything.
    """
    count = draw(st.integers(1, 3))
    direction = draw(st.booleans())
    found = []
    for own in range(count):
        terms = []
        for _ in range(draw(st.integers(1, 3))):
            source = draw(st.integers(0, count - 1))
            least = 0 if source < own or not causal else 1
            terms.append(Term(source, draw(st.integers(least, 2)), draw(st.sampled_from(ACROSS))))
        backwards = direction if causal else draw(st.booleans())
        body = draw(st.sampled_from(BODIES))
        found.append(Rule(draw(st.booleans()), backwards, body, tuple(terms)))
    return found


def written(rules: list[Rule]) -> Program:
    """The program in the language."""

    @wb.program
    def random(P: int = 3, Q: int = 3) -> dict[str, Any]:
        p, q = wb.dims(p=P, q=Q)
        arrays = [
            wb.recurrent(f"a{n}", (), over=(p, q) if rule.two else p)
            for n, rule in enumerate(rules)
        ]
        for n, (rule, array) in enumerate(zip(rules, arrays, strict=True)):
            rest = (q,) if rule.two else ()
            start = P if rule.backwards else 0
            for k in range(LONGEST):
                array[(start + k, *rest)] = wb.uniform(over=rest) + float(n)
            value = combined(rule, [one(rule, x, rules, arrays, p, q, P, Q) for x in rule.terms])
            array[(p if rule.backwards else p + LONGEST, *rest)] = value
        return {f"a{n}": array for n, array in enumerate(arrays)}

    return random()


def one(
    rule: Rule,
    term: Term,
    rules: list[Rule],
    arrays: list[Any],
    p: Expression,
    q: Expression,
    P: Expression,
    Q: Expression,
) -> Any:
    """The read that a term stands for: every array has the slices 0 … P + 1 of `p`."""
    here = p + term.back if rule.backwards else p + LONGEST - term.back
    across: dict[str, Any] = {
        "same": q,
        "before": wb.maximum(q - 1, 0),
        "first": 0,
        "last": Q - 1,
        "mirrored": Q - 1 - q,
    }
    if not rules[term.source].two:
        return arrays[term.source][here]
    if not rule.two:
        return arrays[term.source][here, 0 if term.across == "first" else Q - 1]
    return arrays[term.source][here, across[term.across]]


def combined(rule: Rule, xs: list[Any]) -> Any:
    total = xs[0] * 0.5
    for x in xs[1:]:
        if rule.body == "product":
            total = total * wb.sin(x)
        elif rule.body == "where":
            total = wb.where(x > total, x * 0.5, total + 0.25)
        elif rule.body == "maximum":
            total = wb.maximum(total, x - 0.5)
        else:
            total = total + 0.25 * x
    return wb.tanh(total) if rule.body == "tanh" else total


def assert_in_order(program: Program, sizes: Mapping[str, int]) -> None:
    """Every element is written before it is read, when instances run as scheduled."""
    reference = Reference(program.equations, sizes)
    known = reference.sizes
    ways = paths(program.schedule)
    assert set(ways) == set(program.statement)
    ran = {
        (s.name, at): moment(s, at, ways[s.name])
        for s in program.statements
        for at in points(s.domain, known)
    }
    moments: dict[tuple[str, tuple[int, ...]], Any] = {}
    for (name, instance), time in ran.items():
        s = program.statement[name]
        values = {**known, **dict(zip(s.dims, instance, strict=True))}
        moments[s.array, tuple(e.evaluate(values) for e in s.write)] = time
    for (name, instance), time in ran.items():
        s = program.statement[name]
        if s.combiner is not None:
            continue
        values = {**known, **dict(zip(s.dims, instance, strict=True))}
        for read in s.reads:
            assert moments[read.array, element(read, values)] < time


def moment(s: Statement, instance: tuple[int, ...], path: Path) -> tuple[int, ...]:
    """When an instance runs: loop values and positions in sequences, outermost first."""
    at = dict(zip(s.dims, instance, strict=True))
    found = []
    for node, position in path:
        if isinstance(node, Loop):
            assert node.kind == "loop"
            value = at.pop(node.dim) + node.offset(s.name)
            found.append(-value if node.backwards else value)
        else:
            found.append(position)
    assert not at, "a dimension without a loop"
    return tuple(found)


def element(read: Read, values: Mapping[str, int]) -> tuple[int, ...]:
    indices = [e for e in read.index if isinstance(e, Expression)]
    assert len(indices) == len(read.index)
    return tuple(e.evaluate(values) for e in indices)


SIZES = st.fixed_dictionaries({"P": st.integers(1, 5), "Q": st.integers(1, 4)})


@settings(max_examples=60)
@given(rules(causal=True), SIZES)
def test_causal_program_has_an_order_that_runs_forwards(
    found: list[Rule], sizes: dict[str, int]
) -> None:
    assert_in_order(written(found), sizes)


@settings(max_examples=40)
@given(rules(causal=True), SIZES)
def test_array_backend_computes_what_the_equations_mean(
    found: list[Rule], sizes: dict[str, int]
) -> None:
    program = written(found)
    expected = Reference(program.equations, sizes, 3)
    result = wb.run(
        wb.variant(program), sizes=sizes, seed=3, dtype="float64", progress=False, backend="numpy"
    )
    for name in result:
        np.testing.assert_allclose(result[name], expected.array(name), rtol=1e-9, atol=1e-9)


@settings(max_examples=60)
@given(rules(causal=False), SIZES)
def test_any_program_has_an_order_or_a_proper_error(
    found: list[Rule], sizes: dict[str, int]
) -> None:
    try:
        program = written(found)
    except ProgramError as error:
        assert error.message.startswith(PROPER)
        assert error.line is not None and error.line.file.endswith("test_random_programs.py")
        if error.message.startswith(PROPER[0]):
            assert_is_a_cycle(error.message)
        return
    assert_in_order(program, sizes)


def assert_is_a_cycle(message: str) -> None:
    chain = message.split("\n")[0].removeprefix(PROPER[0]).split(" (at ")[0].split(" needs ")
    assert chain[0] == chain[-1] and len(set(chain)) == len(chain) - 1
    assert all(x != y for x, y in pairwise(chain)) or len(chain) == 2


@pytest.mark.parametrize("name", ["leaky_sum", "alignment", "delayed", "carried"])
def test_order_of_the_small_programs_runs_forwards(name: str) -> None:
    template, many = PROGRAMS[name]
    for sizes in many:
        assert_in_order(template(), sizes)
