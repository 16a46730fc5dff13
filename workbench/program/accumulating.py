"""Sums whose points are added up as they are computed: what storage and lowering make of them.

`Accumulate` splits a sum `g[d] = sum(r) body` into two ordinary equations, `g.points[d, r] = body`
and `g[d] = sum(r) g.points[d, r]`, and puts `g.points` into `Storage.added`. Steps, dependences,
legality and the reference see these equations. Storage, lowering and kernels see the program that
`derived` returns. Three things differ in it:

* The array `g.points` has one element a sum, over `d`: an accumulator.
* The statement `g.points` is an `Adding`: each instance combines its body into the element
  `g.points[d]`, by the operation `by`. Its `over` are the dimensions that are added up; they run as
  loops and array axes like any other.
* A statement `g.points.start`, a `Start`, writes the identity into `g.points[d]`, for each instance
  of the sum. It stands in front of the points, in the innermost loop whose one iteration computes
  all points of an element.

Where the points run in blocks that are dealt to chunks, the element has a partial result for each
chunk (`chunks.py`).

The sum itself becomes `g[d] = g.points[d]`. A maximum or minimum that may be empty is a `Finish`,
which has still to check that.

The schedule of the derived program has a leaf for the start and is otherwise the same. Its storage
has the same entries but for `added`, so that it derives itself. Equal questions get the very same
objects, as answers about programs are remembered by identity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from workbench.identity import remembered
from workbench.polyhedral.expression import Expression, variable
from workbench.polyhedral.sets.relations import (
    extent_of,
    image,
    is_box,
    is_equal,
    project_out,
)
from workbench.polyhedral.tree import Leaf, Loop, Path, Tree, children, loops, paths, sequence
from workbench.program.bodies import Body, Call, Literal, Read
from workbench.program.chunks import Chunks, chunks_of, combined
from workbench.program.episodes.speculation import harmless
from workbench.program.operations.identities import identity
from workbench.program.operations.table import COMBINES
from workbench.program.text.infix import equation
from workbench.program.values import Array, Equations, Program, Statement


@dataclass(frozen=True)
class Adding(Statement):
    """The points of a sum: an instance combines its body into the element that it writes.

    `by` is "sum", "max" or "min". `over` are the dimensions that the written index lacks: two
    instances that differ only there write one element. With `chunks` an element has a partial
    result for each, along its first inner axis: an instance combines its body into that of its run
    of blocks.
    """

    by: str = ""
    over: tuple[str, ...] = ()
    chunks: Chunks | None = None


@dataclass(frozen=True)
class Start(Statement):
    """The identity of a sum, written before its points. `of` is the name of their statement."""

    of: str = ""


@dataclass(frozen=True)
class Finish(Statement):
    """The result of a maximum or minimum `by`, which has no value where `points` is empty.

    `points` is isl text of a set over `dims + over`, as `Statement.reduction`.
    """

    by: str = ""
    over: tuple[str, ...] = ()
    points: str = ""


def owner(statement: Statement) -> str:
    """Return the statement of the program to which a derived one's work belongs."""
    return statement.of if isinstance(statement, Start) else statement.name


def derived(program: Program) -> Program:
    """Return the program that storage and lowering see; itself where no points are added up and no
    episode ends.
    """
    return _derived(program) if program.storage.added or _guarded(program.equations) else program


@remembered(64)
def _guarded(equations: Equations) -> bool:
    """Tell whether statements run only while an episode goes on."""
    return any(s.guards for s in equations.statements)


@remembered(64)
def _derived(program: Program) -> Program:
    storage = program.storage
    if not storage.added and harmless(program.equations, ()) is program.equations:
        return program
    added = tuple(a for a in storage.added if a in program.array and not why_stored(program, a))
    dealt = _dealt(program.equations, program.schedule, added)
    equations = _equations(program.equations, added, dealt) if added else program.equations
    if equations.ends:
        equations = harmless(equations, summands(equations))
    schedule = _schedule(equations, program.schedule) if added else program.schedule
    return Program(equations, schedule, replace(storage, added=()))


def summands(equations: Equations) -> tuple[str, ...]:
    """Return the statements whose instances are added up."""
    return tuple(s.name for s in equations.statements if isinstance(s, Adding) and s.by == "sum")


