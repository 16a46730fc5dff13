"""`wb.profile`: what a profile holds and shows, on compiled C and on NumPy, and what is refused."""

from __future__ import annotations

import json
import math
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.native_runs import shared_cache
from tests.programs import leaky_sum
from workbench.algorithms import reinforce
from workbench.backends import get
from workbench.errors import SizeError, UnavailableError, WorkbenchError
from workbench.measure.profile import Profile
from workbench.measure.profiles import effort
from workbench.measure.profiles.effort import RunRequest, tried
from workbench.measure.profiles.parts import PYTHON
from workbench.transforms import Persist, Vectorize
from workbench.variants.variant import Variant

SIZES = {"B": 21, "I": 3, "T": 5}


def in_blocks() -> Variant:
    return wb.variant(reinforce(hidden=(20,))).apply(Persist("b", 16))


@pytest.fixture(scope="module")
def native() -> Profile:
    with shared_cache():
        return wb.profile(in_blocks(), "native", SIZES, progress=False)


@pytest.fixture(scope="module")
def numpy() -> Profile:
    return wb.profile(reinforce(hidden=(20,)), sizes=SIZES, progress=False, backend="numpy")


@pytest.fixture(params=["native", "numpy"])
def found(request: pytest.FixtureRequest) -> Profile:
    profile: Profile = request.getfixturevalue(request.param)
    return profile


# -- what it holds ---------------------------------------------------------------------------------


def test_all_kinds_of_rows_add_up_to_the_run(found: Profile) -> None:
    kinds = ["scope", "statement", *(["kernel"] if found.kernels else [])]
    for kind in kinds:
        rows = found.by(kind)
        assert math.isclose(sum(row.seconds for row in rows), found.seconds)
        assert math.isclose(sum(row.share for row in rows), 1.0)
        assert [row.seconds for row in rows] == sorted((r.seconds for r in rows), reverse=True)
    assert found.untimed_seconds > 0
    assert 0 < found.python_seconds < found.seconds


def test_an_algorithm_is_acting_learning_and_its_environment(found: Profile) -> None:
    scopes = {row.name for row in found.by("scope")}
    assert scopes == {"acting", "learning", "environment", "parameters", PYTHON}


def test_every_statement_has_a_row_that_says_what_it_computes(found: Profile) -> None:
    rows = {row.name: row for row in found.by("statement")}
    assert set(rows) == {PYTHON} | {s.name for s in found.variant.program.statements}
    steps = 21 * 3 * 5
    least = 2 * 4 * 20 * steps  # the products of the first layer, for all environment steps
    assert least <= rows["policy.hidden_1"].flops <= 2 * least
    assert rows["policy.hidden_1"].calls > 0


def test_kernels_are_those_of_the_variant_with_their_launches(native: Profile) -> None:
    known = {kernel.name: kernel for kernel in in_blocks().kernels()}
    rows = {row.name: row for row in native.by("kernel")}
    assert set(rows) == {PYTHON} | set(known)
    largest = max(known.values(), key=lambda kernel: len(kernel.statements))
    assert rows[largest.name].calls == SIZES["I"]
    assert not any(row.approximate for row in rows.values())
    inside = {part.statement for part in native.parts if part.kernel == largest.name}
    assert inside == set(largest.statements)


def test_a_kernel_of_several_statements_has_a_division(native: Profile) -> None:
    many = {k.name for k in in_blocks().kernels() if len(k.statements) > 1}
    divided = {k.name for k in native.kernels if k.division is not None}
    assert divided and divided <= many
    assert set(native.uncertain) <= divided
    assert any(row.approximate for row in native.by("statement"))


def test_shares_are_of_the_machines_peaks(native: Profile) -> None:
    assert native.peaks is not None
    for row in native.by("kernel"):
        done = row.flops_share * row.seconds * native.peaks.flops_per_second
        assert math.isclose(done, row.flops) or row.seconds == 0
        if row.bytes and row.seconds:
            assert math.isclose(row.bytes_share * row.seconds * row.bytes_peak, row.bytes)
            nearest = native.peaks.nearest_bytes_per_second
            assert native.peaks.farthest_bytes_per_second <= row.bytes_peak * (1 + 1e-9)
            assert row.bytes_peak <= nearest * (1 + 1e-9)


