"""The run-time compiled once for all tests of a process."""

from __future__ import annotations

import ctypes

import pytest

from tests.codegen.c.compiled import NATIVE
from tests.codegen.c.wrappers import CASTS, FUSED, ROWS, source


@pytest.fixture(scope="session")
def operations(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """Wrappers of all operations, for this processor."""
    return NATIVE.library(source([*ROWS, *CASTS, *FUSED]), tmp_path_factory.mktemp("operations"))
