"""Takeover of memory between arrays: which pairs may, and which do by default."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, NamedTuple

from workbench.identity import remembered
from workbench.lowering.loops.records import DEVICE, HOST
from workbench.lowering.memory.array_uses import ArrayUses, array_uses
from workbench.lowering.memory.lives import homes, in_place_gains, lives, masked
from workbench.lowering.memory.overwriting import Beside, may_overwrite, reads_in_place
from workbench.lowering.values.stored import Stored, axis_order, store
from workbench.polyhedral.accesses import Extent, Instances
from workbench.polyhedral.expression import expression
from workbench.polyhedral.lifetimes.conflicts import Clash
from workbench.polyhedral.lifetimes.shared_memory import Pair, SamePlace, sharing_clash
from workbench.polyhedral.lifetimes.windows import Lifetime
from workbench.polyhedral.tree import (
    Block,
    Loop,
    Path,
    Tree,
    axis_dims,
    has_loop,
)
from workbench.program.accumulating import derived
from workbench.program.values import Program


class Hindrance(NamedTuple):
    """Why an array cannot take over another's memory, in words about both.

    `clash` shows two elements that would be in one place at one time.
    """

    sentence: str
    clash: Clash | None = None


@remembered(16)
def memory_of(program: Program) -> Ownership:
    """Return the memory of a program's arrays; remembered for the last programs."""
    return Ownership(derived(program))


@dataclass(frozen=True, eq=False)
class Ownership:
    """The memory of a program's arrays, as far as taking over depends on it (`memory_of`)."""

    program: Program
    _stored: dict[str, Stored] = field(default_factory=dict, repr=False)

    @cached_property
    def lives(self) -> Mapping[str, Lifetime]:
        """The lifetime of every array."""
        return lives(self.program)

    def stored(self, array: str) -> Stored:
        """Return shape and order of an array's memory."""
        if array not in self._stored:
            record, life = self.program.array[array], self.lives[array]
            order = axis_order(self.program, record)
            self._stored[array] = store(record, order, life.windows, life.loops, array)
        return self._stored[array]

    @cached_property
    def homes(self) -> Mapping[str, tuple[Loop, ...]]:
        """The loops inside which every array lives."""
        return homes(self.program, self.lives)

    @cached_property
    def masked(self) -> frozenset[str]:
        """The arrays with reads of elements that may not be written."""
        return masked(self.program)

    @cached_property
    def outputs(self) -> set[str]:
        """The arrays that are returned."""
        return {o.array for o in self.program.outputs}

    @cached_property
    def paths(self) -> Mapping[str, Path]:
        """The place of every statement in the schedule."""
        return self.uses.paths

    @cached_property
    def axes(self) -> Mapping[str, tuple[str, ...]]:
        """The dimensions that run as array axes, for every statement."""
        return axis_dims(self.program.schedule)

    @cached_property
    def uses(self) -> ArrayUses:
        """The uses of every array, in the order of the schedule."""
        return array_uses(self.program.equations, self.program.schedule)

    @property
    def users(self) -> Mapping[str, tuple[str, ...]]:
        """The statements that write or read each array, in the order of the schedule."""
        return self.uses.users

    @property
    def turn(self) -> Mapping[str, int]:
        """The place of every statement in the text of the schedule."""
        return self.uses.turn

    def together(self, array: str) -> frozenset[str]:
        """Return the arrays in one piece of memory with an array, itself included."""
        return self._groups.get(array) or frozenset((array,))

    @cached_property
    def _groups(self) -> Mapping[str, frozenset[str]]:
        """The arrays in one piece of memory, for each that shares one."""
        groups: dict[str, frozenset[str]] = {}
        for pair in self.program.storage.donated:
            group = frozenset(pair).union(*(groups.get(name, ()) for name in pair))
            groups |= dict.fromkeys(group, group)
        return groups

    def first(self, array: str) -> int:
        """Return when an array is first written, in the text of the schedule."""
        return self.turn[self.uses.first_writer[array]]

    def last(self, array: str) -> int:
        """Return when an array is last used, in the text of the schedule."""
        return self.turn[self.users[array][-1]]


