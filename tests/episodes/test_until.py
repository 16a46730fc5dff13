"""Programs whose episodes end: the reference and every backend against loops that break."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.episodes.rolled import Kind, assert_equal, expected, walk
from tests.native_runs import run_native
from workbench import environments
from workbench.backends.reference.evaluator import Reference
from workbench.transforms import Accumulate, Contract, Persist

MIXED = Kind(decay=1.1, drift=1.0, chance=0.15, limit=3.0, last=5)
KINDS = st.builds(
    Kind,
    decay=st.sampled_from([0.5, 1.0, 1.5]),
    drift=st.sampled_from([-1.0, 0.7]),
    chance=st.sampled_from([0.0, 0.1, 0.4, 1.1]),
    limit=st.sampled_from([0.6, 2.0, 1e9]),
    last=st.integers(0, 7),
)
BACKENDS = [name for name in ("numpy", "native") if wb.backends()[name] is None]


@settings(max_examples=25, deadline=None)
@given(KINDS, st.integers(1, 3), st.integers(1, 6), st.integers(0, 3))
def test_reference_is_a_loop_that_breaks(kind: Kind, B: int, T: int, seed: int) -> None:
    program = walk(kind)(B=B, I=2, T=T)
    found = Reference(program.equations, seed=seed).outputs()
    assert_equal(found, expected(program, kind, B, 2, T, seed))


@settings(max_examples=6, deadline=None)
@given(KINDS, st.integers(1, 3), st.integers(1, 6), st.integers(0, 3), st.booleans())
def test_numpy_is_a_loop_that_breaks(
    kind: Kind, B: int, T: int, seed: int, optimized: bool
) -> None:
    program = walk(kind)(B=B, I=2, T=T)
    variant = wb.variant(program)
    variant = wb.optimize(variant, backend="numpy") if optimized else variant
    run = wb.run(variant, "numpy", seed=seed, dtype="float64", progress=False)
    wanted = expected(program, kind, B, 2, T, seed)
    assert_equal(run, wanted)
    np.testing.assert_array_equal(run.lengths["t"], wanted["end"] + 1)
    assert run.unended == {"t": wanted["unended"]}


RARE = Kind(0.5, 1.0, 0.1, 1e9, 99)


def variant_of(kind: Kind, backend: str, optimized: bool) -> wb.Variant:
    variant = wb.variant(walk(kind)(B=5, I=3, T=8))
    return wb.optimize(variant, backend=backend) if optimized else variant


def outputs(program: wb.Program, backend: str) -> Any:
    """The outputs of a program as a backend runs it, by its own recipe."""
    variant = wb.optimize(wb.variant(program), backend=backend)
    if backend == "native":
        return run_native(variant.program)
    return wb.run(variant, backend, dtype="float64", progress=False)


KINDS_OF_RUNS = pytest.mark.parametrize(
    ("kind", "optimized"),
    [(MIXED, True), (RARE, False)],
    ids=["mixed_optimized", "rare_as_written"],
)


@KINDS_OF_RUNS
def test_run_tells_how_many_episodes_have_no_end(kind: Kind, optimized: bool) -> None:
    variant = variant_of(kind, "numpy", optimized)
    for seed in (0, 1):
        run = wb.run(variant, "numpy", seed=seed, dtype="float64", progress=False)
        wanted = expected(variant.program, kind, 5, 3, 8, seed)
        assert_equal(run, wanted)
        assert run.unended == {"t": wanted["unended"]}
    assert ("no end of" in repr(run)) == (wanted["unended"] > 0)


@pytest.mark.skipif("native" not in BACKENDS, reason="there is no C compiler")
@KINDS_OF_RUNS
def test_compiled_c_is_a_loop_that_breaks(kind: Kind, optimized: bool) -> None:
    variant = variant_of(kind, "native", optimized)
    for seed in (0, 1):
        found = run_native(variant.program, seed=seed)
        assert_equal(found, expected(variant.program, kind, 5, 3, 8, seed))


def test_a_step_of_each_kind_keeps_the_meaning() -> None:
    program = walk(MIXED)(B=3, I=2, T=5)
    wanted = expected(program, MIXED, 3, 2, 5, 0)
    root = wb.variant(program)
    taken = {type(move.step): move.step for move in root.moves() if move.refusal is None}
    assert len(taken) > 5
    for step in taken.values():
        run = wb.run(root.apply(step), "numpy", dtype="float64", progress=False)
        assert_equal(run, wanted)


@pytest.mark.parametrize("backend", BACKENDS)
def test_cartpole_ends_as_gymnasiums_does(backend: str) -> None:
    gymnasium = pytest.importorskip("gymnasium")

    @wb.program
    def balance(B: int = 4, T: int = 60) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        env = environments.CartPole()
        state = wb.recurrent("state", env.state_size, over=(b, t))
        action = wb.cast(wb.uniform(over=(b, t)) < 0.6, int)
        following, reward, terminated, truncated = env.step(state, action)
        state[b, 0] = env.reset(over=b)
        state[b, t + 1] = following
        end = wb.until(terminated | truncated, over=t)
        return {"state": state, "action": action, "score": reward.sum(over=t), "end": end}

    run = outputs(balance(), backend)
    env = gymnasium.make("CartPole-v1").unwrapped
    for b in range(4):
        env.reset(seed=0)
        env.state = run["state"][b, 0, :4]
        score, done = 0.0, False
        for t in range(60):
            _, reward, done, _, _ = env.step(int(run["action"][b, t]))
            score += reward
            np.testing.assert_allclose(run["state"][b, t + 1, :4], env.state, rtol=1e-9, atol=1e-9)
            if done:
                break
        assert done
        assert run["score"][b] == score == run["end"][b] + 1
        assert np.isnan(run["state"][b, t + 2 :]).all()
        assert not run["action"][b, t + 1 :].any()


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_a_closed_lane_computes_does_not_fail(backend: str) -> None:
    @wb.program
    def looked_up(B: int = 3, T: int = 6) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        n = wb.recurrent("n", (), over=(b, t), dtype=int)
        n[b, 0] = wb.index(b)
        n[b, t + 1] = n + 2
        table = wb.exp(np.arange(5.0))
        seen = wb.recurrent("seen", 5, over=(b, t))
        seen[b, 0] = 0.0
        seen[b, t + 1] = wb.put(seen, (n,), 1.0)
        end = wb.until(n + 2 > 3, over=t)
        value = table[n] + 1.0 / wb.cast(6 // (4 - n), float)
        return {"value": value.sum(over=t), "end": end, "seen": seen[b, end + 1]}

    run = outputs(looked_up(), backend)
    np.testing.assert_array_equal(run["end"], [1, 1, 0])
    truth = [sum(np.exp(k) + 1 / (6 // (4 - k)) for k in ks) for ks in ([0, 2], [1, 3], [2])]
    np.testing.assert_allclose(run["value"], truth)
    np.testing.assert_array_equal(run["seen"], [[1, 0, 1, 0, 0], [0, 1, 0, 1, 0], [0, 0, 1, 0, 0]])


def test_text_names_what_is_open_and_where_it_is_executed() -> None:
    text = str(walk(MIXED)())
    assert "open[b, i, 0]: bool = True" in text
    assert "open[b, i, t + 1] = open[b, i, t] and not event[b, i, t]" in text
    assert "gain[b, i, t] = x[b, i, t] * noise[b, i, t]    # if open[b, i, t]" in text


def test_one_value_past_an_end_says_so() -> None:
    program = walk(Kind(1.0, 1.0, 0.0, 1e9, 2))()
    assert float(wb.value(program, "gain", b=0, i=0, t=2).value) > 0
    with pytest.raises(wb.errors.ProgramError, match="gain at b=0, i=0, t=3 does not exist"):
        wb.value(program, "gain", b=0, i=0, t=3)


def test_lengths_are_counted_where_blocks_are_of_one_episode() -> None:
    """A block has one slot of what is open, and its lane is an axis all the same."""

    @wb.program
    def ended(B: int = 3, T: int = 4) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        u = wb.uniform(over=(b, t))
        wb.until(u > 0.9, over=t)
        return {"mean": u.mean(over=t)}

    program = ended()
    variant = wb.variant(program).replay((Accumulate("t"), Persist("b", 1), Contract()))
    for sizes in ({"B": 3, "T": 4}, {"B": 5, "T": 1}):
        wanted = wb.run(program, "numpy", sizes=sizes, dtype="float64", progress=False)
        found = wb.run(variant, "numpy", sizes=sizes, dtype="float64", progress=False)
        np.testing.assert_allclose(found["mean"], wanted["mean"], rtol=1e-12)
        np.testing.assert_array_equal(found.lengths["t"], wanted.lengths["t"])


def test_a_value_is_returned_under_two_names() -> None:
    @wb.program
    def example(T: int = 5) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.uniform(over=t)
        wb.until(x < 2.0, over=t)
        return {"one": x, "other": 1.0 * x}

    program = example()
    found = Reference(program.equations, seed=3).outputs()
    np.testing.assert_array_equal(found["one"], found["other"])
    assert np.isnan(found["one"]).tolist() == [False, True, True, True, True]
    numpy = wb.run(program, "numpy", seed=3, dtype="float64", progress=False)
    np.testing.assert_array_equal(numpy["other"], found["one"])
