"""Accumulate: a sum's points become a statement of their own, added up as they are computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from workbench.identity import remembered
from workbench.polyhedral.expression import Expression, variable
from workbench.polyhedral.sets.relations import image, is_box
from workbench.polyhedral.tree import Leaf, Loop, Path, Tree, loops_above, paths, with_sibling
from workbench.program.operations.table import COMBINES
from workbench.program.values import Program, Statement
from workbench.transforms.incrementalize.factors import call, substituted
from workbench.transforms.incrementalize.pieces import Pieces, read
from workbench.transforms.incrementalize.rewrite import Rewrite, equations_with
from workbench.transforms.step.argument_names import ReducedDim, StatementNames, all_meant
from workbench.transforms.step.condition import ADDED_UP, COMBINED, Condition
from workbench.transforms.step.refusal import Refusal
from workbench.transforms.step.transform import Rewritten, Transform


@dataclass(frozen=True, repr=False)
class Accumulate(Transform):
    """Sums over `dim` become two statements: their points, and the result that combines these.

    The points are never stored: each is added up as it is computed, in the memory of one element a
    sum. They can then stand in any loops (`Fuse`, `Reschedule`, `Vectorize`), such as those that
    compute what is summed: a gradient over an episode needs no memory of the episode. Without
    `statements`, all sums, maxima and minima over `dim`.

    Example::

        @wb.program
        def example(B=4, T=3):
            b, t = wb.dims(b=B, t=T)
            x = wb.uniform(over=(b, t))
            return {"total": x.sum(over=(b, t))}

    Before::

        for b:
            for t:
                x
        total

    After Accumulate("t")::

        for b:
            for t:
                x
        for b:
            for t:
                total.points
        total

    `total = sum(b, t) x[b, t]` has become `total.points[b, t] = x[b, t]` and `total = sum(b, t)
    total.points[b, t]`. A range has the name of the loop that computes what is summed, so that
    the loops can be joined.

    Legal when the statement is a sum, a maximum or a minimum. Sums of floating-point numbers are
    associated anew, so the last digits may differ. While the points are added up, no later step
    may read them elsewhere.
    """

    dim: ReducedDim
    statements: StatementNames | None = None

    equation_step = True

    @classmethod
    def candidates(cls, program: Program) -> Iterator[Accumulate]:
        """Yield each dimension that something sums over whose operands a loop over it computes."""
        around = paths(program.schedule)
        dims = (
            d
            for s in program.statements
            for d in s.reduction_dims
            if why_whole(program, s, d) is None and _range(program, s, d, around).in_blocks
        )
        for dim in dict.fromkeys(dims):
            yield cls(dim)

    def attempt(self, program: Program) -> Rewritten | Refusal:
        """Put points in front of the sums."""
        chosen = self._chosen(program)
        if not chosen:
            return Refusal("no effect", f"{self}: nothing sums over {self.dim}")
        for name in chosen:
            s = program.statement[name]
            reason = why_whole(program, s, self.dim)
            if reason is not None:
                return Refusal("capability", f"{self}: {s.name} {reason}", line=s.line)
        return Rewritten(split(program, chosen))

    def conditions(self, program: Program, after: Program) -> Iterator[Condition]:
        """Yield what each sum is, and that nothing else reads its points."""
        for name in self._chosen(program):
            s, (points,) = program.statement[name], after.statement[name].reads
            over = ", ".join(s.reduction_dims)
            yield Condition(ADDED_UP, f"{name} is {COMBINED[str(s.combiner)]} over {over}", name)
            yield Condition(
                "points that nothing else reads",
                f"{name} alone reads {points.array}, each element once",
                name,
            )

    def _chosen(self, program: Program) -> tuple[str, ...]:
        if self.statements is not None:
            return all_meant(program, self.statements)
        return tuple(s.name for s in program.statements if not why_whole(program, s, self.dim))


def why_whole(program: Program, s: Statement, dim: str) -> str | None:
    """Explain why a statement cannot be split into points along a dimension and their sum."""
    if dim not in s.reduction_dims:
        return f"does not sum over {dim}"
    if s.combiner == "argmax":
        return "is argmax: a place and not a sum of its points"
    if s.combiner not in COMBINES:
        return f"is {s.combiner}: all its points are its value, so each has to be stored"
    if any(r.array in program.storage.added for r in s.reads):
        return f"adds up {', '.join(r.array for r in s.reads)} already"
    return None


# -- where what is summed is computed --------------------------------------------------------------


@dataclass(frozen=True)
class _Range:
    """A dimension that a sum combines, and the loops that compute its operands along it.

    `name` is what the points call it: as the loops do. `in_loop` says whether one is sequential,
    and brings value by value, `in_blocks` whether one brings at least blocks; `depth` is that of
    the outermost.
    """

    dim: str
    name: str
    in_loop: bool
    in_blocks: bool
    depth: int


def _range(program: Program, s: Statement, dim: str, around: Mapping[str, Path]) -> _Range:
    computing = list(_computing(program, s, dim, around))
    names = {c.variable for c in computing}
    taken = {*s.dims, *s.reduction_dims}
    name = names.pop() if len(names) == 1 and not names & taken else dim
    loops = [c for c in computing if c.loop.kind == "loop"]
    return _Range(
        dim,
        name,
        any(c.loop.name == c.variable for c in loops),
        bool(loops),
        min((c.depth for c in loops), default=0),
    )


class _Computing(NamedTuple):
    """A loop or axis that computes an operand along a dimension, there called `variable`."""

    depth: int
    loop: Loop
    variable: str


def _computing(
    program: Program, s: Statement, dim: str, around: Mapping[str, Path]
) -> Iterator[_Computing]:
    for r in s.reads:
        for k, e in enumerate(r.index):
            if not isinstance(e, Expression) or e.coefficient(dim) != 1:
                continue
            for writer in program.writers[r.array]:
                variables = writer.write[k].variables
                for depth, loop in enumerate(loops_above(around[writer.name])):
                    for d in {loop.name, loop.dim} & variables:
                        yield _Computing(depth, loop, d)


@remembered(16)
def sums_along(program: Program, dim: str) -> tuple[str, ...]:
    """Return the sums whose points can run along a dimension: of what a loop over it computes."""
    around = paths(program.schedule)
    return tuple(
        s.name
        for s in program.statements
        if any(
            why_whole(program, s, d) is None and dim in (d, _range(program, s, d, around).name)
            for d in s.reduction_dims
        )
    )


# -- points and result -----------------------------------------------------------------------------


@remembered(16)
def split(program: Program, sums: tuple[str, ...]) -> Program:
    """Return the program with each sum's points in front of it, added up. The last are kept: blocks
    of any size have the same equations.
    """
    for name in sums:
        program = _split(program, program.statement[name])
    return program


def _split(program: Program, old: Statement) -> Program:
    """Return the program with the sum's points in front of it, added up."""
    around = paths(program.schedule)
    ranges = [_range(program, old, d, around) for d in old.reduction_dims]
    names = {r.dim: r.name for r in ranges}
    if len({*names.values()}) < len(names):
        names = {d: d for d in names}
    pieces = Pieces(program, old)
    array = program.array[old.array]
    before = (*old.dims, *old.reduction_dims)
    dims = tuple(names.get(d, d) for d in before)
    domain = image(old.reduction, before, _own(before), None, dims)
    body = substituted(old.body, {d: variable(new) for d, new in names.items()})
    if body.dtype != array.dtype:
        body = call("cast", body, dtype=array.dtype)
    points = pieces.array("points", read(array, old.write), domain, dims)
    pieces.add(points, domain, dims, _own(dims), body)
    pieces.statements.append(replace(old, body=read(points, _own(before)), guards=()))
    equations = equations_with(program.equations, old, Rewrite(pieces, (), ("", "")))
    order = [(names[r.dim], not r.in_loop) for r in sorted(ranges, key=lambda r: r.depth)]
    tree = _placed(program.schedule, old, pieces.statements[0], order)
    storage = replace(program.storage, added=(*program.storage.added, points.name))
    return replace(program, equations=equations, schedule=tree, storage=storage)


