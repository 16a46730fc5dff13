"""A GPU in a C compiler: memory is this process's, kernels run thread by thread (`threads.h`).

What is asked for is done when it is waited for, and not before: a result that is looked at too
early is not there. Copies beside all else, those of each way for themselves, are done as late as
events allow, or begin as early: then they bring what is there, and end when the next begins, or it
is waited for. All else is as on a GPU: launches, graphs, memory, checks.
"""

from __future__ import annotations

import ctypes
import re
import time
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.kernels.builds import Build
from tests.native_runs import compiled, shared_cache
from workbench.backends.cuda.compiled_program import CudaProgram
from workbench.backends.cuda.driver import Kernels, Stream
from workbench.backends.native.building.c_units import Unit
from workbench.backends.native.building.load import load
from workbench.backends.protocol import CompilerWork
from workbench.codegen.cuda.functions import Function
from workbench.codegen.cuda.headers import OWN, device_header
from workbench.codegen.cuda.kernel_functions import functions
from workbench.codegen.cuda.launch_order import gpu_kernels
from workbench.codegen.kernel_records import Loop, Where, walk
from workbench.codegen.kernels import ProgramKernels, program_kernels
from workbench.codegen.runtime import headers
from workbench.errors import RunError
from workbench.program.sizes import resolve
from workbench.program.values import Program

THREADS, SECTORS = (
    (Path(__file__).parent / name).read_text(encoding="utf-8")
    for name in ("threads.h", "sectors.h")
)
FLAGS = (
    "-U_FORTIFY_SOURCE",
    "-ftrivial-auto-var-init=pattern",
    "-fsanitize=signed-integer-overflow",
    "-fsanitize-undefined-trap-on-error",
)
"""Values that a thread keeps and never sets are far from any number; no integer is too large."""
LINE = 256
"""The bytes at a multiple of which memory begins, as a GPU's does."""
SEED = 3
UNWRITTEN = 0xFFFFF5A5
"""The bits of shared memory that nobody wrote: those of a float, or of half a double."""
ORDERS = (
    (Stream.TO_HOST, Stream.KERNELS, Stream.TO_DEVICE),
    (Stream.TO_DEVICE, Stream.KERNELS, Stream.TO_HOST),
    (Stream.TO_HOST, Stream.TO_DEVICE, Stream.KERNELS),
    (Stream.KERNELS, Stream.TO_DEVICE, Stream.TO_HOST),
)
"""Orders of streams: of any two either comes first, whatever the third one does."""
_ARRAY = re.compile(r"\bARRAY\((\w+)\) (\w+)")


def unit(made: Iterable[Function]) -> str:
    """Functions as one C text, with a function that launches each."""
    own = "".join(map(device_header, OWN))
    plain = "\n".join(line for line in own.splitlines() if not line.startswith("#include"))
    begin = f'#include "number_draws.h"\n#define UNWRITTEN {UNWRITTEN}u\n{THREADS}\n{plain}\n'
    return "\n".join([begin, *(f"{function.text}\n{_launching(function)}" for function in made)])


def _launching(function: Function) -> str:
    """The C function that launches one."""
    (head,) = (line for line in function.text.splitlines() if line.startswith("KERNEL("))
    arrays = [
        f'GIVEN({number}, "{name}", given_now[{3 + k}], counts_now[{k}])'
        for k, (number, name) in enumerate(_ARRAY.findall(head))
    ]
    first = 3 + len(arrays)
    count = first + len(function.sizes) + len(function.variables)
    numbers = [f"given_now[{k}]" for k in range(first, count)]
    own = ["(Run *)given_now[0]", "(unsigned char *)given_now[1]", "given_now[2]"]
    return (
        f"static void threads_of_{function.name}(void) {{\n"
        f"    fibre_{function.name}({', '.join([*own, *arrays, *numbers])});\n}}\n"
        f"EXPORTED void launch_{function.name}"
        "(int64_t blocks, const int64_t *given, const int64_t *counts) {\n"
        "    const uint64_t floats = begin_exact_floats();\n"
        "    given_now = given, counts_now = counts;\n"
        f"    leaves_out_instances = {int(_leaves_out_instances(function))};\n"
        "    memset((void *)given[1], 0xff, (size_t)(given[2] * blocks));\n"
        f"    launch(blocks, {function.threads}, threads_of_{function.name});\n"
        "    end_exact_floats(floats);\n}\n"
    )


def _leaves_out_instances(function: Function) -> bool:
    """Whether instances are left out at steps at which no episode is open."""
    records = (record for kernel in function.kernels for record in walk(kernel.records))
    return any(isinstance(r, (Loop, Where)) and r.step is not None for r in records)


@dataclass(frozen=True)
class HeldMemory:
    """Memory of the device."""

    held: npt.NDArray[Any] = field(repr=False)
    address: int


