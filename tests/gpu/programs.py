"""Programs on a GPU against NumPy in float64, and bit by bit against compiled C in float32.

On a GPU several processes share the programs, each with two cores: what takes long is to compile.
"""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import cache, partial
from multiprocessing import get_context
from typing import Any

import numpy as np

from tests.backends.small_programs import SIZES, cases, folded, scheduled
from tests.gpu.devices import REHEARSED, Asked, compiled, fault_of
from tests.kernels.programs import Whole, everything, rows
from tests.lowering.instances.test_swapping import swapped
from workbench.backends import backends
from workbench.backends.native.backend import NativeBackend
from workbench.backends.numpy import NumPyBackend
from workbench.measure.checking.agreement import TOLERANCE
from workbench.processor import usable_cores
from workbench.program.values import Program

SEED = 3
WHOLE = {"B": 20, "I": 2, "T": 6}
HIDDEN = (20,)
FEW = 3
"""The programs of a rehearsal."""
CORES = 2
"""Those of a process."""
TASKS = 8
"""Programs after which a process is followed by a new one: a kernel that fails may take the device
from it.
"""


@dataclass(frozen=True)
class Case:
    """A program by its name and where it is run."""

    name: str
    program: Callable[[], Program] = field(repr=False)
    sizes: Callable[[Program], Mapping[str, int]] = field(repr=False)


@cache
def programs(few: bool) -> list[Case]:
    """Small programs under two schedules, and with all arrays in host memory, whose slices come
    early; every algorithm on every environment.
    """
    small = list(cases())
    found = [
        Case(f"{name} {way}", partial(made, equations, axes), _small_sizes)
        for name, equations, axes in (small[:FEW] if few else small)
        for way, made in SMALL.items()
    ]
    whole = everything()
    return found + [
        Case(str(one), partial(_whole, one), lambda _, one=one: one.sizes(WHOLE))
        for one in (whole[:FEW] if few else whole)
    ]


SMALL: Mapping[str, Callable[[Any, Any], Program]] = {
    "as written": lambda equations, axes: scheduled(equations),
    "folded": lambda equations, axes: folded(scheduled(equations, axes[-1])),
    "on the host": lambda equations, axes: swapped(scheduled(equations), prefetch=1),
}


def _small_sizes(program: Program) -> Mapping[str, int]:
    return {k: v for k, v in SIZES[0].items() if k in {p.name for p in program.parameters}}


def _whole(one: Whole) -> Program:
    return one.variant(hidden=HIDDEN).program


def checked(asked: Asked) -> Iterator[dict[str, Any]]:
    """A line for each program: what is wrong with it."""
    where, few = asked.where, asked.few
    numbers = [n for n, case in enumerate(programs(few)) if asked.wants(case.name)]
    if few or where == REHEARSED:
        yield from (line_of(number, where, few) for number in numbers)
        return
    workers = max(usable_cores() // CORES, 1)
    context = get_context("spawn")
    places = context.Queue()
    for worker in range(len(numbers)):
        places.put(worker % workers)
    with ProcessPoolExecutor(
        workers, context, _bind, (places, workers), max_tasks_per_child=TASKS
    ) as pool:
        waiting = [pool.submit(line_of, number, where, few) for number in reversed(numbers)]
        for done in as_completed(waiting):
            yield done.result()


def _bind(places: Any, workers: int) -> None:
    """Leave a process its cores, where this can be told."""
    if hasattr(os, "sched_setaffinity"):
        own = sorted(os.sched_getaffinity(0))[places.get() :: workers]
        os.sched_setaffinity(0, own)


def line_of(number: int, where: str, few: bool) -> dict[str, Any]:
    """Tell what is wrong with one program, and how long it took."""
    case, start = programs(few)[number], time.perf_counter()
    native = backends()["native"] is None
    try:
        wrong = wrong_of(case, where, native)
    except Exception as error:  # whatever it is: the others are tried
        at = traceback.extract_tb(error.__traceback__)[-1]
        wrong = [f"{type(error).__name__}: {error} ({at.name}, line {at.lineno})"]
    seconds = round(time.perf_counter() - start, 1)
    return {"program": case.name, "bits": native, "seconds": seconds, "wrong": wrong}


def wrong_of(case: Case, where: str, native: bool) -> list[str]:
    """Tell what comes out otherwise than of NumPy or, bit by bit, of compiled C."""
    program = case.program()
    sizes, made, wrong = case.sizes(program), compiled(program, where), []
    given = rows(program, sizes, "float64")
    wanted = NumPyBackend().compile(program).run(sizes, SEED, "float64", given=given).outputs
    found = made.run(sizes, SEED, "float64", given=given).outputs
    wrong += [f"{output} differs from NumPy" for output in _differing(found, wanted, _near)]
    if native:
        given = rows(program, sizes, "float32")
        wanted = NativeBackend().compile(program).run(sizes, SEED, "float32", given=given).outputs
        found = made.run(sizes, SEED, "float32", given=given).outputs
        wrong += [f"{o} has other bits than compiled C" for o in _differing(found, wanted, _equal)]
    return [*wrong, fault_of(where)] if fault_of(where) else wrong


def _differing(
    found: Mapping[str, Any], wanted: Mapping[str, Any], same: Callable[[Any, Any], bool]
) -> list[str]:
    return [output for output, values in wanted.items() if not same(found[output], values)]


def _equal(found: Any, wanted: Any) -> bool:
    return bool(np.array_equal(found, wanted, equal_nan=wanted.dtype.kind == "f"))


def _near(found: Any, wanted: Any) -> bool:
    if wanted.dtype.kind != "f":
        return bool(np.array_equal(found, wanted))
    scale = float(np.abs(wanted[np.isfinite(wanted)]).max(initial=1.0))
    tolerance = TOLERANCE["float64"]
    return bool(np.allclose(found, wanted, rtol=tolerance, atol=tolerance * scale, equal_nan=True))