def _own(dims: tuple[str, ...]) -> tuple[Expression, ...]:
    return tuple(variable(d) for d in dims)


def _placed(
    tree: Tree, old: Statement, points: Statement, ranges: Sequence[tuple[str, bool]]
) -> Tree:
    """Return the tree with the points in front of the sum, in loops and axes over its ranges.

    Those are axes where nothing that is summed is computed in a loop, and the points are a box.
    """
    path = paths(tree)[old.name]
    node: Tree = Leaf(old.name)
    loops, axes = list[str](), _axes(path)
    if axes and not is_box(points.domain, axes):
        path, node = _outside(path, node)
        loops, axes = [d for d in axes if d not in _axes(path)], _axes(path)
    own = list[str]()
    for d, as_axis in ranges:
        boxed = as_axis and is_box(points.domain, [*axes, *own, d])
        (own if boxed else loops).append(d)
    leaf: Tree = Leaf(points.name)
    for d in reversed(loops):
        leaf = Loop(d, leaf)
    for d in reversed(own):
        leaf = Loop(d, leaf, "axis")
    return with_sibling(path, [leaf, node], points.name, old.name)


def _outside(path: Path, node: Tree) -> tuple[Path, Tree]:
    """Return the place outside of the axes that are around a node alone, and the outermost one."""
    while path and _is_axis(path[-1][0]):
        node, path = path[-1][0], path[:-1]
    return path, node


def _axes(path: Path) -> list[str]:
    return [loop.dim for loop in loops_above(path, "axis")]


def _is_axis(node: Tree) -> bool:
    return isinstance(node, Loop) and node.kind == "axis"
