"""Place: a statement without a dimension gets it, at one value, so that it can stand in a loop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from workbench.polyhedral.expression import Expression, expression, variable
from workbench.polyhedral.sets.relations import domain_with, with_dims
from workbench.polyhedral.tree import Leaf, Loop, Tree, mapped
from workbench.program.bodies import Call, walk
from workbench.program.operations.table import OPERATIONS
from workbench.program.values import Program, Statement
from workbench.transforms.step.argument_names import DeclaredDim, StatementNames, all_meant
from workbench.transforms.step.condition import Condition
from workbench.transforms.step.refusal import Refusal
from workbench.transforms.step.transform import Rewritten, Transform


@dataclass(frozen=True, repr=False)
class Place(Transform):
    """Statements that do not vary over `dim` run at its first or its last value.

    They compute the same values, but now in a loop over `dim` of one iteration. `Fuse` can join it
    with others: work at a horizon is then done as soon as the horizon is reached.

    Example::

        @wb.program
        def example(T=9):
            (t,) = wb.dims(t=T)
            state = wb.recurrent("state", (), over=t)
            state[0] = 1.0
            state[t + 1] = 0.9 * state
            return {"end": wb.exp(state[T])}

    Before::

        state[0]
        for t:
            state[t+1]
        end

    After Place("end", "t")::

        state[0]
        for t:
            state[t+1]
        for t:
            end

    Legal when the statements neither vary nor sum over `dim` and draw nothing at random (a draw
    depends on its instance's coordinates).
    """

    equation_step = True

    statements: StatementNames
    dim: DeclaredDim
    at: Literal["first", "last"] = "last"

    @classmethod
    def candidates(cls, program: Program) -> Iterator[Place]:
        """Yield nothing: alone a place has no effect; steps that need it propose it."""
        yield from ()

    def attempt(self, program: Program) -> Rewritten | Refusal:
        """Give the statements a set of one value of the dimension, each with a loop."""
        if self.at not in ("first", "last"):
            return self.unfit("at", f"at {self.at!r}; expected 'first' or 'last'")
        if not self.statements:
            return self.unfit("statements", "name at least one statement")
        chosen = all_meant(program, self.statements)
        for name in chosen:
            refusal = self._unfit(program.statement[name])
            if refusal is not None:
                return refusal
        size = program.dim[self.dim].size
        value = expression(0) if self.at == "first" else size - 1
        order = [d.name for d in program.dims]
        changed = tuple(
            _placed(s, self.dim, value, order, program) if s.name in chosen else s
            for s in program.statements
        )
        tree = _with_loops(program.schedule, self.dim, frozenset(chosen))
        equations = replace(program.equations, statements=changed)
        return Rewritten(replace(program, equations=equations, schedule=tree))

    def conditions(self, program: Program, after: Program) -> Iterator[Condition]:
        """Yield what makes each statement the same at any value."""
        for name in all_meant(program, self.statements):
            yield Condition(
                f"the same at every value of {self.dim}",
                f"{name} neither varies nor sums over {self.dim}",
                name,
            )
            yield Condition("nothing drawn at random", f"{name} draws nothing at random", name)

    def _unfit(self, s: Statement) -> Refusal | None:
        if self.dim in s.dims:
            return self.refuse("no effect", f"{s.name} varies over {self.dim} already", s.line)
        if self.dim in s.reduction_dims:
            sentence = f"{s.name} sums over {self.dim}, so it has no one value of it"
            return self.refuse("capability", sentence, s.line)
        if any(isinstance(b, Call) and OPERATIONS[b.operation].random for b in walk(s.body)):
            sentence = f"{s.name} draws at random, and what it draws depends on its dimensions"
            return self.refuse("capability", sentence, s.line)
        return None


def _placed(
    s: Statement, dim: str, value: Expression, order: list[str], program: Program
) -> Statement:
    behind = [d for d in s.dims if d in order and order.index(d) > order.index(dim)]
    position = s.dims.index(behind[0]) if behind else len(s.dims)
    dims = (*s.dims[:position], dim, *s.dims[position:])
    at = [(variable(dim), value)]
    domain = domain_with(with_dims(s.domain, dims), equal=at)
    reduction = s.reduction
    if s.combiner is not None:
        reduction = domain_with(with_dims(s.reduction, (*dims, *s.reduction_dims)), equal=at)
    write = tuple(
        _along(e, variable(dim), value) if own == dim else e
        for own, e in zip(program.array[s.array].dims, s.write, strict=True)
    )
    return replace(s, dims=dims, domain=domain, reduction=reduction, write=write)


def _along(index: Expression, now: Expression, value: Expression) -> Expression:
    """Return the index relative to `now` if its distance from `value` is constant, else itself."""
    ahead = index - value
    return now + ahead if not ahead.terms else index


def _with_loops(tree: Tree, dim: str, chosen: frozenset[str]) -> Tree:
    def looped(node: Tree) -> Tree | None:
        inside = isinstance(node, Leaf) and node.statement in chosen
        return Loop(dim, node) if inside else None

    return mapped(tree, looped)
