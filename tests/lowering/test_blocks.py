"""Axes in blocks as array operations: slices of a block, masks, tables, windows, and the source."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from tests.golden_files import GoldenFiles
from tests.transforms.order.ordering import assert_computes_the_same
from workbench import nn
from workbench.backends.numpy import NumPyBackend
from workbench.lowering.loops.records import Allocate, Count, walk
from workbench.lowering.lower import lower
from workbench.transforms import Contract, Incrementalize, Tile, Vectorize


@wb.program
def filtered(T: int = 7) -> dict[str, Any]:
    """Noise a block at a time, and a recurrence over it."""
    t = wb.dim(t=T)
    noise = wb.uniform(over=t)
    push = wb.sin(noise) * 2.0
    level = wb.recurrent("level", (), over=t)
    level[0] = 0.0
    level[t + 1] = 0.5 * level + push
    return {"level": level}


@wb.program
def sums(B: int = 3, T: int = 7) -> dict[str, Any]:
    """Reductions whose points are a box, a triangle and a band."""
    b, t = wb.dims(b=B, t=T)
    x = wb.normal(over=(b, t))
    return {
        "prefix": x[b, 0 : t + 1].sum(),
        "suffix": wb.discounted_sum(x[b, t:T], 0.5),
        "highest": x[b, t : wb.minimum(t + 3, T)].max(),
        "where": x[b, t:T].argmax(),
        "whole": x.sum(over=t),
    }


@wb.program
def tables(K: int = 5, N: int = 4) -> dict[str, Any]:
    """Rows of tables that each element of an axis has of its own."""
    k, n = wb.dims(k=K, n=N)
    table = wb.normal(shape=3, over=(k, n))
    place = wb.cast(wb.uniform(0.0, 3.0, over=(k, n)), int)
    return {"taken": table[..., place]}


@wb.program
def layered(L: int = 5) -> dict[str, Any]:
    """Orthogonal matrices, as many as there are layers."""
    layer = wb.dim(layer=L)
    return {"weight": nn.orthogonal()((3, 2), ("layer",)) + wb.index(layer)}


def blocked(template: Any, size: int, *dims: str) -> wb.Variant:
    found = wb.variant(template())
    for dim in dims:
        found = found.apply(Vectorize(dim))
    for dim in dims:
        found = found.apply(Tile(dim, size))
    return found


def test_source_of_blocks_reads_as_written_by_hand(golden: GoldenFiles) -> None:
    variant = wb.variant(filtered())
    for step in (Tile("t", 64), Vectorize("t", ("noise", "push")), Contract()):
        variant = variant.apply(step)
    golden("lowering/blocks.source.txt", NumPyBackend().compile(variant.program).source)
    for T in (1, 63, 64, 65, 130):
        assert_computes_the_same(variant, {"T": T})


@pytest.mark.parametrize("size", [2, 3, 4, 9])
@pytest.mark.parametrize("template", [sums, tables, layered])
def test_blocks_compute_what_whole_axes_do(template: Any, size: int) -> None:
    dims = [d.name for d in template().dims]
    found = blocked(template, size, *dims)
    for n in (1, 2, 7):
        assert_computes_the_same(found, {p.name: n for p in found.program.parameters})


def test_memory_of_temporaries_is_that_of_a_block() -> None:
    found = blocked(sums, 4, "t")
    body = lower(found.program).body
    for record in walk(body):
        if isinstance(record, Allocate):
            assert not any(n.variables for n in record.buffer.shape)
    peaks = {
        T: wb.run(found, sizes={"B": 1, "T": T}, progress=False, backend="numpy").peak_bytes
        for T in (64, 128)
    }
    assert peaks[128] < 2.5 * peaks[64]


@wb.program
def drawn(B: int = 2, T: int = 7) -> dict[str, Any]:
    """Draws by instance, and weights by time, over blocks."""
    b, t = wb.dims(b=B, t=T)
    x = wb.normal(over=(b, t)) * wb.index(t) + wb.index(2 * t)
    return {"weighted": (x * 0.5 ** wb.index(t)).sum(over=t)}


def test_values_of_indices_in_a_loop_over_blocks_are_as_many_as_a_block_has() -> None:
    summed = wb.variant(drawn()).apply(Incrementalize("weighted", "t", 4))
    tiled = summed.apply(Vectorize("t")).apply(Tile("t", 4))
    for found in (summed, tiled, tiled.apply(Vectorize("b"))):
        for record in walk(lower(found.program).body):
            if isinstance(record, Count) and record.buffer.name.startswith("count_t"):
                (n,) = record.buffer.shape
                assert n.evaluate({"B": 1000, "T": 1000}) <= 4
        for n in (1, 4, 7):
            assert_computes_the_same(found, {"B": 3, "T": n})


def test_array_in_blocks_is_a_slice_at_the_front_of_its_window() -> None:
    found = wb.variant(filtered())
    for step in (Tile("t", 4), Vectorize("t", ("noise", "push")), Contract()):
        found = found.apply(step)
    source = NumPyBackend().compile(found.program).source
    assert "noise[:min(T - 4 * t_block4, 4)]" in source
    assert "push[t % 4, ...]" in source