def why_stored(program: Program, array: str) -> str | None:
    """Explain why an array's elements cannot just be added up; None where they can.

    A sum has to be their only reader, and to combine each element once: as many as there are.
    """
    if array in program.storage.on_host:
        return f"{array} would live in host memory"
    if any(output.array == array for output in program.outputs):
        return f"{array} would be an output"
    return _why_stored(program.equations, array)


@remembered(1024)
def _why_stored(equations: Equations, array: str) -> str | None:
    writers = equations.writers[array]
    users = equations.users[array]
    readers = tuple(s for s in users if any(r.array == array for r in s.reads))
    if len(writers) != 1:
        return f"{_names(writers)} would write {array}"
    if len(readers) != 1:
        return f"{_names(readers) or 'nothing'} would read {array}"
    (points,), (result,) = writers, readers
    if points.combiner is not None or points.write != _own(points.dims):
        return f"{array} would be written by {equation(points, equations)}"
    all_dims = (*result.dims, *result.reduction_dims)
    body = result.body
    if (
        result.combiner not in COMBINES
        or not isinstance(body, Read)
        or body.index != _own(all_dims)
        or not is_equal(
            image(points.domain, points.dims, points.write, None, all_dims), result.reduction
        )
    ):
        return f"{equation(result, equations)} would not combine each element of {array} once"
    return None


def _names(statements: tuple[Statement, ...]) -> str:
    return " and ".join(s.name for s in statements)


def _own(dims: tuple[str, ...]) -> tuple[Expression, ...]:
    return tuple(variable(d) for d in dims)


@remembered(64, same=2)
def _dealt(
    equations: Equations, schedule: Tree, added: tuple[str, ...]
) -> tuple[tuple[str, Chunks], ...]:
    """Return the chunks of each array whose points are dealt to several."""
    if not any(loop.chunks > 1 for loop in loops(schedule)):
        return ()
    around, dealt = paths(schedule), list[tuple[str, Chunks]]()
    for array in added:
        (points,) = equations.writers[array]
        result = next(s for s in equations.users[array] if s is not points)
        over = frozenset(points.dims[len(result.dims) :])
        chunks = chunks_of(points, over, around[points.name])
        if chunks is not None:
            dealt.append((array, chunks))
    return tuple(dealt)


# -- equations -------------------------------------------------------------------------------------


@remembered(64)
def _equations(
    equations: Equations, added: tuple[str, ...], dealt: tuple[tuple[str, Chunks], ...]
) -> Equations:
    """Return the equations with an accumulator for each of the arrays."""
    chunks, kept = dict(dealt), frozenset(added)
    results = {
        r.array: s
        for array in added
        for s in equations.users[array]
        for r in s.reads
        if r.array == array
    }
    arrays = {
        a.name: _accumulator(a, results[a.name], chunks.get(a.name)) if a.name in kept else a
        for a in equations.arrays
    }
    statements: list[Statement] = []
    for s in equations.statements:
        if s.array in kept:
            array, result = arrays[s.array], results[s.array]
            adding = _adding(s, result, chunks.get(s.array))
            statements += [_start(s, array, result), adding]
        elif not kept.isdisjoint(s.touched):
            statements.append(_result(s, arrays, chunks))
        else:
            statements.append(s)
    return replace(equations, arrays=tuple(arrays.values()), statements=tuple(statements))


def _accumulator(points: Array, result: Statement, chunks: Chunks | None) -> Array:
    """Return the array with an element for each instance of the result, empty sums included."""
    shape = points.shape if chunks is None else (chunks.room, *points.shape)
    dims = points.dims[: len(result.dims)]
    return replace(points, dims=dims, extent=extent_of(result.domain), shape=shape)


def _start(points: Statement, array: Array, result: Statement) -> Start:
    dims = points.dims[: len(result.dims)]
    body: Body = Literal(identity(str(result.combiner), array.dtype), array.dtype)
    if array.shape:
        options = (("shape", array.shape),)
        body = Call("broadcast", (body,), array.dtype, array.shape, options)
    return Start(
        name=f"{points.name}.start",
        dims=dims,
        domain=image(result.domain, result.dims, _own(result.dims), None, dims),
        array=points.array,
        write=_own(dims),
        body=body,
        scope=points.scope,
        phase=points.phase,
        origin=points.origin,
        line=points.line,
        of=points.name,
    )


