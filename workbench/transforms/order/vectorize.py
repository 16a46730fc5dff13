"""Vectorize: a dimension's loop becomes an array axis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.polyhedral.dependences.carrying import carried_cycle
from workbench.polyhedral.tree import axis_dims
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
from workbench.transforms.trees.regions import own_loops


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
        loops = {d for dims in own_loops(program).values() for d in dims}
        for name in dims_of(program):
            if name in loops:
                yield cls(name)

    def attempt(self, program: Program) -> Rewritten | Refusal:
        """Order the loop's statements anew, the vectorized ones with `dim` as an axis; or refuse
        with the cycle and two of its instances.
        """
        loops, axes = own_loops(program), axis_dims(program.schedule)
        wanted = self._wanted(program, loops)
        if not wanted:
            return self.refuse("no effect", f"no statement loops over {self.dim}")
        refusals: dict[str, Refusal] = {}
        for name in wanted:
            statement = program.statement[name]
            refusal = self._no_loop(statement, loops[name]) or self._no_axis(statement, axes[name])
            if refusal is not None:
                refusals[name] = refusal
        while not refusals or (self.statements is None and len(refusals) < len(wanted)):
            chosen = frozenset(wanted) - refusals.keys()
            try:
                tree = vectorized(
                    program.schedule, self.dim, chosen, dependences(program.equations)
                )
            except Stuck as stuck:
                why = self._cycle(program, stuck, chosen)
                refusals |= dict.fromkeys(chosen & set(stuck.component) or chosen, why)
                continue
            return Rewritten(replace(program, schedule=tree), self._notes(wanted, refusals))
        return next(iter(refusals.values()))

    def is_whole(self, program: Program) -> bool:
        """Tell whether the step takes all that loops over the dimension, at less expense than an
        attempt, which finds out what else it could take and why.
        """
        axes, wanted = axis_dims(program.schedule), self._wanted(program, own_loops(program))
        if any(self._no_axis(program.statement[name], axes[name]) for name in wanted):
            return False
        try:
            vectorized(
                program.schedule, self.dim, frozenset(wanted), dependences(program.equations)
            )
        except Stuck:
            return False
        return bool(wanted)

    def _wanted(self, program: Program, loops: Mapping[str, Sequence[str]]) -> list[str]:
        """Return the statements that are named, or all that loop over the dimension."""
        looping = [name for name, dims in loops.items() if self.dim in dims]
        if self.statements is None:
            return looping
        named = all_meant(program, self.statements, lambda s: s.name in looping)
        return [s.name for s in program.statements if s.name in named]

    # -- what stays a loop -------------------------------------------------------------------------

    def _no_loop(self, statement: Statement, loops: Sequence[str]) -> Refusal | None:
        """Explain why a named statement has no loop to vectorize."""
        if self.dim in loops:
            return None
        known = ", ".join(statement.dims) or "none"
        reason = (
            "it runs as an array axis already"
            if self.dim in statement.dims
            else f"it does not vary over {self.dim}; its dims: {known}"
        )
        sentence = f"{statement.name} has no loop over {self.dim}: {reason}"
        return self.refuse("no effect", sentence, statement.line)

    def _notes(self, wanted: list[str], refusals: dict[str, Refusal]) -> tuple[str, ...]:
        """Return for each reason the statements left as loops."""
        by_reason: dict[str, list[str]] = {}
        for name in wanted:
            if name in refusals:
                sentence = refusals[name].sentence.removeprefix(f"{self}: ")
                by_reason.setdefault(sentence, []).append(name)
        return tuple(
            f"left as a loop over {self.dim}: {', '.join(names)}; {sentence}"
            for sentence, names in by_reason.items()
        )

    def _no_axis(self, statement: Statement, axes: Sequence[str]) -> Refusal | None:
        """Explain why one array cannot hold a statement's results over the dimension."""
        reason = why_no_axis(statement, self.dim, axes)
        return None if reason is None else self.refuse("capability", reason, statement.line)

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