def test_a_variant_is_profiled_as_it_is_and_a_program_under_the_automatic_recipe(
    native: Profile, numpy: Profile
) -> None:
    assert native.variant.steps == in_blocks().steps
    automatic = wb.optimize(wb.variant(reinforce(hidden=(20,))), sizes=SIZES, backend="numpy")
    assert numpy.variant.key == automatic.key
    assert (numpy.backend, numpy.threads, numpy.sizes) == ("numpy", 1, SIZES)


def test_threads_are_timed_by_the_clock_and_divided_as_one_takes_it() -> None:
    with shared_cache():
        found = wb.profile(in_blocks(), "native", SIZES, threads=2, progress=False)
    assert found.threads == 2
    assert "on native, 2 threads:" in str(found)
    assert re.search(r" by one thread, and .* in the build that times ", str(found))


# -- what it shows ---------------------------------------------------------------------------------


def test_it_shows_how_its_parts_add_up_and_the_longest_rows(native: Profile) -> None:
    lines = str(native).splitlines()
    title = "reinforce on native, 1 thread: B=21, I=3, T=5, seed 0, float32; "
    assert lines[0].startswith(title)
    assert lines[1].startswith("kernels ") and "; untimed run " in lines[1]
    assert " of several statements: " in lines[2]
    heads = [line.split()[:3] for line in lines if " seconds " in line]
    assert heads == [[kind, "seconds", "share"] for kind in ("scope", "kernel", "statement")]
    assert "≈" in str(native)
    assert max(map(len, lines[3:])) <= 132


def test_rows_show_themselves_below_the_same_lines(native: Profile) -> None:
    rows = native.by("statement")
    lines = str(rows).splitlines()
    assert lines[0] == str(native).splitlines()[0]
    assert f"and {len(rows) - 20} more: " in lines[-1]
    html = rows._repr_html_()
    assert html.count("<tr>") == 21 and "<caption" in html
    assert html.count("<td ") == html.count("</td>")
    assert all("white-space:nowrap" in cell for cell in html.split("<td ")[1:])
    assert native._repr_html_().count("<table ") == 2


def test_numpy_has_statements_and_no_kernels(numpy: Profile) -> None:
    assert "statements " in str(numpy).splitlines()[1]
    assert "kernel" not in str(numpy)
    assert numpy._repr_html_().count("<table ") == 2


def test_frames_have_the_parts_and_the_rows(native: Profile) -> None:
    frame = native.frame()
    assert list(frame) == [
        "kernel", "entry", "statement", "scope", "seconds", "calls", "flops", "bytes",
        "uncertain",
    ]  # fmt: skip
    assert len(frame) == len(native.parts)
    assert frame["seconds"].is_monotonic_decreasing
    rows = native.by("scope").frame()
    assert rows.index.name == "scope"
    assert rows["seconds"].tolist() == [row.seconds for row in native.by("scope")]


def test_bars_are_of_the_longest_rows(native: Profile) -> None:
    (axes,) = native.plot().axes
    assert len(axes.patches) == 20
    widths = [patch.get_width() for patch in axes.patches]
    assert widths == sorted(widths, reverse=True)
    assert [text.get_text() for text in axes.get_legend().get_texts()]
    assert len(native.plot("scope").axes[0].patches) == 5