@dataclass(frozen=True)
class Traffic:
    """The sectors of memory outside of a block, 32 bytes each, that the warps of a launch asked
    for, by array. Each request of a warp asks for a sector once.
    """

    function: str
    blocks: int
    loaded: Mapping[str, int]
    stored: Mapping[str, int]

    @property
    def sectors(self) -> int:
        """All of them."""
        return sum(self.loaded.values()) + sum(self.stored.values())


@dataclass(eq=False)
class Event:
    """The time when all before it in a stream is done."""

    stream: Stream
    come: bool = False


@dataclass(frozen=True)
class Asked:
    """One thing that was asked for: something to do, an event to record, or one to wait for."""

    stream: Stream = Stream.KERNELS
    do: Callable[[], object] | None = None
    record: Event | None = None
    follow: Event | None = None
    begin: Callable[[], Callable[[], object]] | None = None
    """The beginning of a copy, which returns what is done at its end."""

    @property
    def may_run(self) -> bool:
        """Whether nothing has to come before."""
        return self.follow is None or self.follow.come

    def go(self) -> None:
        """Do it."""
        if self.do is not None:
            self.do()
        if self.record is not None:
            self.record.come = True


def _said(stream: Stream) -> str:
    return stream.name.lower().replace("_", " ")


def _begins_next(copies: list[Asked]) -> bool:
    """Begin the next copy, if nothing has to come before: all before it are done then."""
    for place, one in enumerate(copies):
        if not one.may_run:
            return False
        if one.begin is not None:
            for _ in range(place):
                copies.pop(0).go()
            copies[0] = replace(one, do=one.begin(), begin=None)
            return True
    return False


