"""The CUDA backend where there is no GPU: it says what is missing."""

from __future__ import annotations

import ctypes

import pytest

from workbench.algorithms import reinforce
from workbench.backends.cuda.backend import CudaBackend
from workbench.backends.cuda.run_state import MOST_DIMS, MOST_NUMBERS, RunState
from workbench.codegen.cuda.headers import device_header
from workbench.codegen.cuda.memory.device_memory import RUN_STATE_BYTES
from workbench.errors import UnavailableError, WorkbenchError


def test_cuda_says_why_it_cannot_run() -> None:
    backend = CudaBackend()
    reason = backend.unavailable()
    if reason is None:
        pytest.skip("there is a GPU")
    assert "CuPy" in reason or "GPU" in reason
    with pytest.raises(UnavailableError, match="cuda: "):
        backend.compile(reinforce())


def test_a_gpu_has_one_thread_that_gives_it_work() -> None:
    assert CudaBackend().threads(None) == 1
    with pytest.raises(WorkbenchError, match="threads 2; on cuda one thread"):
        CudaBackend().threads(2)
    with pytest.raises(WorkbenchError, match=r"threads 1\.5; expected an integer from 1 on"):
        CudaBackend().threads(1.5)  # type: ignore[arg-type]


def test_the_state_of_a_run_is_laid_out_as_in_their_text() -> None:
    assert ctypes.sizeof(RunState) == RUN_STATE_BYTES
    text = device_header("device_run.h")
    assert f"#define MOST_NUMBERS {MOST_NUMBERS}\n" in text
    assert f"#define MOST_DIMS {MOST_DIMS}\n" in text
    fields = [name for name, _ in RunState._fields_]
    struct = text[text.index("typedef struct") : text.index("} Run;")]
    places = [struct.index(f" {name}") for name in fields]
    assert places == sorted(places)
