"""Incrementalize: whole-axis work becomes a running update, or blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from workbench.polyhedral.ordering.as_written import NoOrder
from workbench.program.bodies import Call, walk
from workbench.program.operations.table import COMBINES
from workbench.program.values import Program, Statement
from workbench.transforms.incrementalize.conditions import conditions
from workbench.transforms.incrementalize.order import Tiled, carried_within, placed
from workbench.transforms.incrementalize.rewrite import (
    Unfit,
    equations_with,
    moving_dims,
    rewritten,
    slides,
)
from workbench.transforms.step.argument_names import (
    CombinedDim,
    StatementName,
    array_called,
    combines,
    meant,
)
from workbench.transforms.step.condition import Condition
from workbench.transforms.step.refusal import Refusal, dependence_text
from workbench.transforms.step.transform import Rewritten, Transform

BLOCK = 64
"""The block size that is offered."""


@dataclass(frozen=True, repr=False)
class Incrementalize(Transform):
    """A reduction goes on from its neighbour's result, or combines block by block.

    Where the statement's range moves with its own dimension `dim`, each instance is computed from
    its neighbour's result and the points that enter: a suffix or prefix in one step an element
    instead of one for each pair. With `block` this runs over the heads of blocks of so many, and
    then within all blocks in step. Windows that slide are two scans over blocks of the window's
    length; nothing is subtracted. Where `dim` is a dimension that the statement combines, each
    block is combined to an element of `….partial`, and these to the result, so that not all
    operands need be held at once.

    Example::

        @wb.program
        def example(B=4, T=3):
            b, t = wb.dims(b=B, t=T)
            reward = wb.uniform(over=(b, t))
            worth = wb.discounted_sum(reward[b, t:T], 0.9)
            return {"worth": worth}

    Before::

        for b:
            for t:
                reward
            for t:
                worth

    After Incrementalize("worth", "t")::

        for b:
            for t:
                reward
            worth[T-1]
            for t reversed:
                worth

    `worth[b, t] = sum(t_1 in t..T-1) 0.9 ** (t_1 - t) * reward[b, t_1]` has become `worth[b, T - 1]
    = reward[b, T - 1]` and `worth[b, t] = reward[b, t] + 0.9 * worth[b, t + 1]`.

    Legal when the statement is a sum, maximum or minimum; its range over one reduction dimension k
    gains at most one point from instance t to t - 1 (or to t + 1) and loses none, or is a window
    `t + a <= k < t + a + n` of fixed n that fixed limits may cut; and its body is a product in
    which only powers (of anything that is the same for all t and k, exponents affine in t and k)
    depend on both. A factor that depends on t alone is multiplied on afterwards (sums only; a
    maximum's weights must be powers of positive numbers). Floating-point sums are associated anew,
    so the last digits may differ. Blocks of a combined dimension are legal for every sum, maximum
    and minimum.
    """

    statement: StatementName
    dim: CombinedDim
    block: int | None = None

    equation_step = True
    least: ClassVar[Mapping[str, int]] = {"block": 1}

    @classmethod
    def candidates(cls, program: Program) -> Iterator[Incrementalize]:
        """Yield each reduction whose range moves, plainly and (but for windows) in blocks of 64. In
        such blocks also yield each product or several dimensions that are summed: weight gradients,
        losses.
        """
        for s in program.statements:
            if s.combiner not in COMBINES:
                continue
            lifted = [dim for dim in s.dims if moving_dims(s, dim)]
            for dim in lifted:
                yield cls(s.name, dim)
                if not slides(s, dim):
                    yield cls(s.name, dim, BLOCK)
            products = any(isinstance(b, Call) and b.operation == "contract" for b in walk(s.body))
            if not lifted and (products or len(s.reduction_dims) > 1):
                yield cls(s.name, s.reduction_dims[-1], BLOCK)

    def attempt(self, program: Program) -> Rewritten | Refusal:
        """Put the statement's pieces in its place, and drop formulas that only it read."""
        old = self._statement(program)
        if isinstance(old, Refusal):
            return old
        refusal = self._input(program, old)
        if refusal is not None:
            return refusal
        try:
            rewrite = rewritten(program, old, self.dim, self.block)
        except Unfit as unfit:
            return self.refuse(unfit.kind, unfit.sentence, old.line)
        after = equations_with(program.equations, old, rewrite)
        try:
            tree = placed(program.schedule, after, old, rewrite, self.dim)
        except NoOrder as failure:
            return self._no_order(program, old, failure)
        except Tiled as tiled:
            return self.refuse(
                "capability",
                f"{old.name} runs in a loop over blocks of {tiled.dim}, which would have to be "
                "taken apart: incrementalize before tiling",
                old.line,
            )
        return Rewritten(replace(program, equations=after, schedule=tree))

    def conditions(self, program: Program, after: Program) -> Iterator[Condition]:
        """Yield what the statement is, and what its range and factors do along the dim."""
        old = self._statement(program)
        assert isinstance(old, Statement)
        yield from conditions(program, old, self.dim, self.block)

    def repairs(self, program: Program, refusal: Refusal) -> Iterator[Transform]:
        """Yield the running update without blocks of such a size."""
        if self.block is not None and refusal.kind in ("capability", "dependence"):
            yield replace(self, block=None)

    def _no_order(self, program: Program, old: Statement, failure: NoOrder) -> Refusal:
        """Refuse, with two instances: the statement's operands depend on its results."""
        own = [name for name in failure.component if name in program.statement]
        names = list(dict.fromkeys([*own, old.name]))
        witness = carried_within(program, old, names, self.dim)
        sentence = (
            f"{self}: {dependence_text(witness)}: {', '.join(names)} need each other from step to "
            f"step of {self.dim}, so no block can be combined before all of them have run"
        )
        return Refusal("dependence", sentence, witness, old.line)

    # -- bad input ---------------------------------------------------------------------------------

    def _statement(self, program: Program) -> Statement | Refusal:
        """Return the named statement, or the array's one that combines."""
        written = [program.statement[n] for n in meant(program, self.statement, combines)]
        if self.statement in program.statement or (len(written) == 1 and combines(written[0])):
            return written[0]
        array = array_called(program, self.statement)
        first, names = program.writers[array][0], ", ".join(s.name for s in written)
        if combines(written[0]):
            return self.unfit("statement", f"{array} has {names}: name one of them", first.line)
        return self.refuse("no effect", f"{names} combine nothing: they have no range", first.line)

    def _input(self, program: Program, old: Statement) -> Refusal | None:
        if self.block is not None and not self.in_range("block"):
            sentence = f"a block of {self.block!r}; expected {self.expected('block')}"
            return self.unfit("block", sentence, old.line)
        if old.combiner is None:
            beside = [
                f"{s.name} ({', '.join(s.reduction_dims)})"
                for s in program.statements
                if s.combiner is not None and s.line == old.line is not None
            ]
            sentence = f"{old.name} combines nothing: it has no range"
            if beside:
                sentence += f"; of the same line combine {', '.join(beside)}"
            return self.refuse("no effect", sentence, old.line)
        if old.combiner not in COMBINES:
            return self.refuse(
                "capability",
                f"{old.name} is {old.combiner}, which cannot go on from a result; "
                f"expected {', '.join(COMBINES)}",
                old.line,
            )
        if self.dim in old.reduction_dims and self.block is None:
            sentence = f"{old.name} combines {self.dim}: say block=, how many at a time"
            return self.unfit("block", sentence, old.line)
        return None