def hindrance(memory: Ownership, array: str, to: str) -> Hindrance | None:
    """Return why `to` cannot take over the memory of another array; None where it can."""
    for cheap in (_unlike(memory, array, to), _apart(memory, array, to)):
        if cheap is not None:
            return cheap
    if _in_turn(memory, array, to) or _may_share(memory, array, to):
        return None
    return Hindrance("", sharing_clash(*_sharing(memory, array, to)))


def can_take_over(memory: Ownership, array: str, to: str) -> bool:
    """Tell whether `hindrance` is None, without looking for instances."""
    if _unlike(memory, array, to) or _apart(memory, array, to):
        return False
    return _in_turn(memory, array, to) or _may_share(memory, array, to)


def _unlike(memory: Ownership, array: str, to: str) -> Hindrance | None:
    for name in (array, to):
        if name in memory.outputs:
            return Hindrance(f"{name} is an output: it is returned whole, in memory of its own")
        if name in memory.masked:
            return Hindrance(
                f"{name} is read under a mask where nothing is written: its memory must hold zeros"
            )
    spaces = [HOST if name in memory.program.storage.on_host else DEVICE for name in (array, to)]
    if spaces[0] != spaces[1]:
        return Hindrance(f"{array} lives in {spaces[0]} memory, {to} in {spaces[1]} memory")
    first, second = memory.stored(array), memory.stored(to)
    if first.buffer.dtype != second.buffer.dtype:
        return Hindrance(f"{array} is {first.buffer.dtype} and {to} is {second.buffer.dtype}")
    if first.buffer.elements != second.buffer.elements:
        return Hindrance(
            f"{array} has {first.buffer.elements} elements in memory, {to} {second.buffer.elements}"
        )
    return None


def _apart(memory: Ownership, array: str, to: str) -> Hindrance | None:
    """Refuse arrays that live inside different loops.

    Memory is handed on inside one iteration of the loops around both.
    """
    first, second = memory.homes[array], memory.homes[to]
    if len(first) == len(second) and all(p is q for p, q in zip(first, second, strict=True)):
        return None
    return Hindrance(f"{array} lives {_where(first)}, {to} {_where(second)}")


def _where(loops: tuple[Loop, ...]) -> str:
    if not loops:
        return "outside all loops"
    return f"inside one iteration of {', '.join(loop.name for loop in loops)}"


def beside(memory: Ownership, array: str, to: str) -> tuple[Beside, ...] | None:
    """Return how the axes of two arrays lie over each other in memory; None where they do not."""
    first, second = memory.stored(array), memory.stored(to)
    if first.buffer.shape != second.buffer.shape or first.array.shape != second.array.shape:
        return None
    if first.lead != second.lead:
        return None
    axes = []
    for p, q in zip(first.order, second.order, strict=True):
        if first.windows[p] != second.windows[q]:
            return None
        lower = first.array.extent[p][0] - second.array.extent[q][0]
        axes.append(Beside(p, q, lower if first.windows[p] is None else expression(0)))
    return tuple(axes)


def same_places(memory: Ownership, array: str, to: str) -> tuple[SamePlace, ...]:
    """Return the axes that tell apart the elements of two arrays in one piece of memory."""
    places = []
    for p, q, ahead in beside(memory, array, to) or ():
        window = memory.stored(array).windows[p]
        if window is None:
            places.append(SamePlace(p, q, ahead))
        elif not window.terms:
            places.append(SamePlace(p, q, ahead, window.constant))
    return tuple(places)


def _in_turn(memory: Ownership, array: str, to: str) -> bool:
    """Tell whether the uses of the first come before the writes of the second in one iteration.

    Reads elementwise with a write are allowed too, if they are all of the written place: of other
    instances at once, the exact test tells which read comes too late.
    """
    depth = len(memory.homes[array])
    for writer in memory.program.writers[to]:
        for user in memory.users[array]:
            standing = _standing(memory.paths[writer.name], memory.paths[user], depth)
            if standing == "after":
                continue
            if standing == "same" and writer.name in _in_place(memory, array, to):
                continue
            return False
    return True