def test_a_trace_has_the_launches_of_kernels(native: Profile, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    native.trace(path)
    record = json.loads(path.read_text(encoding="utf-8"))
    events = [event for event in record["traceEvents"] if event["ph"] == "X"]
    launches = {kernel.name: kernel.launches for kernel in native.kernels}
    found: dict[str, int] = {}
    for event in events:
        found[event["name"]] = found.get(event["name"], 0) + 1
        assert {"pid", "tid", "ts", "dur"} <= set(event)
    assert found == launches
    assert {event["cat"] for event in events} <= {"acting", "learning", "environment", "parameters"}
    for event, following in pairwise(events):
        assert event["ts"] + event["dur"] <= following["ts"] + 1e-6
    about = record["otherData"]
    assert (about["program"], about["first"]) == ("reinforce", sum(launches.values()))


def test_a_trace_of_numpy_has_its_statements(numpy: Profile, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    numpy.trace(path)
    record = json.loads(path.read_text(encoding="utf-8"))
    events = [event for event in record["traceEvents"] if event["ph"] == "X"]
    assert {event["name"] for event in events} == {s.name for s in numpy.variant.program.statements}
    begins = [event["ts"] for event in events]
    assert begins == sorted(begins)


# -- what is refused -------------------------------------------------------------------------------


def test_rows_of_an_unknown_kind_are_refused(numpy: Profile) -> None:
    with pytest.raises(WorkbenchError, match=r"by\('scop'\): did you mean scope\?"):
        numpy.by("scop")
    with pytest.raises(WorkbenchError, match="numpy has no kernels; expected"):
        numpy.by("kernel")


def test_a_trace_without_a_folder_is_refused(native: Profile, tmp_path: Path) -> None:
    with pytest.raises(WorkbenchError, match=r"no trace: there is no folder .*nowhere"):
        native.trace(tmp_path / "nowhere" / "trace.json")


@pytest.mark.parametrize(
    ("given", "kind", "sentence"),
    [
        ({"dtype": "float16"}, WorkbenchError, "dtype 'float16'; expected"),
        ({"seed": -1}, WorkbenchError, "seed -1"),
        ({"backend": "gpu"}, UnavailableError, "unknown backend 'gpu': the name is 'cuda'"),
        ({"sizes": {"Q": 3}}, SizeError, "unknown size 'Q'"),
        ({"threads": 0}, WorkbenchError, "threads 0"),
    ],
)
def test_bad_arguments_are_refused(
    given: dict[str, Any], kind: type[WorkbenchError], sentence: str
) -> None:
    with pytest.raises(kind, match=sentence):
        wb.profile(leaky_sum(), **({"backend": "numpy"} | given))


def test_what_would_take_too_long_is_refused_with_its_time_and_what_helps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    variant = wb.variant(reinforce(hidden=(4,))).apply(Vectorize("b"))
    monkeypatch.setattr(effort, "TRIAL", 0.0)
    sizes = {"B": 3, "I": 50, "T": 4}
    request = RunRequest(sizes, 0, "float32", 1)
    ready = get("numpy").compile(variant.program)
    seconds = tried(ready, variant.program, request, force=True)
    monkeypatch.setattr(effort, "LIMIT", seconds)  # and of nine runs
    with pytest.raises(WorkbenchError) as error:
        tried(ready, variant.program, request, force=False)
    said = str(error.value)
    assert said.startswith("not profiled, since a run would take about ")
    assert ", and a profile, which is 9 runs, " in said
    assert "(predicted from 1 of 50 updates in " in said
    assert "sizes={'I': " in said and said.endswith("force=True profiles it all the same")


def test_what_is_too_long_to_be_tried_is_refused_as_predicted() -> None:
    with pytest.raises(WorkbenchError, match=r"a run is predicted to take .* force=True"):
        wb.profile(
            wb.variant(leaky_sum()), sizes={"B": 10**6, "T": 10**6}, progress=False, backend="numpy"
        )


def test_what_is_forced_is_profiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "LIMIT", 1e-9)
    found = wb.profile(
        leaky_sum(), sizes={"B": 3, "T": 4}, force=True, progress=False, backend="numpy"
    )
    assert found.seconds > 0
    with pytest.raises(WorkbenchError, match="not profiled"):
        wb.profile(leaky_sum(), sizes={"B": 3, "T": 4}, progress=False, backend="numpy")
