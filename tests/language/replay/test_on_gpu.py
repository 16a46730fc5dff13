"""Kernels that read replay as threads of a GPU, in a C compiler, with every access checked."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.codegen.cuda.fibres import SEED, differences
from tests.language.replay.test_replay import walk
from tests.native_runs import run_native


@pytest.mark.parametrize("each", [False, True], ids=["each update", "each step"])
def test_ring_buffer_on_a_gpu_has_the_bits_of_compiled_c(each: bool) -> None:
    best = wb.optimize(walk(each=each), backend="native").program
    wanted = run_native(best, {}, seed=SEED, dtype="float32")
    assert differences(best, {}, wanted) == []
