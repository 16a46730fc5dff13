"""Slices that a block keeps for turns that come back: the bits of compiled C, whatever the ring."""

from __future__ import annotations

import numpy as np
import pytest

from tests.codegen.cuda.fibres import fibres, text_of, watched
from tests.codegen.cuda.test_kernels_as_fibres import in_blocks
from tests.native_runs import compiled, shared_cache
from workbench.algorithms import ppo
from workbench.codegen.cuda.turns import kept_slices
from workbench.codegen.kernels import program_kernels


@pytest.mark.parametrize("turns", [8, 2])
def test_turns_that_a_ring_has_no_more_are_loaded(
    turns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rings of eight slices and of two, of a rollout of eleven steps."""
    monkeypatch.setattr(kept_slices, "MOST_TURNS", turns)
    monkeypatch.setattr(kept_slices, "FEWEST_TURNS", 2)
    program = in_blocks(ppo(hidden=(5,)), 16, 2).program
    sizes = {"B": 20, "I": 1, "T": 11, "E": 1, "M": 1}
    text = text_of(program_kernels(program))
    assert f"if ({turns - 1} <= (T - t - 1))" in text and "turns_of_done" in text
    found, fault = watched(fibres(program, sizes), sizes)
    with shared_cache():
        wanted = compiled(program).run(sizes, 3, "float32").outputs
    assert fault == ""
    for name, value in wanted.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)
