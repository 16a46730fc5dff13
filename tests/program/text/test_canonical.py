from __future__ import annotations

from dataclasses import replace

from tests.by_hand import T, call, equations, statement, t
from workbench.errors import SourceLine
from workbench.language.template.root_schedule import scheduled
from workbench.program.bodies import Literal
from workbench.program.text.canonical import canonical
from workbench.program.values import Program


def drawn(**changes: object) -> Program:
    s = statement("x", [t], call("uniform", shape=()), {"t": (0, T)})
    return scheduled(equations(replace(s, **changes), sizes={"T": 3}))  # type: ignore[arg-type]


def with_equations(program: Program, **changes: str) -> Program:
    return replace(program, equations=replace(program.equations, **changes))  # type: ignore[arg-type]


def test_lines_and_descriptions_do_not_count() -> None:
    elsewhere = drawn(line=SourceLine("other.py", 9, "x = wb.uniform(over=t)"))
    assert canonical(elsewhere) == canonical(drawn())
    assert canonical(with_equations(drawn(), description="Draws.")) == canonical(drawn())


def test_what_the_readable_text_leaves_out_counts() -> None:
    assert str(drawn(origin="a")) == str(drawn(origin="b"))
    assert canonical(drawn(origin="a")) != canonical(drawn(origin="b"))
    zeros, ones = (Literal((x,) * 20, "float", (20,)) for x in (0.0, 1.0))
    p, q = (
        scheduled(equations(statement("x", [t], body, {"t": (0, T)}), sizes={"T": 3}))
        for body in (zeros, ones)
    )
    assert str(p) == str(q) and canonical(p) != canonical(q)


def test_the_text_that_a_program_keeps_is_its_own() -> None:
    before = drawn(origin="a")
    assert before.canonical == canonical(before)
    after = with_equations(before, name="other")
    assert after.canonical == canonical(after) != before.canonical