def _adding(points: Statement, result: Statement, chunks: Chunks | None) -> Adding:
    kept = len(result.dims)
    adding = Adding(
        **_fields(points), by=str(result.combiner), over=points.dims[kept:], chunks=chunks
    )
    return replace(adding, write=points.write[:kept])


def _result(result: Statement, arrays: dict[str, Array], chunks: Mapping[str, Chunks]) -> Statement:
    assert isinstance(result.body, Read)
    array = arrays[result.body.array]
    read = Read(array.name, _own(result.dims), array.dtype, array.shape)
    value = combined(read, str(result.combiner)) if array.name in chunks else read
    by, over, points = str(result.combiner), result.reduction_dims, result.reduction
    plain = replace(result, body=value, combiner=None, reduction_dims=(), reduction="")
    if by == "sum" or is_equal(project_out(points, over), result.domain):
        return plain
    return Finish(**_fields(plain), by=by, over=over, points=points)


def _fields(statement: Statement) -> dict[str, Any]:
    return {f.name: getattr(statement, f.name) for f in fields(Statement)}


# -- schedule --------------------------------------------------------------------------------------


@remembered(64, same=2)
def _schedule(equations: Equations, schedule: Tree) -> Tree:
    """Return the schedule with a place for each start of the equations: in front of its points,
    inside the loops that they share.
    """
    around = paths(schedule)
    ahead: dict[str | int, list[Tree]] = {}
    shifts: dict[int, list[tuple[str, int]]] = {}
    for s in equations.statements:
        if isinstance(s, Start):
            path = around[s.of]
            shared, boxed = _shared(path, s, equations.statement[s.of])
            leaf: Tree = Leaf(s.name)
            for d in reversed(_left(path[:shared], s)):
                leaf = Loop(d, leaf, "axis" if boxed else "loop")
            ahead.setdefault(id(path[shared][0]) if shared < len(path) else s.of, []).append(leaf)
            for node, _ in path[:shared]:
                shift = node.offset(s.of) if isinstance(node, Loop) else 0
                shifts.setdefault(id(node), []).extend([(s.name, shift)] if shift else [])
    return sequence(_started(schedule, ahead, shifts))


def _started(
    tree: Tree,
    ahead: Mapping[str | int, Sequence[Tree]],
    shifts: Mapping[int, Sequence[tuple[str, int]]],
) -> list[Tree]:
    """Return a part of the schedule behind the starts that stand directly in front of it.

    `ahead` are the starts in front of a statement, by its name, and of a loop, by its identity;
    `shifts` the offsets of those inside a loop or sequence, by its identity.
    """
    if isinstance(tree, Leaf):
        return [*ahead.get(tree.statement, ()), tree]
    below: Tree = tree
    if id(tree) in shifts:
        inner = [new for child in children(tree) for new in _started(child, ahead, shifts)]
        below = sequence(inner)
        if isinstance(tree, Loop):
            below = replace(tree, child=below, offsets=(*tree.offsets, *shifts[id(tree)]))
    return [*ahead.get(id(tree), ()), below]


def _shared(path: Path, start: Start, points: Statement) -> tuple[int, bool]:
    """Return how far down its points' path a start stands, and whether the rest is array axes.

    It cannot stand below a loop whose iterations bring several points of one element, nor below an
    axis where the elements are no box.
    """
    shared = next((at for at, (node, _) in enumerate(path) if _brings(node, start, points)), None)
    shared = len(path) if shared is None else shared
    whole = _left(path[:shared], start, ("loop",))
    if not whole or is_box(start.domain, whole):
        return shared, True
    axes = (at for at, (node, _) in enumerate(path[:shared]) if _is_axis(node))
    return next(axes, shared), False


def _brings(node: Tree, start: Start, points: Statement) -> bool:
    """Tell whether a loop or axis is over a dimension that is added up."""
    if not isinstance(node, Loop):
        return False
    by = node.name if node.name in points.dims else node.dim
    return by not in start.dims


def _is_axis(node: Tree) -> bool:
    return isinstance(node, Loop) and node.kind == "axis"


def _left(path: Path, start: Start, kinds: tuple[str, ...] = ("loop", "axis")) -> list[str]:
    """Return the dimensions of a start that no loop of these kinds on a path gives their value.

    A loop over blocks gives only the block.
    """
    given = {node.name for node, _ in path if isinstance(node, Loop) and node.kind in kinds}
    return [d for d in start.dims if d not in given]
