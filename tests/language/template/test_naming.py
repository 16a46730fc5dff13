"""What a program's arrays are called, and which of the user's lines they are of."""

from __future__ import annotations

import cProfile
import pstats
import sys
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.programs import PROGRAMS
from workbench.algorithms import reinforce
from workbench.program.values import Program


def names(program: Program) -> list[str]:
    return [a.name for a in program.arrays]


def held(program: Program) -> dict[str, str]:
    return {alias.name: alias.place for alias in program.aliases}


def test_values_are_called_like_the_variables_that_hold_them() -> None:
    @wb.program
    def example(T: int = 3) -> dict[str, Any]:
        t = wb.dim(t=T)
        noise = wb.uniform(over=t)
        doubled = 2.0 * noise
        return {"y": (doubled * doubled).sum(over=t)}

    assert set(names(example())) == {"noise", "doubled", "y"}


def test_tracing_can_be_profiled() -> None:
    @wb.program
    def example(T: int = 3) -> dict[str, Any]:
        t = wb.dim(t=T)
        noise = wb.uniform(over=t)
        return {"y": (noise * noise).sum(over=t)}

    seen: list[str] = []

    def hook(frame: Any, event: str, value: object) -> None:
        seen.append(frame.f_code.co_name)

    profile = cProfile.Profile()
    with profile:
        assert "noise" in names(example())
        names(example())
    called = {name for _, _, name in pstats.Stats(profile).stats}  # type: ignore[attr-defined]
    assert "names" in called  # after tracing it goes on
    before = sys.getprofile()
    sys.setprofile(hook)
    try:
        assert "noise" in names(example())
        names(example())
    finally:
        sys.setprofile(before)
    assert "names" in seen


@pytest.mark.parametrize("first", [False, True])
def test_output_that_is_called_like_a_variable_of_another_value(first: bool) -> None:
    @wb.program
    def example(T: int = 3) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.uniform(over=t)
        found = {"y": x.sum(over=t)} if first else {}
        y = wb.cos(x)
        return {**found, "s": y.max(over=t)} if first else {"y": y.sum(over=t)}

    program = example()
    assert set(names(program)) == {"x", "y", "y_output"} | ({"s"} if first else set())
    written = {s.array: str(s.body.operation) for s in program.statements if s.array == "y"}
    assert written == {"y": "cos"}
    assert ("y", "y_output") in {(o.name, o.array) for o in program.outputs}


def test_unnamed_values_are_called_after_what_they_are_for() -> None:
    @wb.program
    def example(T: int = 3) -> dict[str, Any]:
        t = wb.dim(t=T)
        loss = wb.exp(wb.uniform(over=t) - 0.5).mean(over=t)
        return {"loss": loss, "spread": wb.normal(over=t).std(over=t)}

    assert set(names(example())) == {
        "loss_uniform",
        "loss_sum",
        "loss",
        "spread_normal",
        "spread_sum",
        "spread_mean",
        "spread_sum_2",
        "spread",
    }


def test_value_that_a_function_returned_is_called_after_the_function() -> None:
    @wb.program
    def example(B: int = 3) -> dict[str, Any]:
        b = wb.dim(b=B)
        policy = wb.Categorical(logits=wb.normal(shape=3, over=b))
        loss = policy.entropy().sum(over=b) + policy.entropy().max(over=b)
        return {"loss": loss}

    assert "policy.entropy" in names(example())


def test_value_written_into_a_recurrence_is_found_under_its_own_name() -> None:
    @wb.program
    def example(T: int = 3) -> dict[str, Any]:
        t = wb.dim(t=T)
        s = wb.recurrent("state", (), over=t)
        s[0] = 1.0
        following = s * 0.5
        s[t + 1] = following
        return {"last": s[T]}

    program = example()
    assert held(program) == {"following": "state[t + 1]", "s": "state[t]"}
    assert [s.array for s in program.statements] == ["state", "state", "last"]


