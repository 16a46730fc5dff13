"""What is made from a program is kept under all that it depends on."""

from __future__ import annotations

import itertools
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.programs import leaky_sum
from workbench.polyhedral import accesses, expression, tree
from workbench.polyhedral.tree import Leaf, Loop
from workbench.program import bodies, storage, values
from workbench.program.bodies import Read
from workbench.program.data import declared
from workbench.program.made_files import digest, dumped, loaded, made_of
from workbench.program.values import Array, Program, Statement

BLOCKS = Loop("t", Leaf("x"), tile=8, apart=True, chunks=2)

OTHER: dict[str, Any] = {
    "dim": "u",
    "child": Leaf("y"),
    "kind": "axis",
    "backwards": True,
    "offsets": (("x", 1),),
    "tile": 4,
    "apart": False,
    "chunks": 4,
}
"""For each field of a loop another value."""


LEFT_OUT = [
    (Statement, "phase", "learning"),
    (Statement, "guards", (Read("s", (), "bool"),)),
    (Array, "described", "a part of s"),
]
"""Of records whose text leaves them out, fields and other values."""


def of(loop: Loop) -> str:
    return digest(made_of(replace(leaky_sum(), schedule=loop)))


@pytest.mark.parametrize("name", [field.name for field in fields(Loop)])
def test_each_field_of_a_loop_is_part_of_it(name: str) -> None:
    plain = replace(BLOCKS, apart=False, chunks=1)
    first = {"apart": replace(BLOCKS, chunks=1), "chunks": BLOCKS}.get(name, plain)
    assert of(first) != of(replace(first, **{name: OTHER[name]}))


def test_what_the_text_of_a_record_leaves_out_is_known() -> None:
    """Keys are made from these texts: a field that is not in one has a test below."""
    modules = (values, bodies, declared, storage, tree, accesses, expression)
    records = {c for m in modules for c in vars(m).values() if isinstance(c, type)}
    left_out = {
        (record.__name__, field.name)
        for record in records
        if is_dataclass(record)
        for field in fields(record)
        if not field.repr
    }
    loops = {("Loop", "apart"), ("Loop", "chunks")}
    referred_to = {("Read", "line")}
    known = loops | referred_to | {(record.__name__, name) for record, name, _ in LEFT_OUT}
    assert left_out == known


@pytest.mark.parametrize(("record", "name", "value"), LEFT_OUT)
def test_what_the_text_of_a_record_leaves_out_is_part_of_it(
    record: type, name: str, value: Any
) -> None:
    program = leaky_sum()
    group = "statements" if record is Statement else "arrays"
    first, *others = getattr(program.equations, group)
    changed: dict[str, Any] = {group: (replace(first, **{name: value}), *others)}
    other = Program(replace(program.equations, **changed), program.schedule)
    assert digest(made_of(program)) != digest(made_of(other))


def test_it_is_the_same_for_equal_programs() -> None:
    for chunks, other in itertools.product((2, 4), repeat=2):
        one, two = replace(BLOCKS, chunks=chunks), replace(BLOCKS, chunks=other)
        assert (of(one) == of(two)) is (chunks == other)


SOURCE = """\
import workbench as wb

@wb.program
def halved(T: int = 8):
    (t,) = wb.dims(t=T)
    x = wb.recurrent("x", (), over=t)
    x[0] = 1.0
    x[t + 1] = x / 2.0
    later = x[t + 1]
    return {"y": later + 1.0}
"""


def test_what_is_loaded_has_the_lines_of_the_program_at_hand(tmp_path: Path) -> None:
    """Those of statements and of what they read, wherever they stand now."""

    def standing(first: int) -> Program:
        file = tmp_path / "halved.py"
        file.write_text("\n" * first + SOURCE, encoding="utf-8")
        names: dict[str, Any] = {}
        exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), names)
        return names["halved"]()

    def lines(made: Any) -> list[int]:
        found = [s.line for s in made] + [r.line for s in made for r in s.reads]
        return [line.number for line in found if line is not None]

    before, now = standing(0), standing(30)
    assert digest(made_of(before)) == digest(made_of(now))
    made = [replace(s, scope=("other",)) for s in before.equations.statements]
    data = dumped(made, before)
    assert data is not None
    assert lines(loaded(data, now)) == lines(now.equations.statements)
    assert [n + 30 for n in lines(made)] == lines(now.equations.statements)
    assert len(lines(made)) == 4
