"""Each line of the loop program and of the source knows its statement and its place."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

import workbench as wb
from workbench.algorithms import ppo, reinforce
from workbench.backends.arrays.source import generate, source_lines
from workbench.lowering.launches import launches
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.owners import owners
from workbench.lowering.loops.records import (
    Allocate,
    Apply,
    Constant,
    Count,
    Enter,
    For,
    Free,
    If,
    Record,
    RuntimeCheck,
    View,
    walk,
)
from workbench.lowering.lower import lower
from workbench.lowering.text import lines, text


@cache
def program() -> LoopProgram:
    return lower(wb.optimize(reinforce(hidden=(4,)), backend="numpy").program)


def test_the_lines_are_the_text() -> None:
    made = program()
    assert "".join(f"{line.text}\n" for line in lines(made.body)) == text(made)
    assert "".join(f"{line.text}\n" for line in source_lines(made)) == generate(made)


def test_the_place_of_a_line_is_its_records() -> None:
    made = program()
    records = list(walk(made.body))
    shown = {line.position: line for line in lines(made.body)}
    assert len(shown) == sum(not isinstance(record, RuntimeCheck) for record in records)
    for position, line in shown.items():
        record = records[position - 1]
        if isinstance(record, For):
            assert line.text.lstrip().startswith(f"for {record.variable} in ")
        elif isinstance(record, If):
            assert line.text.lstrip().startswith("if ")
        elif isinstance(record, Allocate):
            assert line.text.lstrip().startswith(f"allocate {record.buffer.name}:")
        elif isinstance(record, Free):
            assert line.text.lstrip() == f"free {record.name}"


def test_a_point_of_the_timeline_stands_at_the_line_that_changes_memory() -> None:
    made = program()
    shown = {line.position: line.text.strip() for line in lines(made.body)}
    for sizes in ({"B": 2, "I": 3, "T": 4}, {"B": 2, "I": 0, "T": 4}):
        for before, point in pairwise(made.timeline(sizes, "float32")):
            line = shown[point.position]
            new = {name for name, _ in point.live} - {name for name, _ in before.live}
            gone = {name for name, _ in before.live} - {name for name, _ in point.live}
            if line.startswith("free "):
                assert line == f"free {gone.pop()}"
            else:
                assert new.pop() in line


def test_every_line_of_a_statement_is_known_as_its_own() -> None:
    made = program()
    entered = {record.statement for record in walk(made.body) if isinstance(record, Enter)}
    for found in (lines(made.body), source_lines(made)):
        assert {line.statement for line in found} - {None} == entered


def test_what_is_given_back_behind_all_is_no_statements() -> None:
    gather = lower(wb.variant(ppo()).program)  # with checks, which write nothing
    records = list(walk(gather.body))
    for position, (record, owner) in enumerate(zip(records, owners(gather.body), strict=True), 1):
        if isinstance(record, Free) and not _is_entered(records, position):
            assert owner is None


def test_a_line_belongs_to_the_statement_that_is_entered_or_that_uses_it_first() -> None:
    made = program()
    owner = owners(made.body)
    entered: str | None = None
    records = list(walk(made.body))
    outside = []
    for record, statement in zip(records, owner, strict=True):
        if isinstance(record, Enter):
            entered = record.statement
        if isinstance(record, (For, If)):
            assert statement is None
        elif entered is not None:
            assert statement == entered
        else:
            outside.append((record, statement))
        if isinstance(record, RuntimeCheck):
            entered = None
    hoisted = [(r, s) for r, s in outside if isinstance(r, (Allocate, View, Constant, Count))]
    assert hoisted
    inside = [line for line in lines(made.body) if _is_entered(records, line.position)]
    for record, statement in hoisted:
        names = _seen_as({record.name if isinstance(record, View) else record.buffer.name}, outside)
        pattern = "|".join(rf"\b{re.escape(name)}\b" for name in names)
        using = [line.statement for line in inside if re.search(pattern, line.text)]
        assert using[0] == statement


def _is_entered(records: list[Record], position: int) -> bool:
    """Whether the last bracket before a record was opened."""
    brackets = [r for r in records[:position] if isinstance(r, (Enter, RuntimeCheck))]
    shut = isinstance(records[position - 1], (For, If))
    return bool(brackets) and isinstance(brackets[-1], Enter) and not shut


def _seen_as(names: set[str], outside: list[tuple[Record, str | None]]) -> set[str]:
    """The names with those of what is prepared from them."""
    for record, _ in outside:
        if isinstance(record, View) and record.source in names:
            names.add(record.name)
        elif isinstance(record, Apply) and names & set(record.inputs):
            names.add(record.out)
    return names


def test_a_launch_says_its_statement_where_it_is_and_what_it_reads_and_writes() -> None:
    @wb.program
    def decay(B: int = 8, T: int = 3) -> dict[str, wb.Tensor]:
        b, t = wb.dims(b=B, t=T)
        s = wb.recurrent("s", (), over=(b, t))
        s[b, 0] = wb.uniform(over=b)
        s[b, t + 1] = 0.5 * s
        return {"last": s[b, T]}

    made = launches(wb.variant(decay()).apply(wb.transforms.Persist("b", 4)).program)
    assert (
        text(made)
        == """\
allocate last: float(B,)
for b_block4 in 0:(B + 3) // 4, in any order:
    allocate s: float(T + 1, 4)
    s <- s[0] ()
    for t in 0:T:
        s <- s[t+1] at t=t (s)
    last <- last (s)
    free s
"""
    )
    assert [line.statement for line in lines(made.body)] == [
        "last", None, "s[0]", "s[0]", None, "s[t+1]", "last", None,
    ]  # fmt: skip
