"""The bytes of a block's own memory: exactly, and bounds that cost little."""

from __future__ import annotations

import math
from collections.abc import Mapping

from workbench.codegen.kernels import program_kernels
from workbench.codegen.run_memory import block_bytes
from workbench.lowering.loops.bytes import FLOAT_BYTES, bytes_of
from workbench.lowering.loops.records import ITEM_BYTES
from workbench.lowering.memory.lives import homes, lives, private
from workbench.lowering.memory.takeover import memory_of
from workbench.lowering.memory.tiles import lanes_of, tiles
from workbench.polyhedral.tree import Loop, Path, loops_above, paths
from workbench.program.accumulating import derived
from workbench.program.values import Program


def own_bytes(program: Program, sizes: Mapping[str, int], dtype: str) -> int:
    """Return the bytes of a block's own memory, of the program's kernels."""
    return block_bytes(program_kernels(program), sizes, dtype)


def most_own_bytes(program: Program, sizes: Mapping[str, int], dtype: str) -> int:
    """Return bytes that a block's own memory does not exceed in any known program: twice those of
    all arrays that live in some block, each for itself. Kernels keep less beside them: some of
    these arrays turned, gathered or multiplied.
    """
    memory = memory_of(program)
    inside = {array for _, arrays in private(program) for array in arrays}
    whole = {array: memory.stored(array) for array in memory.program.array}
    stored = whole | tiles(memory.program, memory.lives, whole)
    return 2 * sum(bytes_of(stored[array].buffer, sizes, dtype) for array in inside)


def least_own_bytes(program: Program, dtype: str) -> int:
    """Return bytes that a block's own memory has at least, however arrays are folded and whatever
    dead ones hand on: those that are live at once, between two statements.

    Only arrays over the block's dimension alone are counted, of statements in no loop within, and
    inner axes of a length that is no size.
    """
    program = derived(program)
    at = paths(program.schedule)
    place = {name: number for number, name in enumerate(at)}
    lifetimes = lives(program)
    home, lanes = homes(program, lifetimes), lanes_of(program, lifetimes)
    changes: dict[Loop, dict[int, int]] = {}
    for name, (_, block) in lanes.items():
        array, (*outside, around) = program.array[name], home[name]
        users = [statement.name for statement in program.equations.users[name]]
        others = {*array.dims} - {loop.dim for loop in outside}
        if others != {block.dim} or not _are_inside(users, around, at):
            continue
        item = ITEM_BYTES.get(array.dtype) or FLOAT_BYTES[dtype]
        elements = math.prod(n for n in array.shape if isinstance(n, int))
        count = elements * block.size * item
        numbers = sorted(place[user] for user in users)
        change = changes.setdefault(around, {})
        change[numbers[0]] = change.get(numbers[0], 0) + count
        change[numbers[-1]] = change.get(numbers[-1], 0) - count
    return max(map(_most, changes.values()), default=0)


def _are_inside(users: list[str], around: Loop, at: Mapping[str, Path]) -> bool:
    """Tell whether statements are in a loop and in none that it contains."""
    return all(loops_above(at[user], "loop")[-1:] == (around,) for user in users)


def _most(changes: Mapping[int, int]) -> int:
    """Return the greatest sum of changes in order."""
    most = held = 0
    for number in sorted(changes):
        held += changes[number]
        most = max(most, held)
    return most
