"""Programs as compiled C in tests: compiled quickly, once for all tests of a session.

One in eight of the tests that run a variant runs it as compiled C too, chosen by a hash of its
name, so that the choice stays when others come and go.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workbench.backends.native.compiled_program import CompiledProgram
from workbench.backends.native.compilers import find
from workbench.codegen.kernels import program_kernels
from workbench.folders import CACHE_VARIABLE
from workbench.lowering.launches import launches
from workbench.program.values import Program

SHARE = 8
RUNS = "PYTEST_CURRENT_TEST"
"""The environment variable in which pytest names the test that runs."""


@contextmanager
def shared_cache() -> Iterator[None]:
    """Keep what is compiled beside the homes of the tests, for all of them."""
    if RUNS not in os.environ:  # a recorded search, which has a cache of its own
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE_VARIABLE, str(Path(os.environ["HOME"]).parent / "compiled"))
        yield


def compiled(program: Program, march: str = "native") -> CompiledProgram:
    """A program as compiled C, at the lowest level of optimization."""
    return CompiledProgram(program, program_kernels(program, launches(program)), find(1, march))


def run_native(
    program: Program,
    sizes: Mapping[str, int] | None = None,
    seed: int = 0,
    dtype: str = "float64",
    **more: Any,
) -> dict[str, Any]:
    """The outputs of a run as compiled C."""
    made = compiled(program)
    with shared_cache():
        made.prepare(dtype)
    return made.run(sizes, seed, dtype, **more).outputs


def is_chosen(name: str) -> bool:
    """Whether a run of this name is one of those that run as compiled C too."""
    return sha256(name.encode()).digest()[0] % SHARE == 0


def check_native(
    program: Program, outputs: Mapping[str, Any], sizes: Mapping[str, int], seed: int
) -> None:
    """Hold a float64 run as compiled C to these outputs, if the test is one of those chosen."""
    if not is_chosen(os.environ[RUNS].rsplit(" ", 1)[0]):
        return
    for name, values in run_native(program, sizes, seed).items():
        scale = np.abs(outputs[name]).max(initial=1.0)
        np.testing.assert_allclose(values, outputs[name], rtol=1e-9, atol=1e-9 * scale)
