"""Arrays of one block: what lives inside a loop over blocks, and the bytes that a block takes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from workbench.lowering.loops.bytes import bytes_of
from workbench.lowering.loops.records import Buffer
from workbench.lowering.memory.lives import private
from workbench.lowering.memory.takeover import Ownership, memory_of
from workbench.lowering.values.stored import store
from workbench.polyhedral.tree import Loop, loops_above, paths, statements
from workbench.processor import core_cache
from workbench.program.accumulating import derived
from workbench.program.sizes import numbers, resolve
from workbench.program.storage import INNER
from workbench.program.text.units import amount
from workbench.program.values import Equations, Program
from workbench.transforms.blocks.asked import Asked
from workbench.transforms.step.storage_holds import Pair, folding

DTYPE = "float32"
"""The dtype in which a block's bytes are said."""


def contracted(
    program: Program, regions: Sequence[Sequence[str]], dim: str
) -> tuple[Program, tuple[str, ...]]:
    """Keep one block of the arrays that are used in one loop over blocks only.

    Such an array keeps one iteration of the loops around the blocks too: what of it is stored
    whole there does not live in a block. Returns the program, and a sentence on arrays along the
    dimension that stay whole.
    """
    around, equations = paths(program.schedule), program.equations
    wanted: list[Pair] = []
    touched: dict[str, None] = {}
    for region in regions:
        outer = {loop.dim for loop in _outside(loops_above(around[region[0]], "loop"), dim)}
        inside = set(region)
        for name, users in equations.users.items():
            if name not in program.storage.added and any(s.name in inside for s in users):
                if _along(equations, name, {dim}):
                    touched[name] = None
                if all(s.name in inside for s in users):
                    wanted += _along(equations, name, {*outer, dim})
    fresh = [pair for pair in wanted if pair not in program.storage.contracted]
    storage = program.storage
    folded = (*storage.contracted, *folding(program, fresh))
    program = replace(program, storage=replace(storage, contracted=folded))
    whole = [
        name
        for name in touched
        if any(pair not in folded for pair in _along(equations, name, {dim}))
    ]
    note = f"kept whole along {dim}: {', '.join(whole)}"
    return program, (note,) if whole else ()


def _outside(loops: Sequence[Loop], dim: str) -> Iterator[Loop]:
    """Yield the loops around the one over blocks of a dimension."""
    return takewhile(lambda loop: not (loop.apart and loop.dim == dim), loops)


def _along(equations: Equations, array: str, dims: Collection[str]) -> list[Pair]:
    """Return the dimensions of an array that are written along some dimension of statements."""
    return [
        (array, d)
        for k, d in enumerate(equations.array[array].dims)
        if any(not s.write[k].variables.isdisjoint(dims) for s in equations.writers[array])
    ]


# -- what is said ----------------------------------------------------------------------------------


def described(asked: Asked, program: Program, regions: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield for each loop over blocks what it holds, and the bytes of a block's arrays; where these
    are more than a core's cache, the blocks that would fit.
    """
    sizes, memory, owned = resolve(program.equations), memory_of(program), private(program)
    equations = derived(program).equations
    at = f"({numbers(sizes, DTYPE)})"
    for region in regions:
        sums = sum(program.statement[n].array in program.storage.added for n in region)
        inside = [a for loop, own in owned if _holds(loop, region) for a in own]
        taken = {a: bytes_of(_buffer(memory, a), sizes, DTYPE) for a in inside}
        tile = sum(taken.values())
        what = region[0]
        if len(region) > 1:
            points = f", {sums} of them points of sums" if sums else ""
            what += f" … {region[-1]} ({len(region)} statements{points})"
        yield (
            f"{what} in blocks of {asked.size} of {asked.dim}: a block's own arrays take "
            f"{amount(tile, 'B')} {at}"
        )
        grows = sum(n for a, n in taken.items() if _along(equations, a, {asked.dim}))
        yield from _too_large(asked, tile, grows)


def _buffer(memory: Ownership, array: str) -> Buffer:
    """Return the buffer of an array with its dimensions in their own order: it takes the same bytes
    in any, and that in memory would have to be found for the whole program.
    """
    record, life = memory.program.array[array], memory.lives[array]
    return store(record, (*record.dims, INNER), life.windows, life.loops, array).buffer


def _too_large(asked: Asked, tile: int, grows: int) -> Iterator[str]:
    """Yield the size that fits where `tile` bytes are too many; `grows` of them are the block's."""
    cache = core_cache()
    if tile <= cache.bytes:
        return
    fitting = (cache.bytes - (tile - grows)) * asked.size // max(grows, 1)
    instead = f"blocks of {fitting} fit" if fitting >= 2 else "no blocks would fit"
    yield f"that is more than {cache.name} of {amount(cache.bytes, 'B')}: {instead}"


def _holds(loop: Loop, region: Sequence[str]) -> bool:
    return set(statements(loop)) >= set(region)
