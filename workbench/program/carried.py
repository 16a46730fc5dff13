"""The values that a program carries from one update to the next, kept at the end or set anew.

`Program.updates` is the dimension that counts updates. An array is carried over it where its
elements go one beyond the last update: parameters, an optimizer's moments, environment states,
running statistics. Its start is written by other statements at update 0. A run from given values
replaces the starts and counts updates from `first` on: in numbers made of the update (Adam's
correction, an annealed rate) and in the counters of random draws, so that the draws go on and do
not repeat.

The program as written decides what is carried. Steps change the statements that start it, but not
their origins.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from workbench.errors import ProgramError
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.polyhedral.expressions.atoms import Choice, Size
from workbench.polyhedral.sets.relations import extent_of, hull
from workbench.polyhedral.tree import Leaf, Loop, Tree, only, sequence
from workbench.program.dependences import needed
from workbench.program.operations.table import OPERATIONS
from workbench.program.text.infix import equation
from workbench.program.values import (
    Array,
    Body,
    Call,
    IndexValue,
    Output,
    Program,
    Read,
    Statement,
    walk,
)

KEPT = "kept."
"""The prefix of the arrays that hold carried values after the last update."""


@dataclass(frozen=True)
class Start:
    """A statement that writes the first elements of a carried array."""

    statement: Statement
    array: Array
    position: int
    """The position of the array's dimension that counts updates."""
    name: str
    """The values' name in a checkpoint: the array, or its piece where it has several."""
    outside: bool
    """True if they come from an external object: the program cannot set its state."""

    @property
    def shape(self) -> tuple[Expression, ...]:
        """The lengths of the statement's dimensions, then the inner shape."""
        lengths = [upper for _, upper in hull(self.statement.domain)]
        return (*lengths, *(expression(n) for n in self.array.shape))


def is_carried(program: Program, array: Array) -> bool:
    """Tell whether the array goes one beyond the last update."""
    if program.updates not in array.dims:
        return False
    position = array.dims.index(program.updates)
    return array.extent[position][1] == program.dim[program.updates].size + 1


def starts(program: Program) -> tuple[Start, ...]:
    """Return the starts of what a program as written carries over updates.

    Empty where no dimension counts updates. Raises ProgramError where an update needs more of the
    past.
    """
    if not program.updates:
        return ()
    starts_of = []
    for array in program.arrays:
        if not is_carried(program, array):
            continue
        position = array.dims.index(program.updates)
        writers = [s for s in program.writers[array.name] if s.write[position] == 0]
        alone = len(writers) == 1
        starts_of += [
            Start(s, array, position, array.name if alone else s.name, _from_outside(program, s))
            for s in writers
        ]
    _needs_no_more(program, {start.statement.name for start in starts_of})
    order = {s.name: n for n, s in enumerate(program.statements)}
    return tuple(sorted(starts_of, key=lambda start: order[start.statement.name]))


def _from_outside(program: Program, statement: Statement) -> bool:
    """Tell whether the statement needs the answer of an external object's call."""
    seen = {statement.name: statement}
    todo = [statement] if program.externals else []
    while todo:
        s = todo.pop()
        if any(isinstance(x, Call) and OPERATIONS[x.operation].external for x in walk(s.body)):
            return True
        writers = [w for read in s.reads for w in program.writers[read.array] if w.name not in seen]
        seen |= {w.name: w for w in writers}
        todo += writers
    return False


def keeping(program: Program, written: Program | None = None) -> Program:
    """Return the program that also returns its last carried values, as `kept.NAME`.

    `written` is the program as written, where steps have changed it.
    """
    arrays, statements, leaves, outputs = [], [], [], []
    for start in starts(written or program):
        s, name = start.statement, KEPT + start.name
        end = program.dim[program.updates].size
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
    return replace(
        program,
        arrays=(*program.arrays, *arrays),
        statements=(*program.statements, *statements),
        outputs=(*program.outputs, *outputs),
        schedule=None if program.schedule is None else sequence([program.schedule, *leaves]),
    )


def resumed(
    program: Program, given: Collection[str], first: int, written: Program | None = None
) -> Program:
    """Return the program with the starts named in `given` read from outside, `first` updates on.

    `written` is the program as written, where steps have changed it.
    """
    written = written or program
    replaced = {start.statement.origin: start for start in starts(written) if start.name in given}
    total = program.dim[program.updates].size + first if program.updates else expression(0)
    counted = {program.updates: variable(program.updates) + first}
    counted |= {a.name: total for a in _sizes_of_updates(program)}
    dims = {s.origin: s.dims for s in written.statements}
    statements = [
        _given(s, program.array[s.array], replaced[s.origin])
        if s.origin in replaced
        else replace(s, body=_counted(s.body, counted, program.updates, first))
        if first and program.updates in dims.get(s.origin, s.dims)
        else s
        for s in program.statements
    ]
    return _live(replace(program, statements=tuple(statements)))


def _sizes_of_updates(program: Program) -> Iterator[Size]:
    """Yield the size that is the number of updates, where it is one."""
    if program.updates:
        length = program.dim[program.updates].size
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


def _live(program: Program) -> Program:
    """Drop the statements that no output needs (only the replaced starts had read them)."""
    alive = needed(program)
    kept = tuple(s for s in program.statements if s.array in alive)
    return replace(
        program,
        arrays=tuple(a for a in program.arrays if a.name in alive),
        statements=kept,
        schedule=program.schedule and only(program.schedule, {s.name for s in kept}),
    )


def _needs_no_more(program: Program, start: set[str]) -> None:
    """Refuse a program that reads another update's values, or a start, directly.

    Only carried values may be read from another update.
    """
    updates = program.updates
    needed = [s for s in program.statements if updates in s.dims]
    seen = {s.name for s in needed} | start
    while needed:
        s = needed.pop()
        for read in s.reads:
            array = program.array[read.array]
            if updates in array.dims and not _near(
                read.index[array.dims.index(updates)], variable(updates)
            ):
                raise ProgramError(
                    f"{equation(s, program)} reads {array.name} of other updates than its own, "
                    f"which a run that goes on from here does not have",
                    s.line,
                )
            fresh = [w for w in program.writers[array.name] if w.name not in seen]
            seen |= {w.name for w in fresh}
            needed += fresh


def _near(index: Expression | Body, now: Expression) -> bool:
    """Tell whether an index is the present update or the next."""
    if not isinstance(index, Expression):
        return False
    if index in (now, now + 1):
        return True
    if len(index.terms) == 1 and index.constant == 0:
        atom, coefficient = index.terms[0]
        if isinstance(atom, Choice) and coefficient == 1:
            return _near(atom.then, now) and _near(atom.otherwise, now)
    return False
