"""Functions that a GPU launches for kernels, and calls that the host makes between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.codegen.kernel_records import Invoke
from workbench.codegen.kernels import KernelRecords
from workbench.lowering.instances.guards import OpenStep
from workbench.polyhedral.expression import Expression


@dataclass(frozen=True)
class Function:
    """Kernels as one function: its CUDA text, and how it is launched: `blocks` blocks of so many
    threads and bytes of shared memory, with `own_bytes` of other memory for each block. It is given
    what the run tells all kernels, its own memory and the bytes of each block, then `arrays`, the
    values of `sizes` and of `variables`. The number of the main loop's iteration the run tells.
    """

    name: str
    text: str = field(repr=False)
    kernels: tuple[KernelRecords, ...] = field(repr=False)
    threads: int
    shared_bytes: int
    own_bytes: Expression
    blocks: Expression
    arrays: tuple[str, ...]
    sizes: tuple[str, ...]
    variables: tuple[str, ...]
    barriers: tuple[tuple[tuple[OpenStep, ...], Expression], ...] = field(repr=False)
    """About how many barriers a block passes: those at all of some steps of episodes, if there are
    such.
    """
    by_pieces: bool = False
    """True if each thread sums whole pieces of a product: in as many registers as it may have."""


@dataclass(frozen=True)
class Stages:
    """A kernel as functions, and calls of external objects, which the host makes, one behind the
    other; and the memory that these hand on to each other, by name with dtype and elements.
    """

    stages: tuple[Function | Invoke, ...]
    memory: Mapping[str, tuple[str, Expression]]

    @property
    def functions(self) -> tuple[Function, ...]:
        """The functions in order."""
        return tuple(stage for stage in self.stages if isinstance(stage, Function))

    @property
    def calls(self) -> tuple[Invoke, ...]:
        """The calls of external objects in order."""
        return tuple(stage for stage in self.stages if isinstance(stage, Invoke))
