"""The lifetimes of a program's arrays under its storage: windows, and the loops around each."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from workbench.coming import OnDemand
from workbench.identity import remembered
from workbench.lowering.memory.overwriting import in_itself, may_overwrite
from workbench.lowering.values.point_boxes import is_masked
from workbench.polyhedral.accesses import Instances
from workbench.polyhedral.expression import Expression
from workbench.polyhedral.lifetimes.windows import Lifetime, Together, together
from workbench.polyhedral.tree import Loop, Tree, axis_dims, loops, loops_above, paths
from workbench.program.accumulating import derived
from workbench.program.storage import Storage
from workbench.program.values import Array, Equations, Program, Statement


def lives(program: Program, storage: Storage | None = None) -> Mapping[str, Lifetime]:
    """Return the lifetime of every array, with windows where its storage is contracted. That of an
    array is found when it is asked for.

    The storage is the program's unless given.
    """
    storage = program.storage if storage is None else storage
    program = derived(program)
    live = _together(program, storage)
    folded: dict[str, list[str]] = {}
    for array, dim in storage.contracted:
        folded.setdefault(array, []).append(dim)

    def of(array: str) -> Lifetime:
        if array not in folded:
            return live[array].whole
        return live[array].folded(_positions(program.array[array], folded[array]))

    return OnDemand(program.array, of)


def windows_but_for_blocks(
    program: Program, storage: Storage, array: str
) -> tuple[Expression | None, ...]:
    """Return the windows of an array where slots need not come in whole blocks."""
    program = derived(program)
    live = _together(program, storage)[array]
    dims = [dim for name, dim in storage.contracted if name == array]
    return live.but_for_blocks(_positions(program.array[array], dims))


def _positions(array: Array, dims: Collection[str]) -> list[int]:
    """Return the positions of dimensions of an array."""
    return [k for k, dim in enumerate(array.dims) if dim in dims]


def _together(program: Program, storage: Storage) -> Mapping[str, Together]:
    in_place = frozenset(array for array, to in storage.donated if array == to)
    return _conflicts(program.equations, program.schedule, in_place)


@remembered(32, same=2)
def _conflicts(
    equations: Equations, schedule: Tree, in_place: frozenset[str]
) -> Mapping[str, Together]:
    return together(
        {a.name: a.extent for a in equations.arrays},
        schedule,
        _shapes(equations, schedule, in_place),
        live_out={o.array for o in equations.outputs},
        keep=read_anywhere(equations),
    )


def in_place_gains(program: Program) -> tuple[tuple[str, str], ...]:
    """Return the arrays that need fewer slices if updated in place, each beside itself."""
    program = derived(program)
    axes = axis_dims(program.schedule)
    storage = program.storage
    able = {
        s.array: (s.array, s.array)
        for s in program.statements
        if (s.array, s.array) not in storage.donated
        and may_overwrite(s, axes[s.name], s.array, in_itself(s))
    }
    now = lives(program)
    then = lives(program, replace(storage, donated=(*storage.donated, *able.values())))
    return tuple(pair for array, pair in able.items() if now[array].windows != then[array].windows)


def described(program: Program) -> str:
    """Describe the part of each dimension that arrays keep: `state over b (B), t (2 of T + 1)`.

    An array is a line.
    """
    added = program.storage.added
    program = derived(program)
    lifetimes = lives(program)
    before = {to: array for array, to in program.storage.donated if array != to}
    in_place = {array for array, to in program.storage.donated if array == to}
    lines = []
    for array in program.arrays:
        kept = []
        windows = zip(array.dims, array.extent, lifetimes[array.name].windows, strict=True)
        for dim, (lower, upper), window in windows:
            length = upper - lower
            slots = f"{length}" if window in (None, length) else f"{window} of {length}"
            kept.append(f"{dim} ({slots})")
        line = f"{array.name} over {', '.join(kept)}" if kept else array.name
        line += ", added up" if array.name in added else ""
        line += ", in place" if array.name in in_place else ""
        line += f", in the memory of {before[array.name]}" if array.name in before else ""
        line += _laid(array.name, program.storage) + _where(array.name, program.storage)
        lines.append(line)
    return "".join(f"{line}\n" for line in lines)


def _laid(array: str, storage: Storage) -> str:
    order = dict(storage.layouts).get(array)
    return "" if order is None else f", in memory as {', '.join(order)}"


def _where(array: str, storage: Storage) -> str:
    ahead = dict(storage.swapped).get(array)
    if ahead is None:
        return ""
    return f", on the host, prefetch={ahead}" if ahead else ", on the host"


def shapes(program: Program) -> dict[str, Instances]:
    """Return the scheduled statements as sets and relations.

    An instance whose array is updated in place (as the program's storage says) may overwrite the
    elements that it reads of it elementwise.
    """
    program = derived(program)
    in_place = {array for array, to in program.storage.donated if array == to}
    return _shapes(program.equations, program.schedule, in_place)


def _shapes(
    equations: Equations, schedule: Tree, in_place: Collection[str]
) -> dict[str, Instances]:
    axes = axis_dims(schedule)
    return {
        s.name: _overwriting_itself(s, axes[s.name]) if s.array in in_place else s.instances
        for s in equations.statements
        if s.name in axes
    }


def _overwriting_itself(statement: Statement, axes: Sequence[str]) -> Instances:
    safe = may_overwrite(statement, axes, statement.array, in_itself(statement))
    return replace(statement.instances, may_alias=(statement.array,) if safe else ())


def read_anywhere(equations: Equations) -> dict[str, set[int]]:
    """Return the dimensions of each array along which some statement may read any element."""
    dims: dict[str, set[int]] = {a.name: set() for a in equations.arrays}
    for s in equations.statements:
        for access in s.instances.reads:
            dims[access.array] |= {k for k, e in enumerate(access.index) if e is None}
    return dims


def masked(program: Program) -> frozenset[str]:
    """Return the arrays that a statement reads under a mask, where nobody may have written."""
    program = derived(program)
    return _masked(program.equations, program.schedule)


@remembered(32, same=2)
def _masked(equations: Equations, schedule: Tree) -> frozenset[str]:
    axes = axis_dims(schedule)
    statements = (s for s in equations.statements if is_masked(s, axes[s.name]))
    return frozenset(r.array for s in statements for r in s.reads)


def private(program: Program) -> tuple[tuple[Loop, tuple[str, ...]], ...]:
    """Return each loop whose blocks are apart with the arrays that live inside it, of the derived
    program.

    Each block that runs has its own copy of these: where blocks run on several threads, their bytes
    count once a thread. NumPy runs one block at a time, and has one copy. Of nested loops the
    innermost one has them.
    """
    program = derived(program)
    at, living = paths(program.schedule), homes(program, lives(program))
    arrays: dict[int, list[str]] = {}
    for array, writers in program.writers.items():
        if not any(loop.apart for loop in loops_above(at[writers[0].name], "loop")):
            continue  # it lives in no block: how long is nobody's question
        apart = [loop for loop in living[array] if loop.apart]
        if apart:
            arrays.setdefault(id(apart[-1]), []).append(array)
    return tuple(
        (loop, tuple(arrays.get(id(loop), ()))) for loop in loops(program.schedule) if loop.apart
    )


def homes(program: Program, found: Mapping[str, Lifetime]) -> Mapping[str, tuple[Loop, ...]]:
    """Return the sequential loops inside which each array lives, outermost first."""
    program = derived(program)
    at = paths(program.schedule)

    def of(array: str) -> tuple[Loop, ...]:
        around = loops_above(at[program.writers[array][0].name], "loop")
        return around[: found[array].loops]

    return OnDemand(program.array, of)
