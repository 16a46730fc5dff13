"""The predicted cost of a variant: time, memory, arithmetic, bytes, calls.

Counts are of every call that the generated source makes: exact, and where a loop has more
iterations than are looked at (`points.AT_ONCE`) near to that. The peak is the backend's to the
byte. Seconds come from a few constants of the machine (`planning/machine`), measured or built in.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.bytes import bytes_of, check_dtype
from workbench.lowering.loops.records import DEVICE
from workbench.lowering.values.stored import Stored
from workbench.planning.cost import formulas
from workbench.planning.cost.counted import Counted
from workbench.planning.cost.lengths import UNKNOWN, Lengths
from workbench.planning.cost.seconds import Share
from workbench.planning.machine.constants import Machine
from workbench.program.sizes import numbers
from workbench.program.text.units import amount, seconds_text


@dataclass(frozen=True)
class Prediction:
    """A run's cost at given sizes.

    `seconds` are without compilation. `peak_bytes` is by memory space. `operations` are arithmetic
    (a multiply-add counts two), `bytes` those that array operations read and write, `launches` the
    array operations. `by_statement` divides them by statement; work before all statements and of
    the loops themselves is in `besides`. Where kernels are compiled these are what is launched, on
    `threads`. `note` says why the seconds are of no measured machine, `assumed` what else is
    unknown, and the lengths of episodes that end. A GPU waits for the arrays that `late` names.
    """

    seconds: float
    peak_bytes: Mapping[str, int]
    operations: int
    bytes: int
    launches: int
    by_statement: Mapping[str, Share]
    besides: Share
    sizes: Mapping[str, int]
    dtype: str
    backend: str
    threads: int = 1
    note: str = ""
    assumed: str = ""
    late: str = ""
    one_memory: bool = True
    """Tells whether the device's memory is the host's, as it is without a GPU."""
    loops: LoopProgram = field(repr=False, compare=False, kw_only=True)
    copies: Mapping[str, int] = field(repr=False, kw_only=True)
    """The number at a time of each buffer that a block of compiled kernels has for itself: one for
    each thread, or for each block that a GPU runs outside of shared memory.
    """

    @property
    def calibrated(self) -> bool:
        """Tell whether the seconds use constants measured on this machine."""
        return not self.note

    @cached_property
    def footprint(self) -> Mapping[str, formulas.Formula]:
        """The bytes of each array's storage, as a formula in the sizes."""
        return {
            name: formulas.footprint(s.buffer, self.dtype, self.copies.get(s.buffer.name, 1))
            for name, s in self.loops.stored.items()
        }

    def array_bytes(self, array: str) -> int:
        """Return the bytes of an array's storage, of all copies that there are at a time."""
        return stored_bytes(self.loops.stored[array], self.copies, self.sizes, self.dtype)

    @cached_property
    def peak_formula(self) -> formulas.Formula:
        """The device's peak as a formula, valid at all sizes at which the same loops run. Of
        compiled kernels it counts the arrays; their scratch memory and gaps are said beside, in
        bytes at these sizes.
        """
        held = self.peak_bytes[DEVICE]
        return formulas.peak(self.loops, self.sizes, self.dtype, self.copies, held)

    def __str__(self) -> str:
        held = {space: n for space, n in self.peak_bytes.items() if n}
        peak = ", ".join(f"{amount(n, 'B')} on {space}" for space, n in held.items())
        shared = f"{self.threads} threads" if self.threads > 1 else ""
        where = "; ".join(
            part
            for part in (
                numbers(self.sizes, self.dtype),
                shared,
                self.note,
                self.assumed,
                self.late,
            )
            if part
        )
        return (
            f"{seconds_text(self.seconds)} on {self.backend}, peak {peak}, "
            f"{amount(self.operations, 'op')}, {amount(self.bytes, 'B')} moved, "
            f"{self.launches} launches ({where})"
        )

    __repr__ = __str__


def stored_bytes(
    stored: Stored, copies: Mapping[str, int], sizes: Mapping[str, int], dtype: str
) -> int:
    """Return the bytes of an array's storage, of all copies that there are at a time."""
    return bytes_of(stored.buffer, sizes, dtype) * copies.get(stored.buffer.name, 1)


def predict(
    counted: Counted,
    sizes: Mapping[str, int],
    machine: Machine,
    dtype: str = "float32",
    threads: int = 1,
    lengths: Lengths = UNKNOWN,
) -> Prediction:
    """Predict a run at sizes that are all given, on so many threads where it is of kernels, with
    episodes of these lengths.

    Raises WorkbenchError for an unknown dtype.
    """
    check_dtype(dtype)
    shares = counted.shares(sizes, dtype, machine, threads, lengths)
    besides = shares.pop("", Share())
    whole = sum(shares.values(), besides)
    return Prediction(
        whole.seconds,
        counted.peak_bytes(sizes, dtype, threads),
        whole.operations,
        whole.bytes,
        whole.launches,
        shares,
        besides,
        dict(sizes),
        dtype,
        machine.backend,
        threads,
        machine.note,
        "; ".join(filter(None, (_assumed(counted.called, machine), str(lengths)))),
        _late(counted.loops) if machine.has_device_memory else "",
        not machine.has_device_memory,
        loops=counted.loops,
        copies=counted.copies(sizes, threads),
    )


def _assumed(called: Collection[str], machine: Machine) -> str:
    """Return a sentence on what the seconds assume of external objects that are called."""
    if not called:
        return ""
    each = seconds_text(machine.call_of("external"))
    return f"each call of {', '.join(sorted(called))} is taken for {each}"


def _late(loops: LoopProgram) -> str:
    """Return a sentence on the arrays in host memory whose slices do not come early."""
    readers: dict[str, list[str]] = {}
    for late in loops.late:
        readers.setdefault(late.array, []).append(late.reader)
    each = (f"{a} for {', '.join(dict.fromkeys(names))}" for a, names in readers.items())
    return f"not early: {', '.join(each)}" if readers else ""
