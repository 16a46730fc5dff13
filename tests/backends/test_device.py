"""What programs run on, by name."""

from __future__ import annotations

import pytest

from workbench.backends import NativeBackend, get
from workbench.backends.processor import processor
from workbench.errors import UnavailableError


def test_numpy_runs_on_the_processor() -> None:
    assert get("numpy").device() == processor()
    model, cores = processor().rsplit(", ", 1)
    assert model and cores.endswith("cores")


def test_backend_that_is_not_there_has_no_device() -> None:
    with pytest.raises(UnavailableError, match="native: compiled C is not part"):
        NativeBackend().device()