@pytest.mark.parametrize("inner", [False, True])
def test_a_value_has_the_same_draws_whether_it_is_returned_too_or_not(inner: bool) -> None:
    @wb.program
    def example(also: bool, T: int = 3) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.recurrent("x", (), over=t)
        drawn = wb.uniform(over=t)
        kept = 0.2 + wb.normal(over=t) if inner else drawn
        x[t] = kept
        return {"x": x, "kept": kept} if also else {"x": x}

    alone, returned = (wb.run(example(also), "numpy", progress=False) for also in (False, True))
    np.testing.assert_array_equal(alone["x"], returned["x"])
    np.testing.assert_array_equal(returned["kept"], returned["x"])


def test_constant_to_gradient_is_called_like_the_variable_that_holds_it() -> None:
    @wb.program
    def example(T: int = 3) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.uniform(over=t)
        held = wb.stop_gradient(wb.exp(x) * 2.0)
        raw = wb.exp(-x)
        frozen = wb.stop_gradient(raw)
        return {"y": (held * held + frozen * raw).sum(over=t)}

    program = example()
    assert set(names(program)) == {"x", "held", "raw", "y"}
    assert held(program) == {"frozen": "raw[t]"}


def test_same_computation_is_one_statement_and_two_draws_are_two() -> None:
    @wb.program
    def example(T: int = 3) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.uniform(over=t)
        first = wb.exp(x) * 2.0
        second = wb.exp(x) * 2.0
        return {"y": first + second + wb.uniform(over=t) + wb.uniform(over=t)}

    program = example()
    operations = [getattr(s.body, "operation", None) for s in program.statements]
    assert operations.count("uniform") == 3 and operations.count("multiply") == 1
    assert held(program) == {"second": "first[t]"}


def test_every_statement_of_reinforce_has_the_users_line() -> None:
    for statement in reinforce().statements:
        assert statement.line is not None
        assert statement.line.file.endswith("reinforce.py"), statement.name
        assert statement.line.text


@pytest.mark.parametrize("name", PROGRAMS)
def test_names_and_lines_of_the_small_programs(name: str) -> None:
    program = PROGRAMS[name][0]()
    for statement in program.statements:
        assert statement.line is not None
        assert statement.line.file.endswith(("tests/programs.py", "tests/returns.py"))
    for array in names(program):
        assert not any(word in array for word in ("multiply", "add", "copy", "subtract")), array
    again = PROGRAMS[name][0]()
    assert again == program and str(again) == str(program)


def test_equations_of_a_small_program_read_as_one_would_write_them() -> None:
    page = str(PROGRAMS["returns"][0]())
    assert page.split("\n\n")[1].splitlines() == [
        "    reward[b, t] = normal()",
        "    done_uniform[b, t] = uniform()",
        "    done[b, t]: bool = done_uniform[b, t] < 0.2",
        "    g[b, T] = 0.0",
        "    g[b, t] = reward[b, t] + where(done[b, t], 0.0, 0.9 * g[b, t + 1])",
        "    to_go[b, t] = sum(t_1 in t..T-1) 0.9 ** (t_1 - t) * reward[b, t_1]",
        "    mean_sum = sum(b) g[b, 0]",
        "    mean = mean_sum / B",
    ]


def test_draws_stay_when_values_are_grouped_otherwise() -> None:
    def traced(*scopes: str) -> wb.Program:
        @wb.program
        def grouped(B: int = 3, T: int = 4) -> dict[str, Any]:
            b, t = wb.dims(b=B, t=T)
            with ExitStack() as opened:
                for name in scopes:
                    opened.enter_context(wb.scope(name))
                first = wb.normal(over=(b, t))
                noise = wb.recurrent("noise", (), over=(b, t))
                noise[b, 0] = wb.uniform(over=b)
                noise[b, t + 1] = noise + first
            second = wb.uniform(over=b)
            return {"noise": noise[b, T], "second": second, "first": first}

        return grouped()

    plain, outer, inner = traced(), traced("outer"), traced("outer", "inner")
    assert [s.origin for s in plain.statements] == [s.origin for s in inner.statements]
    assert [s.name for s in plain.statements] != [s.name for s in inner.statements]
    results = [
        wb.run(program, progress=False, backend="numpy") for program in (plain, outer, inner)
    ]
    for name in ("noise", "first", "second"):
        for other in results[1:]:
            np.testing.assert_array_equal(results[0][name], other[name])
