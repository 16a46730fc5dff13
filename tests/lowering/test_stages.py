"""Each stage of lowering as text."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from tests.backends.small_programs import cases, folded, scheduled
from workbench.lowering.lower import lower, stages
from workbench.lowering.stage_text import STAGES, stage_text

FORWARDS = next(program for name, program, _ in cases() if name == "forwards")

TEXTS = {
    "schedule": """
axis b:
    s(b, 0)
    for t:
        x(b, t)
        s(b, t + 1)
    last(b)
""",
    "loops": """
s(b, 0)
for t in 0:T:
    x(b, t) at t=t
    s(b, t + 1) at t=t
last(b)
""",
    "lifetimes": """
x: all of b, 1 of t, within an iteration (loop 1 around it)
s: all of b, 1 of t
last: all of b
""",
    "storage": """
x: float[B] over b
s: float[B] over b
last: float[B] over b, begins as nan
""",
    "operations": """
# s(b, 0): s[b, 0]
s <- copyto(_0_0_float)
for t in 0:T:
    # x(b, t): x[b, t]
    x <- random(count_b, kind=uniform, coordinates=('count_b', t), origin=x(b, t))
    # s(b, t + 1): s[b, t + 1]
    s_2 <- multiply(s, _0_9_float)
    s <- add(s_2, x)
# last(b): last[b]
last <- copyto(s)
""",
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_stage_reads_as_what_it_made(name: str) -> None:
    made = stages(folded(scheduled(FORWARDS, ("b",))))
    assert stage_text(made, name) == TEXTS[name].strip()


def test_the_last_stage_is_the_loop_program() -> None:
    program = folded(scheduled(FORWARDS, ("b",)))
    made = stages(program)
    assert list(STAGES) == list(vars(made))
    assert stage_text(made, "memory") == str(lower(program)).rstrip()
    assert stage_text(made, "prefetching") == stage_text(made, "operations")


def test_a_loop_backwards_is_written_as_it_runs() -> None:
    @wb.program
    def backwards(T: int = 4) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.recurrent("x", (), over=t)
        x[T] = 1.0
        x[t] = 0.5 * x[t + 1]
        return {"x": x[0]}

    made = stages(wb.variant(backwards()).program)
    assert "for t in 0:T reversed:\n    x at t=t" in stage_text(made, "loops")
