"""The values that a program carries from one update to the next, kept at the end or set anew.

`Program.updates` is the dimension that counts updates. An array is carried over it where its
elements go beyond the last update: parameters, an optimizer's moments, environment states, running
statistics. Mostly that is one element; `x[i + 2] = …` hands two on. As many at the start are
written by other statements. A run from given values replaces the starts and counts updates from
`first` on: in numbers made of the update (Adam's correction, an annealed rate) and in the counters
of random draws, so that the draws go on and do not repeat.

A program without parameters has no such dimension. A run that is to go on, or to be gone on from,
is then along the outermost dim of a recurrence (`along`): `table[i + 1] = …` is carried over `i`.

The program as written decides what is carried. Steps change the statements that start it, but not
their origins.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from workbench.errors import ProgramError
from workbench.identity import remembered
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.polyhedral.expressions.atoms import Choice, Size
from workbench.polyhedral.sets.relations import extent_of, hull
from workbench.polyhedral.tree import Leaf, Loop, Tree, only, sequence
from workbench.program.bodies import Body, Call, IndexValue, Read, walk
from workbench.program.carrying.past import (
    depth_of,
    kept,
    lead_of,
    looped,
    past_name,
    pasts,
    with_past,
)
from workbench.program.dependences import needed
from workbench.program.operations.table import OPERATIONS
from workbench.program.text.infix import equation
from workbench.program.values import Array, Equations, Output, Program, Statement

KEPT = "kept."
"""The prefix of the arrays that hold carried values after the last update."""


@dataclass(frozen=True)
class Start:
    """A statement that writes the first elements of a carried array."""

    statement: Statement
    array: Array
    position: int
    """The position of the array's dimension that counts updates."""
    back: int
    """The place of its element from the end of what the array holds: 1 for the last."""
    name: str
    """The values' name in a checkpoint: the array, or its piece where it has several."""
    outside: bool
    """True if they come from an external object: the program cannot set its state."""

    def shape_after(self, updates: int) -> tuple[Expression, ...]:
        """Return the lengths of the statement's dimensions, then the inner shape; the number of
        updates before is of no matter.
        """
        lengths = [upper for _, upper in hull(self.statement.domain)]
        return (*lengths, *(expression(n) for n in self.array.shape))


def counting(equations: Equations) -> str:
    """Return the dimension along which a run can go on: that which counts updates, else the first
    that a recurrence runs along; "" where there is none.
    """
    if equations.updates:
        return equations.updates
    ended = {end.dim for end in equations.ends}
    for dim in equations.dims:
        if dim.name in ended:  # the last step is another in each episode
            continue
        for array in equations.arrays:
            if lead_of(equations, array, dim.name) and any(
                _goes_on(s, array.dims.index(dim.name), dim.name)
                for s in equations.writers[array.name]
            ):
                return dim.name
    return ""


@remembered(16)
def along(program: Program) -> Program:
    """Return the program with the dimension along which it can go on as that of its updates."""
    dim = counting(program.equations)
    if dim == program.updates:
        return program
    return replace(program, equations=replace(program.equations, updates=dim))


def _goes_on(statement: Statement, position: int, dim: str) -> bool:
    """Tell whether the statement writes elements of the next value of a dim."""
    index = statement.write[position]
    return dim in index.variables and index != variable(dim)


def starts(equations: Equations) -> tuple[Start, ...]:
    """Return the starts of what a program as written carries over updates.

    Empty where no dimension counts updates. Raises ProgramError where an update needs more of the
    past.
    """
    if not equations.updates:
        return ()
    carried = (a for a in equations.arrays if lead_of(equations, a, equations.updates))
    found = _in_order(equations, dict.fromkeys(carried, equations.updates))
    _needs_no_more(equations, {start.statement.name for start in found})
    return found


def beginnings(equations: Equations) -> tuple[Start, ...]:
    """Return the statements that a recurrence begins with: what can be given to a run at first.

    Those of what is carried over updates, and of other arrays those of the first dim that they run
    along.
    """
    along_of: dict[Array, str] = {}
    for array in equations.arrays:
        if lead_of(equations, array, equations.updates):
            along_of[array] = equations.updates
            continue
        for position, dim in enumerate(array.dims):
            if any(_goes_on(s, position, dim) for s in equations.writers[array.name]):
                along_of[array] = dim
                break
    return _in_order(equations, along_of)


