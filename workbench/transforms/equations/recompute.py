"""Recompute: an array is computed again where it is read later, instead of being kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from workbench.polyhedral.tree import loops_above, paths, statements
from workbench.program.text.infix import element_text, equation
from workbench.program.values import Equations, Program, Statement, walk
from workbench.transforms.equations import clones
from workbench.transforms.equations.clones import Clone, CloneGroup, is_computed, readers_of
from workbench.transforms.equations.evaluations import added, freed
from workbench.transforms.equations.inlining import NotMovable
from workbench.transforms.rules.row import is_external
from workbench.transforms.rules.sharing import without
from workbench.transforms.step.argument_names import (
    ArrayName,
    StatementNames,
    all_meant,
    array_called,
)
from workbench.transforms.step.refusal import Refusal
from workbench.transforms.step.transform import Rewritten, Transform, violated
from workbench.transforms.trees.insertion import fresh_name, places, with_equations
from workbench.transforms.trees.insertion import violated as violated_by


@dataclass(frozen=True, repr=False)
class Recompute(Transform):
    """Readers of an array in another loop than its writers read a clone, computed just for them.

    Without `readers`, all readers that do not stand in the innermost loop of a writer; with them,
    exactly those (the name of an array stands for its statements that read this one). The readers
    in one loop share a clone, which stands in that loop. Where one equation without a range and
    without a draw defines the array, the clone is of the elements that are read there: those of a
    block, those at computed positions (a gather), those that every iteration of a loop around reads
    again. Otherwise it is of the whole array, with the origin of its original, hence the same
    draws. An original that no other statement reads is dropped. A clone reads what its original
    reads: of arrays that are computed from each other, recompute the last first.

    Example::

        @wb.program
        def example(B=4, T=3):
            b, t = wb.dims(b=B, t=T)
            x = wb.normal(over=(b, t))
            feature = wb.tanh(x)
            s = wb.recurrent("s", (), over=(b, t))
            s[b, 0] = 0.0
            s[b, t + 1] = 0.5 * s + feature
            g = wb.recurrent("g", (), over=(b, t))
            g[b, T] = s[b, T]
            g[b, t] = 0.5 * g[b, t + 1] + feature
            return {"g": g}

    Before::

        for b:
            s[0]
            for t:
                x
                feature
                s[t+1]
            g[T]
            for t reversed:
                g

    After Recompute("feature")::

        for b:
            s[0]
            for t:
                x
                feature
                s[t+1]
            g[T]
            for t reversed:
                feature.again
                g

    Legal when no writer reads the array itself or calls an external object; when the clone's place,
    in front of the first of its readers, respects every dependence; and, for a reader that computes
    positions, when one equation without a range and without a draw defines the whole array.
    """

    array: ArrayName
    readers: StatementNames | None = None

    equation_step = True

    @classmethod
    def candidates(cls, program: Program) -> Iterator[Recompute]:
        """Yield each array with dimensions that has a reader in another loop than its writers."""
        returned = {o.array for o in program.outputs}
        for array in program.arrays:
            if array.dims and array.name not in returned and _apart(program, array.name):
                yield cls(array.name)

    def attempt(self, program: Program) -> Rewritten | Refusal:
        """Put the clones in front of their readers."""
        array = array_called(program, self.array)
        refusal = self._returned(program, array) or self._cannot(program, array)
        if refusal is not None:
            return refusal
        chosen = self._chosen(program, array)
        if isinstance(chosen, Refusal):
            return chosen
        after, notes = program, []
        for group in clones.groups(program, array, chosen):
            clone = self._clone(after, array, group)
            if isinstance(clone, Refusal):
                return clone
            placed = self._placed(after, clone, group.names)
            if isinstance(placed, Refusal):
                return placed
            after = placed
            notes.append(added(clone.statements))
        notes.append(freed(program, after, array))
        if not readers_of(after, array):
            after = without(after, {array})
        return Rewritten(after, tuple(notes))

    # -- the readers asked for ---------------------------------------------------------------------

    def _chosen(self, program: Program, array: str) -> Sequence[str] | Refusal:
        """Return the statements that will read the clone."""
        readers = readers_of(program, array)
        if self.readers is None:
            apart = _apart(program, array)
            if apart:
                return apart
            reason = (
                "every reader stands in the innermost loop of what writes it: " + ", ".join(readers)
                if readers
                else "no statement reads it"
            )
            return Refusal("no effect", f"{self}: {reason}", line=program.writers[array][0].line)
        chosen = all_meant(program, self.readers, lambda s: s.name in readers)
        for name in chosen:
            if name not in readers:
                read = ", ".join(readers) or "nothing"
                sentence = f"{self}: {name} does not read {array}; what does: {read}"
                line = program.statement[name].line
                return Refusal("input", sentence, line=line, argument="readers")
        return chosen

    # -- the decision ------------------------------------------------------------------------------

    def _returned(self, program: Program, array: str) -> Refusal | None:
        for output in program.outputs:
            if output.array == array:
                sentence = (
                    f"{self}: {array} is returned as {output.name}, so all of it is kept anyway"
                )
                return Refusal("no effect", sentence, line=program.writers[array][0].line)
        return None

    def _cannot(self, program: Program, array: str) -> Refusal | None:
        """Explain why the writers cannot run twice."""
        for s in program.writers[array]:
            called = [b.options["name"] for b in walk(s.body) if is_external(b)]
            if called:
                sentence = (
                    f"{self}: {equation(s, program.equations)} calls the external object "
                    f"{called[0]}, which would answer otherwise the second time"
                )
                return Refusal("capability", sentence, line=s.line)
            own = next((r for r in s.reads if r.array == array), None)
            if own is not None:
                needed = element_text(array, own.index)
                sentence = (
                    f"{self}: {array} cannot be computed slice by slice: "
                    f"{element_text(array, s.write)} needs {needed}, so the clone would need all "
                    f"that is kept now"
                )
                return Refusal("capability", sentence, line=s.line)
        return None

    def _clone(self, program: Program, array: str, group: CloneGroup) -> Clone | Refusal:
        """Return a clone at the readers' positions; of the whole array where these are not computed
        and elements cannot be cloned alone.
        """
        name = fresh_name(program, f"{array}.again")
        if group.at is None:
            return clones.whole(program, array, group, name)
        try:
            return clones.gathered(program, array, group, name)
        except NotMovable as failure:
            if not is_computed(group.at):
                return clones.whole(program, array, group, name)
            sentence = (
                f"{self}: {group.names[0]} reads {element_text(array, group.at)}, and at computed "
                f"positions {array} cannot be computed again: {failure.reason}"
            )
            return Refusal("capability", sentence, line=program.statement[group.names[0]].line)

    def _placed(self, program: Program, clone: Clone, names: Sequence[str]) -> Program | Refusal:
        """Return the program with the clone, as near to its first reader as is legal."""
        equations = with_equations(program.equations, clone.array, clone.statements, names)
        read_by = {n: clone.read_by(equations.statement[n].body) for n in names}
        reading = tuple(
            replace(s, body=read_by[s.name]) if s.name in read_by else s
            for s in equations.statements
        )
        reader = next(n for n in statements(program.schedule) if n in read_by)
        placed, done = program, set[str]()
        for s in clone.statements:
            done.add(s.name)
            later = {x.name for x in clone.statements} - done
            there = tuple(x for x in reading if x.name not in later)
            attempt = self._one_placed(
                placed, replace(equations, statements=there), s, reader, done
            )
            if isinstance(attempt, Refusal):
                return attempt
            placed = attempt
        return placed

    def _one_placed(
        self, program: Program, equations: Equations, clone: Statement, reader: str, done: set[str]
    ) -> Program | Refusal:
        """Put one more statement of a clone in front of the reader; those in `done` have a place
        then.
        """
        nearest: Refusal | None = None
        for tree in places(program.schedule, clone, equations.statement[reader]):
            broken = violated_by(equations, tree, done)
            placed = replace(program, equations=equations, schedule=tree)
            if broken is None:
                return placed
            nearest = nearest or violated(placed, broken, str(self))
        assert nearest is not None
        return nearest


# -- readers ---------------------------------------------------------------------------------------


def _apart(program: Program, array: str) -> list[str]:
    """Return the readers outside of the innermost loops of the writers; none where a writer has no
    loop, since everything stands beside it then.
    """
    readers = readers_of(program, array)
    if not readers:
        return []
    at = paths(program.schedule)
    innermost = []
    for s in program.writers[array]:
        around = loops_above(at[s.name], "loop")
        if not around:
            return []
        innermost.append(around[-1])
    return [
        name
        for name in readers
        if not any(node is home for node, _ in at[name] for home in innermost)
    ]
