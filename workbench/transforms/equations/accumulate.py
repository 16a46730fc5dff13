"""Accumulate: a sum over a whole dimension becomes a running sum along it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from workbench.polyhedral.expression import Expression, expression, variable
from workbench.polyhedral.sets.relations import domain_with, hull, is_equal, project_out, with_dims
from workbench.polyhedral.tree import Leaf, Loop, Tree, mapped, sequence
from workbench.program.values import Body, Literal, Program, Statement
from workbench.transforms.incrementalize.factors import call
from workbench.transforms.incrementalize.pieces import Pieces, read
from workbench.transforms.incrementalize.rewrite import Rewrite, equations_with
from workbench.transforms.step.argument_names import DimName, StatementNames, all_meant, dims_of
from workbench.transforms.step.refusal import Refusal
from workbench.transforms.step.transform import Rewritten, Transform


@dataclass(frozen=True, repr=False)
class Accumulate(Transform):
    """Sums over all of `dim` are carried along it: each value adds to what came before.

    Without `statements`, all that sum over the whole dimension. A summand is then needed only
    until it is added: once the loops are joined (`Fuse`, `Reschedule`), a gradient over an episode
    needs no memory of the episode.

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
        total.running[0]
        for t:
            total.added
            total.running[t+1]
        total

    `total = sum(b, t) x[b, t]` has become `total.added[t] = sum(b) x[b, t]`, `total.running[0] =
    0.0`, `total.running[t + 1] = total.running[t] + total.added[t]` and `total = total.running[T]`.

    Legal when the statement is a sum and every instance sums over all values of `dim`. Sums of
    floating-point numbers are associated anew, so the last digits may differ.
    """

    dim: DimName
    statements: StatementNames | None = None

    equation_step = True

    @classmethod
    def candidates(cls, program: Program) -> Iterator[Accumulate]:
        """Yield each dimension that something sums over."""
        for dim in dims_of(program):
            if any(_unfit(program, s, dim) is None for s in program.statements):
                yield cls(dim)

    def attempt(self, program: Program) -> Rewritten | Refusal:
        """Put running sums in the places of the sums."""
        chosen = self._chosen(program)
        if not chosen:
            return self.refuse("no effect", f"nothing sums over all of {self.dim}")
        for name in chosen:
            s = program.statement[name]
            reason = _unfit(program, s, self.dim)
            if reason is not None:
                return self.refuse("capability", f"{s.name} {reason}", s.line)
        for name in chosen:
            old = program.statement[name]
            pieces = Pieces(program, old)
            _carried(old, self.dim, pieces)
            tree = _placed(program.schedule, old, pieces.statements, self.dim)
            equations = equations_with(program.equations, old, Rewrite(pieces, (), ("", "")))
            program = replace(program, equations=equations, schedule=tree)
        return Rewritten(program)

    def _chosen(self, program: Program) -> tuple[str, ...]:
        if self.statements is not None:
            return all_meant(program, self.statements)
        return tuple(s.name for s in program.statements if not _unfit(program, s, self.dim))


def _unfit(program: Program, s: Statement, dim: str) -> str | None:
    """Explain why a statement is no sum over the whole dimension."""
    if dim not in s.reduction_dims:
        return f"does not sum over {dim}"
    if s.combiner != "sum":
        return f"is {s.combiner}, not a sum"
    rest = tuple(d for d in s.reduction_dims if d != dim)
    if not is_equal(project_out(s.reduction, rest), _whole(program, s, dim)):
        return f"does not sum over all of {dim} in every instance"
    return None


def _whole(program: Program, s: Statement, dim: str) -> str:
    """Return all instances with all values of the dimension."""
    limits = [(variable(dim), expression(0)), (_size(program, s, dim) - 1, variable(dim))]
    return domain_with(with_dims(s.domain, (*s.dims, dim)), at_least=limits)


def _size(program: Program, s: Statement, dim: str) -> Expression:
    """Return the number of a dimension's values: as declared, or as many blocks as are summed."""
    if dim in program.dim:
        return program.dim[dim].size
    others = [d for d in (*s.dims, *s.reduction_dims) if d != dim]
    ((_, last),) = hull(project_out(s.reduction, others))
    return last


def _carried(old: Statement, dim: str, pieces: Pieces) -> None:
    program = pieces.program
    array, size = program.array[old.array], _size(program, old, dim)
    like = read(array, old.write)
    dims, now = (*old.dims, dim), variable(dim)
    own = tuple(variable(d) for d in old.dims)
    domain = _whole(program, old, dim)
    rest = tuple(d for d in old.reduction_dims if d != dim)
    body = old.body
    if rest:
        added = pieces.array("added", like, domain, dims)
        points = with_dims(old.reduction, (*dims, *rest))
        pieces.add(added, domain, dims, (*own, now), body, rest, points)
        body = read(added, (*own, now))
    limits = [(now, expression(0)), (size, now)]
    elements = domain_with(with_dims(old.domain, dims), at_least=limits)
    running = pieces.array("running", like, elements, dims)
    zero: Body = Literal(0, array.dtype)
    start = call("broadcast", zero, shape=array.shape) if array.shape else zero
    pieces.add(running, old.domain, old.dims, (*own, expression(0)), start)
    if body.dtype == "bool":
        body = call("cast", body, dtype=array.dtype)
    total = call("add", read(running, (*own, now)), body)
    pieces.add(running, domain, dims, (*own, now + 1), total)
    pieces.add(array, old.domain, old.dims, old.write, read(running, (*own, size)))


def _placed(tree: Tree, old: Statement, new: Sequence[Statement], dim: str) -> Tree:
    """Return the tree with the pieces in the statement's place: those along the dimension in a
    loop, between the start and the result.
    """
    along: list[Tree] = [Leaf(s.name) for s in new if dim in s.dims]
    start, result = (Leaf(s.name) for s in new if dim not in s.dims)
    pieces = sequence([start, Loop(dim, sequence(along)), result])
    return mapped(tree, lambda node: pieces if node == Leaf(old.name) else None)