def _in_order(equations: Equations, along_of: Mapping[Array, str]) -> tuple[Start, ...]:
    """Return the starts of arrays along a dim each, in the order of the equations."""
    found: list[Start] = []
    for array, dim in along_of.items():
        position = array.dims.index(dim)
        lead = lead_of(equations, array, dim)
        first = {expression(n): lead - n for n in range(lead)}
        writers = [s for s in equations.writers[array.name] if s.write[position] in first]
        for s in writers:
            name = array.name if len(writers) == 1 else s.name
            back, outside = first[s.write[position]], _from_outside(equations, s)
            found.append(Start(s, array, position, back, name, outside))
    order = {s.name: n for n, s in enumerate(equations.statements)}
    return tuple(sorted(found, key=lambda start: order[start.statement.name]))


def _from_outside(equations: Equations, statement: Statement) -> bool:
    """Tell whether the statement needs the answer of an external object's call."""
    seen = {statement.name: statement}
    todo = [statement] if equations.externals else []
    while todo:
        s = todo.pop()
        if any(isinstance(x, Call) and OPERATIONS[x.operation].external for x in walk(s.body)):
            return True
        writers = [
            w for read in s.reads for w in equations.writers[read.array] if w.name not in seen
        ]
        seen |= {w.name: w for w in writers}
        todo += writers
    return False


def keeping(program: Program, written: Equations | None = None) -> Program:
    """Return the program that also returns its last carried values, as `kept.NAME`.

    `written` are the equations as written, where steps have changed them.
    """
    equations = program.equations
    arrays, statements, outputs = [], [], []
    leaves: list[Tree] = []
    for past in (p for p in pasts(written or equations) if p.is_kept):
        own, reader = kept(equations, past, KEPT + past.name)
        arrays.append(own)
        statements.append(reader)
        leaves.append(looped(reader, equations.updates))
        outputs.append(Output(own.name, own.name))
    for start in starts(written or equations):
        if start.array.name not in equations.array:
            continue  # only a start that a new run is given had needed it
        s, name = start.statement, KEPT + start.name
        end = equations.array[start.array.name].extent[start.position][1] - start.back
        index = tuple(end if p == start.position else e for p, e in enumerate(s.write))
        array = replace(start.array, name=name, dims=s.dims, extent=extent_of(s.domain))
        arrays.append(array)
        statements.append(
            replace(
                s,
                name=name,
                array=name,
                write=tuple(variable(d) for d in s.dims),
                body=Read(start.array.name, index, array.dtype, array.shape),
                reduction_dims=(),
                reduction="",
                combiner=None,
                origin=name,
            )
        )
        leaf: Tree = Leaf(name)
        for d in reversed(s.dims):
            leaf = Loop(d, leaf, "axis")
        leaves.append(leaf)
        outputs.append(Output(name, name))
    if not outputs:
        return program
    more = replace(
        equations,
        arrays=(*equations.arrays, *arrays),
        statements=(*equations.statements, *statements),
        outputs=(*equations.outputs, *outputs),
    )
    return replace(program, equations=more, schedule=sequence([program.schedule, *leaves]))


def resumed(
    program: Program, given: Collection[str], first: int, written: Equations | None = None
) -> Program:
    """Return the program with the starts named in `given` read from outside, `first` updates on.

    `written` are the equations as written, where steps have changed them. A name may be that of an
    array's past, and of its start along another dim: only a new run is given the latter.
    """
    equations = program.equations
    written = written or equations
    begun = starts(written) if first else beginnings(written)
    replaced = {start.statement.origin: start for start in begun if start.name in given}
    total = equations.dim[equations.updates].size + first if equations.updates else expression(0)
    counted = {equations.updates: variable(equations.updates) + first}
    counted |= {a.name: total for a in _sizes_of_updates(equations)}
    dims = {s.origin: s.dims for s in written.statements}
    statements = [
        _given(s, equations.array[s.array], replaced[s.origin])
        if s.origin in replaced
        else replace(s, body=_counted(s.body, counted, equations.updates, first))
        if first and equations.updates in dims.get(s.origin, s.dims)
        else s
        for s in equations.statements
    ]
    past = {p.array.name: p for p in pasts(written) if first and (p.name in given or not p.is_kept)}
    going_on = with_past(replace(equations, statements=tuple(statements)), past, first)
    live = _live(going_on)
    schedule = only(program.schedule, set(live.statement))
    assert schedule is not None, "every output is written by a statement"
    ahead = [
        looped(s, equations.updates)
        for s in (live.statement.get(past_name(name)) for name in past)
        if s is not None
    ]
    tree = sequence([*ahead, schedule]) if ahead else schedule
    return replace(program, equations=live, schedule=tree)


