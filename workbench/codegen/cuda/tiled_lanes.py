"""Lanes outside of blocks of a program, in tiles: any number of blocks of threads share these, and
the threads of a lane share what it has in rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbench.codegen.cuda.threads.independent_turns import are_independent
from workbench.codegen.dealing import Dealing
from workbench.codegen.kernel_records import (
    KernelRecord,
    Let,
    Loop,
    Scratch,
    Serves,
    Update,
    Variable,
    walk,
    writes,
)
from workbench.codegen.kernels import KernelRecords
from workbench.names import unique
from workbench.polyhedral.expression import Expression, expression, minimum, variable

TILE = 32
"""The lanes of a tile: a row of them is a warp, which loads neighbours at once."""


def in_tiles(kernel: KernelRecords) -> KernelRecords:
    """Return a kernel of one loop over lanes, each of which has memory of its own and rows, with
    tiles of them as its blocks, in any order; those of each turn of array axes around it. Others
    stay as they are.
    """
    *before, last = kernel.records
    axes, lanes = _nest(last)
    if lanes is None or kernel.dealing is not None or not _has_rows(lanes, axes):
        return kernel
    if not all(isinstance(record, (Serves, Let)) for record in before):
        return kernel
    taken = {*kernel.buffers, *kernel.variables, *(t.name for t in kernel.tables)}
    taken |= {r.variable for r in walk(kernel.records) if isinstance(r, Loop)}
    number, tile, run = (
        unique(f"{what} of {lanes.variable}", taken) for what in ("block", "tile", "run")
    )
    tiles = (_turns(lanes) + TILE - 1) // TILE
    first = lanes.lower + variable(tile) * TILE
    inner = replace(lanes, lower=first, upper=minimum(lanes.upper, first + TILE))
    loops = [*axes, Loop(tile, expression(0), tiles, (lanes,))]
    blocks = _in_one(loops, inner, number) if axes else replace(loops[-1], body=(inner,))
    dealing = Dealing(*blocks.range, blocks.upper)
    return replace(kernel, records=(*before, blocks), dealing=dealing, chunk=run)


def _nest(record: KernelRecord) -> tuple[list[Loop], Loop | None]:
    """Return loops over array axes, each all of the one around, and the loop over lanes in them;
    None if there is no such, or how long a loop is depends on others.
    """
    axes: list[Loop] = []
    while isinstance(record, Loop) and not record.lanes:
        inside = [r for r in record.body if not isinstance(r, Serves)]
        if not record.own or len(inside) != 1:
            return axes, None
        axes.append(record)
        (record,) = inside
    if not isinstance(record, Loop):
        return axes, None
    loops = [*axes, record]
    bounds = {name for loop in loops for e in loop.range for name in e.variables}
    return axes, None if bounds & {loop.variable for loop in loops} else record


def _in_one(loops: Sequence[Loop], inside: Loop, number: str) -> Loop:
    """Return nested loops as one over all turns of the last in those of the others, by number; in
    each such turn each runs the one turn that it stands for.
    """
    rest, all_turns = variable(number), expression(1)
    for loop in reversed(loops):
        turns = _turns(loop)
        turn = loop.lower + (rest if loop is loops[0] else rest % turns)
        inside = replace(loop, lower=turn, upper=turn + 1, body=_around(loop, inside))
        rest, all_turns = rest // turns, all_turns * turns
    return Loop(number, expression(0), all_turns, (inside,))


def _around(loop: Loop, inside: Loop) -> tuple[KernelRecord, ...]:
    """Return the body of a loop with another loop as what is not said about statements."""
    return tuple(r if isinstance(r, Serves) else inside for r in loop.body)


def _turns(loop: Loop) -> Expression:
    return loop.upper - loop.lower


def _has_rows(loop: Loop, axes: Sequence[Loop]) -> bool:
    """Tell whether a loop is over lanes that know nothing of each other, nor of those in other
    turns of axes, and have memory of their own, and whether threads of a lane can share a loop in
    it.
    """
    inside: tuple[KernelRecord, ...] = tuple(walk(loop.body))
    own = {r.name for r in inside if isinstance(r, Variable)}
    memory = {r.name for r in inside if isinstance(r, Scratch)}
    written = {name for r in inside for name in writes(r)} - memory
    return (
        loop.step is None
        and bool(memory)
        and all(written <= {axis.own} for axis in axes)
        and all(r.name in own for r in inside if isinstance(r, Update))
        and any(isinstance(r, Loop) and are_independent(r) for r in loop.body)
    )