@dataclass
class FibreDriver:
    """A GPU whose kernels know how many elements the arrays have that they are given."""

    elements: Mapping[str, int]
    log: list[str] = field(default_factory=list)
    """What was asked for, in order."""
    asked: list[Asked] = field(default_factory=list)
    """What is not done yet."""
    before: list[Asked] | None = None
    """What was asked for before a graph was begun, None where none is."""
    order: Sequence[Stream] = ORDERS[0]
    """The streams by who comes first. Copies directly in front of kernels begin as early as events
    allow, those behind are done as late.
    """
    left_out: int | None = None
    """The number of the wait for an event that is left out."""
    waits: int = 0
    """The waits for events that were asked for."""
    begun: set[Stream] = field(default_factory=set)
    """The streams that follow something, since it was waited or a graph was begun."""
    idle: bool = False
    """True if no kernel is compiled and none does anything: of a run, memory is looked at."""
    level: int = 0
    """The level of optimization: 0 is compiled in a third of the time of 1, and runs in twice."""
    multiprocessors: int = 4
    shared_bytes: int = 228 << 10
    block_bytes: int = 227 << 10
    bytes: int = 0
    """The bytes of the device's memory that are held."""
    most_bytes: int = 0
    counts: bool = False
    """True if the sectors of launches are counted."""
    traffic: list[Traffic] = field(default_factory=list)
    """Those of each launch that was counted, in order."""

    def load(self, made: Sequence[Function]) -> Kernels:
        """Compile functions as C."""
        if self.idle:
            return Kernels({f.name: (f, None) for f in made}, CompilerWork(0.0, 0.0))
        with shared_cache():
            own = {**headers(), "sectors.h": SECTORS}
            build = Build(level=self.level, more=FLAGS)
            library, self.library = load([Unit("program", unit(made))], build.found(), own)
        self.library.forget_all()
        kernels = {f.name: (f, getattr(self.library, f"launch_{f.name}")) for f in made}
        return Kernels(kernels, CompilerWork(library.seconds, library.cpu_seconds))

    def free_bytes(self) -> int:
        """A gigabyte in all."""
        return 2**30 - self.bytes

    def memory(self, count: int) -> HeldMemory:
        """Memory that holds anything."""
        if count > self.free_bytes():
            raise MemoryError
        self.bytes += count
        self.most_bytes = max(self.most_bytes, self.bytes)
        held = self._known(count)
        weakref.finalize(held, self._free, count)
        return HeldMemory(held, held.ctypes.data)

    def _free(self, count: int) -> None:
        self.bytes -= count

    def host_memory(self, count: int) -> npt.NDArray[Any]:
        """Memory that holds anything."""
        return self._known(count)[:count]

    def _known(self, count: int) -> npt.NDArray[Any]:
        around = np.full(count + 1 + LINE, 0xA5, np.uint8)
        held = around[-around.ctypes.data % LINE :][: count + 1]
        if self.idle:
            return held
        address = ctypes.c_int64(held.ctypes.data)
        self.library.know(address, ctypes.c_int64(held.nbytes))
        weakref.finalize(around, self.library.forget, address)
        return held

    def copy(self, to: int, source: int, count: int, stream: Stream = Stream.KERNELS) -> None:
        """Copy later."""
        beside = stream is not Stream.KERNELS
        if beside and stream not in self.begun:
            raise RunError("a copy beside that follows nothing")
        self.log.append(f"copy {count} bytes{f' {_said(stream)}' if beside else ''}")
        copied = partial(ctypes.memmove, to, source, count)

        def begin() -> Callable[[], object]:
            taken = ctypes.string_at(source, count)
            ctypes.memset(to, 0xA5, count)
            return partial(ctypes.memmove, to, taken, count)

        self.asked.append(Asked(stream, copied, begin=begin if beside else None))

    def event(self, stream: Stream = Stream.KERNELS) -> Event:
        """An event that comes later."""
        event = Event(stream)
        self.asked.append(Asked(stream, record=event))
        return event

    def follow(self, event: Event, stream: Stream = Stream.KERNELS) -> None:
        """Wait for an event later. Raises RunError where it is one outside of the graph."""
        self.waits += 1
        if self.waits - 1 == self.left_out:
            return
        self.log.append(f"{_said(stream)} follows {_said(event.stream)}")
        if self.before is not None and all(event is not one.record for one in self.asked):
            raise RunError("a graph that follows an event outside of it")
        self.begun.add(stream)
        self.asked.append(Asked(stream, follow=event))

    def fill(self, to: int, value: int, count: int) -> None:
        """Fill later."""
        self._ask(f"fill {count} bytes", lambda: ctypes.memset(to, value, count))

    def launch(self, kernel: Any, blocks: int, given: Sequence[int]) -> None:
        """Launch later."""
        function, launching = kernel
        if self.idle:
            return
        numbers = (ctypes.c_int64 * len(given))(*given)
        known = [self.elements.get(name, 2**31) for name in function.arrays]
        counts = (ctypes.c_int64 * (len(known) + 1))(*known)

        def do() -> None:
            ctypes.c_int64.in_dll(self.library, "counting").value = self.counts
            launching(ctypes.c_int64(blocks), numbers, counts)
            if self.counts:
                self.traffic.append(self._counted(function.name, blocks))

        self._ask(f"launch {function.name} in {blocks}", do)

    def _counted(self, name: str, blocks: int) -> Traffic:
        """The sectors of the last launch."""
        library, n = self.library, ctypes.c_int64.in_dll(self.library, "counted_arrays").value
        names = (ctypes.c_char_p * n).in_dll(library, "counted_array")
        loaded, stored = (
            (ctypes.c_int64 * n).in_dll(library, f"sectors_{how}") for how in ("loaded", "stored")
        )
        by_array = [(a.decode(), x, y) for a, x, y in zip(names, loaded, stored, strict=True)]
        return Traffic(
            name,
            blocks,
            {array: x for array, x, _ in by_array if x},
            {array: y for array, _, y in by_array if y},
        )

    def _ask(self, text: str, do: Callable[[], object]) -> None:
        self.log.append(text)
        self.asked.append(Asked(do=do))

    def begin_graph(self) -> None:
        """Keep what was asked for before apart."""
        self.log.append("begin graph")
        self.before, self.asked, self.begun = self.asked, [], set()

    def end_graph(self) -> Any:
        """What was asked for since."""
        if self.before is None:
            return None
        self.log.append("end graph")
        graph, self.asked, self.before = self.asked, self.before, None
        self._expect_followed(graph)
        return graph

    def _expect_followed(self, asked: Sequence[Asked]) -> None:
        """Expect kernels to follow all copies, or copies that follow them."""
        self.begun = set()
        counts = dict.fromkeys(Stream, 0)
        followed = {stream: dict(counts) for stream in Stream}
        events: dict[int, dict[Stream, int]] = {}
        for one in asked:
            known = followed[one.stream]
            if one.do is not None:
                counts[one.stream] += 1
                known[one.stream] = counts[one.stream]
            if one.record is not None:
                events[id(one.record)] = dict(known)
            if one.follow is not None:
                for stream, count in events.get(id(one.follow), {}).items():
                    known[stream] = max(known[stream], count)
        if followed[Stream.KERNELS] != counts:
            raise RunError("copies beside that nothing follows")

    def replay(self, graph: Any) -> None:
        """Do all of it later."""
        self.log.append(f"replay {sum(one.do is not None for one in graph)} launches")
        events = {one.record: Event(one.stream) for one in graph if one.record}
        for one in graph:
            record, follow = (events[e] if e else None for e in (one.record, one.follow))
            self.asked.append(replace(one, record=record, follow=follow))

    def mark(self) -> Any:
        """A list that gets the time later."""
        mark: list[float] = []
        self.asked.append(Asked(do=lambda: mark.append(time.perf_counter())))
        return mark

    def seconds_between(self, one: Any, other: Any) -> float:
        """The seconds between two times."""
        return float(other[0] - one[0])

    def wait(self) -> None:
        """Do what was asked for. A graph that was begun is dropped."""
        self.log.append("wait")
        if self.before is not None:
            self.asked, self.before = self.before, None
        asked, self.asked = self.asked, []
        self._expect_followed(asked)
        of = {stream: [one for one in asked if one.stream is stream] for stream in self.order}
        place = self.order.index(Stream.KERNELS)
        early = [of[stream] for stream in self.order[:place]][-1:]
        first = [of[stream] for stream in self.order[: max(place - 1, 0)]]
        others = [of[Stream.KERNELS], *early, *(of[stream] for stream in self.order[place + 1 :])]
        while any(of.values()):
            ready = next((one for one in first if one and one[0].may_run), None)
            if ready is None and any(map(_begins_next, early)):
                continue
            if ready is None:
                ready = next(one for one in others if one and one[0].may_run)
            ready.pop(0).go()

    def begin_again(self, order: Sequence[Stream], left_out: int | None = None) -> None:
        """Forget what was asked for, for a run with streams in this order."""
        self.order, self.left_out, self.waits = order, left_out, 0
        self.asked, self.before, self.log, self.begun = [], None, [], set()

    @property
    def fault(self) -> str:
        """The first fault of a run, "" if there is none."""
        if not ctypes.c_int64.in_dll(self.library, "faults").value:
            return ""
        return (ctypes.c_char * 400).in_dll(self.library, "fault").value.decode()


