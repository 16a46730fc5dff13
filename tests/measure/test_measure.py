"""`wb.measure`: what a measurement holds, and when there are no times."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.measure.checking.test_check import broken
from tests.measure.rounds.made import measurement
from tests.programs import leaky_sum, small_reinforce
from workbench.backends.numpy import NumPyBackend
from workbench.errors import SizeError, UnavailableError, WorkbenchError
from workbench.measure.measure import measure
from workbench.measure.rounds import process
from workbench.measure.rounds.measurement import from_json
from workbench.processor import processor
from workbench.transforms import Vectorize


def test_measurement_holds_samples_memory_and_what_repeats_it() -> None:
    root = wb.variant(leaky_sum())
    variant = root.apply(Vectorize("b"))
    found = measure(variant, sizes={"B": 5}, seed=3, repeats=4, progress=False, backend="numpy")
    assert found.checked is True
    assert (len(found.samples), found.measured) == (4, True)
    assert min(found.samples) <= found.interval[0] <= found.median <= found.interval[1]
    assert found.compile_seconds > 0
    assert (found.sizes, found.seed, found.dtype) == ({"B": 5, "T": 5}, 3, "float32")
    assert (found.key, found.label) == (variant.key, "Vectorize('b')")
    assert found.steps == tuple(variant.to_json())
    assert found.device == processor()
    assert {"python", "numpy", "islpy"} <= set(found.versions)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", found.date)


def test_memory_is_what_the_backend_tracked_at_the_measured_sizes() -> None:
    variant = wb.optimize(wb.variant(small_reinforce()), backend="numpy")
    sizes = {"B": 4, "T": 6}
    found = measure(variant, sizes=sizes, repeats=1, progress=False, backend="numpy")
    run = NumPyBackend().compile(variant.program).run(sizes)
    assert found.peak_bytes["device"] == run.peak_bytes == max(p.bytes for p in found.timeline)
    assert found.process_peak_bytes is None or found.process_peak_bytes > found.peak_bytes["device"]


def test_program_is_measured_under_the_automatic_recipe() -> None:
    program = leaky_sum()
    found = measure(program, repeats=1, progress=False, backend="numpy")
    assert found.key == wb.optimize(wb.variant(program), backend="numpy").key


def test_variant_that_is_wrong_has_no_times() -> None:
    found = measure(
        broken(leaky_sum(), "multiply", "add"), repeats=3, progress=False, backend="numpy"
    )
    assert found.checked is False
    assert (found.samples, found.peak_bytes, found.timeline) == ((), {}, ())
    assert math.isnan(found.median)
    assert found.status.startswith("FAILED: s[")
    assert "does not agree with the reference" in str(found)
    assert " ms (" not in str(found)


def test_measurement_survives_json() -> None:
    found = measure(leaky_sum(), repeats=2, progress=False, backend="numpy")
    text = json.dumps(found.to_json(), allow_nan=False)
    assert from_json(json.loads(text)) == found


def test_timeline_survives_json_with_the_arrays_at_each_point() -> None:
    found = measurement(0.1)
    assert from_json(json.loads(json.dumps(found.to_json()))).timeline == found.timeline


def test_repeats_are_chosen_by_the_time_of_a_run() -> None:
    assert len(measure(leaky_sum(), warmup=1, progress=False, backend="numpy").samples) == 30


def test_progress_tells_what_is_done() -> None:
    seen: list[tuple[str, int, int]] = []
    measure(leaky_sum(), repeats=2, progress=lambda *said: seen.append(said), backend="numpy")
    assert seen == [
        ("compiling and checking", 0, 1),
        ("warming up", 0, 1),
        ("measuring", 0, 2),
        ("measuring", 1, 2),
        ("measured", 2, 2),
    ]


def test_progress_is_shown_unless_told_not_to(capsys: pytest.CaptureFixture[str]) -> None:
    measure(leaky_sum(), repeats=1, backend="numpy")
    assert "leaky_sum on numpy: " in capsys.readouterr().err
    measure(leaky_sum(), repeats=1, progress=False, backend="numpy")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"repeats": 0}, "repeats 0; expected an integer from 1 on"),
        ({"repeats": 2.5}, "repeats 2.5; expected an integer from 1 on"),
        ({"warmup": -1}, "warmup -1; expected an integer from 0 on"),
        ({"seed": True}, "seed True; expected a whole number from 0 to 2**32 - 1"),
        ({"dtype": "float16"}, 'dtype \'float16\'; expected "float32" or "float64"'),
    ],
)
def test_options_that_are_not_what_they_should_be(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(WorkbenchError) as refused:
        measure(leaky_sum(), "numpy", progress=False, **given)
    assert refused.value.message == sentence


def test_unknown_size_backend_and_subject_are_refused() -> None:
    with pytest.raises(SizeError, match="unknown size 'Q'"):
        measure(leaky_sum(), sizes={"Q": 1}, progress=False, backend="numpy")
    with pytest.raises(UnavailableError, match="did you mean numpy"):
        measure(leaky_sum(), "nunpy", progress=False)
    with pytest.raises(WorkbenchError, match="expected a program, found 5"):
        measure(5, progress=False, backend="numpy")  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [3, ["numpy", "native"], float])
def test_backend_that_is_no_name_is_refused_everywhere_in_one_sentence(given: Any) -> None:
    variant = wb.variant(leaky_sum())
    asked: list[Callable[[], object]] = [
        lambda: wb.run(variant, given, progress=False),
        lambda: measure(variant, given, progress=False),
        lambda: wb.compare([variant], given, progress=False),
        lambda: variant.predict(backend=given),
        lambda: wb.optimize(variant, backend=given),
    ]
    for ask in asked:
        with pytest.raises(WorkbenchError) as refused:
            ask()
        expected = f"backend {given!r}; expected a name (sizes are given by sizes=)"
        assert refused.value.message == expected


@pytest.mark.parametrize("given", [float, None, ["float32"], np.float64])
def test_dtype_that_is_no_name_is_refused_everywhere_in_one_sentence(given: Any) -> None:
    variant = wb.variant(leaky_sum())
    asked: list[Callable[[], object]] = [
        lambda: wb.run(variant, dtype=given, progress=False, backend="numpy"),
        lambda: measure(variant, dtype=given, progress=False, backend="numpy"),
        lambda: wb.compare([variant], dtype=given, progress=False, backend="numpy"),
        lambda: variant.kernels("native", dtype=given),
        lambda: variant.predict(dtype=given, backend="numpy"),
        lambda: wb.optimize(variant, dtype=given, backend="numpy"),
    ]
    for ask in asked:
        with pytest.raises(WorkbenchError) as refused:
            ask()
        assert refused.value.message == f'dtype {given!r}; expected "float32" or "float64"'


def test_peak_of_the_process_is_that_since_it_was_forgotten() -> None:
    if not process.FORGET.exists():
        pytest.skip("only Linux can forget a process's peak")
    held = bytearray(b"x") * 50_000_000
    high = process.peak_bytes()
    del held
    process.forget_peak()
    low = process.peak_bytes()
    assert high is not None and low is not None
    assert high - low > 40_000_000


def test_without_the_system_s_files_the_peak_is_that_of_the_whole_life(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    for name in ("STATUS", "FORGET"):
        monkeypatch.setattr(process, name, tmp_path / "no" / name)
    process.forget_peak()
    found = process.peak_bytes()
    assert found is None or found > 1_000_000
