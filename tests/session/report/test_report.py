"""`wb.report`, and reports that views ask for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import workbench as wb
from tests.session.report.test_facts import FAST, ROOT
from tests.session.shown import CONTRACT, VECTORIZE, Shown
from workbench.algorithms import ppo
from workbench.errors import WorkbenchError
from workbench.session.protocol.messages import Done, Failed, Saved


def test_a_report_is_written_of_what_was_compared(tmp_path: Path) -> None:
    measured = wb.compare({"plain": ROOT, "quick": FAST}, "numpy", repeats=2, progress=False)
    wb.report(FAST, tmp_path / "page.html", measured=measured, notes="As expected.")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "quick, beside plain" in text
    assert "<p>As expected.</p>" in text
    assert "Measured in turn" in text
    assert "agrees with the reference" in text


def test_a_report_is_written_of_what_the_store_holds(tmp_path: Path) -> None:
    wb.report(FAST, tmp_path / "page.html", backend="numpy")
    assert "Nothing was measured." in (tmp_path / "page.html").read_text(encoding="utf-8")
    wb.store().append(wb.compare([ROOT, FAST], "numpy", repeats=1, progress=False))
    wb.report(FAST, tmp_path / "page.html")
    assert "recorded, read from" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_report_refused_when_it_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(WorkbenchError, match="cannot be written"):
        wb.report(FAST, tmp_path / "no" / "page.html", backend="numpy")


def test_a_report_of_ppo_is_small_and_soon_written(tmp_path: Path) -> None:
    variant = wb.variant(ppo()).apply(wb.transforms.Vectorize("b"))
    begun = os.times()
    wb.report(variant, tmp_path / "page.html", backend="numpy")
    spent = [now - then for now, then in zip(os.times()[:4], begun[:4], strict=True)]
    assert sum(spent) <= 5.0  # seconds of this process and of Graphviz'
    assert (tmp_path / "page.html").stat().st_size <= 2_000_000


REPORT = {
    "type": "report",
    "notes": "",
    "backend": "numpy",
    "sizes": {},
    "lengths": {},
    "dtype": "float32",
}


def test_a_view_asks_for_a_report(shown: Shown) -> None:
    key = shown.apply(shown.root, VECTORIZE)
    shown.session.rename(key, "quick")
    saved = shown.view.ask(**REPORT | {"notes": "Mine."}, variant=key, before=shown.root)
    assert isinstance(saved, Saved)
    assert saved.name == f"leaky_sum-{key[:8]}-report.html"
    assert "quick, beside as written" in saved.text
    assert "<p>Mine.</p>" in saved.text


def test_a_report_that_a_view_asks_for_is_refused_with_the_reason(shown: Shown) -> None:
    same = shown.view.ask(**REPORT, variant=shown.root, before=shown.root)
    assert isinstance(same, Failed)
    assert "both are as written" in same.error.sentence
    gone = shown.view.ask(**REPORT, variant="0" * 64, before=shown.root)
    assert isinstance(gone, Failed)
    assert "there is no variant 00000000" in gone.error.sentence


def test_the_steps_of_a_link_are_taken(shown: Shown) -> None:
    done = shown.view.ask(type="follow", steps=[VECTORIZE, CONTRACT])
    assert isinstance(done, Done)
    state = shown.view.state(lambda s: s.current == done.variant)
    assert [v.step.text for v in state.variants if v.step] == ["Vectorize('b')", "Contract('x')"]


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        ({"transform": "Contract", "arguments": {"array": "nowhere"}}, "nowhere"),
        ({"transform": "__import__", "arguments": {"name": "os"}}, "__import__"),
        ({"transform": "Vectorize", "arguments": {"dim": "q"}}, "q"),
        ({}, "transform"),
    ],
)
def test_a_link_refused_when_a_step_does_not_fit(
    shown: Shown, step: dict[str, object], sentence: str
) -> None:
    before = shown.session.tree
    failed = shown.view.ask(type="follow", steps=[VECTORIZE, step])
    assert isinstance(failed, Failed)
    assert "step 2 of 2 does not fit" in failed.error.sentence
    assert sentence in failed.error.sentence
    assert shown.session.tree == before  # all or none
