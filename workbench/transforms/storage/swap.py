"""Swap: an array lives in host memory, and slices of it come to the device for their use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from workbench.lowering.lower import lower
from workbench.program.identity import remembered
from workbench.program.sizes import numbers, resolve
from workbench.program.text.units import amount
from workbench.program.values import Program
from workbench.transforms.step.argument_names import ArrayName, array_called
from workbench.transforms.step.refusal import Refusal
from workbench.transforms.step.transform import Rewritten, Transform
from workbench.transforms.storage.host_slices import (
    bytes_text,
    copied_elements,
    copies_of,
    item_bytes,
    iterations,
    line_of,
    not_early,
    slices_of,
    why_whole,
)

DTYPE = "float32"
"""The dtype for counting bytes."""

MOST, LEAST = 3, 0.1
"""The number of candidates at a time, and the least share of the device's peak of each."""


@dataclass(frozen=True, repr=False)
class Swap(Transform):
    """An array lives in host memory. The device holds slices of it, as long as they are in use.

    A slice is what a statement touches of the array at one iteration of the loops around it (of a
    loop over blocks, a block). A written slice is copied to the host behind its statement; a slice
    that is read is fetched once, in front of its first reader in the loop's body. With `prefetch=n`
    the copy of a slice starts n iterations of its loop before, into a ring of n + 1 slices on the
    device. That is for devices that copy and compute at one time; NumPy does one after the other,
    and there it gains nothing.

    Example::

        @wb.program
        def example(B=4, T=30):
            b, t = wb.dims(b=B, t=T)
            x = wb.normal(over=(b, t))
            s = wb.recurrent("s", (), over=(b, t))
            s[b, T] = 0.0
            s[b, t] = 0.5 * s[b, t + 1] + x
            return {"first": s[b, 0]}

    Before::

        first over b (B)
        s over b (B), t (T + 1)
        x over b (B), t (T)

    After Swap("x")::

        first over b (B)
        s over b (B), t (T + 1)
        x over b (B), t (T), on the host

    Legal when the device then holds less at its peak than with the array on it, at default sizes:
    the array must be held there, and its slices must be less than all of it. With `prefetch` it may
    hold more than without. An array that shares memory with another by Donate stays where that is.
    A slice can come early where every iteration of the loop needs another one, known beforehand and
    written so many iterations earlier. At least one has to; the others come when they are needed,
    as the step says. Later steps may change which come early: the loop program has each slice's
    iterations `ahead`.
    """

    array: ArrayName
    prefetch: int = 0

    least: ClassVar[Mapping[str, int]] = {"prefetch": 0}

    @classmethod
    def candidates(cls, program: Program) -> Iterator[Swap]:
        """Yield the largest arrays where the device holds most, if they are much of it; for those
        that live on the host, the next slice while one is in use.
        """
        loops = lower(program)
        for name, ahead in program.storage.swapped:
            if not ahead:
                yield cls(name, prefetch=1)
        names = {where.buffer.name: name for name, where in loops.stored.items()}
        held = _fullest(program)
        least = LEAST * sum(held.values())
        large = [names[b] for b, taken in held.items() if b in names and taken >= least]
        able = [n for n in large if program.array[n].dims and n not in program.storage.added]
        for name in able[:MOST]:
            yield cls(name)

    def attempt(self, program: Program) -> Rewritten | Refusal:
        """Keep the equations and their order, with one more array on the host."""
        refusal = self._bad_input()
        if refusal is not None:
            return refusal
        array = array_called(program, self.array)
        for condition in (self._added, self._as_it_is, self._in_one_piece, self._not_at_peak):
            refusal = condition(program, array)
            if refusal is not None:
                return refusal
        after = _stored(program, array, self.prefetch)
        if self.prefetch and not _comes_early(after, array):
            return next(self._late(after, array))
        before, less = relief(program, array, resolve(program.equations), self.prefetch)
        if less >= before:
            sentence = _no_effect(program, array, self.prefetch, before, less)
            return self._none(program, array, sentence)
        late = (r.sentence.removeprefix(f"{self}: ") for r in self._late(after, array))
        when = f"a slice of {array} comes when it is needed: "
        notes = (when + sentence for sentence in dict.fromkeys(late))
        return Rewritten(after, (self._price(after, array, before, less), *notes))

    def repairs(self, program: Program, refusal: Refusal) -> Iterator[Transform]:
        """Yield slices that come when they are needed, where none can come early."""
        if not self.prefetch:
            return
        array = array_called(program, self.array)
        after = _stored(program, array, self.prefetch)
        if array not in program.storage.on_host and not _comes_early(after, array):
            yield replace(self, prefetch=0)

    def _price(self, after: Program, array: str, before: int, less: int) -> str:
        """Return the note on the host memory and the time to copy."""
        loops = lower(after)
        host = loops.stored[array].buffer
        copied, sizes = copied_elements(loops, array) * item_bytes(host), resolve(after.equations)
        note = (
            f"{array} takes {bytes_text(host)} of the host; a run copies up to {copied} bytes "
            f"({amount(copied.evaluate(sizes), 'B')} at {numbers(sizes)}, {DTYPE}); the device's "
            f"peak is {amount(less, 'B')}, and with {array} there {amount(before, 'B')}"
        )
        if self.prefetch:
            note += (
                f"; {array} has up to {self.prefetch + 1} slices there at a time, which pays where "
                "a device copies while it computes"
            )
        return note

    # -- refusals --------------------------------------------------------------------------

    def _bad_input(self) -> Refusal | None:
        if type(self.prefetch) is int and self.prefetch >= 0:
            return None
        sentence = (
            f"{self}: slices come a whole number of iterations early, 0 or more, "
            f"not {self.prefetch!r}"
        )
        return Refusal("input", sentence, argument="prefetch")

    def _added(self, program: Program, array: str) -> Refusal | None:
        if array not in program.storage.added:
            return None
        sentence = (
            f"{self}: {array} is added up as it is computed (Accumulate), and there is one element "
            "a sum; what is added up stays on the device"
        )
        return Refusal("capability", sentence, line=line_of(program, array))

    def _as_it_is(self, program: Program, array: str) -> Refusal | None:
        if (array, self.prefetch) not in program.storage.swapped:
            return None
        early = f", and its slices come {iterations(self.prefetch)} early" * bool(self.prefetch)
        return self._none(program, array, f"{array} lives in host memory already{early}")

    def _in_one_piece(self, program: Program, array: str) -> Refusal | None:
        if array in program.storage.on_host:
            return None
        for pair in program.storage.donated:
            if array in pair and pair[0] != pair[1]:
                other = pair[pair[0] == array]
                sentence = (
                    f"{self}: {array} and {other} are in one piece of memory since "
                    f"Donate({pair[0]!r}, {pair[1]!r}), and {other} lives on the device"
                )
                return Refusal("capability", sentence, line=line_of(program, array))
        return None

    def _not_at_peak(self, program: Program, array: str) -> Refusal | None:
        there = _stored(program, array, None)
        own, held = lower(there).stored[array].buffer, _fullest(there)
        if own.name in held:
            return None
        sentence = (
            f"the device's peak would stay at {amount(sum(held.values()), 'B')} "
            f"({numbers(resolve(program.equations))}, {DTYPE}): {array} ({bytes_text(own)}) is not "
            "held where the device holds most"
        )
        return self._none(program, array, sentence)

    def _late(self, after: Program, array: str) -> Iterator[Refusal]:
        return not_early(str(self), after, array, self.prefetch)

    def _none(self, program: Program, array: str, sentence: str) -> Refusal:
        return Refusal("no effect", f"{self}: {sentence}", line=line_of(program, array))


