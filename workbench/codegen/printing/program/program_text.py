"""A whole program as C: a function for each kernel, and the loops that launch them.

A program has three entries: `begin` runs what stands before the main loop, `iteration` one of its
iterations, `end` what stands behind. Sizes, the seed and all memory are arguments (`run.h`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from workbench.codegen.kernel_records import Stamp
from workbench.codegen.kernel_records import walk as walk_kernel
from workbench.codegen.kernels import KernelRecords, ProgramKernels
from workbench.codegen.printing.c_names import c_name, title
from workbench.codegen.printing.program.driver_text import Driver
from workbench.codegen.printing.program.equal_kernels import Functions
from workbench.codegen.printing.program.kernel_functions import KernelFunctions
from workbench.codegen.printing.program.program_names import ProgramNames
from workbench.codegen.printing.program.stamping import INCLUDED
from workbench.codegen.printing.value_text import REALS
from workbench.codegen.runtime import CALLING, own_units, with_runtime
from workbench.names import unique

UNIT_CHARACTERS = 60_000
"""About how much text a unit has: several are compiled side by side. A small program is one."""


@dataclass(frozen=True)
class ProgramText:
    """The C units of a program by name, and the text of each kernel."""

    units: dict[str, str]
    kernels: dict[str, str] = field(repr=False)
    """The kernels by name, each as a function of its own. Units have one function for all whose
    text is equal but for names and places.
    """

    def __str__(self) -> str:
        return "\n".join(own_units(self.units).values())


def program_text(made: ProgramKernels, dtype: str, stamped: bool = False) -> ProgramText:
    """Return a program as C for one dtype of floats. Where it is `stamped`, a stamp follows every
    launch, with the kernel's number, and begins every iteration: kernels themselves stay as they
    are.
    """
    writer = _Writer(made, REALS[dtype], stamped)
    return ProgramText(dict(writer.units()), writer.kernels)


def units_of(made: ProgramKernels, dtype: str, stamped: bool = False) -> Iterator[tuple[str, str]]:
    """Yield the units of a program by name, each when its kernels are made; see `program_text`."""
    return _Writer(made, REALS[dtype], stamped).units()


@dataclass
class _Part:
    """The functions so far of a unit."""

    functions: list[str] = field(default_factory=list)
    stamped: bool = False

    @property
    def characters(self) -> int:
        """The number of characters of all functions."""
        return sum(map(len, self.functions))

    def add(self, function: str, kernel: KernelRecords) -> None:
        """Add the function of a kernel."""
        self.functions.append(function)
        self.stamped |= any(isinstance(r, Stamp) for r in walk_kernel(kernel.records))

    @property
    def text(self) -> str:
        """The unit."""
        return CALLING + (INCLUDED if self.stamped else "") + "\n".join(self.functions)


@dataclass
class _Writer:
    made: ProgramKernels
    real: str
    stamped: bool
    kernels: dict[str, str] = field(default_factory=dict)
    """The kernels so far by name, each as a function of its own."""

    def units(self) -> Iterator[tuple[str, str]]:
        """Yield all units by name, each when its kernels are made."""
        return with_runtime(self._own_units())

    def _own_units(self) -> Iterator[tuple[str, str]]:
        names = ProgramNames(self.made, self.real, self.stamped)
        written, functions, alone = KernelFunctions(self.made, names), Functions(), set[str]()
        part, number = _Part(), 1
        for place, kernel in enumerate(self.made.kernels):
            name = unique(c_name(f"kernel_{title(kernel)}"), names.taken)
            made = written.of(name, kernel, place)
            self.kernels[name] = made.text
            alone |= {name} if made.alone else set()
            function = functions.add(name, made.text, made.own)
            if function is None:
                continue
            if part.functions and part.characters + len(function) > UNIT_CHARACTERS:
                yield f"kernels_{number}", part.text
                part, number = _Part(), number + 1
            part.add(function, kernel)
        launches = dict(zip(self.kernels, self.made.kernels, strict=True))
        driver = Driver(self.made, names, launches, functions.calls, alone).text()
        if number == 1 and part.characters + len(driver) <= UNIT_CHARACTERS:
            yield "program", f"{part.text}\n{driver}"
            return
        yield f"kernels_{number}", part.text
        yield "program", CALLING + driver
