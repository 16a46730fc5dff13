"""Lengths of episodes in a workbench: those of the last run, or expected ones, in predictions."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.session.shown import VECTORIZE, Shown
from tests.soundness.ended import stopped
from workbench.session.protocol.messages import Done, Failed, Saved
from workbench.session.protocol.state import EndView
from workbench.session.requests.sessions import Sessions

SIZES = {"B": 16, "T": 200}
ON: dict[str, Any] = {"sizes": SIZES, "backend": "numpy", "dtype": "float32"}
RUN = ON | {"type": "run", "seed": 3, "here": False}


@pytest.fixture
def ending(sessions: Sessions, tmp_path: Path) -> Shown:
    return Shown(sessions, tmp_path, stopped())


def test_predictions_take_the_lengths_of_a_run_or_expected_ones(ending: Shown) -> None:
    view, root = ending.view, wb.variant(stopped())
    assert ending.session.state().ends == (EndView("t", "T"),)

    def seconds(**lengths: Any) -> float:
        found = view.want("cost", ending.root, **ON, **lengths)
        assert not isinstance(found, Failed), found
        assert ("episodes along t" in found["assumed"]) == bool(lengths)
        return float(found["seconds"])

    whole = seconds()
    assert isinstance(view.ask(**RUN, variant=ending.root), Done)
    (run,) = view.state(lambda s: any(r.lengths for r in s.runs)).runs
    result = wb.run(root, "numpy", sizes=SIZES, seed=3, progress=False)
    assert run.lengths == {"t": float(result.lengths["t"].mean())}
    measured = seconds(lengths={"t": run.id})
    assert measured == root.predict(SIZES, "numpy", lengths=result.lengths).seconds
    assert run.lengths["t"] < 10 and measured < whole / 5
    assert seconds(lengths={"t": 100}) == root.predict(SIZES, "numpy", lengths={"t": 100}).seconds
    assert ending.session.values.typical == {"t": run.id}
    shown_first = {"sizes": {}, "dtype": "float32", "backend": "numpy", "lengths": {"t": run.id}}
    until = time.monotonic() + 60
    while shown_first not in [p.arguments for p in ending.session.capsule().parts]:
        assert time.monotonic() < until, "nobody has to ask for what views begin with"
        time.sleep(0.05)


def test_a_price_a_sweep_and_a_search_take_them_too(ending: Shown) -> None:
    view, root = ending.view, wb.variant(stopped())
    lengths = {"t": 50}
    price = view.want("price", ending.root, step=VECTORIZE, **ON, lengths=lengths)
    after = root.apply(wb.transforms.Vectorize("b"))
    assert price["seconds"] == after.predict(SIZES, "numpy", lengths=lengths).seconds
    points = view.want("sweep", ending.root, size="T", **ON, lengths=lengths)["points"]
    for point in points:  # at fewer steps than 50 none is left out
        most = {"t": min(50, point["value"])}
        sizes = SIZES | {"T": point["value"]}
        assert point["seconds"] == root.predict(sizes, "numpy", lengths=most).seconds
    assert points[0]["value"] < 50
    search = {"type": "optimize", "objective": "time", "capacity": None, "variant": ending.root}
    done = view.ask(**search, **ON, lengths={"t": 3})
    assert isinstance(done, Done)
    best = wb.optimize(root, sizes=SIZES, backend="numpy", lengths={"t": 3})
    assert done.variant == best.key


def test_a_measurement_and_a_report_take_them_too(
    ending: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    view, root = ending.view, wb.variant(stopped())
    lengths, pace = {"t": 3}, {"repeats": 2, "pace": 2.0}
    short = root.predict(SIZES, "numpy", lengths=lengths)
    runs = view.want("runs", ending.root, **ON, **pace, lengths=lengths)
    assert runs["run"] == pytest.approx(2 * short.seconds)
    whole = view.want("runs", ending.root, **ON, **pace)
    assert whole["run"] == pytest.approx(2 * root.predict(SIZES, "numpy").seconds)
    step = view.ask(type="apply", variant=ending.root, step=VECTORIZE)
    assert isinstance(step, Done), step
    asked = {"before": ending.root, "variant": step.variant, "notes": "", "lengths": lengths}
    page = view.ask(type="report", **ON, **asked)
    assert isinstance(page, Saved), page
    assert "at B=16, T=200; episodes along t of 3 steps in all lanes." in page.text


def test_what_no_run_has_is_refused(ending: Shown) -> None:
    for lengths, said in (
        ({"t": 201}, "lengths of 't': 201; an episode has between 1 and T=200 steps"),
        ({"b": 2}, "lengths of 'b': no episodes end along it; they end along t"),
        ({"t": "gone"}, "there is no run any more that found lengths of t: gone"),
    ):
        failed = ending.view.want("cost", ending.root, **ON, lengths=lengths)
        assert isinstance(failed, Failed) and said in failed.error.sentence
