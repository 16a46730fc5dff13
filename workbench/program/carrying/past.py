"""Arrays that are read at random among the last updates: what is kept of their past.

A run that goes on has rows of its own for the updates before, ahead of those that it computes. In
numbers, such as an index drawn at random, updates are counted from the program's first one on; in
the array from the first row that is held.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from workbench.polyhedral.accesses import Between
from workbench.polyhedral.expression import Expression, expression, maximum, minimum, variable
from workbench.polyhedral.expressions.atoms import Extremum
from workbench.polyhedral.sets.relations import box, extent_of
from workbench.polyhedral.tree import Leaf, Loop, Tree
from workbench.program.bodies import Body, Call, IndexValue, Read
from workbench.program.values import Array, Equations, Statement


@dataclass(frozen=True)
class Past:
    """An array that an update reads at random, of itself and of so many updates before it."""

    array: Array
    position: int
    """The position of the dimension that counts updates."""
    depth: Expression
    lead: int
    """The number of elements beyond the last update, which are no part of this."""

    @property
    def name(self) -> str:
        """The values' name in a checkpoint: the array's, unless what is carried has it."""
        return past_name(self.array.name) if self.lead else self.array.name

    @property
    def outside(self) -> bool:
        """False: the values are the program's own."""
        return False

    @property
    def is_kept(self) -> bool:
        """Tell whether a run that goes on needs any of it: not where each update reads its own."""
        return self.depth != 0

    def shape_after(self, updates: int) -> tuple[Expression, ...]:
        """Return the shape of what is kept after so many updates."""
        lengths = [upper - lower for lower, upper in self.array.extent]
        lengths[self.position] = minimum(self.depth, updates)
        return (*lengths, *(expression(n) for n in self.array.shape))


def lead_of(equations: Equations, array: Array, dim: str) -> int:
    """Return the number of elements by which the array goes beyond the last of a dim, if that is
    the same at all sizes; 0 where it does not.
    """
    if dim not in array.dims:
        return 0
    beyond = array.extent[array.dims.index(dim)][1] - equations.dim[dim].size
    return 0 if beyond.terms else max(beyond.constant, 0)


def pasts(equations: Equations) -> tuple[Past, ...]:
    """Return the arrays that updates read at random, of themselves and of those before."""
    depths: dict[str, Expression] = {}
    updates = equations.updates
    for statement in equations.statements:
        for read in statement.reads:
            depth = depth_of(equations, read) if updates in statement.dims else None
            if depth is not None:
                known = depths.get(read.array, depth)
                depths[read.array] = known if known == depth else maximum(known, depth)
    return tuple(
        Past(a, a.dims.index(updates), depths[a.name], lead_of(equations, a, updates))
        for a in equations.arrays
        if a.name in depths
    )


def lost(equations: Equations, written: Equations) -> tuple[str, ...]:
    """Return the arrays that are no longer read at random where the program as written reads them
    so: steps compute them again there, of updates that a run which goes on does not have.
    """
    wanted = _readers(written)
    known = _readers(replace(equations, updates=written.updates))
    there = {s.origin for s in equations.statements}
    return tuple(
        name
        for name, origins in wanted.items()
        if name not in equations.array or not origins & there <= known.get(name, set())
    )


def _readers(equations: Equations) -> dict[str, set[str]]:
    """Return by array the origins of the statements that read it at random."""
    readers: dict[str, set[str]] = {}
    for s in equations.statements:
        for read in s.reads if equations.updates in s.dims else ():
            if depth_of(equations, read) is not None:
                readers.setdefault(read.array, set()).add(s.origin)
    return readers


def depth_of(equations: Equations, read: Read) -> Expression | None:
    """Return the number of updates before the present one at which a read at random may be, or None
    if it is not of that kind.
    """
    updates, dims = equations.updates, equations.array[read.array].dims
    if updates not in dims:
        return None
    entry = read.access.index[dims.index(updates)]
    if not isinstance(entry, Between):
        return None
    now = variable(updates)
    beyond, depth = entry.upper - now - 1, now - _unless_0(entry.lower)
    if beyond.terms or beyond.constant > 0 or depth.variables:
        return None
    return depth


