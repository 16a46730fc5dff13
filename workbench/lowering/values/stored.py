"""The storage of arrays: the order of dimensions, folded windows, and the slot of an index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TypeVar

from workbench.identity import Same, remembered
from workbench.lowering.loops.records import DEVICE, Buffer, Symbolic
from workbench.polyhedral.expression import Expression, expression
from workbench.polyhedral.lifetimes.folding import most_slots
from workbench.polyhedral.tree import Tree, loops_above, paths
from workbench.program.bodies import Shape
from workbench.program.storage import INNER
from workbench.program.values import Array, Equations, Program

Axis = TypeVar("Axis")


@dataclass(frozen=True)
class Stored:
    """An array in memory.

    `order` lists its dimensions' positions, outermost first, without those folded to nothing; the
    first `lead` of them are in front of the inner axes. `windows[p]` is the window of dimension p
    (None: full extent); `level` the number of loops inside which all of its lifetime lies.
    """

    array: Array
    order: tuple[int, ...]
    lead: int
    windows: tuple[Expression | None, ...]
    buffer: Buffer
    level: int = 0

    def count(self, position: int) -> Expression:
        """Return the length in memory of the dimension at `position`."""
        window = self.windows[position]
        lower, upper = self.array.extent[position]
        return upper - lower if window is None else window

    def slot(self, position: int, index: Expression) -> Expression:
        """Return the place of `index` along the dimension at `position`."""
        modulus = self.modulus(position)
        return index - self.array.extent[position][0] if modulus is None else index % modulus

    def modulus(self, position: int) -> Expression | None:
        """Return the modulus of indices along the dimension at `position`, or None.

        Of a window `min(T, 64)` it is 64, where indices count from 0: if T is less, they are too.
        """
        window = self.windows[position]
        lower, upper = self.array.extent[position]
        if window is None or lower != 0:
            return window
        slots = most_slots(window, upper)
        return window if slots is None else expression(slots)

    @property
    def together(self) -> bool:
        """Tell whether inner axes are innermost: those of an element are in one piece."""
        return self.lead == len(self.order)

    def arranged(self, dims: Sequence[Axis], inner: Sequence[Axis]) -> tuple[Axis, ...]:
        """Return what belongs to the dimensions of `order` and to inner axes as these lie in
        memory.
        """
        return (*dims[: self.lead], *inner, *dims[self.lead :])

    @cached_property
    def axes(self) -> tuple[int, ...]:
        """The buffer's axes: of each dimension of `order`, then of each inner axis."""
        dims, inner = range(len(self.order)), range(len(self.array.shape))
        known = self.arranged([(0, k) for k in dims], [(1, k) for k in inner])
        return tuple(sorted(range(len(known)), key=known.__getitem__))


def symbolic(shape: Shape) -> Symbolic:
    """Return an inner shape with every entry an expression."""
    return tuple(expression(n) for n in shape)


def memory_order(program: Program) -> tuple[str, ...]:
    """Return all dimensions in order: those that run as loops first, array axes last.

    One order for the whole program, so that the axes of statements and of arrays agree and
    neighbouring axes stay contiguous. A dimension that is counted otherwise (by blocks and
    positions) runs as what counts it does.
    """
    return _memory_order(program.equations, program.schedule)


@remembered(32, same=2)
def _memory_order(equations: Equations, schedule: Tree) -> tuple[str, ...]:
    loops: dict[str, list[int]] = {}
    for path in paths(schedule).values():
        depth = 0
        for node in loops_above(path):
            counted = loops.setdefault(node.name, [0, 0, 0])
            counted[0] += node.kind == "axis"
            counted[1] += 1
            counted[2] += depth
            if node.tile is None:
                depth += 1
            else:  # an axis in blocks comes before whole ones, so that a block is contiguous
                loops.setdefault(node.dim, [0, 0, 0])[1] += 1

    for name, kind in _counted(equations, schedule):
        counted = loops.setdefault(name, [0, 0, 0])
        counted[0] += kind == "axis"
        counted[1] += 1

    def rank(name: str) -> tuple[float, float, int]:
        axes, all_, depth = loops.get(name, (1, 1, 0))
        return axes / all_, depth / all_, known.index(name)

    known = list(dict.fromkeys([*(d.name for d in equations.dims), *loops]))
    return tuple(sorted(known, key=rank))


def axis_order(program: Program, array: Array) -> tuple[str, ...]:
    """Return an array's dimensions as they lie in memory, `INNER` among them: as a step has laid
    them out, else in the order of the program, inner axes innermost.
    """
    laid = dict(program.storage.layouts).get(array.name)
    if laid is None:
        ranks = {dim: rank for rank, dim in enumerate(memory_order(program))}
        return (*sorted(array.dims, key=lambda dim: ranks.get(dim, len(ranks))), INNER)
    return (*(d for d in laid if d in (*array.dims, INNER)), *(INNER,) * (INNER not in laid))


def _counted(equations: Equations, schedule: Tree) -> Iterator[tuple[str, str]]:
    """Yield each array dimension that others count, with how those run ("loop" or "axis")."""
    for name, path in paths(schedule).items():
        kinds = {loop.name: loop.kind for loop in loops_above(path)}
        statement = equations.statement[name]
        for array, index in (
            (statement.array, statement.instances.write.index),
            *((r.array, r.access.index) for r in statement.reads),
        ):
            for dim, e in zip(equations.array[array].dims, index, strict=True):
                if not isinstance(e, Expression) or dim in e.variables:
                    continue
                ran = [kinds[v] for v in e.variables if v in kinds]
                if ran:
                    yield dim, "loop" if "loop" in ran else "axis"


def store(
    array: Array,
    order: tuple[str, ...],
    windows: tuple[Expression | None, ...],
    level: int,
    name: str,
    initial: str = "",
    space: str = DEVICE,
) -> Stored:
    """Return the storage of an array under the given windows, in the order given (`axis_order`).

    A window of 1 needs no dimension at all. The same again is the same object.
    """
    return _store(Same(array), order, windows, level, name, initial, space)


@lru_cache(maxsize=8192)
def _store(
    of: Same,
    order: tuple[str, ...],
    windows: tuple[Expression | None, ...],
    level: int,
    name: str,
    initial: str,
    space: str,
) -> Stored:
    (array,) = of.objects
    ranks = {dim: rank for rank, dim in enumerate(order)}
    kept: list[Expression | None] = []
    for window, (lower, upper) in zip(windows, array.extent, strict=True):
        full = window == upper - lower and window != 1
        kept.append(None if full else window)
    there = [p for p in range(len(array.dims)) if kept[p] is None or kept[p] != 1]
    there.sort(key=lambda p: ranks[array.dims[p]])
    lead = sum(ranks[array.dims[p]] < ranks[INNER] for p in there) if array.shape else len(there)
    none = Buffer(name, array.dtype, ())
    draft = Stored(array, tuple(there), lead, tuple(kept), none, level)
    shape = draft.arranged([draft.count(p) for p in there], symbolic(array.shape))
    return replace(draft, buffer=replace(none, shape=shape, initial=initial, space=space))
