"""The memory of a variant over its schedule, array by array: what is held, from where to where, and
for whom.

Knows the loop program alone, and how many threads there are that have a block's arrays each.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError, nearest
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.records import DEVICE, SPACES
from workbench.planning.cost import formulas
from workbench.planning.cost.formulas import BESIDE
from workbench.program.sizes import numbers
from workbench.program.text.units import bytes_text
from workbench.program.values import Program
from workbench.variants.held import Course, Held, HeldBy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FEW = 8
"""The arrays that a memory shows of itself."""


@dataclass(frozen=True, repr=False, eq=False)
class HeldMemory:
    """The memory that a run holds from its first to its last operation, in `buffers`, in the order
    in which they are first held. Bytes are exact: a run holds just that. One iteration stands for
    all of a loop.

    `courses` are of the spaces that hold anything; their points name buffers by position. Lines are
    those of `loops`, from which a backend launches its operations.
    """

    program: Program
    loops: LoopProgram
    sizes: Mapping[str, int]
    by: HeldBy
    lines: int
    """The lines of the loop program's text."""
    buffers: tuple[Held, ...]
    courses: Mapping[str, Course]
    copies: Mapping[str, int]
    """The number at a time of each buffer that a block has for itself."""

    @property
    def peak_bytes(self) -> dict[str, int]:
        """The most bytes held at one time, by space, 0 in one that holds nothing: those of
        `Variant.predict`.
        """
        return {space: self._course(space).peak_bytes for space in SPACES}

    @property
    def beside(self) -> int:
        """The bytes of the device that are no array's: scratch memory of compiled kernels, and gaps
        between arrays.
        """
        own = (one for one in self.buffers if one.name == BESIDE and one.space == DEVICE)
        return sum(one.bytes for one in own)

    @cached_property
    def peak_formula(self) -> formulas.Formula:
        """The device's peak as a formula in the sizes, valid wherever the same loops run. It counts
        the arrays; scratch memory of compiled kernels and gaps are said beside, in bytes at these
        sizes.
        """
        held = self.peak_bytes[DEVICE]
        return formulas.peak(self.loops, self.sizes, self.by.dtype, self.copies, held)

    def at_peak(self, space: str = "device") -> tuple[Held, ...]:
        """Return what is held where the space holds most, the largest first."""
        live = [self.buffers[n] for n in self._course(space).live_at_peak]
        return tuple(sorted(live, key=lambda one: -one.bytes))

    def most_bytes(self, arrays: Collection[str], space: str = "device") -> int:
        """Return the most bytes that some arrays hold at one time, slices of them included: one by
        its name, or several, such as `variant.gradients("policy")`.

        Raises WorkbenchError for a name that is no array's.
        """
        names = {arrays} if isinstance(arrays, str) else set(arrays)
        for name in names - set(self.program.array):
            raise WorkbenchError(
                f"unknown array {name!r}: {nearest(name, self.program.array, 'arrays')}"
            )
        own = [one.bytes if one.array in names else 0 for one in self.buffers]
        return max((sum(own[n] for n in p.live) for p in self._course(space).points), default=0)

    def frame(self) -> Any:
        """Return a pandas table with a row for everything that is held: its name, array, space,
        bytes and their formula, its first and last line in `print(memory.loops)`, the statement
        that reads it last, why it is held until then, whether it is held at the peak of its space.
        The largest come first.
        """
        import pandas as pd

        high = {id(one) for space in self.courses for one in self.at_peak(space)}
        rows = [
            {
                "name": one.name,
                "array": one.array,
                "space": one.space,
                "bytes": one.bytes,
                "formula": one.formula,
                "first_line": one.first_line,
                "last_line": one.last_line,
                "last_reader": one.last_reader,
                "until": one.until,
                "at_peak": id(one) in high,
            }
            for one in sorted(self.buffers, key=lambda one: -one.bytes)
        ]
        return pd.DataFrame(rows, columns=list(_COLUMNS))

    def plot(self, space: str = "device", **beside: HeldMemory) -> Figure:
        """Draw a space's bytes over the schedule, a band for each of the largest arrays and one for
        all others, in a matplotlib Figure. The totals of other variants' memories are lines over
        it, by the names that they are given: `fast.memory().plot(folded=folded.memory())`.
        """
        from workbench.variants.memory_plot import bands

        others = {name: other._course(space) for name, other in beside.items()}
        return bands(self.buffers, self._course(space), others, self.title)

    # -- text --------------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """What this is the memory of: program, sizes, dtype, backend and threads."""
        return f"{self.program.name}: {numbers(self.sizes, str(self.by))}"

    def __repr__(self) -> str:
        """Show the peaks, and the largest of what is held there."""
        said = []
        for space in self.courses:
            live = self.at_peak(space)
            said += [f"{self.title}; most on {space}: {bytes_text(self.peak_bytes[space])}"]
            said += [
                f"{bytes_text(one.bytes):>9}  {one.name}, held {one.until}" for one in live[:FEW]
            ]
            rest = live[FEW:]
            if rest:
                held = bytes_text(sum(one.bytes for one in rest))
                said.append(f"{held:>9}  in {len(rest)} more")
        return "\n".join(said) or f"{self.title}; nothing is held"

    def _course(self, space: str) -> Course:
        if space not in SPACES:
            raise WorkbenchError(f"unknown space {space!r}: {nearest(space, SPACES, 'spaces')}")
        return self.courses.get(space, Course(space, self.lines))


_COLUMNS = (
    "name",
    "array",
    "space",
    "bytes",
    "formula",
    "first_line",
    "last_line",
    "last_reader",
    "until",
    "at_peak",
)