def fibres(program: Program, sizes: Mapping[str, int] | None = None, level: int = 0) -> CudaProgram:
    """A program that runs as fibres, at these sizes."""
    made = CudaProgram.of(program, program_kernels(program), FibreDriver({}, level=level))
    at_sizes(made, sizes)
    return made


def at_sizes(made: CudaProgram, sizes: Mapping[str, int] | None) -> None:
    """Let a program's next runs as fibres be at these sizes."""
    known = resolve(made.program.equations, sizes)
    assert isinstance(made.driver, FibreDriver)
    made.driver.elements = {
        name: buffer.elements.evaluate(known) for name, buffer in made.kernels.buffers.items()
    }


def text_of(made: ProgramKernels, dtype: str = "float32") -> str:
    """The C text that is compiled for a program."""
    return unit(functions(gpu_kernels(made), dtype))


def watched(
    made: CudaProgram,
    sizes: Mapping[str, int],
    dtype: str = "float32",
    left_out: int = 0,
    once: int = 0,
    weakened: bool = False,
    **more: Any,
) -> tuple[Mapping[str, Any], str]:
    """The outputs of a run, and the first fault in it, "" if there is none. The barrier in line
    `left_out` is, or is `weakened` to one of each warp: always, or only the time `once` that a
    thread comes there.
    """
    driver = made.driver
    assert isinstance(driver, FibreDriver)
    made.prepare(dtype)
    asked = {"faults": 0, "left_out": left_out, "left_out_once": once, "weakened": weakened}
    for name, value in asked.items():
        ctypes.c_int64.in_dll(driver.library, name).value = value
    outputs: Mapping[str, Any] = {}
    try:
        outputs = made.run(sizes, SEED, dtype, **more).outputs
    except RunError:  # a fault may be a number that is no index
        if not driver.fault:
            raise
    return outputs, driver.fault or _unwritten(outputs)


def _unwritten(outputs: Mapping[str, Any]) -> str:
    """The first output that is computed from shared memory which nobody wrote, "" if none is: what
    is computed from a NaN is that NaN, of either sign.
    """
    for name, values in outputs.items():
        if values.dtype.kind == "f":
            bits = values.view(f"u{values.itemsize}") << 1
            if np.any(bits == np.full(2, UNWRITTEN, "u4").view(bits.dtype)[0] << 1):
                return f"{name} is computed from what is not written"
    return ""


def differences(program: Program, sizes: Mapping[str, int], wanted: Mapping[str, Any]) -> list[str]:
    """What of a float32 run as fibres has other bits than those of compiled C, and its fault."""
    found, fault = watched(fibres(program, sizes), sizes)
    other = [
        name
        for name, values in wanted.items()
        if not np.array_equal(found[name], values, equal_nan=values.dtype.kind == "f")
    ]
    return [fault, *other] if fault else other


def expect_bits_of_compiled_c(program: Program, sizes: Mapping[str, int] | None = None) -> None:
    """Fail where a float32 run as fibres has other bits than compiled C, or a fault."""
    given = dict(sizes or {})
    with shared_cache():
        wanted = compiled(program).run(given, 3, "float32").outputs
    assert differences(program, given, wanted) == []
