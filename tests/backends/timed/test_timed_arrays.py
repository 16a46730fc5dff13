"""Generated source with timers: the same bits, each instance counted, each tick its statement's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.native_runs import other_bits
from workbench.algorithms import ppo
from workbench.backends.numpy import NumPyBackend
from workbench.backends.timed import timed_arrays as module
from workbench.backends.timed.stamps import TimedIteration, TimedLaunch
from workbench.backends.timed.timed_arrays import TimedArrays, timed_arrays
from workbench.program.values import Program
from workbench.transforms import Vectorize


@wb.program
def walk(B: int = 2, T: int = 4) -> dict[str, Any]:
    """A function, a step and a mask."""
    b, t = wb.dims(b=B, t=T)
    x = wb.recurrent("x", (), over=(b, t))
    x[b, 0] = 1.0
    bent = wb.tanh(x)
    x[b, t + 1] = bent + 0.5
    last = wb.recurrent("last", (), over=t)  # a name that timers may not take
    last[t] = wb.exp(wb.where(x[0, t] > 1.2, x[0, t], 0.0))
    return {"x": x, "last": last}


class Clock:
    """A clock that goes on when it is told to, and by one at each look."""

    def __init__(self) -> None:
        self.now = 0

    def perf_counter_ns(self) -> int:
        self.now += 1
        return self.now

    def taking(self, function: Callable[..., Any], ticks: int) -> Callable[..., Any]:
        """The function, which takes so many ticks."""

        def called(*given: Any, **options: Any) -> Any:
            self.now += ticks
            return function(*given, **options)

        return called


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter_ns=found.perf_counter_ns))
    return found


def timed_of(program: Program) -> TimedArrays:
    return timed_arrays(NumPyBackend().compile(program))


def test_the_time_of_a_function_is_its_statements(clock: Clock) -> None:
    made = timed_of(walk())
    functions = made.functions
    slow = {"tanh": clock.taking(np.tanh, 1000), "exp": clock.taking(np.exp, 10**6)}
    run = replace(made, functions=functions | slow).timed({"B": 3, "T": 7}, 0, "float64")
    ticks = {
        name: (round(seconds * 1e9), made_here)
        for name, seconds, made_here in zip(
            made.timers.statements, run.seconds, run.made, strict=True
        )
    }
    tanh, steps = ticks["bent"]
    assert tanh == 1000 * 3 * 7 + steps
    exp, steps = ticks["last"]
    assert exp == 10**6 * 7 + steps
    for name in ("x[0]", "x[t+1]"):
        seconds, looks = ticks[name]
        assert seconds == looks  # nothing but the looks at the clock
    assert run.cost == pytest.approx(1e-9)
    assert run.net[made.timers.statements.index("bent")] == pytest.approx(21e-6)


@pytest.mark.parametrize(("axes", "calls"), [((), (3, 21)), (("b",), (1, 7))])
def test_instances_are_counted(axes: tuple[str, ...], calls: tuple[int, int]) -> None:
    variant = wb.variant(walk())
    for dim in axes:
        variant = variant.apply(Vectorize(dim))
    made = timed_of(variant.program)
    run = made.timed({"B": 3, "T": 7}, 0, "float32")
    found = dict(zip(made.timers.statements, run.calls, strict=True))
    assert (found["x[0]"], found["x[t+1]"]) == calls
    assert found["last"] == 7


def test_a_run_with_timers_computes_the_same_bits() -> None:
    program = wb.optimize(wb.variant(ppo(hidden=(5,))), backend="numpy").program
    plain = NumPyBackend().compile(program)
    sizes = {"B": 4, "I": 2, "T": 8}
    run = timed_arrays(plain).timed(sizes, 3, "float32")
    assert list(other_bits(run.execution.outputs, plain.run(sizes, 3).outputs)) == []
    assert sum(run.seconds) + run.between == pytest.approx(run.execution.seconds)


def test_without_its_timers_the_source_is_what_it_was() -> None:
    plain = NumPyBackend().compile(
        wb.optimize(wb.variant(ppo(hidden=(5,))), backend="numpy").program
    )
    made = timed_arrays(plain)
    body, _, _ = made.source.partition("\n\ndef timers(")
    left = [line for line in body.splitlines() if "clock" not in line and "functions[" not in line]
    wanted = [line for line in plain.source.splitlines() if "functions[" not in line]
    assert [line for line in left if line.strip()] == [line for line in wanted if line.strip()]


def test_what_a_run_does_at_first_is_told_in_its_order(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = timed_of(walk())
    slow = replace(made, functions=made.functions | {"tanh": clock.taking(np.tanh, 1000)})
    names = slow.timers.statements
    log = slow.begun({"B": 2, "T": 3}, 0, "float64")
    launches = [entry for entry in log if isinstance(entry, TimedLaunch)]
    begun = [(entry.loop, entry.value) for entry in log if isinstance(entry, TimedIteration)]
    assert [value for loop, value in begun if loop == 0] in ([0, 1], [0, 1, 2])
    assert len(begun) > 2
    assert {names[launch.number] for launch in launches} == set(names)
    bent = [launch for launch in launches if names[launch.number] == "bent"]
    assert [round((launch.end - launch.begin) * 1e9) for launch in bent].count(1000) == 2 * 3
    for before, launch in pairwise(launches):
        assert before.end == launch.begin
    monkeypatch.setattr(module, "MOST_LAUNCHES", 5)
    few = slow.begun({"B": 2, "T": 3}, 0, "float64")
    assert [type(entry) for entry in few] == [type(entry) for entry in log[:5]]