def _sizes_of_updates(equations: Equations) -> Iterator[Size]:
    """Yield the size that is the number of updates, where it is one."""
    if equations.updates:
        length = equations.dim[equations.updates].size
        if len(length.terms) == 1 and length.constant == 0:
            atom, coefficient = length.terms[0]
            if isinstance(atom, Size) and coefficient == 1:
                yield atom


def _given(s: Statement, array: Array, start: Start) -> Statement:
    """Return the statement with values from outside, told apart by the dims of its original."""
    options = (
        ("name", start.name),
        ("shape", array.shape),
        ("dtype", array.dtype),
        ("dims", start.statement.dims),
    )
    body = Call("given", (), array.dtype, array.shape, options)
    return replace(s, body=body, reduction_dims=(), reduction="", combiner=None)


def _counted(body: Body, counted: dict[str, Expression], updates: str, first: int) -> Body:
    """Return the body with updates counted from `first` on."""
    if isinstance(body, IndexValue):
        return replace(body, expression=body.expression.substitute(counted))
    if isinstance(body, Read):
        entries = tuple(
            e if isinstance(e, Expression) else _counted(e, counted, updates, first)
            for e in body.index
        )
        return replace(body, index=entries)
    if isinstance(body, Call):
        arguments = tuple(_counted(a, counted, updates, first) for a in body.arguments)
        attributes = body.attributes
        if OPERATIONS[body.operation].random:
            attributes = (*attributes, ("shift", ((updates, first),)))
        return replace(body, arguments=arguments, attributes=attributes)
    return body


def _live(equations: Equations) -> Equations:
    """Drop the statements that no output needs (only the replaced starts had read them)."""
    alive = needed(equations)
    kept = tuple(s for s in equations.statements if s.array in alive)
    arrays = tuple(a for a in equations.arrays if a.name in alive)
    return replace(equations, arrays=arrays, statements=kept)


def _needs_no_more(equations: Equations, start: set[str]) -> None:
    """Refuse a program that reads another update's values, or a start, directly.

    Only carried values may be read from another update.
    """
    updates = equations.updates
    needed = [s for s in equations.statements if updates in s.dims]
    seen = {s.name for s in needed} | start
    while needed:
        s = needed.pop()
        for read in s.reads:
            array = equations.array[read.array]
            if (
                updates in array.dims
                and not _is_near(equations, read, array)
                and (depth_of(equations, read) is None or _reach(equations, array) is None)
            ):
                raise ProgramError(
                    f"{equation(s, equations)} reads {array.name} of other updates than its own, "
                    f"which a run that goes on from here does not have",
                    s.line,
                )
            fresh = [w for w in equations.writers[array.name] if w.name not in seen]
            seen |= {w.name for w in fresh}
            needed += fresh


def _is_near(equations: Equations, read: Read, array: Array) -> bool:
    """Tell whether a read is of the present update, or of what this one hands to the next."""
    index, reach = read.index[array.dims.index(equations.updates)], _reach(equations, array)
    if reach is None or not isinstance(index, Expression):
        return False
    return _ahead(index, equations.updates) <= {expression(n) for n in range(reach + 1)}


def _reach(equations: Equations, array: Array) -> int | None:
    """Return how far beyond itself an update writes the array, or None if a run that goes on does
    not find in their places the elements from before: they are not written one by one in order, or
    a start is not.
    """
    updates, position = equations.updates, array.dims.index(equations.updates)
    places = {s.write[position] for s in equations.writers[array.name]}
    ahead = {n for e in places if updates in e.variables for n in _ahead(e, updates)}
    if ahead <= {expression(0)}:
        return 0
    lead = lead_of(equations, array, updates)
    starting = {expression(n) for n in range(lead)}
    return lead if ahead <= {expression(0), expression(lead)} and starting <= places else None


def _ahead(index: Expression, updates: str) -> frozenset[Expression]:
    """Return the distances from the present update at which an index may be."""
    if len(index.terms) == 1 and index.constant == 0:
        atom, coefficient = index.terms[0]
        if isinstance(atom, Choice) and coefficient == 1:
            return _ahead(atom.then, updates) | _ahead(atom.otherwise, updates)
    return frozenset([index - variable(updates)])
