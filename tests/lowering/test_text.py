"""Each line of the loop program and of the source knows its statement and its place."""

from __future__ import annotations

from itertools import pairwise

import workbench as wb
from workbench.algorithms import reinforce
from workbench.backends.source import generate, source_lines
from workbench.lowering.program import LoopProgram, lower
from workbench.lowering.records import Allocate, Check, Enter, For, Free, If, walk
from workbench.lowering.text import lines, text


def program() -> LoopProgram:
    return lower(wb.optimize(reinforce(hidden=(4,))).program)


def test_the_lines_are_the_text() -> None:
    made = program()
    assert "".join(f"{line.text}\n" for line in lines(made.body)) == text(made)
    assert "".join(f"{line.text}\n" for line in source_lines(made)) == generate(made)


def test_the_place_of_a_line_is_its_records() -> None:
    made = program()
    records = list(walk(made.body))
    shown = {line.position: line for line in lines(made.body)}
    assert len(shown) == sum(not isinstance(record, Check) for record in records)
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
    current: str | None = None
    for line in lines(made.body):
        body = line.text.strip()
        if body.startswith("# "):
            current = line.statement
            assert body.startswith(f"# {current}: ")
        elif body.startswith(("for ", "if ")):
            current = None
            assert line.statement is None
        elif line.statement is not None:
            assert line.statement == current