def _standing(path: Path, other: Path, depth: int) -> Literal["before", "after", "same", "inside"]:
    """Return how a statement stands to another in one iteration of `depth` loops around both.

    By their paths it is before or after it, the same, or in one further loop.
    """
    for (node, at), (_, to) in zip(path, other, strict=False):
        if isinstance(node, Block):
            if at != to:
                return "before" if at < to else "after"
        elif node.kind == "loop":
            if not depth:
                return "inside"
            depth -= 1
    return "same"


def overwriting(memory: Ownership, array: str, to: str) -> set[str]:
    """Return the writers of `to` that read the other array elementwise, at the written place."""
    reading = [s for s in memory.program.writers[to] if array in s.touched]
    over = beside(memory, array, to) if reading else None
    if over is None:
        return set()
    return {s.name for s in reading if may_overwrite(s, memory.axes[s.name], array, over)}


def _in_place(memory: Ownership, array: str, to: str) -> set[str]:
    """Return those of `overwriting` that read nothing of the other array elsewhere."""
    over = beside(memory, array, to) or ()
    statement, axes = memory.program.statement, memory.axes
    return {
        name
        for name in overwriting(memory, array, to)
        if reads_in_place(statement[name], axes[name], array, over)
    }


def _may_share(memory: Ownership, array: str, to: str) -> bool:
    pair = Pair(array, to, same_places(memory, array, to))
    elementwise = frozenset(overwriting(memory, array, to))
    return memory.uses.may_share(pair, elementwise, _copies(memory, array))


def _sharing(
    memory: Ownership, array: str, to: str
) -> tuple[Pair, dict[str, Extent], Tree, dict[str, Instances], int]:
    """Return what shows that two arrays cannot share memory."""
    program = memory.program
    extents = {name: program.array[name].extent for name in (array, to)}
    pair = Pair(array, to, same_places(memory, array, to))
    at_once = touching(memory, array, to)
    return pair, extents, program.schedule, at_once, _copies(memory, array)


def _copies(memory: Ownership, array: str) -> int:
    """Return how many loops whose blocks are apart have an array inside."""
    return sum(loop.apart for loop in memory.homes[array])


def touching(memory: Ownership, array: str, to: str) -> dict[str, Instances]:
    """Return the statements that touch either array, in the order of the schedule. Those that write
    `to` over the elements of the other that they read may do so.
    """
    elementwise = overwriting(memory, array, to)
    names = {*memory.users[array], *memory.users[to]}
    own = {
        name: memory.program.statement[name].instances
        for name in sorted(names, key=memory.turn.__getitem__)
    }
    return {
        name: replace(s, may_alias=(array,)) if name in elementwise else s
        for name, s in own.items()
    }


def heirs(program: Program, array: str) -> list[str]:
    """Return the arrays that take over an array's memory, one after the other."""
    heir = {a: to for a, to in program.storage.donated if a != to}
    arrays = [array]
    while arrays[-1] in heir:
        arrays.append(heir[arrays[-1]])
    return arrays[1:]


def holding(program: Program, before: Program) -> Program:
    """Return the program without the donations that do not hold.

    `before` is the variant that it is derived from, whose donations hold. A program that returns
    more, or goes on from given values, may lose those of arrays that it uses otherwise.
    """
    there = program.array.keys()
    storage = program.storage
    known = tuple(pair for pair in storage.donated if set(pair) <= there)
    added = tuple(array for array in storage.added if array in there)
    storage = replace(storage, donated=known, added=added)
    program = replace(program, storage=storage)
    memory, other = memory_of(program), _used_otherwise(program, before)
    kept = tuple(
        (array, to)
        for array, to in known
        if array == to
        or all(
            other.isdisjoint((array, later)) or can_take_over(memory, array, later)
            for later in heirs(program, array)
        )
    )
    return replace(program, storage=replace(storage, donated=kept))


