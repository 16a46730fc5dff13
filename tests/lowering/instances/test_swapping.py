"""Slices of arrays on the host: what is fetched and copied out, where, and that it is right."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.native_runs import check_native
from tests.programs import PROGRAMS, automatic
from tests.truth import truth
from workbench.backends import get
from workbench.lowering.attribution import attributed
from workbench.lowering.instances.swapping import copies
from workbench.lowering.loops.records import SPACES, Allocate
from workbench.lowering.lower import lower
from workbench.program.sizes import resolve
from workbench.program.values import Program
from workbench.transforms import Contract, Donate, Tile, Vectorize


@wb.program
def windows(B: int = 2, T: int = 7) -> dict[str, Any]:
    b, t = wb.dims(b=B, t=T)
    x = wb.normal(shape=(3,), over=(b, t))
    s = wb.recurrent("s", (3,), over=(b, t))
    s[b, T] = 0.0 * x[b, 0]
    s[b, t] = 0.5 * s[b, t + 1] + x
    z = wb.uniform(shape=(2,), over=(b, t))
    y = wb.exp(z)
    high = y.max() * s[b, t].sum()
    return {"s": s, "total": (y.sum() * high).sum(over=(b, t))}


def swapped(program: Program, *arrays: str, prefetch: int = 0) -> Program:
    """The program with arrays (all, where none is named) on the host."""
    names = arrays or tuple(a.name for a in program.arrays)
    storage = replace(program.storage, swapped=tuple((name, prefetch) for name in names))
    return replace(program, storage=storage)


def same_as_reference(root: Program, program: Program, sizes: dict[str, int] | None = None) -> None:
    compiled = get("numpy").compile(program)
    run = compiled.run(sizes, dtype="float64")
    known = resolve(program.equations, sizes)
    for name, expected in truth(root, sizes).outputs().items():
        np.testing.assert_allclose(run.outputs[name], expected, rtol=1e-9, atol=1e-9)
    loops = compiled.loop_program
    assert run.peak == {space: loops.peak(known, "float64", space) for space in SPACES}
    check_native(program, run.outputs, sizes, 0)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("recipe", ["as written", "automatic"])
def test_everything_on_the_host_computes_the_same(name: str, recipe: str) -> None:
    template, all_sizes = PROGRAMS[name]
    root = wb.variant(template())
    chosen = root if recipe == "as written" else automatic(name)
    same_as_reference(root.program, swapped(chosen.program), dict(all_sizes[0]))


@pytest.mark.parametrize("size", [2, 3, 7, 8])
def test_blocks_come_as_slices_of_blocks(size: int) -> None:
    root = wb.variant(windows()).apply(Vectorize("b")).apply(Vectorize("t", ("x", "z", "y")))
    tiled = root.apply(Tile("t", size, ("x",))).apply(Tile("t", size, ("z", "y")))
    for found in (tiled, tiled.apply(Contract())):
        for arrays in (("x",), ("y", "z"), ()):
            same_as_reference(windows(), swapped(found.program, *arrays))


def test_slice_is_fetched_once_for_all_readers_of_a_body() -> None:
    @wb.program
    def shared(T: int = 5) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.uniform(shape=(4,), over=t)
        s = wb.recurrent("s", (4,), over=t)
        s[T] = 0.0 * x[0]
        s[t] = s[t + 1] + x
        r = wb.recurrent("r", (4,), over=t)
        r[T] = 0.0 * x[0]
        r[t] = r[t + 1] * s[t] - x
        return {"s": s[0], "r": r[0]}

    root = wb.variant(shared())
    loops = lower(swapped(root.program, "x"))
    found = [c for c in copies(loops.body) if c.loops and c.loops[-1].backwards]
    assert len(found) == 1
    same_as_reference(root.program, swapped(root.program, "x"))
    same_as_reference(root.program, swapped(root.program))


def test_what_is_written_in_the_body_is_not_fetched_there() -> None:
    @wb.program
    def chained(T: int = 5) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.uniform(over=t)
        s = wb.recurrent("s", (), over=t)
        s[0] = 0.0
        s[t + 1] = s[t] + x * x
        return {"s": s[T]}

    root = wb.variant(chained())
    loops = lower(swapped(root.program, "x"))
    assert [record.host for record in copies(loops.body)] == [loops.stored["x"].buffer.name]
    assert "to_host" in str(loops) and "to_device" not in str(loops)
    assert "allocate x: float(T,) on the host" in str(loops)
    same_as_reference(root.program, swapped(root.program, "x"))


def test_contract_folds_what_is_on_the_host() -> None:
    template, sizes = PROGRAMS["carried"]
    root = wb.variant(template())
    folded = root.apply(Contract())
    known = resolve(root.program.equations, dict(sizes[0]))
    whole, less = (lower(swapped(v.program)).peak(known, "float64", "host") for v in (root, folded))
    assert less < whole
    same_as_reference(root.program, swapped(folded.program), dict(sizes[0]))


def test_both_on_the_host_can_share_memory_there() -> None:
    @wb.program
    def pushed(T: int = 5) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.uniform(over=t)
        y = wb.exp(x)
        return {"y": y.sum(over=t), "m": y.max(over=t)}

    root = wb.variant(pushed()).apply(Vectorize("t"))
    both = swapped(root.program, "x", "y")
    shared = wb.variant(both).apply(Donate("x", "y")).program
    same_as_reference(root.program, shared)
    known = resolve(both.equations)
    assert lower(shared).peak(known, "float64", "host") == 5 * 8
    taken = [r for r in lower(shared).body if isinstance(r, Allocate) and r.source == "x"]
    assert [(r.buffer.name, r.buffer.space) for r in taken] == [("y", "host")]


def test_slices_are_called_by_their_array() -> None:
    program = swapped(windows(), "x")
    loops = lower(program)
    named = attributed(loops, program)
    assert {named[c.device] for c in copies(loops.body)} == {"a slice of x"}