def _comes_early(after: Program, array: str) -> bool:
    """Tell whether a slice of an array comes to the device before it is needed."""
    return any(copy.ahead for copy in copies_of(lower(after), array))


def relief(
    program: Program, array: str, sizes: Mapping[str, int], prefetch: int = 0
) -> tuple[int, int]:
    """Return the device's peak in bytes, with an array there and with it on the host."""
    before, after = (lower(_stored(program, array, n)) for n in (None, prefetch))
    return before.peak(sizes, DTYPE), after.peak(sizes, DTYPE)


@remembered(16)
def _stored(program: Program, array: str, prefetch: int | None) -> Program:
    """Return the program with an array on the host, its slices so early; None: on the device."""
    storage = program.storage
    if prefetch is None:
        if array not in storage.on_host:
            return program
        donated = tuple(p for p in storage.donated if array not in p or p[0] == p[1])
        storage = replace(storage, donated=donated)
    others = tuple(pair for pair in storage.swapped if pair[0] != array)
    own = ((array, prefetch),) if prefetch is not None else ()
    return replace(program, storage=replace(storage, swapped=(*others, *own)))


@remembered(16)
def _fullest(program: Program) -> Mapping[str, int]:
    """Return the buffers where the device holds most, and their bytes, the largest first."""
    timeline = lower(program).timeline(resolve(program.equations), DTYPE)
    fullest = max(timeline, key=lambda point: point.bytes)
    return dict(sorted(fullest.live, key=lambda item: -item[1]))


def _no_effect(program: Program, array: str, prefetch: int, before: int, after: int) -> str:
    then = lower(_stored(program, array, prefetch))
    own = bytes_text(then.stored[array].buffer)
    parts = " + ".join(bytes_text(b) for b in slices_of(then, array).values())
    sizes = numbers(resolve(program.equations))
    reason = why_whole(program, array)
    more = after - before
    peak = f"stay at {amount(after, 'B')}"
    if more:
        peak = f"grow by {amount(more, 'B')} to {amount(after, 'B')}"
    return (
        f"the device's peak would {peak} ({sizes}, {DTYPE}): "
        f"{array} takes {own}, its slices {parts}{reason}"
    )