def _used_otherwise(program: Program, before: Program) -> set[str]:
    """Return the arrays that not the very same statements of both programs touch, or that only one
    returns.
    """
    now, then = set(map(id, program.statements)), set(map(id, before.statements))
    changed = [s for s in program.statements if id(s) not in then]
    changed += [s for s in before.statements if id(s) not in now]
    touched = {array for s in changed for array in s.touched}
    returned = [{o.array for o in p.outputs} for p in (program, before)]
    return touched | (returned[0] ^ returned[1])


# -- what can be done -----------------------------------------------------------------------------


def takeovers(
    program: Program, array: str | None = None, to: str | None = None
) -> tuple[tuple[str, str], ...]:
    """Return arrays that can be updated in place, then pairs (array, array that takes its memory).

    The first of a pair is an operand of the equation that writes the second first, else the array
    that died last. Only of `array`, and only `to`, where they are given.
    """
    return _takeovers(program, array, to)


@remembered(64)
def _takeovers(program: Program, array: str | None, to: str | None) -> tuple[tuple[str, str], ...]:
    program = derived(program)
    in_place = tuple(p for p in in_place_gains(program) if _meant(p, array, to))
    storage = program.storage
    after = replace(program, storage=replace(storage, donated=(*storage.donated, *in_place)))
    return (*in_place, *_handed_on(Ownership(after), array, to))


def _meant(pair: tuple[str, str], array: str | None, to: str | None) -> bool:
    return array in (None, pair[0]) and to in (None, pair[1])


def _handed_on(
    memory: Ownership, wanted: str | None, heir: str | None
) -> Iterator[tuple[str, str]]:
    program = memory.program
    pairs = [(a, to) for a, to in program.storage.donated if a != to]
    given, taken = {a for a, _ in pairs}, {to for _, to in pairs}
    groups = {a.name: memory.together(a.name) for a in program.arrays}
    alike: dict[object, list[str]] = {}
    for array in sorted(groups, key=memory.last, reverse=True):
        if array not in memory.outputs and array not in memory.masked:
            alike.setdefault(_kind(memory, array), []).append(array)
    for to in sorted(groups, key=memory.first):
        if to in taken or to in memory.outputs or to in memory.masked:
            continue
        for array in alike.get(_kind(memory, to), ()):
            if array in given or array in groups[to] or not _meant((array, to), wanted, heir):
                continue
            if memory.first(array) > memory.first(to) or not saves(memory, array, to):
                continue
            if _meeting(memory, array, to) == "before":  # what is used later is hardly dead
                continue
            if all(can_take_over(memory, a, b) for a in groups[array] for b in groups[to]):
                given.add(array)
                _join(groups, array, to)
                yield array, to
                break


def _kind(memory: Ownership, array: str) -> object:
    """Return what two arrays must have in common to share memory."""
    buffer = memory.stored(array).buffer
    swapped = array in memory.program.storage.on_host
    return buffer.dtype, swapped, buffer.elements, tuple(id(loop) for loop in memory.homes[array])


def saves(memory: Ownership, array: str, to: str) -> bool:
    """Tell whether handing memory on to a later array saves any.

    It does if the one dies in the operation that writes the other, if they take turns within an
    inner loop, or if memory is held throughout a loop.
    """
    return _meeting(memory, array, to) != "after" or held_throughout(memory, array)


def _meeting(memory: Ownership, array: str, to: str) -> str:
    """Return how the first write of `to` stands to the last use of the other array.

    By the loops inside which both live it is "after" or "before" it, in the "same" operation, or in
    one inner loop.
    """
    writer, user = memory.paths[memory.uses.first_writer[to]], memory.paths[memory.users[array][-1]]
    return _standing(writer, user, len(memory.homes[array]))


def held_throughout(memory: Ownership, array: str) -> bool:
    """Tell whether an array's memory is held as long as a loop runs.

    It lives in one of the loop's iterations, and no other loop stands inside.
    """
    home = memory.homes[array]
    return bool(home) and not has_loop(home[-1].child)


def _join(groups: dict[str, frozenset[str]], array: str, to: str) -> None:
    both = groups[array] | groups[to]
    for name in both:
        groups[name] = both
