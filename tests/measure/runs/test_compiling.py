"""The seconds of compilation, a compiler's apart."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import workbench as wb
from tests.measure.rounds.made import measurement
from tests.native_runs import shared_cache
from workbench.backends import backends, get
from workbench.backends.protocol import CompilerWork
from workbench.measure.compare import comparison
from workbench.measure.rounds.measurement import from_json
from workbench.measure.rounds.tables import columns
from workbench.measure.runs.compiling import compile_text, compiled

pytestmark = pytest.mark.nothing_compiled


@wb.program
def doubled(B: int = 4) -> dict[str, Any]:
    b = wb.dim(b=B)
    return {"y": wb.normal(over=b) * 2.0}


@pytest.fixture
def native() -> None:
    """A C compiler, without which the test is skipped."""
    reason = backends()["native"]
    if reason is not None:
        pytest.skip(reason)


@pytest.mark.parametrize(
    ("seconds", "work", "text"),
    [
        (0.25, None, "compiled in 250 ms"),
        (3.0, CompilerWork(2.0, 5.5), "C generated in 1 s, compiled in 2 s (5.5 s of CPU)"),
        (0.5, CompilerWork(0.0, 0.0), "C generated in 500 ms, compiled before"),
    ],
)
def test_seconds_of_the_compiler_are_told_apart(
    seconds: float, work: CompilerWork | None, text: str
) -> None:
    assert compile_text(seconds, work) == text


def test_array_backends_have_no_compiler() -> None:
    ready, seconds, work = compiled(get("numpy"), doubled(), "float32")
    assert work is None and seconds > 0
    assert ready.run().completed == 4


@pytest.mark.usefixtures("native")
def test_compiler_works_once() -> None:
    works = [compiled(get("native"), doubled(), "float32")[1:] for _ in range(2)]
    (seconds, first), (again, second) = works
    assert first is not None and 0 < first.seconds < seconds and first.cpu_seconds > 0
    assert second == CompilerWork(0.0, 0.0) and again > 0


@pytest.mark.usefixtures("native")
def test_a_run_and_a_measurement_tell_it() -> None:
    with shared_cache():
        variant = wb.variant(doubled())
        ran = wb.run(variant, backend="native", progress=False)
        assert ran.compiler is not None and ran.compile_seconds > ran.compiler.seconds
        found = wb.measure(variant, backend="native", repeats=1, warmup=0, progress=False)
        assert found.compiler == CompilerWork(0.0, 0.0)
        assert "C generated in" in str(found) and ", compiled before" in str(found)
        (row,) = wb.compare([variant], backend="native", repeats=1, progress=False).records()
    assert row["compiler_s"] == 0.0 and row["compile_s"] > 0


def test_a_compilers_work_is_recorded_and_in_the_table() -> None:
    made = [
        measurement(0.1, key=str(n), compiler=work, comparison="c")
        for n, work in enumerate((CompilerWork(2.0, 5.5), CompilerWork(0.0, 0.0), None))
    ]
    assert [from_json(one.to_json()).compiler for one in made] == [one.compiler for one in made]
    assert from_json({k: v for k, v in made[0].to_json().items() if k != "compiler"}) == replace(
        made[0], compiler=None
    )
    shown = comparison(dict(zip("abc", made, strict=True)))
    titles, cells = columns(shown.records())
    assert [row[titles.index("compiler")] for row in cells] == ["2 s", "before", ""]
    assert "compiler" not in columns(comparison({"c": made[2]}).records())[0]


def test_a_run_on_numpy_has_no_compiler() -> None:
    ran = wb.run(wb.variant(doubled()), backend="numpy", progress=False)
    assert ran.compiler is None and ran.compile_seconds > 0
