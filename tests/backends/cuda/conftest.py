"""A GPU for tests: kernels as fibres of this process."""

import pytest

from tests.codegen.cuda.fibres import FibreDriver
from workbench.backends.cuda import backend


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> FibreDriver:
    """A GPU under the name `cuda`, for whole runs: it does not know how long arrays are."""
    driver = FibreDriver({})
    monkeypatch.setattr(backend, "unavailable", lambda: None)
    monkeypatch.setattr(backend, "device", lambda: "fibres")
    monkeypatch.setattr(backend, "driver", lambda: driver)
    return driver
