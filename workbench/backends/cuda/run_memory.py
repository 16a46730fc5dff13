"""The memory of one run on a GPU: asked for before the first launch, and reached from the host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.backends.compiling.dtypes import element_type
from workbench.backends.cuda.driver import Driver
from workbench.backends.cuda.driver import Memory as DriverMemory
from workbench.backends.cuda.launching import Addresses
from workbench.backends.cuda.run_state import RunState
from workbench.backends.tracker import ALL, Capacity, Memory, limits_of
from workbench.codegen.bodies.addresses import apart, outside
from workbench.codegen.cuda.functions import Function, Stages
from workbench.codegen.cuda.memory.device_memory import RUN_STATE_BYTES, device_memory
from workbench.codegen.kernel_records import Invoke
from workbench.codegen.kernels import ProgramKernels
from workbench.codegen.run_memory import array_bytes
from workbench.lowering.loops.bytes import bytes_of
from workbench.lowering.loops.records import DEVICE, HOST, SPACES
from workbench.polyhedral.expression import Expression
from workbench.program.bodies import Call
from workbench.program.operations.table import OPERATIONS
from workbench.program.values import Program

STATE = "the state of the run"

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class CallArrays:
    """Arrays of the host that an external object writes and reads."""

    out: Array
    operands: tuple[Array, ...]


class RunMemory:
    """The memory of a run. `made` are a program's kernels as a GPU runs them, `launched` what they
    become. `given` are the values from outside.

    Raises OutOfMemoryError where there is too little.
    """

    def __init__(
        self,
        program: Program,
        made: ProgramKernels,
        launched: Sequence[Function | Stages],
        driver: Driver,
        sizes: Mapping[str, int],
        seed: int,
        dtype: str,
        capacity: Capacity,
        given: Mapping[str, Any],
    ) -> None:
        self.program, self.made, self.driver = program, made, driver
        self.sizes, self.dtype = sizes, dtype
        limits = limits_of(capacity)
        sharing = partial(array_bytes, made, program, sizes, dtype)
        self._device, self._host = (
            Memory(np, limits.get(space), space=space, sharing=sharing) for space in SPACES
        )
        self._held: list[DriverMemory] = []
        """The pieces of the device's memory, there as long as the run is."""
        laid = {s: device_memory(made, launched, sizes, dtype, s) for s in SPACES}
        begin = {DEVICE: self._ask(ALL, laid[DEVICE].bytes)}
        self._swapped = self._ask_host(ALL, laid[HOST].bytes)
        begin[HOST] = address_of(self._swapped)
        arrays = {n: begin[s] + at for s, memory in laid.items() for n, at in memory.places.items()}
        values = {outside(call): self._values(call, given) for call in self._given_calls()}
        self._outside = {name: self._lent(name, array) for name, array in values.items()}
        """Values from outside in memory of the host, from which kernels read them."""
        arrays |= {name: address_of(held) for name, held in self._outside.items()}
        own = [begin[DEVICE] + place for place in laid[DEVICE].own]
        self.addresses = Addresses(self._ask(STATE, RUN_STATE_BYTES), arrays, own)
        self.numbers = {**sizes, **self._apart(values)}
        """The sizes, and those by which neighbours of values from outside are apart."""
        self._state_memory = self._ask_host(STATE, RUN_STATE_BYTES)
        self.state = RunState.from_address(address_of(self._state_memory))
        """The state of the run as it was copied last."""
        self._state_memory[:] = 0  # memory of a driver holds what it held before
        self.state.seed = seed
        self.calls = {
            int(call.option["site"]): self._of_call(call)
            for one in launched
            if isinstance(one, Stages)
            for call in one.calls
        }
        """The arrays of each call by its number."""
        self._begin()

    @property
    def peak(self) -> dict[str, int]:
        """The most bytes that each space held."""
        return {DEVICE: self._device.peak, HOST: self._host.peak}

    def read(self, buffer: str, axes: Sequence[int]) -> Array:
        """Return a result as it is now, with its axes in this order."""
        of = self.made.buffers[buffer]
        array = np.empty(self._shape(of.shape), self._element(of.dtype))
        self.driver.copy(address_of(array), self.addresses.arrays[buffer], array.nbytes)
        self.driver.wait()
        return array.transpose(axes)

    def copy_state_to_device(self) -> None:
        """Copy to the device what the host tells kernels."""
        self.driver.copy(self.addresses.run, address_of(self._state_memory), RUN_STATE_BYTES)

    def copy_state_to_host(self) -> None:
        """Copy from the device what kernels tell."""
        self.driver.copy(address_of(self._state_memory), self.addresses.run, RUN_STATE_BYTES)

    # -- asking ------------------------------------------------------------------------------------

    def _ask(self, name: str, count: int) -> int:
        """Ask for memory of the device; return its address."""
        driver = self.driver
        self._held.append(self._device.piece(name, count, driver.memory, driver.free_bytes))
        return self._held[-1].address

    def _ask_host(self, name: str, count: int) -> Array:
        made: Array = self._host.piece(name, count, self.driver.host_memory)
        return made

    def _begin(self) -> None:
        """Write what is there before the first launch."""
        driver, arrays = self.driver, self.addresses.arrays
        for name, buffer in self.made.buffers.items():
            if buffer.initial == "nan":
                byte = 0xFF if buffer.dtype == "float" else 0  # NaN in any dtype of floats
                driver.fill(arrays[name], byte, bytes_of(buffer, self.sizes, self.dtype))
        self.copy_state_to_device()
        driver.wait()

    # -- values from outside, and of external objects ----------------------------------------------

    def _given_calls(self) -> Iterator[Call]:
        for statement in self.program.statements:
            yield from (c for c in statement.calls if OPERATIONS[c.operation].given)

    def _values(self, call: Call, given: Mapping[str, Any]) -> Array:
        name = str(call.options["name"])
        return np.ascontiguousarray(given[name], self._element(call.dtype))

    def _lent(self, name: str, array: Array) -> Array:
        """Copy values to memory of the host that the device reaches."""
        held = self._ask_host(name, array.nbytes)
        held[:] = array.reshape(-1).view(np.uint8)
        return held

    def _apart(self, values: Mapping[str, Array]) -> dict[str, int]:
        return {
            name: step // array.itemsize
            for call in self._given_calls()
            for array in (values[outside(call)],)
            for name, step in zip(apart(call), array.strides, strict=False)
        }

    def _of_call(self, call: Invoke) -> CallArrays:
        option = call.option
        name = f"{option['name']}.{option['method']}"
        out, *operands = (
            self._host_array(f"{name} {number}", *described)
            for number, described in enumerate((option["shape"], *option["shapes"]))
        )
        return CallArrays(out, tuple(operands))

    def _host_array(self, name: str, dtype: str, shape: Sequence[Expression]) -> Array:
        element, lengths = self._element(dtype), self._shape(shape)
        count = int(np.prod(lengths, dtype=np.int64)) * element.itemsize
        return self._ask_host(name, count).view(element).reshape(lengths)

    def _shape(self, shape: Sequence[Expression]) -> tuple[int, ...]:
        return tuple(n.evaluate(self.sizes) for n in shape)

    def _element(self, dtype: str) -> np.dtype[Any]:
        return element_type(dtype, self.dtype)


def address_of(array: Array) -> int:
    """Return the address of an array's first element."""
    return int(array.ctypes.data)
