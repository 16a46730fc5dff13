"""Predictions against runs and closed forms: peaks, formulas, seconds made of known constants."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

import workbench as wb
from tests.environments.playing import choice, one_episode
from tests.planning.cost.variants import compiled, variants
from tests.programs import PROGRAMS, Outputs
from workbench.environments import Gymnasium
from workbench.errors import SizeError, UnavailableError, WorkbenchError
from workbench.planning.cost import points
from workbench.planning.cost.counted import CountedArrays
from workbench.planning.cost.prediction import predict
from workbench.planning.machine.constants import Machine
from workbench.planning.machine.defaults import NUMPY
from workbench.program.sizes import resolve
from workbench.variants.variant import variant

NAMES = sorted(PROGRAMS)


@wb.program
def triangle(T: int = 4) -> Outputs:
    """A range read that is short at first and long at last."""
    t = wb.dim(t=T)
    x = wb.uniform(over=t)
    return {"y": (x[0 : t + 1] * 2.0).max()}


@wb.program
def states(B: int = 2, T: int = 3) -> Outputs:
    """A state of five numbers over time."""
    b, t = wb.dims(b=B, t=T)
    s = wb.recurrent("s", 5, over=(b, t))
    s[b, 0] = 0.0
    s[b, t + 1] = s + 1.0
    return {"s": s}


@pytest.mark.parametrize("name", NAMES)
def test_peak_is_the_tracked_one(name: str) -> None:
    for chosen in variants(name):
        for sizes in PROGRAMS[name][1]:
            done = compiled(chosen).run(sizes)
            found = chosen.predict(sizes, backend="numpy")
            assert found.peak_bytes == done.peak, (chosen.steps, sizes)
            assert found.peak_formula.evaluate(found.sizes) == done.peak_bytes


@pytest.mark.parametrize("name", NAMES)
def test_peak_is_the_tracked_one_in_double_precision(name: str) -> None:
    chosen = variants(name)[-1]
    done = compiled(chosen).run(dtype="float64")
    assert chosen.predict(dtype="float64", backend="numpy").peak_bytes == done.peak


@pytest.mark.parametrize("name", NAMES)
def test_peak_formula_holds_at_larger_sizes(name: str) -> None:
    for chosen in variants(name):
        small = chosen.predict(backend="numpy")
        larger = {p.name: 8 * p.default for p in chosen.program.parameters if p.definition is None}
        large = chosen.predict(larger, backend="numpy")
        assert small.peak_formula.evaluate(large.sizes) == large.peak_bytes["device"]


def test_parts_add_up_to_the_whole() -> None:
    found = variants("small_ppo")[-1].predict(backend="numpy")
    whole = sum(found.by_statement.values(), found.besides)
    assert whole.seconds == pytest.approx(found.seconds)
    assert (whole.operations, whole.bytes) == (found.operations, found.bytes)
    assert whole.launches == found.launches
    assert set(found.by_statement) <= set(variants("small_ppo")[-1].program.statement)


@pytest.mark.parametrize("T", [1, 7, 5000])
def test_triangle_is_counted_in_closed_form(T: int) -> None:
    found = variant(triangle()).predict({"T": T}, backend="numpy").by_statement["y"]
    points = T * (T + 1) // 2
    assert found.operations == 2 * points  # a product and a maximum each
    bytes_read, bytes_written = (4 * points + 4 * T) + 4 * points, 4 * points + 4 * T
    assert found.bytes == bytes_read + bytes_written


@pytest.mark.parametrize("T", [65_537, 65_538, 1_200_000])
def test_linear_amounts_are_exact_where_not_all_iterations_are_looked_at(T: int) -> None:
    assert T > points.AT_ONCE
    found = variant(triangle()).predict({"T": T}, backend="numpy").by_statement["y"]
    assert found.operations == T * (T + 1)
    assert found.launches == 3 * T


@pytest.mark.parametrize("T", [10**9, 10**11, 10**18])
def test_prediction_takes_no_longer_at_a_larger_size(T: int) -> None:
    started = time.thread_time()
    found = variant(triangle()).predict({"T": T}, backend="numpy").by_statement["y"]
    assert time.thread_time() - started < 2.0  # all iterations of 10⁹ took a minute
    assert found.operations == pytest.approx(T * (T + 1))
    assert found.seconds > 0


def test_footprint_is_a_formula_in_the_sizes() -> None:
    found = variant(states()).predict(backend="numpy")
    assert str(found.footprint["s"]) == "B * (T + 1) * 5 * 4 bytes"
    assert found.footprint["s"].evaluate({"B": 7, "T": 10}) == 7 * 11 * 5 * 4
    assert str(variant(states()).predict(dtype="float64", backend="numpy").footprint["s"]).endswith(
        "* 8 bytes"
    )


def test_a_notebook_shows_the_line_that_is_printed() -> None:
    found = variant(states()).predict(backend="numpy")
    assert repr(found) == str(found)
    assert "launches" in str(found)
    assert "\n" not in str(found)


def test_peak_formula_says_what_is_held() -> None:
    found = variant(states()).predict(backend="numpy")
    assert str(found.peak_formula) == "20 * B * T + 20 * B + 8 bytes"


NOTHING = Machine(
    backend="numpy",
    call=dict.fromkeys(NUMPY.call, 0.0),
    row={"elementwise": 0.0},
    element={},
    byte=((1, 0.0),),
    product={"float32": 0.0, "float64": 0.0},
    panel={"float32": 0.0, "float64": 0.0},
    fresh=0.0,
    cold=1.0,
)
"""A machine on which everything is free."""

BETWEEN = ("view", "broadcast", "allocate", "reserve", "constant", "loop", "condition")


def test_seconds_are_those_of_the_calls_where_only_calls_cost() -> None:
    for chosen in variants("small_ppo"):
        loops, sizes = chosen.loop_program, resolve(chosen.program.equations)
        calls = {kind: 0.0 if kind in BETWEEN else 1.0 for kind in NUMPY.call}
        found = predict(CountedArrays(loops), sizes, replace(NOTHING, call=calls))
        assert found.seconds == pytest.approx(found.launches)


def test_calls_take_longer_where_the_caches_have_gone_cold() -> None:
    chosen = variants("small_ppo")[-1]
    loops, sizes = chosen.loop_program, resolve(chosen.program.equations)
    calls = {kind: 0.0 if kind in BETWEEN else 1.0 for kind in NUMPY.call}
    found = predict(CountedArrays(loops), sizes, replace(NOTHING, call=calls, cold=3.0))
    assert found.launches < found.seconds < 3.0 * found.launches


def test_loops_are_counted_where_only_they_cost() -> None:
    calls = {**NOTHING.call, "loop": 1.0}
    chosen = variant(states())
    found = predict(
        CountedArrays(chosen.loop_program), {"B": 3, "T": 5}, replace(NOTHING, call=calls)
    )
    assert found.seconds == found.besides.seconds == 3 + 3 * 5


def test_more_arithmetic_takes_longer() -> None:
    chosen = variants("small_ppo")[-1]
    small, large = (
        chosen.predict({"T": 400}, backend="numpy"),
        chosen.predict({"T": 40_000}, backend="numpy"),
    )
    assert large.seconds > 2 * small.seconds
    assert large.operations > 50 * small.operations


def test_lowering_is_kept_with_the_variant() -> None:
    chosen = variant(states())
    assert chosen.predict(backend="numpy").loops is chosen.predict({"T": 9}, backend="numpy").loops


def test_prediction_says_that_it_is_uncalibrated() -> None:
    found = variant(states()).predict(backend="numpy")
    assert not found.calibrated
    assert found.note.startswith("uncalibrated: ")
    assert "B=2, T=3, float32; uncalibrated" in str(found)
    assert "launches" in str(found)


def test_prediction_says_what_it_takes_an_external_call_for() -> None:
    program = one_episode(Gymnasium("CartPole-v1"), choice(2))
    found = variant(program).predict(backend="numpy")
    assert found.assumed == "each call of CartPole-v1 is taken for 100 µs"
    assert found.assumed in str(found)


def test_predict_refused_for_unknown_size() -> None:
    with pytest.raises(SizeError, match=r"unknown size 't': did you mean T\?"):
        variant(states()).predict({"t": 3}, backend="numpy")


def test_predict_refused_for_unknown_backend() -> None:
    with pytest.raises(UnavailableError, match=r"no times are predicted for 'numby': did you mean"):
        variant(states()).predict(backend="numby")


def test_predict_refused_for_unknown_dtype() -> None:
    with pytest.raises(WorkbenchError, match=r"unknown dtype 'float23': did you mean float32\?"):
        variant(states()).predict(dtype="float23", backend="numpy")
