"""rl.Replay: what is drawn, what is held of it, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.truth import truth
from workbench import rl
from workbench.errors import WorkbenchError

FIELDS: dict[str, Any] = {"x": (float, 2), "number": (int, ())}
SIZES = {"B": 2, "I": 9, "T": 3, "K": 4, "N": 18}


@wb.program
def walk(
    B: int = 2, I: int = 9, T: int = 3, K: int = 4, N: int = 18, each: bool = False
) -> dict[str, Any]:
    """Walks that learn of what is drawn: after each update, or after `each` step."""
    b, i, t, k = wb.dims(b=B, i=I, t=T, k=K)
    x = wb.recurrent("x", 2, over=(b, i, t))
    mean = wb.recurrent("mean", 2, over=i)
    replay = rl.Replay(N, FIELDS, over=(b, i, t))
    replay.write(x=x, number=(wb.index(i) * T + t) * B + b)
    batch = replay.sample(k, until=(i, t + 1)) if each else replay.sample(k)
    drawn = batch["x"].mean(over=k)
    mean[0] = 0.0
    mean[i + 1] = mean + (drawn.mean(over=t) if each else drawn)
    x[b, 0, 0] = wb.normal(shape=2, over=b)
    x[b, i + 1, 0] = x[b, i, T]
    x[b, i, t + 1] = 0.5 * x + 0.1 * (drawn if each else mean)
    later, held = batch.later(2)
    return {
        "x": x,
        "drawn": batch["x"],
        "number": batch["number"],
        "later": later["number"],
        "held": held,
    }


@pytest.mark.parametrize("each", [False, True], ids=["each update", "each step"])
def test_samples_are_of_the_last_steps_and_of_one_step_each(each: bool) -> None:
    """Steps are numbered by time and environment, so the last N are the last N numbers."""
    B, I, T, N = (SIZES[n] for n in "BITN")
    found = truth(walk(each=each), seed=1).outputs()
    x = found["x"][:, :I, :T].transpose(1, 2, 0, 3).reshape(I * T * B, 2)
    np.testing.assert_array_equal(found["drawn"], x[found["number"]])
    seen = set()
    for i in range(I):
        for t in range(T) if each else (T - 1,):
            numbers = found["number"][(i, t) if each else i]
            newest = (i * T + t + 1) * B
            assert ((max(newest - N, 0) <= numbers) & (numbers < newest)).all()
            seen |= {newest - 1 - n for n in numbers.tolist()}
            later = found["later"][(i, t) if each else i]
            held = found["held"][(i, t) if each else i]
            np.testing.assert_array_equal(held, numbers + 2 * B < newest)
            last = newest - B + numbers % B
            np.testing.assert_array_equal(later, np.where(held, numbers + 2 * B, last))
    assert len(seen) > N // 2 if not each else seen == set(range(N))


@pytest.mark.parametrize("each", [False, True], ids=["each update", "each step"])
def test_replay_is_a_ring_buffer_that_computes_the_same(each: bool) -> None:
    program = walk(each=each)
    compiler = "native" if each else "numpy"
    best = wb.optimize(program, backend=compiler)
    if each:  # else all updates act at once, before any draw
        assert "replay.x over b (B), i (min(I, Held) of I), t (T)\n" in best.storage
    for variant, backend in ((wb.variant(program), "numpy"), (best, compiler)):
        for sizes in ({}, {"I": 2}, {"T": 1, "N": 2}):
            expected = truth(program, sizes, seed=1).outputs()
            found = wb.run(
                variant, backend=backend, sizes=sizes, seed=1, dtype="float64", progress=False
            )
            for name, values in expected.items():
                np.testing.assert_allclose(found[name], values, rtol=1e-12, err_msg=name)


def test_check_sizes_go_round_the_ring() -> None:
    """Else a window that is too small would not be found."""
    best = wb.optimize(walk(), backend="numpy", sizes={"N": 60})
    from workbench.lowering.lower import lower
    from workbench.measure.checking.check_sizes import truths

    found, left = truths(wb.variant(walk()), best.program, lower(best.program))
    assert not left
    assert any(truth.sizes["I"] > truth.sizes["Held"] for truth in found)


def test_memory_is_that_of_the_capacity() -> None:
    """3,000 steps of 12 bytes each, whatever the number of updates."""
    best = wb.optimize(walk(), backend="numpy")
    sizes = {"B": 2, "T": 3, "N": 3_000, "K": 32}
    peaks = [
        wb.run(best, backend="numpy", sizes=sizes | {"I": I}, progress=False).peak["device"]
        for I in (600, 1_200)
    ]
    outputs = 600 * (32 * (8 + 4 + 4 + 1) + 2 * 4 * 2 * 4)
    assert peaks[1] - peaks[0] == pytest.approx(outputs, rel=0.05)
    assert peaks[0] - outputs < 1.2 * 3_000 * 12


def test_every_step_is_as_likely_as_any_other() -> None:
    """Chi-squared of 200,000 draws among 60 steps."""

    @wb.program
    def example(I: int = 10, K: int = 20_000) -> dict[str, Any]:
        i, k, b = wb.dims(i=I, k=K, b=6)
        replay = rl.Replay(60, {"n": (int, ())}, over=(b, i))
        replay.write(n=wb.index(i * 6 + b))
        return {"n": replay.sample(k)["n"]}

    best = wb.optimize(example(), backend="numpy")
    number = wb.run(best, backend="numpy", seed=3, progress=False)["n"][9]
    counts = np.bincount(number, minlength=60)
    assert ((counts - 20_000 / 60) ** 2 / (20_000 / 60)).sum() < 100  # 59 degrees: 1 in 1,500


def test_draws_have_more_bits_than_a_word() -> None:
    """Of 3 * 2**23 steps, the value of a word alone would never be one of a third of them."""

    @wb.program
    def example(I: int = 1, K: int = 100, T: int = 3 * 2**23) -> dict[str, Any]:
        i, k, t, b = wb.dims(i=I, k=K, t=T, b=1)
        replay = rl.Replay(T, {"n": (int, ())}, over=(b, i, t))
        return {"step": replay.sample(k).step}

    step = wb.run(wb.optimize(example(), backend="numpy"), backend="numpy", progress=False)["step"]
    assert set((step[0] % 3).tolist()) == {0, 1, 2}


# -- refused ---------------------------------------------------------------------------------------


def refused(body: Any) -> str:
    @wb.program
    def example(B: int = 2, I: int = 3, T: int = 4, K: int = 2) -> dict[str, Any]:
        b, i, t, k = wb.dims(b=B, i=I, t=T, k=K)
        return {"y": body(b, i, t, k)}

    with pytest.raises(WorkbenchError) as error:
        wb.run(wb.variant(example()), backend="numpy", progress=False)
    assert error.value.line is not None
    return error.value.message


def held(b: Any, i: Any, t: Any, capacity: Any = 8, fields: Any = FIELDS) -> rl.Replay:
    replay = rl.Replay(capacity, fields, over=(b, i, t))
    replay.write(x=wb.normal(shape=2, over=(b, i, t)), number=wb.index(i))
    return replay


@pytest.mark.parametrize(
    ("until", "said"),
    [
        (lambda i, t: (i, 0), "i = 0 before anything was written: there is no step before (i, 0)"),
        (
            lambda i, t: (i, t),
            "i = 0, t = 0 before anything was written: there is no step before (i, t)",
        ),
        (
            lambda i, t: (i - 1, t + 1),
            "i = 0, t = 0 before anything was written: there is no step before (i - 1, t + 1)",
        ),
    ],
)
def test_read_before_anything_was_written_refused_with_the_instance(until: Any, said: str) -> None:
    message = refused(lambda b, i, t, k: held(b, i, t).sample(k, until=until(i, t))["x"])
    assert message == f"replay is read at {said}"


def test_fields_that_nothing_writes_refused() -> None:
    message = refused(lambda b, i, t, k: rl.Replay(8, FIELDS, over=(b, i, t)).sample(k)["x"])
    assert message == (
        "replay is read, but nothing is written into it: expected replay.write(x=…, number=…)"
    )


def test_steps_of_episodes_that_end_refused() -> None:
    def ending(b: Any, i: Any, t: Any, k: Any) -> Any:
        wb.until(wb.uniform(over=(b, i, t)) < 0.5, over=t)
        return held(b, i, t).sample(k)["number"]

    assert refused(ending).startswith(
        "replay is over b, i, t, and episodes along t end (wb.until): a sample may be of a step "
        "that is not executed"
    )


def test_read_ahead_of_what_is_written_refused_with_the_instance() -> None:
    message = refused(lambda b, i, t, k: held(b, i, t).sample(k, until=(i + 2, 0))["number"])
    assert "replay.number" in message and "i=" in message


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            lambda b, i, t, k: held(b, i, t, capacity=9).sample(k)["x"],
            "Held = 9 // (B * T): 9 does not divide by 8 (B=2, T=4)",
        ),
        (
            lambda b, i, t, k: held(b, i, t, capacity=0),
            "Replay of capacity 0; expected a size, or a number from 1 on",
        ),
        (
            lambda b, i, t, k: held(b, i, t, fields={"x": float}),
            "field x is <class 'float'>; expected a dtype and an inner shape, like (float, ())",
        ),
        (
            lambda b, i, t, k: rl.Replay(8, FIELDS, over=i),
            "Replay over i; expected the dims of environments, updates and steps, (b, i, t), or "
            "(b, i)",
        ),
        (
            lambda b, i, t, k: held(b, i, t).sample(t),
            "a sample over t; expected a dim that counts samples, none of b, i, t",
        ),
        (
            lambda b, i, t, k: held(b, i, t).sample(5),
            "a sample over 5; expected the dim that counts the samples",
        ),
        (
            lambda b, i, t, k: held(b, i, t).sample(k, until=i + 1),
            "a sample until i + 1; expected index expressions of an update and its step, like "
            "(i, t + 1)",
        ),
        (
            lambda b, i, t, k: held(b, i, t).sample(k)["y"],
            "replay has no field 'y': the fields are x, number",
        ),
        (
            lambda b, i, t, k: rl.Replay(8, FIELDS, over=(b, i, t)).write(x=0.0),
            "replay is written without number",
        ),
        (
            lambda b, i, t, k: rl.Replay(8, FIELDS, over=(b, i, t)).write(x=0.0, numbr=1),
            "replay has no field 'numbr': did you mean number? (fields: x, number)",
        ),
        (lambda b, i, t, k: held(b, i, t).write(x=0.0, number=1), "replay is written already"),
        (
            lambda b, i, t, k: [held(b, i, t), held(b, i, t)],
            "there is already a replay 'replay' with a field 'x'; name= tells two apart",
        ),
        (
            lambda b, i, t, k: rl.n_step_sample(held(b, i, t).sample(k), 2, 0.9),
            "n-step sample of a replay without reward, following, terminated, done; its fields: x, "
            "number",
        ),
        (
            lambda b, i, t, k: rl.n_step_sample(held(b, i, t).sample(k), 0, 0.9),
            "n-step sample with n = 0; expected n of at least 1",
        ),
    ],
)
def test_what_is_no_replay_is_refused(body: Any, said: str) -> None:
    assert refused(body) == said
