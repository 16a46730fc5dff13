"""The probes of compiled kernels: one program of small kernels, each launched again and again.

Records stand for what the kernels of programs do most: an operation in all lanes of a group, loads,
gathers, draws, products of matrices. A turn of the program's main loop is one probe.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from workbench.backends.native.building.compilers import find
from workbench.backends.native.compiled_program import CompiledProgram
from workbench.codegen.emitter import turning
from workbench.codegen.kernel_records import (
    LANES,
    Compute,
    Draw,
    Invoke,
    KernelRecord,
    Let,
    Load,
    Local,
    Loop,
    Number,
    Position,
    Require,
    Store,
    Total,
    Update,
    Value,
    Variable,
)
from workbench.codegen.kernels import (
    KernelRecords,
    Numbered,
    ProgramKernels,
    numbered_records,
)
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.records import Allocate, Buffer, For, If, Launch, Record
from workbench.measure.calibration.probes import EMPTY, WORKING_SETS
from workbench.planning.cost.kernels.kernel_steps import ONE, OWN_KINDS
from workbench.polyhedral.conditions import AffineComparison
from workbench.polyhedral.expression import Expression, expression, variable

N = 1024
"""The elements of the arrays that are near."""
BETWEEN = 200
"""Elements that keep arrays from lying whole pages apart: a load would wait for a store."""
FEW, CHAIN = 4, 16
"""The operations in a row of which the seconds of one are found."""
ROUNDS = 7
SECONDS = 1e-3
"""About how long a probe lasts."""
PROBED, TURN, LANE = "probe", "turn", "lane"

Records = tuple[KernelRecord, ...]

WIDTHS = (64, 32, 16)
"""The columns that a group of a product has: four vectors, two and one where they are widest."""
PRODUCTS = {
    **{f"of {width}": (64, width, 64) for width in WIDTHS},
    "short": (64, 64, 4),
    "small": (1, 16, 1),
}
"""Rows, columns and summed elements of products."""


@dataclass(frozen=True)
class Probe:
    """A kernel and the times that it is launched in a turn of the main loop."""

    name: str
    records: Records
    buffers: tuple[str, ...]
    guess: float
    """About the seconds of a launch."""

    @property
    def launches(self) -> int:
        """The number of launches that last about as long as a probe should."""
        return max(3, round(SECONDS / self.guess))


def _numbers(name: str, count: int, dtype: str = "float") -> Buffer:
    return Buffer(name, dtype, (expression(count),), "zero")


BUFFERS = {
    buffer.name: buffer
    for buffer in (
        *(_numbers(name, 64 * 64 + BETWEEN) for name in "abc"),
        _numbers("places", N, "int32"),
        _numbers("words", 2 * N + 64, "int32"),
        *(_numbers(f"{name}{size}", size // 12) for size in WORKING_SETS for name in "xyz"),
    )
}


def _lanes(count: int, *body: KernelRecord, lanes: bool = True) -> Loop:
    return Loop(LANE, expression(0), expression(count), body, lanes=lanes)


def _load(buffer: str, at: Expression | None = None, dtype: str = "float") -> Value:
    return Load(buffer, variable(LANE) if at is None else at, dtype)


def _kept(
    value: Value, count: int = N, before: Sequence[KernelRecord] = (), lanes: bool = True
) -> Records:
    return (_lanes(count, *before, Store("c", variable(LANE), value), lanes=lanes),)


def _compute(operation: str, *arguments: Value, dtype: str = "float") -> Value:
    return Compute(operation, arguments, dtype)


def functions() -> Iterator[tuple[str, Value]]:
    """Yield an operation of each kind of its own, by name, but for draws."""
    x, y = _load("a"), _load("b")
    whole = _load("places", dtype="int32")
    for name in sorted(OWN_KINDS - {"uniform", "normal"}):
        if name in ("floor_divide", "remainder"):
            of = _compute(name, whole, Position(expression(7), "int32"), dtype="int32")
            yield name, _compute("cast", of)
        elif name in ("divide", "power"):
            yield name, _compute(name, _compute("add", x, Number(1.0, "float")), y)
        else:
            yield name, _compute(name, x)


def draws() -> Iterator[tuple[str, Value, Draw]]:
    """Yield values of which words are drawn first, by name: one uniform, four, and one normal."""
    words = ("w0", "w1", "w2", "w3")
    draw = Draw(words, "calibration", (variable(LANE), variable(TURN)), expression(0))
    uniforms = [_compute("uniform", Local(w, "word")) for w in words]
    several = uniforms[0]
    for uniform in uniforms[1:]:
        several = _compute("add", several, uniform)
    yield "uniform", uniforms[0], draw
    yield "uniforms", several, draw
    yield "normal", _compute("normal", Local("w0", "word")), draw


def probes() -> Iterator[Probe]:
    """Yield them all; arrays hold zeros."""
    groups = N // LANES
    for lanes, one in ((True, ""), (False, ONE)):
        for name, count in (("few", FEW), ("many", CHAIN)):
            value = _load("a")
            for k in range(count):
                value = _compute("add" if k % 2 else "multiply", value, Number(1.5 + k, "float"))
            yield Probe(one + name, _kept(value, lanes=lanes), ("a", "c"), 5e-9 * groups)
        for name, of in functions():
            records = _kept(of, lanes=lanes)
            yield Probe(one + name, records, ("a", "b", "places", "c"), 3e-8 * groups)
        for name, drawn, draw in draws():
            yield Probe(
                one + name, _kept(drawn, before=(draw,), lanes=lanes), ("c",), 6e-8 * groups
            )
    summed = (
        Variable("sum", Number(0.0, "float")),
        _lanes(N, Update("sum", _load("a"), "add"), lanes=False),
        Store("c", expression(0), Local("sum", "float")),
    )
    yield Probe("chain", summed, ("a", "c"), 1e-6)
    near = _load("a")
    for k in range(1, CHAIN):
        near = _compute("add", near, _load("a", variable(LANE) + LANES * k))
    yield Probe("load", _kept(near), ("a", "c"), 5e-9 * groups)
    double = _compute("add", _load("a"), _load("a"))
    stores = tuple(Store("c", variable(LANE) + LANES * k, double) for k in range(CHAIN))
    yield Probe("store", (_lanes(N, *stores),), ("a", "c"), 5e-9 * groups)
    place = Let("place", _load("places", dtype="int32"))
    gathered = _load("a", variable("place"))
    yield Probe("gather", _kept(gathered, before=(place,)), ("a", "places", "c"), 2e-8 * groups)
    held = _compute("less", _load("a"), Number(9.0, "float"), dtype="bool")
    check = Require("index", held, (), (), ())
    yield Probe("check", _kept(double, before=(check,)), ("a", "c"), 3e-9 * groups)
    total = (
        Variable("sum", Number(0.0, "float"), parts=True),
        _lanes(LANES, Update("sum", _load("a"), "add")),
        Total("whole", Local("sum", "float"), "add"),
        Store("c", expression(0), Local("whole", "float")),
    )
    yield Probe("total", total, ("a", "c"), 3e-8)
    yield Probe("launch", _kept(_load("a"), LANES), ("a", "c"), 1e-8)
    turns = Loop("turn_inside", expression(0), expression(N), (
        Store("c", variable("turn_inside"), Load("a", variable("turn_inside"), "float")),
    ))  # fmt: skip
    yield Probe("loop", (turns,), ("a", "c"), 1e-6)
    for name, (rows, columns, times) in PRODUCTS.items():
        yield Probe(
            f"product {name}",
            (_product(rows, columns, times),),
            ("a", "b", "c"),
            1e-8 + rows * columns * times * 5e-11,
        )
    yield Probe("lone sum", (_product(16, 1, 64, whole=False),), ("a", "b", "c"), 1e-6)
    begin, tall, wide = expression(0), expression(64), expression(32)
    turned = turning(("a", begin), wide, ("c", begin), tall, tall, wide)
    yield Probe("turned", (turned,), ("a", "c"), 1e-6)
    lengths = {"rows": 1, "columns": 64, "times": 32}
    steps = {"row_step": 32, "right_step": 32, "out_step": 64, "next": 1, "into": False}
    options = tuple((lengths | steps).items())
    summed_along = Invoke("lane_sums", ("c", begin), (("a", begin), ("b", begin)), options)
    yield Probe("lane_sums", (summed_along,), ("a", "b", "c"), 1e-7)
    chosen = (("n", expression(N)), ("origin", "calibration"), ("coordinates", (variable(TURN),)))
    permuted = ("places", expression(0))
    words_at = (("words", expression(0)),)
    yield Probe(
        "permutation", (Invoke("permutation", permuted, words_at, chosen),),
        ("places", "words"), 8e-5,
    )  # fmt: skip
    for size in WORKING_SETS:
        x, y, z = (f"{name}{size}" for name in "xyz")
        added = _compute("add", _load(x), _load(y))
        streamed = _lanes(size // 12, Store(z, variable(LANE), added))
        yield Probe(f"bytes {size}", (streamed,), (x, y, z), size * 3e-11)


def _product(rows: int, columns: int, times: int, whole: bool = True) -> Invoke:
    options = {
        "row_step": 1,
        "step": rows,
        "right_step": columns,
        "out_step": columns,
        "rows": expression(rows),
        "columns": expression(columns),
        "times": expression(times),
        "whole": whole,
        "into": False,
    }
    begin = expression(0)
    return Invoke("product", ("c", begin), (("a", begin), ("b", begin)), tuple(options.items()))


def program(chosen: Sequence[Probe]) -> ProgramKernels:
    """Return the program of these probes: a turn of its main loop runs the launches of one."""
    kernels: list[KernelRecords] = []
    parts: list[Record] = []
    numbered = Numbered()
    for k, probe in enumerate(chosen):
        records = numbered_records(probe.records, numbered)
        variables = (TURN,)
        ranges = {TURN: (expression(0), expression(probe.launches - 1))}
        kernels.append(KernelRecords((probe.name,), probe.buffers, records, (), variables, ranges))
        launch = Launch(probe.name, (), (), probe.buffers)
        turns = For(TURN, expression(0), expression(probe.launches), False, TURN, (launch,))
        parts.append(If(AffineComparison(variable(PROBED), "==", expression(k)), (turns,)))
    count = expression(len(chosen))
    main = For(PROBED, expression(0), count, False, PROBED, tuple(parts))
    body: tuple[Record, ...] = (*(Allocate(buffer) for buffer in BUFFERS.values()), main)
    loops = LoopProgram("calibration", (), body, (), {}, {})
    return ProgramKernels(EMPTY, loops, tuple(kernels), {}, numbered, ())


def seconds(dtype: str) -> dict[str, float]:
    """Return the least seconds of a launch of each probe, over a few rounds; as "begin" those of a
    run before its first launch, of one with a kernel alone and more for each kernel.
    """
    chosen = (next(probes()), *probes())  # the first touches new memory
    compiled = CompiledProgram(EMPTY, program(chosen), find())
    alone = CompiledProgram(EMPTY, program(chosen[:1]), find())
    compiled.prepare(dtype)
    alone.prepare(dtype)
    timed = ("begin alone", "begin all", *(probe.name for probe in chosen))
    least = dict.fromkeys(timed, float("inf"))
    ends: list[float] = []

    def note(done: int, total: int, outputs: Mapping[str, Any]) -> None:
        ends.append(time.perf_counter())

    for _ in range(ROUNDS):
        ends[:] = [time.perf_counter()]
        compiled.run({}, dtype=dtype, on_progress=note)
        least["begin all"] = min(least["begin all"], ends[1] - ends[0])
        for probe, (begin, end) in zip(chosen[1:], pairwise(ends[1:]), strict=True):
            least[probe.name] = min(least[probe.name], (end - begin) / probe.launches)
        ends[:] = [time.perf_counter()]
        alone.run({}, dtype=dtype, on_progress=note)
        least["begin alone"] = min(least["begin alone"], ends[1] - ends[0])
    least["begin kernel"] = max(0.0, least["begin all"] - least["begin alone"]) / len(chosen)
    return least
