"""`wb.Workbench` and `wb.watch` outside of Jupyter: the same object, seen by nobody."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import workbench as wb
from tests.programs import leaky_sum, returns
from workbench.errors import WorkbenchError
from workbench.session.jupyter import notebook
from workbench.session.requests.watched_template import argument_views, bound

VECTORIZE = wb.transforms.Vectorize("b")


@pytest.fixture
def bench(lasting: None, tmp_path: Path) -> Iterator[wb.Workbench]:
    notebook.notebook.cache_clear()
    yield wb.Workbench(leaky_sum(), tmp_path / "measured.jsonl")
    notebook.notebook().close()
    notebook.notebook.cache_clear()


def until(found: Callable[[], object]) -> None:
    end = time.monotonic() + 120
    while not found():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def test_steps_are_taken_undone_named_and_shown(bench: wb.Workbench) -> None:
    made = bench.apply(VECTORIZE)
    assert bench.variant is made
    bench.rename(made, "fast")
    assert bench.undo() == wb.variant(leaky_sum())
    assert bench.names == {"fast": made}
    with pytest.raises(WorkbenchError, match=r"the variant with Vec.* is named 'fast' already"):
        bench.rename(bench.variant, "fast")
    assert bench.show("fast") is made
    assert [v.step for v in bench.variants] == [None, VECTORIZE]
    assert repr(bench) == "<workbench of leaky_sum: 2 variants, shown: Vectorize('b')>"


def test_what_cannot_be_shown_is_refused(bench: wb.Workbench) -> None:
    with pytest.raises(WorkbenchError, match="no step to undo: this is the program as written"):
        bench.undo()
    with pytest.raises(WorkbenchError, match="no variant is named 'fast'; named are none"):
        bench.show("fast")
    with pytest.raises(WorkbenchError, match="another program does not belong"):
        bench.show(wb.variant(returns()))
    with pytest.raises(wb.Refused):
        bench.apply(wb.transforms.Simplify())
    with pytest.raises(WorkbenchError, match="expected a program, found 3"):
        wb.Workbench(3)  # type: ignore[arg-type]
    with pytest.raises(WorkbenchError, match=r"decorated with @wb\.program, found 3"):
        wb.watch(3)  # type: ignore[arg-type]
    for made in (leaky_sum(), bench.variant):
        with pytest.raises(WorkbenchError, match=r"the template `leaky_sum`, not `leaky_sum\(\)`$"):
            wb.watch(made)  # type: ignore[arg-type]
    with pytest.raises(WorkbenchError, match="leaky_sum has no argument 'X'"):
        wb.watch(leaky_sum, X=3)


def test_variants_are_measured_in_a_process_of_their_own(bench: wb.Workbench) -> None:
    bench.apply(VECTORIZE)
    found = bench.measure(repeats=2)
    assert [row.name for row in found] == ["as written", "Vectorize('b')"]
    (first, second) = bench._session.state().measurements
    assert (first.variant, second.variant) == tuple(v.key for v in bench.variants)
    with pytest.raises(WorkbenchError, match="unknown backend 'numbers'"):
        bench.measure(backend="numbers")


def test_names_of_python_are_those_of_the_tree_and_of_results(bench: wb.Workbench) -> None:
    root = bench.variant
    fast = root.apply(VECTORIZE)
    found = bench.measure({"loops": root, "fast": fast}, repeats=2)
    assert [row.name for row in found] == ["loops", "fast"] == list(found.named)
    assert bench.names == {"loops": root, "fast": fast}
    again = wb.Workbench({"axes": fast, "as I wrote it": wb.variant(leaky_sum())})
    assert again.names == {"axes": fast, "as I wrote it": root}
    assert again.variant == root
    for wrong, said in [({}, r"found \[\]"), ({3: fast}, r"found \[3\]"), ({" ": fast}, "found")]:
        with pytest.raises(WorkbenchError, match=f"expected variants by their names, {said}"):
            wb.Workbench(wrong)
    with pytest.raises(WorkbenchError, match="of one program, but these are of leaky_sum, returns"):
        wb.Workbench({"a": fast, "b": returns()})


def test_a_variant_is_profiled_in_a_process_of_its_own(bench: wb.Workbench) -> None:
    made = bench.variant.apply(VECTORIZE)
    found = bench.profile(made, "numpy", sizes={"T": 4})
    assert bench.variant == made  # it joined the tree
    assert (found.variant.key, found.backend, found.sizes["T"]) == (made.key, "numpy", 4)
    assert found.by("statement").rows
    (view,) = bench._session.state().profiles
    assert (view.variant, view.seconds) == (made.key, found.seconds)
    with pytest.raises(WorkbenchError, match="not profiled, since a run is predicted to take"):
        bench.profile(bench.variants[0], "numpy", sizes={"B": 10**6, "T": 10**6})
    with pytest.raises(WorkbenchError, match="unknown size 'Q'"):
        bench.profile(backend="numpy", sizes={"Q": 3})


def test_a_variant_is_run_in_a_process_of_its_own(bench: wb.Workbench) -> None:
    with pytest.raises(WorkbenchError, match="nothing was run in this workbench yet"):
        _ = bench.result
    made = bench.variant.apply(VECTORIZE)
    found = bench.run(made, "numpy", sizes={"T": 4}, seed=2)
    assert bench.variant == made  # it joined the tree
    assert found is bench.result
    expected = wb.run(made, "numpy", sizes={"T": 4}, seed=2, progress=False)
    assert np.array_equal(found["s"], expected["s"])
    assert found.dims == expected.dims
    here = bench.run(made, "numpy", sizes={"T": 4}, seed=2, here=True)
    assert np.array_equal(here["s"], expected["s"])
    (view,) = bench._session.state().runs  # the same run counts once
    assert (view.variant, view.completed) == (made.key, found.completed)
    with pytest.raises(WorkbenchError, match="unknown backend 'gpu'"):
        bench.run(backend="gpu")
    assert bench.result is here


def test_what_is_saved_is_loaded_and_exported(bench: wb.Workbench, tmp_path: Path) -> None:
    made = bench.apply(VECTORIZE)
    bench.rename(made, "fast")
    bench.save(tmp_path / "state.json")
    bench.export(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    bench._session.change(lambda v: v)  # nothing new: no revision
    notebook.notebook().sessions.forget("leaky_sum")
    other = wb.Workbench(leaky_sum(), tmp_path / "measured.jsonl")
    other.load(tmp_path / "state.json")
    until(lambda: other.names)
    assert other.names["fast"] == made
    with pytest.raises(WorkbenchError, match="cannot be read"):
        other.load(tmp_path / "nowhere.json")
    with pytest.raises(WorkbenchError, match="cannot be written"):
        other.save(tmp_path / "no" / "folder")


def test_a_report_has_the_names_of_the_workbench(bench: wb.Workbench, tmp_path: Path) -> None:
    made = bench.apply(VECTORIZE)
    bench.rename(made, "fast")
    bench.apply(wb.transforms.Contract("x"))
    bench.report(tmp_path / "page.html", before="fast", notes="Mine.", backend="numpy")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "beside fast</h1>" in text
    assert "<h2>Recipe: 1 step</h2>" in text
    assert "<p>Mine.</p>" in text
    with pytest.raises(WorkbenchError, match="no variant is named 'slow'; named are fast"):
        bench.report(tmp_path / "page.html", before="slow")


def test_a_watched_template_follows_its_arguments(bench: wb.Workbench) -> None:
    watched = wb.watch(returns, T=5)
    assert watched.arguments == {"B": 3, "T": 5, "gamma": 0.9}
    before = watched.variant.key
    watched.set(gamma=0.5)
    until(lambda: watched.variant.key != before)
    assert watched.variant == wb.variant(returns(T=5, gamma=0.5))


@wb.program
def chosen(
    T: int = 3, kind: Literal["sum", "mean"] = "sum", hidden: Any = (4, 4)
) -> dict[str, Any]:
    """An argument that is one of two."""
    x = wb.normal(over=wb.dim(t=T))
    t = wb.dim(t=T)
    return {"all": x.sum(over=t) if kind == "sum" else x.mean(over=t)}


def test_the_choices_of_an_argument_are_told() -> None:
    views = argument_views(chosen, bound(chosen, {"kind": "mean"}))
    assert [(v.name, v.kind, v.value, v.choices) for v in views] == [
        ("T", "size", 3, ()),
        ("kind", "text", "mean", ("sum", "mean")),
        ("hidden", "other", [4, 4], ()),
    ]
