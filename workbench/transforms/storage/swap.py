"""Swap: an array lives in host memory, and slices of it come to the device for their use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import ClassVar

from workbench.lowering.lower import lower
from workbench.program.sizes import resolve
from workbench.program.values import Program
from workbench.transforms.step.argument_names import ArrayName, array_called
from workbench.transforms.step.refusal import Refusal
from workbench.transforms.step.transform import Rewritten, Transform
from workbench.transforms.storage.device_peak import (
    fullest,
    least_peak,
    no_relief,
    not_at_peak,
    on_host,
    price,
    relief,
    stored_bytes,
)
from workbench.transforms.storage.host_slices import comes_early, iterations, line_of, not_early

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
    and there it gains nothing. On a GPU, blocks of a kernel read and write host memory itself, and
    so does a statement that touches elements anywhere.

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
        for name, ahead in program.storage.swapped:
            if not ahead:
                yield cls(name, prefetch=1)
        taken, least = stored_bytes(program), LEAST * least_peak(program)
        able = {
            array.name
            for array in program.arrays
            if array.dims and array.name not in program.storage.added and taken[array.name] >= least
        }
        if not able:
            return  # and no loop program is needed
        names = {where.buffer.name: name for name, where in lower(program).stored.items()}
        held = fullest(program)
        least = LEAST * sum(held.values())
        large = (names[b] for b, amount in held.items() if b in names and amount >= least)
        for name in islice((name for name in large if name in able), MOST):
            yield cls(name)

    def attempt(self, program: Program) -> Rewritten | Refusal:
        """Keep the equations and their order, with one more array on the host."""
        if not self.in_range("prefetch"):
            sentence = f"prefetch is {self.expected('prefetch')}, not {self.prefetch!r}"
            return self.unfit("prefetch", sentence)
        array = array_called(program, self.array)
        for condition in (self._added, self._as_it_is, self._in_one_piece, self._not_at_peak):
            refusal = condition(program, array)
            if refusal is not None:
                return refusal
        after = on_host(program, array, self.prefetch)
        late = not_early(str(self), after, array, self.prefetch)
        if self.prefetch and not comes_early(after, array):
            return next(late)
        before, less = relief(program, array, resolve(program.equations), self.prefetch)
        if less >= before:
            reason = no_relief(program, array, self.prefetch, before, less)
            return self.refuse("no effect", reason, line_of(program, array))
        when = f"a slice of {array} comes when it is needed: "
        reasons = dict.fromkeys(refusal.sentence.removeprefix(f"{self}: ") for refusal in late)
        note = price(after, array, before, less) + self._ring(array)
        return Rewritten(after, (note, *(when + reason for reason in reasons)))

    def repairs(self, program: Program, refusal: Refusal) -> Iterator[Transform]:
        """Yield slices that come when they are needed, where none can come early."""
        if not self.prefetch:
            return
        array = array_called(program, self.array)
        after = on_host(program, array, self.prefetch)
        if array not in program.storage.on_host and not comes_early(after, array):
            yield replace(self, prefetch=0)

    def _ring(self, array: str) -> str:
        """Return the part of the note that is about slices that come early."""
        if not self.prefetch:
            return ""
        return (
            f"; {array} has up to {self.prefetch + 1} slices there at a time, which pays where "
            "a device copies while it computes"
        )

    # -- refusals --------------------------------------------------------------------------

    def _added(self, program: Program, array: str) -> Refusal | None:
        if array not in program.storage.added:
            return None
        return self.refuse(
            "capability",
            f"{array} is added up as it is computed (Accumulate), and there is one element a sum; "
            "what is added up stays on the device",
            line_of(program, array),
        )

    def _as_it_is(self, program: Program, array: str) -> Refusal | None:
        if (array, self.prefetch) not in program.storage.swapped:
            return None
        early = f", and its slices come {iterations(self.prefetch)} early" * bool(self.prefetch)
        reason = f"{array} lives in host memory already{early}"
        return self.refuse("no effect", reason, line_of(program, array))

    def _in_one_piece(self, program: Program, array: str) -> Refusal | None:
        if array in program.storage.on_host:
            return None
        for pair in program.storage.donated:
            if array in pair and pair[0] != pair[1]:
                other = pair[pair[0] == array]
                reason = (
                    f"{array} and {other} are in one piece of memory since "
                    f"Donate({pair[0]!r}, {pair[1]!r}), and {other} lives on the device"
                )
                return self.refuse("capability", reason, line_of(program, array))
        return None

    def _not_at_peak(self, program: Program, array: str) -> Refusal | None:
        reason = not_at_peak(program, array)
        if reason is None:
            return None
        return self.refuse("no effect", reason, line_of(program, array))
