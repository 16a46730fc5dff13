"""Vectorize: a dimension's loop becomes an array axis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from workbench.polyhedral.dependences.carrying import carried_cycle
from workbench.polyhedral.tree import axis_dims, loop_dims
from workbench.program.dependences import dependences
from workbench.program.values import Program, Statement
from workbench.transforms.step.argument_names import DimName, StatementNames, all_meant, dims_of
from workbench.transforms.step.refusal import (
    Refusal,
    element_text,
    instance_texts,
    sizes_text,
)
from workbench.transforms.step.transform import Rewritten, Transform
from workbench.transforms.trees.axes import why_no_axis
from workbench.transforms.trees.distribution import Stuck, vectorized


@dataclass(frozen=True, repr=False)
class Vectorize(Transform):
    """All instances of a statement that agree outside `dim` run as one array operation.

    Without `statements`, every statement that can is vectorized, and those that cannot are
    reported; with them, exactly those. The name of an array stands for all its statements that
    loop over `dim`. Loops over `dim` that hold other statements too are distributed.

    Example::

        @wb.program
        def example(B=4, T=3):
            b, t = wb.dims(b=B, t=T)
            draw = wb.uniform(over=(b, t))
            total = wb.recurrent("total", (), over=(b, t))
            total[b, 0] = 0.0
            total[b, t + 1] = total + draw
            return {"total": total}

    Before::

        for b:
            total[0]
            for t:
                draw
                total[t+1]

    After Vectorize("t")::

        for b:
            total[0]
            axis t:
                draw
            for t:
                total[t+1]

    Legal when, with the instances that agree outside `dim` taken as one, the program still has an
    order in which all other loops stay: no chosen statement needs, through any chain of others in
    the same iteration of the enclosing loops, its own result at another value of `dim`. The domain
    must be a box in `dim` for fixed values of the loops around it, and what is written must vary
    over it.
    """

    dim: DimName
    statements: StatementNames | None = None

    @classmethod
    def candidates(cls, program: Program) -> Iterator[Vectorize]:
        """Yield each dimension that is a loop of some statement."""
        assert program.schedule is not None
        loops = {d for dims in _loops(program).values() for d in dims}
        for name in dims_of(program):
            if name in loops:
                yield cls(name)

    def attempt(self, program: Program) -> Rewritten | Refusal:
        """Order the loop's statements anew, the vectorized ones with `dim` as an axis; or refuse
        with the cycle and two of its instances.
        """
        loops = _loops(program)
        if self.statements is not None:
            return self._exactly(program, loops)
        able = [name for name, dims in loops.items() if self.dim in dims]
        if not able:
            return self.refuse("no effect", f"no statement loops over {self.dim}")
        return self._all_that_can(program, able)

    # -- the decision ------------------------------------------------------------------------------

    def _exactly(self, program: Program, loops: dict[str, tuple[str, ...]]) -> Rewritten | Refusal:
        assert self.statements is not None and program.schedule is not None
        looping = all_meant(program, self.statements, lambda s: self.dim in loops[s.name])
        chosen = frozenset(looping)
        axes = axis_dims(program.schedule)
        for statement in program.statements:
            if statement.name not in chosen:
                continue
            refusal = self._no_loop(statement, loops) or self._not_a_box(statement, axes)
            if refusal is not None:
                return refusal
        try:
            tree = vectorized(program.schedule, self.dim, chosen, dependences(program))
        except Stuck as stuck:
            return self._cycle(program, stuck, chosen)
        return Rewritten(replace(program, schedule=tree))

    def _no_loop(self, statement: Statement, loops: dict[str, tuple[str, ...]]) -> Refusal | None:
        """Explain why a named statement has no loop to vectorize."""
        if self.dim in loops[statement.name]:
            return None
        known = ", ".join(statement.dims) or "none"
        reason = (
            "it runs as an array axis already"
            if self.dim in statement.dims
            else f"it does not vary over {self.dim}; its dims: {known}"
        )
        sentence = f"{statement.name} has no loop over {self.dim}: {reason}"
        return self.refuse("no effect", sentence, line=statement.line)

    def _all_that_can(self, program: Program, able: list[str]) -> Rewritten | Refusal:
        """Leave out whatever is stuck until the rest is not."""
        assert program.schedule is not None
        refusals: dict[str, Refusal] = {}
        axes = axis_dims(program.schedule)
        for name in able:
            shape = self._not_a_box(program.statement[name], axes)
            if shape is not None:
                refusals[name] = shape
        while len(refusals) < len(able):
            chosen = frozenset(able) - refusals.keys()
            try:
                tree = vectorized(program.schedule, self.dim, chosen, dependences(program))
            except Stuck as stuck:
                why = self._cycle(program, stuck, chosen)
                refusals |= dict.fromkeys(chosen & set(stuck.component), why)
                continue
            return Rewritten(replace(program, schedule=tree), self._notes(able, refusals))
        return next(iter(refusals.values()))

    def _notes(self, able: list[str], refusals: dict[str, Refusal]) -> tuple[str, ...]:
        """Return for each reason the statements left as loops."""
        by_reason: dict[str, list[str]] = {}
        for name in able:
            if name in refusals:
                sentence = refusals[name].sentence.removeprefix(f"{self}: ")
                by_reason.setdefault(sentence, []).append(name)
        return tuple(
            f"left as a loop over {self.dim}: {', '.join(names)}; {sentence}"
            for sentence, names in by_reason.items()
        )

    def _not_a_box(self, statement: Statement, axes: dict[str, tuple[str, ...]]) -> Refusal | None:
        reason = why_no_axis(statement, self.dim, axes[statement.name])
        return None if reason is None else self.refuse("capability", reason, line=statement.line)

    def _cycle(self, program: Program, stuck: Stuck, chosen: frozenset[str]) -> Refusal:
        """Refuse with the cycle that carries the dimension, and two instances of its dependence."""
        carried, cycle = carried_cycle(stuck.dependences, stuck.component, self.dim, chosen)
        witness = carried.witness
        source, sink = instance_texts(witness)
        both = chosen.issuperset(witness.statements)
        stuck_ones = dict.fromkeys(name for name in cycle if name in chosen)
        sentence = (
            f"{self}: {sink} needs {element_text(witness)}, which {source} writes, so "
            f"{'they' if both else ' and '.join(stuck_ones)} cannot run as one array operation "
            f"over {self.dim}; the cycle {' → '.join(cycle)} carries {self.dim} "
            f"(smallest case: {sizes_text(witness)})"
        )
        line = program.statement[carried.dependence.sink].line
        return Refusal("dependence", sentence, witness, line, axes=chosen)


def _loops(program: Program) -> dict[str, tuple[str, ...]]:
    """Return for each statement its own dims that are loops, without counters of blocks."""
    assert program.schedule is not None
    return {
        name: tuple(d for d in loops if d in program.statement[name].dims)
        for name, loops in loop_dims(program.schedule).items()
    }
