"""Contract: an array keeps only the slices of a dimension that are live at one time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from workbench.errors import TooComplexError
from workbench.program.accumulating import derived, owner
from workbench.program.values import Program
from workbench.transforms.equations.accumulate import Accumulate
from workbench.transforms.incrementalize.incrementalize import BLOCK, Incrementalize
from workbench.transforms.incrementalize.rewrite import moving_dims
from workbench.transforms.order.fuse import Fuse
from workbench.transforms.order.tile import USUAL, Tile
from workbench.transforms.step.argument_names import ArrayDim, ArrayName, array_called
from workbench.transforms.step.refusal import Refusal
from workbench.transforms.step.storage_holds import Pair, fixed, folding, whole, whole_blocks
from workbench.transforms.step.transform import Rewritten, Transform


@dataclass(frozen=True, repr=False)
class Contract(Transform):
    """An array keeps only as many slices of a dimension as are live at one time, used in turn.

    Without `dim` every dimension of the array that can be is folded, without `array` those of every
    array; dimensions that stay whole are reported.

    Example::

        @wb.program
        def example(B=4, T=3):
            b, t = wb.dims(b=B, t=T)
            position = wb.recurrent("position", (), over=(b, t))
            force = wb.sin(position)
            position[b, 0] = 1.0
            position[b, t + 1] = position + force
            return {"last": position[b, T]}

    Before::

        last over b (B)
        position over b (B), t (T + 1)
        force over b (B), t (T)

    After Contract("position", "t")::

        last over b (B)
        position over b (B), t (2 of T + 1)
        force over b (B), t (T)

    Legal when fewer slices than all are live at one time under the schedule: from the write of an
    element to its last read, no element that shares its slot is written. The dimension must not
    run as an array axis, nor be read at an index that depends on data, and the array must not be
    an output.
    """

    unnamed = 2

    array: ArrayName | None = None
    dim: ArrayDim | None = None

    @classmethod
    def candidates(cls, program: Program) -> Iterator[Contract]:
        """Yield all arrays at once, then each that would shrink, by its dimension where it is one:
        the step without it would be another name of the same.
        """
        shrinking: dict[str, list[str]] = {}
        try:
            for array, dim in folding(program, _open(program)):
                shrinking.setdefault(array, []).append(dim)
        except TooComplexError:  # the step itself is refused for it, in a sentence
            yield cls()
            return
        if shrinking:
            yield cls()
        for array, dims in shrinking.items():
            yield cls(array, dims[0] if len(dims) == 1 else None)

    def attempt(self, program: Program) -> Rewritten | Refusal:
        """Keep the equations and their order, with more dimensions folded; or refuse with two
        elements that are live at one time.
        """
        wanted = self._wanted(program)
        folds = folding(program, wanted)
        if not folds:
            return self._nothing(program, wanted)
        storage = program.storage
        after = replace(storage, contracted=(*storage.contracted, *folds))
        notes = _notes(program, [pair for pair in wanted if pair not in folds])
        return Rewritten(replace(program, storage=after), notes)

    def repairs(self, program: Program, refusal: Refusal) -> Iterator[Transform]:
        """Yield steps that may let slices die earlier: blocks where all are touched at one time,
        the two statements in one loop, and a reader that does not need them all at one time.
        """
        wanted = self._wanted(program)
        if refusal.kind == "capability":
            yield Tile(wanted[0][1], USUAL)
        if refusal.witness is None:
            return
        known = derived(program).statement
        writer, reader = (owner(known[name]) for name in refusal.witness.statements)
        yield Fuse((writer, reader))
        own = program.statement[reader]
        for moving in own.dims:
            if moving_dims(own, moving):
                yield Incrementalize(reader, moving)
                yield Incrementalize(reader, moving, BLOCK)
        for combined in own.reduction_dims:
            yield Accumulate(combined, (reader,))
            yield Incrementalize(reader, combined, BLOCK)

    def _nothing(self, program: Program, wanted: list[Pair]) -> Refusal:
        """Explain why no dimension that is meant can be folded."""
        if self.array is not None and not wanted:
            array = array_called(program, self.array)
            line, why = program.writers[array][0].line, "has no dimensions to fold"
            if array in program.storage.added and program.array[array].dims:
                why = f"is added up, and keeps nothing of {self.dim or 'what is added'}"
            return self.refuse("no effect", f"{array} {why}", line)
        if self.array is None:
            over = "" if self.dim is None else f" along {self.dim}"
            return self.refuse("no effect", f"no array can be folded{over}")
        return _whole(self, program, *wanted[0])

    def _wanted(self, program: Program) -> list[Pair]:
        """Return the dimensions meant, those first that are not folded already."""
        array = None if self.array is None else array_called(program, self.array)
        meant = [
            (a.name, d)
            for a in derived(program).arrays
            for d in a.dims
            if array in (None, a.name) and self.dim in (None, d)
        ]
        fresh = [pair for pair in meant if pair not in program.storage.contracted]
        return fresh or meant[:1]


def _open(program: Program) -> list[Pair]:
    """Return every dimension of every array that is not folded."""
    contracted = set(program.storage.contracted)
    arrays = derived(program).arrays
    return [(a.name, d) for a in arrays for d in a.dims if (a.name, d) not in contracted]


# -- reasons for a whole dimension -----------------------------------------------------------------


def _whole(step: Transform, program: Program, array: str, dim: str) -> Refusal:
    """Explain why a dimension cannot be folded."""
    if (array, dim) in program.storage.contracted:
        return step.refuse("no effect", f"{array} is folded along {dim} already")
    record = derived(program).array[array]
    line = program.writers[array][0].line
    lower, upper = record.extent[record.dims.index(dim)]
    if upper - lower == 1:
        sentence = f"{array} has one slice along {dim}, there is nothing to fold"
        return step.refuse("no effect", sentence, line)
    return whole(f"{step}: ", program, array, dim) or step.refuse(
        "no effect", f"folding {array} along {dim} too would save nothing", line
    )


def _notes(program: Program, whole: list[Pair]) -> tuple[str, ...]:
    """Return for each reason the dimensions that stay whole."""
    reasons, arrays = fixed(program), derived(program).array
    by_reason: dict[str, dict[str, list[str]]] = {}
    for array, dim in whole:
        record = arrays[array]
        lower, upper = record.extent[record.dims.index(dim)]
        if upper - lower == 1:
            continue
        why = reasons.get((array, dim)) or whole_blocks(program, array, dim)
        reason = "all slices are live at one time" if why is None else why.reason
        by_reason.setdefault(reason, {}).setdefault(array, []).append(dim)
    return tuple(f"kept whole: {_listed(kept)}: {reason}" for reason, kept in by_reason.items())


def _listed(kept: Mapping[str, list[str]]) -> str:
    return ", ".join(f"{array} ({', '.join(dims)})" for array, dims in kept.items())
