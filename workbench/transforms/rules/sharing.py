"""Rules over the whole program: repeated work is done once, work that does not vary over a loop
moves out of it, and work that no output needs is dropped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from workbench.identity import remembered
from workbench.polyhedral.expression import Expression, variable
from workbench.polyhedral.hashed import Hashed
from workbench.polyhedral.sets.relations import extent_of, is_box, is_subset, project_out, with_dims
from workbench.polyhedral.tree import blocks, loop_dims, only, statements
from workbench.program.bodies import Body, Call, IndexValue, Read, known_range, walk
from workbench.program.carrying.past import lead_of
from workbench.program.dependences import needed
from workbench.program.episodes.held import guards_over
from workbench.program.operations.table import OPERATIONS
from workbench.program.storage import Storage
from workbench.program.values import Array, Equations, Program, Statement
from workbench.transforms.rules.rewriting import rebuilt
from workbench.transforms.rules.row import RuleResult, is_external, is_pure
from workbench.transforms.trees.insertion import Unplaced, fresh_name, violated, with_array


def variables(body: Body) -> frozenset[str]:
    """Return the dimensions over which a body without draws varies."""
    dims: set[str] = set()
    for b in walk(body):
        if isinstance(b, IndexValue):
            dims |= b.expression.variables
        elif isinstance(b, Read):
            for e in b.index:
                if isinstance(e, Expression):
                    dims |= e.variables
    return frozenset(dims)


def varies_over(body: Body, dims: Iterable[str]) -> bool:
    """Tell whether the body varies over one of the dimensions."""
    return not variables(body).isdisjoint(dims)


def computes(body: Body) -> bool:
    """Tell whether evaluating the body costs something."""
    return any(isinstance(b, Call) and not OPERATIONS[b.operation].free for b in walk(body))


# -- dead statements -------------------------------------------------------------------------------


def dead_statements(program: Program) -> RuleResult:
    """Drop the arrays that no output needs; calls go when their results are not needed."""
    alive = needed(program.equations)
    dead = [a.name for a in program.arrays if a.name not in alive]
    return RuleResult(without(program, dead), tuple(dead)) if dead else RuleResult(program)


def without(program: Program, arrays: Collection[str]) -> Program:
    """Drop arrays that nothing reads, with their entries in the storage."""
    if not arrays:
        return program
    kept = tuple(s for s in program.statements if s.array not in arrays)
    externals = program.externals
    if externals:
        called = {b.options["name"] for s in kept for b in walk(s.body) if is_external(b)}
        externals = tuple(e for e in externals if e.name in called)
    equations = replace(
        program.equations,
        arrays=tuple(a for a in program.arrays if a.name not in arrays),
        statements=kept,
        aliases=tuple(alias for alias in program.aliases if alias.array not in arrays),
        externals=externals,
    )
    schedule = only(program.schedule, {s.name for s in kept})
    assert schedule is not None, "every output is written by a statement"
    return Program(equations, schedule, stored(program.storage, arrays))


def stored(storage: Storage, gone: Collection[str]) -> Storage:
    """Return the storage without arrays that are gone."""
    return replace(
        storage,
        contracted=tuple(pair for pair in storage.contracted if pair[0] not in gone),
        donated=tuple(pair for pair in storage.donated if not {*pair} & {*gone}),
        swapped=tuple(pair for pair in storage.swapped if pair[0] not in gone),
        added=tuple(array for array in storage.added if array not in gone),
        layouts=tuple(pair for pair in storage.layouts if pair[0] not in gone),
    )


# -- equal statements ------------------------------------------------------------------------------


def equal_statements(program: Program) -> RuleResult:
    """Merge arrays with the same equations into the one that is returned, or comes first."""
    merged: list[str] = []
    while True:
        shared = _merged(program, merged)
        if shared is None:
            return RuleResult(program, tuple(merged))
        program = shared


def _merged(program: Program, merged: list[str]) -> Program | None:
    """Do one round: every array goes into the first that has its equations."""
    by_equations: dict[Any, list[str]] = {}
    for array in program.arrays:
        if array.name in program.storage.added:  # two sums cannot share what is never stored
            continue
        key = _equations(program, array)
        if key is not None:
            by_equations.setdefault(key, []).append(array.name)
    changed = False
    for names in by_equations.values():
        if len(names) == 1:
            continue
        kept, *others = _best_first(program, names)
        for gone in others:
            joined = _joined(program, gone, kept)
            if joined is not None:
                program, changed = joined, True
                merged.append(gone)
    return program if changed else None


def _equations(program: Program, array: Array) -> Any:
    """Return a key that is equal for arrays with the same values; None where they come from
    outside or are given. Draws are told apart by their origin. So is what is carried over updates:
    a run that goes on may start it from other values.
    """
    carried = lead_of(program.equations, array, program.updates) > 0
    writers = program.writers[array.name]
    if any(array.name in (end.open, end.after) for end in program.equations.ends):
        return None
    values = [_value(s.body, s.array) for s in writers]
    if None in values:
        return None
    pieces = frozenset(
        (
            s.dims,
            s.domain,
            s.write,
            value.text,
            s.reduction_dims,
            s.reduction,
            s.combiner,
            s.origin if carried or value.drawn else "",
            s.guards,
        )
        for s, value in zip(writers, values, strict=True)
        if value is not None
    )
    return array.dims, array.extent, array.dtype, array.shape, pieces


class _Value(NamedTuple):
    """What a body computes: its text, and whether draws are in it."""

    text: str
    drawn: bool


@remembered(4096)
def _value(body: Body, array: str) -> _Value | None:
    """Return what a body of an array computes, alike in arrays of other names; None where equal
    bodies may be unequal values. Draws are told apart by their origin; calls and given values never
    are one.
    """
    rows = [OPERATIONS[b.operation] for b in walk(body) if isinstance(b, Call)]
    if any(row.external or row.given for row in rows):
        return None
    return _Value(repr(_renamed(body, {array: ""})), not all(row.pure for row in rows))


def _best_first(program: Program, names: list[str]) -> list[str]:
    returned = {o.array for o in program.outputs}
    order = {program.statement[n].array: k for k, n in enumerate(statements(program.schedule))}
    return sorted(names, key=lambda n: (n not in returned, order[n]))


def _joined(program: Program, gone: str, kept: str) -> Program | None:
    """Replace `gone` by `kept`; None where readers would come too early."""
    names = {gone: kept}
    changed = replace(
        program.equations,
        statements=tuple(
            s if s.array == gone else replace(s, body=_renamed(s.body, names))
            for s in program.statements
        ),
        outputs=tuple(replace(o, array=names.get(o.array, o.array)) for o in program.outputs),
        aliases=(
            *(replace(a, array=names.get(a.array, a.array)) for a in program.aliases),
            replace(program.array[gone].alias(gone), array=kept),
        ),
    )
    joined = without(replace(program, equations=changed), {gone})
    writers = {s.name for s in joined.writers[kept]}
    broken = violated(joined.equations, joined.schedule, writers)
    return joined if broken is None else None


def _renamed(body: Body, names: Mapping[str, str]) -> Body:
    """Return the body with other arrays read."""

    def change(b: Body) -> Body:
        renamed = rebuilt(b, change)
        if isinstance(renamed, Read) and renamed.array in names:
            return replace(renamed, array=names[renamed.array])
        return renamed

    return change(body)


# -- equal and invariant parts of bodies -----------------------------------------------------------


@dataclass(frozen=True)
class SharedPart(Hashed):
    """A part of a body of some statements: over `dims`, for the points `domain`."""

    body: Call
    dims: tuple[str, ...]
    domain: str


def common_bodies(program: Program) -> RuleResult:
    """Share bodies that several statements compute at the same points: in a statement of its own,
    or read from the one that computes just that.
    """
    where: list[str] = []
    tried: set[SharedPart] = set()
    while True:
        uses = _uses(program)
        shared = [p for p, names in uses.items() if len(names) > 1 and p not in tried]
        if not shared:
            return RuleResult(program, tuple(where))
        part = max(shared, key=lambda p: sum(1 for _ in walk(p.body)))
        tried.add(part)
        extracted = _read_from_owner(program, part, uses[part]) or _extracted(
            program, part, uses[part], "common"
        )
        if extracted is not None:
            program, name = extracted
            where.append(name)


def invariant_bodies(program: Program) -> RuleResult:
    """Move a part of a body that does not vary over a loop around its statement to a statement of
    its own, over fewer dims.
    """
    where: list[str] = []
    tried: set[SharedPart] = set()
    while True:
        loops, blocked = loop_dims(program.schedule), blocks(program.schedule)
        uses = _uses(program)
        candidates = [
            part
            for part, names in uses.items()
            if part not in tried
            and any(
                {loop, blocked.get(loop, (loop,))[0]}.isdisjoint(part.dims)
                for n in names
                for loop in loops[n]
            )
        ]
        if not candidates:
            return RuleResult(program, tuple(where))
        part = max(candidates, key=lambda p: sum(1 for _ in walk(p.body)))
        tried.add(part)
        changed = _extracted(program, part, uses[part], "invariant")
        if changed is not None:
            program, name = changed
            where.append(name)


def _uses(program: Program) -> dict[SharedPart, list[str]]:
    """Return the parts that cost something, and the statements that have them."""
    users: dict[SharedPart, list[str]] = {}
    for s in program.statements:
        for part in _parts(s.body, s.dims, s.domain):
            users.setdefault(part, []).append(s.name)
    return users


@remembered(4096)
def _parts(body: Body, dims: tuple[str, ...], domain: str) -> tuple[SharedPart, ...]:
    """Return the calls of a body that vary over instances only; whole bodies count. An index whose
    range is promised stays where it is read by: elsewhere nothing would know of the promise.
    """
    if not is_pure(body):
        return ()
    parts = []
    for b in dict.fromkeys(walk(body)):
        if not isinstance(b, Call) or OPERATIONS[b.operation].free or not computes(b):
            continue
        if known_range(b) is not None:
            continue
        varies = variables(b)
        if varies <= set(dims):
            over = tuple(d for d in dims if d in varies)
            missing = [d for d in dims if d not in varies]
            parts.append(SharedPart(b, over, project_out(domain, missing) if missing else domain))
    return tuple(parts)


def _read_from_owner(
    program: Program, part: SharedPart, names: list[str]
) -> tuple[Program, str] | None:
    """Have the other statements read the array of one that computes just the part."""
    owner = next(
        (
            s
            for s in (program.statement[n] for n in names)
            if s.combiner is None and s.body == part.body
        ),
        None,
    )
    if owner is None or not set(owner.dims) <= set(part.dims):
        return None
    array = program.array[owner.array]
    domain = with_dims(part.domain, owner.dims)
    if not is_subset(domain, owner.domain):
        return None
    read = Read(array.name, owner.write, array.dtype, array.shape)
    others = [n for n in names if n != owner.name]
    reading = _replaced(program.equations, part.body, read, others)
    if violated(reading, program.schedule, {owner.name}) is not None:
        return None
    return replace(program, equations=reading), owner.name


def _extracted(
    program: Program, part: SharedPart, names: list[str], kind: str
) -> tuple[Program, str] | None:
    """Make the part a statement of its own in front of the first that has it."""
    if not is_box(part.domain, part.dims):
        return None
    order = [n for n in statements(program.schedule) if n in set(names)]
    first = program.statement[order[0]]
    name = fresh_name(program, f"{first.array}.{kind}")
    write = tuple(variable(d) for d in part.dims)
    array = Array(
        name,
        part.dims,
        extent_of(part.domain),
        part.body.dtype,
        part.body.shape,
        first.scope,
        program.array[first.array].part_called,
    )
    own = Statement(
        name=name,
        dims=part.dims,
        domain=part.domain,
        array=name,
        write=write,
        body=part.body,
        scope=first.scope,
        phase=first.phase,
        origin=name,
        line=first.line,
        guards=_shared_guards([program.statement[n] for n in names], part.dims),
    )
    read = Read(name, write, array.dtype, array.shape)
    reading = _replaced(program.equations, part.body, read, names)
    changed = with_array(program, reading, array, (own,), names)
    return None if isinstance(changed, Unplaced) else (changed, name)


def _shared_guards(readers: Sequence[Statement], dims: Collection[str]) -> tuple[Read, ...]:
    """Return the guards that all readers have, of which `dims` say as much."""
    first, *others = (s.guards for s in readers)
    return guards_over([g for g in first if all(g in guards for guards in others)], dims)


def _replaced(equations: Equations, part: Body, read: Read, names: Collection[str]) -> Equations:
    """Have the statements `names` read instead of computing the part."""

    def change(b: Body) -> Body:
        return read if b == part else rebuilt(b, change)

    changed = tuple(
        replace(s, body=change(s.body)) if s.name in names else s for s in equations.statements
    )
    return replace(equations, statements=changed)
