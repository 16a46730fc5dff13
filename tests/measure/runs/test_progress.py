"""Where progress is written."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from workbench.measure.runs.progress import stream


@pytest.mark.parametrize("is_notebook", [False, True])
def test_progress_goes_to_the_error_output_but_in_a_notebook(
    monkeypatch: pytest.MonkeyPatch, is_notebook: bool
) -> None:
    """That ipykernel was imported by somebody makes no notebook."""
    app = SimpleNamespace(initialized=lambda: is_notebook)
    monkeypatch.setitem(sys.modules, "ipykernel.kernelapp", SimpleNamespace(IPKernelApp=app))
    assert stream() is (sys.stdout if is_notebook else sys.stderr)
