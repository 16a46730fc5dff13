"""Vectorize: a dimension's loop becomes an array axis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from workbench.polyhedral.dependences.flow import Dependence
from workbench.polyhedral.dependences.legality import carried_witness
from workbench.polyhedral.sets.relations import is_box
from workbench.polyhedral.tree import axis_dims, loop_dims
from workbench.program.dependences import dependences
from workbench.program.text.infix import element_text as element_of
from workbench.program.values import Program, Statement
from workbench.transforms.step.argument_names import DimName, StatementNames, all_meant, dims_of
from workbench.transforms.step.refusal import (
    Refusal,
    element_text,
    instance_text,
    sizes_text,
)
from workbench.transforms.step.transform import Rewritten, Transform
from workbench.transforms.trees.distribution import Stuck, vectorized
from workbench.transforms.trees.insertion import writes_along


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
            return Refusal("no effect", f"{self}: no statement loops over {self.dim}")
        return self._all_that_can(program, able)

    # -- the decision ------------------------------------------------------------------------------

    def _exactly(self, program: Program, loops: dict[str, tuple[str, ...]]) -> Rewritten | Refusal:
        assert self.statements is not None
        looping = all_meant(program, self.statements, lambda s: self.dim in loops[s.name])
        chosen = frozenset(looping)
        axes = axis_dims(program.schedule)
        for statement in program.statements:
            if statement.name not in chosen:
                continue
            shape = not_a_box(str(self), statement, self.dim, axes)
            refusal = self._no_loop(statement, loops) or shape
            if refusal is not None:
                return refusal
        try:
            tree = vectorized(program.schedule, self.dim, chosen, dependences(program.equations))
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
        sentence = f"{self}: {statement.name} has no loop over {self.dim}: {reason}"
        return Refusal("no effect", sentence, line=statement.line)

    def _all_that_can(self, program: Program, able: list[str]) -> Rewritten | Refusal:
        """Leave out whatever is stuck until the rest is not."""
        refusals: dict[str, Refusal] = {}
        axes = axis_dims(program.schedule)
        for name in able:
            shape = not_a_box(str(self), program.statement[name], self.dim, axes)
            if shape is not None:
                refusals[name] = shape
        while len(refusals) < len(able):
            chosen = frozenset(able) - refusals.keys()
            try:
                tree = vectorized(
                    program.schedule, self.dim, chosen, dependences(program.equations)
                )
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

    def _cycle(self, program: Program, stuck: Stuck, chosen: frozenset[str]) -> Refusal:
        """Refuse with the cycle that carries the dimension, and two instances of its dependence."""
        needs, names = stuck.dependences, set(stuck.component)
        inside = [d for d in needs.all if d.source in names and d.sink in names]
        for dependence in self._carrying_first(inside, chosen):
            witness = carried_witness(needs, dependence, self.dim)
            if witness is None:
                continue
            source, sink = (
                instance_text(name, at)
                for name, at in zip(witness.statements, witness.instances, strict=True)
            )
            cycle = _cycle_through(inside, dependence, chosen)
            both = chosen.issuperset(witness.statements)
            stuck_ones = dict.fromkeys(name for name in cycle if name in chosen)
            sentence = (
                f"{self}: {sink} needs {element_text(witness)}, which {source} writes, so "
                f"{'they' if both else ' and '.join(stuck_ones)} cannot run as one array operation "
                f"over {self.dim}; the cycle {' → '.join(cycle)} carries {self.dim} "
                f"(smallest case: {sizes_text(witness)})"
            )
            line = program.statement[dependence.sink].line
            return Refusal("dependence", sentence, witness, line, axes=chosen)
        raise AssertionError(f"no dependence carries {self.dim} in {stuck.component}")

    def _carrying_first(self, inside: list[Dependence], chosen: frozenset[str]) -> list[Dependence]:
        """Sort dependences by how much they explain: a chosen statement that needs itself, then its
        neighbours.

        A statement that was not chosen and needs itself explains nothing of the chosen ones.
        """

        def rank(d: Dependence) -> tuple[bool, bool, int]:
            alone = d.source == d.sink
            ends = (d.source in chosen) + (d.sink in chosen)
            return alone and not ends, not (alone and ends), -ends

        return sorted(inside, key=rank)


def not_a_box(
    step: str, statement: Statement, dim: str, axes: Mapping[str, tuple[str, ...]]
) -> Refusal | None:
    """Explain why one array cannot hold a statement's results over `dim` and its `axes`."""
    own = (*(d for d in axes[statement.name] if d != dim), dim)
    written = element_of(statement.array, statement.write)
    for e in statement.write:
        if dim in e.variables and len(both := [d for d in own if d in e.variables]) > 1:
            return Refusal(
                "capability",
                f"{step}: {statement.name} writes {written}, where {' and '.join(both)} are "
                "one dimension of the array: only one of them can be an axis",
                line=statement.line,
            )
    if not writes_along(statement, dim):
        return Refusal(
            "capability",
            f"{step}: {statement.name} has one value of {dim} and writes {written}, "
            f"where an array axis needs a dimension that varies over {dim}",
            line=statement.line,
        )
    if is_box(statement.domain, own):
        return None
    return Refusal(
        "capability",
        f"{step}: the domain of {statement.name} is not a box in {', '.join(own)}, "
        "so one array cannot hold it",
        line=statement.line,
    )


def _loops(program: Program) -> dict[str, tuple[str, ...]]:
    """Return for each statement its own dims that are loops, without counters of blocks."""
    return {
        name: tuple(d for d in loops if d in program.statement[name].dims)
        for name, loops in loop_dims(program.schedule).items()
    }


def _cycle_through(
    inside: list[Dependence], first: Dependence, chosen: frozenset[str]
) -> list[str]:
    """Return a cycle that begins with the dependence and comes by a chosen statement."""
    if first.source == first.sink:
        return [first.source, first.sink]
    back = _path(inside, first.sink, first.source)
    if not chosen & {first.source, *back}:
        by = min((n for n in chosen if _path(inside, first.sink, n)), default="")
        if by:
            back = [*_path(inside, first.sink, by), *_path(inside, by, first.source)[1:]]
    return [first.source, *back]


def _path(inside: list[Dependence], start: str, end: str) -> list[str]:
    """Return the shortest chain of statements from one to another, ends included, or nothing."""
    came: dict[str, str | None] = {start: None}
    queue = [start]
    while queue and end not in came:
        name = queue.pop(0)
        for d in inside:
            if d.source == name and d.sink not in came:
                came[d.sink] = name
                queue.append(d.sink)
    chain: list[str] = []
    at: str | None = end if end in came else None
    while at is not None:
        chain.append(at)
        at = came[at]
    return chain[::-1]
