"""The memory that copies and functions touch: neighbouring elements of buffers, then bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from workbench.codegen.cuda.functions import Function
from workbench.codegen.cuda.small_kernels import left_by
from workbench.codegen.kernels import ProgramKernels
from workbench.lowering.loops.records import Apply, Index, Range, Symbolic, View, walk
from workbench.lowering.values.intervals import total
from workbench.polyhedral.expression import Expression, expression


class Touched(NamedTuple):
    """Memory that is read or written, from an address up to another."""

    begin: int
    end: int
    written: bool


class Part(NamedTuple):
    """Neighbouring elements of a buffer: the first, and how many."""

    buffer: str
    first: Expression
    elements: Expression


Use: TypeAlias = tuple[Part, bool]
"""What a function touches of a buffer, and whether it writes it."""


class MemoryParts:
    """The parts of buffers that a program's copies and functions touch."""

    def __init__(self, made: ProgramKernels) -> None:
        self.made = made
        records = list(walk(made.loops.body))
        self.any_copied = any(isinstance(record, Apply) for record in records)
        """True if anything is copied between the spaces."""
        self._views: dict[str, tuple[Part, Symbolic]] = {}
        for record in records:
            if isinstance(record, View):
                self._views[record.name] = self._viewed(record)
        self._uses: dict[str, list[Use]] = {}

    def of(self, name: str) -> Part:
        """Return the elements of a view, or of a whole buffer."""
        return self._named(name)[0]

    def _named(self, name: str) -> tuple[Part, Symbolic]:
        """Return the elements of a view or buffer, with its lengths."""
        if name in self._views:
            return self._views[name]
        buffer = self.made.buffers[name]
        return Part(name, expression(0), buffer.elements), buffer.shape

    def uses(self, function: Function) -> list[Use]:
        """Return what a function touches of buffers, in any of its launches."""
        if function.name not in self._uses:
            self._uses[function.name] = list(self._uses_of(function))
        return self._uses[function.name]

    def _uses_of(self, function: Function) -> Iterator[Use]:
        for kernel in function.kernels:
            written, buffers = left_by(self.made, [kernel]), self.made.buffers
            for name in kernel.buffers:
                if name in function.arrays and name in buffers:
                    whole = expression(0), buffers[name].elements
                    yield Part(name, *kernel.slices.get(name, whole)), name in written

    def _viewed(self, view: View) -> tuple[Part, Symbolic]:
        """Return the elements of a view at positions along first axes, and of a run of the next,
        with its lengths.
        """
        assert isinstance(view.how, Index)
        whole, lengths = self._named(view.source)
        first, left = expression(0), list[Expression]()
        for entry, length in zip(view.how.entries, lengths, strict=True):
            first = first * length
            if isinstance(entry, Expression):
                first = first + entry
            elif isinstance(entry, Range):
                first = first + entry.start
                left.append(entry.stop - entry.start)
            else:
                left.append(length)
        return Part(whole.buffer, whole.first + first, total(left)), tuple(left)
