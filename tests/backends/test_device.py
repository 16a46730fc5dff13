"""What programs run on, by name."""

from __future__ import annotations

from workbench.backends import get
from workbench.processor import processor


def test_numpy_runs_on_the_processor() -> None:
    assert get("numpy").device() == processor()
    model, cores = processor().rsplit(", ", 1)
    assert model and cores.endswith("cores")


def test_compiled_programs_run_on_the_processor() -> None:
    assert get("native").device() == processor()