def _unless_0(e: Expression) -> Expression:
    """Return the expression of which `e` is the greatest beside 0, or `e` itself."""
    if len(e.terms) == 1 and not e.constant:
        a, coefficient = e.terms[0]
        if isinstance(a, Extremum) and a.kind == "max" and coefficient == 1:
            parts = [part for part in a.parts if part != 0]
            return parts[0] if len(parts) == 1 else e
    return e


# -- a run that goes on ----------------------------------------------------------------------------


def with_past(equations: Equations, past: Mapping[str, Past], first: int) -> Equations:
    """Return the equations with rows for the past, read from outside, ahead of each array's own.
    They are no part of outputs.

    `past` is by array. Indices drawn at random count updates from the program's first one on, of
    which there were `first`.
    """
    rows = {name: minimum(p.depth, first) for name, p in past.items()}
    position = {name: p.position for name, p in past.items()}

    def moved(body: Body) -> Body:
        if isinstance(body, Call):
            return replace(body, arguments=tuple(map(moved, body.arguments)))
        if not isinstance(body, Read):
            return body
        index = [e if isinstance(e, Expression) else moved(e) for e in body.index]
        if body.array in rows:
            place = position[body.array]
            entry, more = index[place], rows[body.array]
            if isinstance(entry, Expression):
                index[place] = entry + more
            else:
                ahead = IndexValue(more - first, "int32")
                index[place] = Call("add", (entry, ahead), entry.dtype)
        return replace(body, index=tuple(index))

    def written(s: Statement) -> Statement:
        write = list(s.write)
        if s.array in rows:
            write[position[s.array]] += rows[s.array]
        return replace(s, write=tuple(write), body=moved(s.body))

    arrays, statements = list(equations.arrays), [written(s) for s in equations.statements]
    for n, array in enumerate(arrays):
        if array.name in rows:
            extent = list(array.extent)
            place, more = position[array.name], rows[array.name]
            extent[place] = (extent[place][0], extent[place][1] + more)
            arrays[n] = replace(array, extent=tuple(extent))
            if past[array.name].is_kept:
                statements.append(_given(array, past[array.name], more))
    outputs = tuple(
        replace(o, past=(equations.updates, rows[o.array]))
        if o.array in rows and past[o.array].is_kept
        else o
        for o in equations.outputs
    )
    return replace(equations, arrays=tuple(arrays), statements=tuple(statements), outputs=outputs)


def _given(array: Array, past: Past, rows: Expression) -> Statement:
    """Return the statement that reads an array's past from outside."""
    place = past.position
    bounds = [(d, *ends) for d, ends in zip(array.dims, array.extent, strict=True)]
    bounds[place] = (array.dims[place], expression(0), rows)
    options = (
        ("name", past.name),
        ("shape", array.shape),
        ("dtype", array.dtype),
        ("dims", array.dims),
    )
    return Statement(
        name=past_name(array.name),
        dims=array.dims,
        domain=box(bounds),
        array=array.name,
        write=tuple(variable(d) for d in array.dims),
        body=Call("given", (), array.dtype, array.shape, options),
        origin=past_name(array.name),
    )


def past_name(array: str) -> str:
    """Return the name of the statement that reads an array's past."""
    return f"{array}.past"


def kept(equations: Equations, past: Past, name: str) -> tuple[Array, Statement]:
    """Return what keeps the last rows of an array, as many as a later run may read."""
    array = equations.array[past.array.name]
    end = array.extent[past.position][1] - past.lead
    rows = minimum(past.depth, end)
    bounds = [(d, *ends) for d, ends in zip(array.dims, array.extent, strict=True)]
    bounds[past.position] = (array.dims[past.position], expression(0), rows)
    index = [variable(d) for d in array.dims]
    index[past.position] = index[past.position] + (end - rows)
    domain = box(bounds)
    own = replace(array, name=name, extent=extent_of(domain))
    statement = Statement(
        name=name,
        dims=array.dims,
        domain=domain,
        array=name,
        write=tuple(variable(d) for d in array.dims),
        body=Read(array.name, tuple(index), array.dtype, array.shape),
        origin=name,
    )
    return own, statement


def looped(statement: Statement, updates: str) -> Tree:
    """Return loops around a statement: over updates one by one, over other dims at once."""
    tree: Tree = Leaf(statement.name)
    for d in reversed([updates, *(d for d in statement.dims if d != updates)]):
        tree = Loop(d, tree, "loop" if d == updates else "axis")
    return tree
