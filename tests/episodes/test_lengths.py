"""Predictions of episodes that end, against the steps that runs execute."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.episodes.rolled import Kind, walk
from workbench.errors import ProgramError
from workbench.measure.rounds import expected
from workbench.measure.rounds.affordable import affordable
from workbench.planning.cost.counted import counted
from workbench.planning.cost.lengths import lengths_of
from workbench.planning.cost.prediction import predict
from workbench.planning.machine.defaults import DEFAULTS
from workbench.program.sizes import resolve
from workbench.transforms import Contract, Persist, Vectorize

TILE, SIZES = 4, {"B": 8, "I": 3, "T": 60}
STEP = "x[t+1]"


@wb.program
def walked(B: int = 8, I: int = 3, T: int = 60) -> dict[str, Any]:
    """A walk that ends by a draw."""
    b, i, t = wb.dims(b=B, i=I, t=T)
    x = wb.recurrent("x", (), over=(b, i, t))
    noise = wb.normal(over=(b, i, t))
    x[b, i, 0] = 0.5
    x[b, i, t + 1] = wb.sin(x) + noise
    wb.until(noise > 1.0, over=t)
    return {"sum": (x * x).sum(over=t)}


def blocks() -> wb.Variant:
    """The walk in blocks of `TILE` episodes."""
    return wb.variant(walked()).apply(Persist("b", TILE))


def whole() -> wb.Variant:
    """The walk with an axis over all episodes."""
    return wb.variant(walked()).replay([Vectorize("b"), Contract()])


WAYS = {"native": (blocks, TILE), "numpy": (whole, SIZES["B"])}
BACKENDS = [name for name in WAYS if wb.backends()[name] is None]


@pytest.mark.parametrize("backend", BACKENDS)
def test_prediction_counts_the_steps_that_a_run_executes(backend: str) -> None:
    made, tile = WAYS[backend]
    chosen, many = made(), SIZES["B"] // tile * SIZES["I"] * SIZES["T"]
    before = chosen.predict(SIZES, backend, threads=1)
    lengths = wb.run(chosen, backend, sizes=SIZES, progress=False).lengths
    groups = lengths["t"].reshape(SIZES["B"] // tile, tile, SIZES["I"])
    executed = int(groups.max(axis=1).sum())
    assert executed < 0.9 * many
    after = chosen.predict(SIZES, backend, threads=1)
    given = chosen.predict(SIZES, backend, threads=1, lengths=lengths)
    mean = executed * SIZES["T"] / many
    averaged = chosen.predict(SIZES, backend, threads=1, lengths={"t": mean})
    if backend == "numpy":  # of compiled kernels see `test_reinforced`
        rows = wb.profile(chosen, backend, sizes=SIZES, progress=False).by("statement")
        assert next(row.calls for row in rows if row.name == STEP) == executed
    all_steps = before.by_statement[STEP]
    assert all_steps.operations > 0
    for found in (after, given, averaged):
        share = found.by_statement[STEP]
        assert share.operations * many == all_steps.operations * executed
        assert share.launches * many == all_steps.launches * executed
    assert after.seconds == given.seconds < before.seconds
    assert after.peak_bytes == before.peak_bytes, "memory is held for all steps"
    assert "episodes along t" in after.assumed and not before.assumed
    assert f"of {mean:.3g} steps in all lanes" in str(averaged)


def test_lengths_that_were_found_are_those_of_the_last_run() -> None:
    chosen, other = whole(), whole()
    sizes = {"B": 2, "I": 1, "T": 60}
    for seed in (0, 1):
        found = wb.run(chosen, "numpy", sizes=sizes, seed=seed, progress=False).lengths
    assert chosen.predict(sizes, "numpy") == other.predict(sizes, "numpy", lengths=found)
    short = chosen.predict({**sizes, "T": 5}, "numpy")
    assert short.seconds == other.predict({**sizes, "T": 5}, "numpy").seconds, "all are longer"


def test_recipe_for_short_episodes_runs_no_longer() -> None:
    root = wb.variant(walked())
    sizes, lengths = {"B": 8, "I": 4, "T": 200}, {"t": 6}
    ways = [wb.optimize(root, sizes=sizes, backend="numpy", lengths=x) for x in (None, lengths)]
    usual, short = (way.predict(sizes, "numpy", lengths=lengths).seconds for way in ways)
    assert short <= usual < ways[0].predict(sizes, "numpy").seconds


REFUSED = {
    "unknown": ({"s": 3}, "lengths of 's': unknown dim; the only one is t"),
    "no_end": ({"b": 3}, "lengths of 'b': no episodes end along it; they end along t"),
    "more": ({"t": 8}, "lengths of 't': 8; an episode has between 1 and T=7 steps"),
    "negative": ({"t": -2}, "lengths of 't': -2; an episode has between 1 and T=7 steps"),
    "one_of_many": ({"t": np.array([[3, 2], [1, 0]])}, "lengths of 't': 0; an episode has between"),
    "not_a_number": ({"t": float("nan")}, "lengths of 't': nan; an episode has between 1 and T=7"),
    "text": (
        {"t": "40"},
        "lengths of 't': '40'; expected a number of steps, or an array of them over b, i",
    ),
    "axes": ({"t": np.ones(3)}, "an array of float64 of shape (3,); expected a number of steps"),
}


@pytest.mark.parametrize("lengths, sentence", REFUSED.values(), ids=REFUSED)
def test_lengths_refused(lengths: Any, sentence: str) -> None:
    root = wb.variant(walk(Kind(1.0, 1.0, 0.1, 1e9, 9))())
    with pytest.raises(ProgramError, match=re.escape(sentence)):
        root.predict(backend="numpy", lengths=lengths)
    with pytest.raises(ProgramError, match=re.escape(sentence)):
        wb.optimize(root, backend="numpy", lengths=lengths)


def test_lengths_refused_where_no_episode_ends() -> None:
    @wb.program
    def endless(T: int = 4) -> dict[str, Any]:
        t = wb.dims(t=T)
        return {"x": wb.uniform(over=t).sum(over=t)}

    with pytest.raises(ProgramError, match=r"lengths of 't': no episodes end along it; the prog"):
        wb.variant(endless()).predict(backend="numpy", lengths={"t": 2})


QUICK: dict[str, Any] = {"sizes": SIZES, "repeats": 1, "progress": False}


def test_measurement_is_predicted_with_the_episodes_of_its_runs() -> None:
    chosen, other = whole(), whole()
    lengths = wb.run(other, "numpy", sizes=SIZES, progress=False).lengths
    said = other.predict(SIZES, "numpy")  # before: what is measured first corrects it
    found = wb.measure(chosen, "numpy", **QUICK)
    assert found.predicted is not None
    assert found.predicted.seconds == said.seconds < whole().predict(SIZES, "numpy").seconds
    assert np.array_equal(chosen.lengths["t"], lengths["t"]), "they are kept"


def test_what_takes_too_long_is_told_by_the_lengths(monkeypatch: pytest.MonkeyPatch) -> None:
    root, known = wb.variant(walked()), {"t": 3}
    monkeypatch.setattr(expected, "LIMIT", 0.0)
    for lengths in (None, known):
        for found in (
            wb.measure(root, "numpy", **QUICK, lengths=lengths),
            *wb.compare([root], "numpy", **QUICK, lengths=lengths).measurements,
        ):
            assert found.too_slow and found.predicted is not None
            assert found.predicted.seconds == root.predict(SIZES, "numpy", lengths=lengths).seconds
    said = wb.measure(root, "numpy", **QUICK, lengths=known).predicted
    assert said is not None
    monkeypatch.setattr(expected, "LIMIT", 1e6)
    whole_run = root.predict(SIZES, "numpy").seconds
    assert not wb.measure(root, "numpy", **QUICK, lengths=known).too_slow
    assert said.seconds < whole_run / 3
    with pytest.raises(ProgramError, match="lengths of 't': 61; an episode has between 1 and T=60"):
        wb.measure(root, "numpy", **QUICK, lengths={"t": 61})


def test_smaller_sizes_are_found_with_the_lengths() -> None:
    program, first_cut = walked(), SIZES | {"T": 50}
    expectation = expected.Expectation(program, "numpy", "float32", 1)
    least = expectation.at(first_cut, {"t": 3})
    assert least is not None
    asked = expectation, program, SIZES, int(expected.LIMIT / 2 / least.seconds), 1.0
    assert affordable(*asked, {"t": 3}) == first_cut
    all_steps = affordable(*asked)
    assert all_steps is not None and all_steps["T"] <= 10


def test_profile_is_predicted_with_the_episodes_of_its_runs() -> None:
    chosen = whole()
    lengths = wb.run(whole(), "numpy", sizes=SIZES, progress=False).lengths
    found = wb.profile(chosen, "numpy", sizes=SIZES, progress=False)
    said = whole().predict(SIZES, "numpy", threads=1, lengths=lengths)
    assert sum(found.predicted.values()) == pytest.approx(said.seconds, rel=1e-12)


def test_barriers_of_a_gpu_are_those_of_steps_that_are_open() -> None:
    program, made = walked(), counted(blocks().program, "cuda")
    slow = replace(DEFAULTS["cuda"], call=dict(DEFAULTS["cuda"].call) | {"barrier": 1.0})
    sizes = resolve(program.equations, {"B": 8, "I": 1, "T": 4000})

    def waited(**known: float) -> float:
        lengths = lengths_of(known, program.equations, sizes)
        return predict(made, sizes, slow, lengths=lengths).seconds

    everything = waited()
    assert waited(t=4000) == pytest.approx(everything)
    assert 0.09 < waited(t=400) / everything < 0.2
