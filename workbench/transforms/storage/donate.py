"""Donate: an array takes over the memory of one that is dead by then, or of its own last slice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from workbench.lowering.memory.lives import in_place_gains
from workbench.lowering.memory.takeover import hindrance, memory_of, saves, takeovers
from workbench.program.values import Program
from workbench.transforms.step.argument_names import ArrayName, array_called
from workbench.transforms.step.refusal import Refusal
from workbench.transforms.step.storage_holds import Pair, in_place_clash, shown_together
from workbench.transforms.step.transform import Rewritten, Transform
from workbench.transforms.storage.contract import Contract


@dataclass(frozen=True, repr=False)
class Donate(Transform):
    """The array `to` takes over the memory of `array`, which is dead by then.

    An array that is donated to itself is updated in place: an equation writes its result over what
    it reads. Without `to` the first array that can take over, without both every array that can;
    arrays in one piece of memory take turns in it.

    Example::

        @wb.program
        def example(T=3):
            t = wb.dim(t=T)
            position = wb.recurrent("position", (), over=t)
            force = wb.sin(position)
            push = force * 0.1
            position[0] = 1.0
            position[t + 1] = position + push
            return {"last": position[T]}

    Before::

        last
        position over t (T + 1)
        push over t (T)
        force over t (T)

    After Donate("force", "push")::

        last
        position over t (T + 1)
        push over t (T), in the memory of force
        force over t (T)

    Legal when under the schedule no two elements that would lie in one place are live at one time:
    every read of the one array comes before any write of the other in the same place, or in the
    same elementwise operation at the same place. Both have one dtype and as many bytes at all
    sizes, live inside one iteration of the same loops, and are no outputs.
    """

    unnamed = 2

    array: ArrayName | None = None
    to: ArrayName | None = None

    @classmethod
    def candidates(cls, program: Program) -> Iterator[Donate]:
        """Yield all that save memory, then those in place, and pairs of an operand and its
        result.
        """
        pairs = takeovers(program)
        if pairs:
            yield cls()
        memory = memory_of(program)
        for array, to in pairs:
            if array == to or memory.last(array) == memory.first(to):
                yield cls(array, to)

    def attempt(self, program: Program) -> Rewritten | Refusal:
        """Keep the equations and their order, with more memory handed on; or refuse with two
        elements in one place at one time.
        """
        pairs = self._pairs(program)
        if not pairs:
            return self.refuse("no effect", self._nothing(program))
        if self.array is not None and self.to is not None:
            array, to = pairs[0]
            refusal = (
                _in_place(self, program, to) if array == to else _unfit(self, program, array, to)
            )
            if refusal is not None:
                return refusal
        after = replace(program.storage, donated=(*program.storage.donated, *pairs))
        return Rewritten(replace(program, storage=after))

    def repairs(self, program: Program, refusal: Refusal) -> Iterator[Transform]:
        """Yield a last slice where all are kept; the next array in turn; the other way around."""
        if self.array is None or self.to is None:
            return
        ((array, to),) = self._pairs(program)
        donated = program.storage.donated
        if array == to:
            if refusal.kind == "no effect" and (array, array) not in donated:
                yield Contract(array)
            return
        if refusal.kind != "capability":
            return
        heir = next((taker for giver, taker in donated if giver == array != taker), None)
        memory = memory_of(program)
        if heir is not None and heir != to:
            yield Donate(heir, to)
        elif memory.first(array) > memory.first(to):
            yield Donate(to, array)

    def _pairs(self, program: Program) -> tuple[Pair, ...]:
        """Return the pairs that are meant."""
        array = None if self.array is None else array_called(program, self.array)
        to = None if self.to is None else array_called(program, self.to)
        if array is not None and to is not None:
            return ((array, to),)
        pairs = takeovers(program, array, to)
        return pairs if array is None and to is None else pairs[:1]

    def _nothing(self, program: Program) -> str:
        if self.array is not None:
            return f"no array can take over the memory of {array_called(program, self.array)}"
        if self.to is not None:
            return f"{array_called(program, self.to)} can take over the memory of no array"
        return "no array can take over another's memory, none can be updated in place"


def _in_place(step: Transform, program: Program, array: str) -> Refusal | None:
    """Explain why an array cannot be updated in place, or need not be."""
    line = program.writers[array][0].line
    if (array, array) in program.storage.donated:
        return step.refuse("no effect", f"{array} is updated in place already", line)
    if any(output.array == array for output in program.outputs):
        return step.refuse("capability", f"{array} is an output: it is returned whole", line)
    if (array, array) in in_place_gains(program):
        return None
    if all(name != array for name, _ in program.storage.contracted):
        sentence = (
            f"{array} keeps all its slices, so there is none whose place another could take; "
            "Contract would fold it"
        )
        return step.refuse("no effect", sentence, line)
    return in_place_clash(f"{step}: ", program, array) or step.refuse(
        "no effect", f"{array} needs no fewer slices when it is updated in place", line
    )


def _unfit(step: Transform, program: Program, array: str, to: str) -> Refusal | None:
    """Explain why an array cannot take over another's memory, or need not."""
    line = program.writers[to][0].line
    for giver, taker in program.storage.donated:
        if giver == taker:
            continue
        if (giver, taker) == (array, to):
            return step.refuse("no effect", f"{to} has the memory of {array} already", line)
        if giver == array:
            sentence = f"{taker} takes over the memory of {array}; {to} could follow it"
            return step.refuse("capability", sentence, line)
        if taker == to:
            return step.refuse("capability", f"{to} takes over the memory of {giver} already", line)
    memory = memory_of(program)
    if memory.first(array) > memory.first(to):
        sentence = f"{to} is written before {array}, which cannot hand it any memory"
        return step.refuse("capability", sentence, line)
    for first in memory.together(array):
        for second in memory.together(to):
            hindered = hindrance(memory, first, second)
            if hindered is not None:
                pair, meant = (first, second), (array, to)
                return shown_together(f"{step}: ", memory.program, hindered, pair, meant)
    if not saves(memory, array, to):
        sentence = (
            f"{array} is dead before {to} is written and its memory is free by then, so nothing "
            "would be saved"
        )
        return step.refuse("no effect", sentence, line)
    return None
