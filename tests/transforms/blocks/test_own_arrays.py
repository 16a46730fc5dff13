"""The note on a block's own arrays: what they take, what there is, and the size that fits."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from workbench.processor import CORE_CACHE_VARIABLE
from workbench.transforms import Persist
from workbench.transforms.step.transform import apply


@wb.program
def paths(B: int = 512, T: int = 100) -> dict[str, Any]:
    b, t = wb.dims(b=B, t=T)
    x = wb.normal(shape=(4,), over=(b, t))
    return {"most": (x[b, t] * x[b, T - 1 - t]).sum(axis=0).max(over=(b, t))}


def notes(size: int) -> tuple[str, ...]:
    return apply(paths(), Persist("b", size)).notes


def test_block_that_exceeds_the_cache_is_told_the_size_that_fits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(CORE_CACHE_VARIABLE, "100000")
    first, more = notes(128)
    assert "a block's own arrays take" in first
    assert more.startswith("that is more than a core's cache of 100 kB: blocks of ")
    fitting = int(more.split("blocks of ")[1].split(" ")[0])
    assert len(notes(fitting)) == 1
    assert len(notes(fitting + 1)) == 2


def test_blocks_of_which_none_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CORE_CACHE_VARIABLE, "1000")
    assert notes(8)[1] == "that is more than a core's cache of 1 kB: no blocks would fit"
