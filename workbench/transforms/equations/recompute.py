"""Recompute: an array is computed again where it is read later, instead of being kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workbench.program.operations.table import OPERATIONS
from workbench.program.text.infix import element_text
from workbench.program.values import Program
from workbench.transforms.equations.clones import Clone, clone_for, why_only_once
from workbench.transforms.equations.evaluations import added, freed
from workbench.transforms.equations.inlining import NotMovable
from workbench.transforms.equations.readers import (
    CloneGroup,
    clone_groups,
    readers_apart,
    readers_of,
)
from workbench.transforms.rules.sharing import without
from workbench.transforms.step.argument_names import (
    ArrayName,
    StatementNames,
    all_meant,
    array_called,
)
from workbench.transforms.step.condition import Condition
from workbench.transforms.step.refusal import Refusal
from workbench.transforms.step.transform import Rewritten, Transform, violated
from workbench.transforms.trees.insertion import Unplaced, with_array


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
            if array.dims and array.name not in returned and readers_apart(program, array.name):
                yield cls(array.name)

    def attempt(self, program: Program) -> Rewritten | Refusal:
        """Put the clones in front of their readers."""
        array = array_called(program, self.array)
        refusal = self._returned(program, array) or self._only_once(program, array)
        if refusal is not None:
            return refusal
        chosen = self._chosen(program, array)
        if isinstance(chosen, Refusal):
            return chosen
        after, notes = program, []
        for group in clone_groups(program, array, chosen):
            clone = self._clone(after, array, group)
            if isinstance(clone, Refusal):
                return clone
            reading = clone.read_in(after.equations, group.names)
            placed = with_array(after, reading, clone.array, clone.statements, group.names)
            if isinstance(placed, Unplaced):
                return violated(placed.program, placed.violation, str(self))
            after = placed
            notes.append(added(clone.statements))
        users = (s for s in after.statements if array in s.touched)
        left = [s.name for s in users if any(r.array == array for r in s.reads)]
        notes.append(freed(program.array[array], left))
        if not left:
            after = without(after, {array})
        return Rewritten(after, tuple(notes))

    def conditions(self, program: Program, after: Program) -> Iterator[Condition]:
        """Yield why each writer can run once more, and where its clones stand."""
        array = array_called(program, self.array)
        for s in program.writers[array]:
            read = ", ".join(dict.fromkeys(r.array for r in s.reads)) or "nothing"
            yield Condition(
                "no need of itself, no external object",
                f"{s.name} reads {read}, and calls nothing outside",
                s.name,
            )
        for s in after.statements:
            if s.name not in program.statement:
                readers = readers_of(after, s.array)
                what = f"{s.name} comes before {', '.join(readers)}"
                same = (
                    f", and draws as {array} does"
                    if any(OPERATIONS[c.operation].random for c in s.calls)
                    else ""
                )
                yield Condition("in front of its readers", what + same, s.name)

    def _chosen(self, program: Program, array: str) -> Sequence[str] | Refusal:
        """Return the statements that will read the clone."""
        readers = readers_of(program, array)
        if self.readers is None:
            apart = readers_apart(program, array)
            if apart:
                return apart
            reason = "no statement reads it"
            if readers:
                listed = ", ".join(readers)
                reason = f"every reader stands in the innermost loop of what writes it: {listed}"
            return self.refuse("no effect", reason, program.writers[array][0].line)
        chosen = all_meant(program, self.readers, lambda s: s.name in readers)
        for name in chosen:
            if name not in readers:
                sentence = (
                    f"{name} does not read {array}; what does: {', '.join(readers) or 'nothing'}"
                )
                line = program.statement[name].line
                return self.unfit("readers", sentence, line)
        return chosen

    def _returned(self, program: Program, array: str) -> Refusal | None:
        for output in program.outputs:
            if output.array == array:
                sentence = f"{array} is returned as {output.name}, so all of it is kept anyway"
                return self.refuse("no effect", sentence, program.writers[array][0].line)
        return None

    def _only_once(self, program: Program, array: str) -> Refusal | None:
        for s in program.writers[array]:
            reason = why_only_once(program, s)
            if reason is not None:
                return self.refuse("capability", reason, s.line)
        return None

    def _clone(self, program: Program, array: str, group: CloneGroup) -> Clone | Refusal:
        try:
            return clone_for(program, array, group)
        except NotMovable as failure:
            assert group.at is not None
            reader = program.statement[group.names[0]]
            sentence = (
                f"{reader.name} reads {element_text(array, group.at)}, and at computed "
                f"positions {array} cannot be computed again: {failure.reason}"
            )
            return self.refuse("capability", sentence, reader.line)
