"""The place of an array's element in its buffer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.codegen.emitter import total
from workbench.identity import remembered
from workbench.lowering.memory.tiles import TileStored
from workbench.lowering.values.stored import Stored, symbolic
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.program.bodies import Call


def address(
    stored: Stored,
    index: Sequence[Expression],
    inner: Expression,
    place: Mapping[str, Expression],
) -> Expression:
    """Return the place of the element at `index`, at the position `inner` of its inner shape.

    It is counted in elements from the buffer's beginning. `place` has the numbers of blocks.
    """
    block = place[stored.block.number] if isinstance(stored, TileStored) and stored.block else None
    return _address(stored, tuple(index), inner, block)


@remembered(4096)
def _address(
    stored: Stored, index: tuple[Expression, ...], inner: Expression, block: Expression | None
) -> Expression:
    """Return the place as `address` does, in the block of this number."""
    at = _place(stored, [stored.slot(p, index[p]) for p in stored.order], inner)
    if not isinstance(stored, TileStored):
        return at
    assert block is not None
    return at + stored.lane(index[stored.lanes], block)


@remembered(4096)
def inner_step(stored: Stored) -> Expression:
    """Return how far apart neighbours of an inner shape are, in elements."""
    return _place(stored, [expression(0)] * len(stored.order), expression(1))


def _place(stored: Stored, slots: Sequence[Expression], inner: Expression) -> Expression:
    """Return the place of the slots, and of the position `inner` of the inner shape; in a tile that
    of its first lane.
    """
    steps = list(zip(map(stored.count, stored.order), slots, strict=True))
    at = expression(0)
    for count, slot in stored.arranged(steps, [(total(symbolic(stored.array.shape)), inner)]):
        at = at * count + slot
    lanes = stored.block if isinstance(stored, TileStored) else None
    return at * lanes.size if lanes else at


def tile_begin(
    stored: TileStored, index: Sequence[Expression], place: Mapping[str, Expression]
) -> tuple[Expression, Expression]:
    """Return the place of a tile's first element, and the lane of an index in it."""
    assert stored.block is not None
    lane = stored.lane(index[stored.lanes], place[stored.block.number])
    return address(stored, index, expression(0), place) - lane, lane


def steps_of(at: Expression, names: Sequence[str]) -> tuple[Expression, list[int]] | None:
    """Return a place at 0 of some variables, and how far a step of each goes; None if it varies."""
    by = [at.coefficient(name) for name in names]
    begin = at
    for name, step in zip(names, by, strict=True):
        begin = begin - variable(name) * step
    return None if begin.variables & set(names) else (begin, by)


def outside(call: Call) -> str:
    """Return the buffer's name of values from outside."""
    return f"given {call.options['name']}"


def apart(call: Call) -> tuple[str, ...]:
    """Return the names of the sizes by which neighbours of values from outside are apart, a
    dimension each.
    """
    return tuple(f"{outside(call)} {d}" for d in call.options["dims"])
