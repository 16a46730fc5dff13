"""Programs on a GPU against NumPy in float64, and bit by bit against compiled C in float32."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.backends.small_programs import SIZES, cases, folded, scheduled
from tests.gpu.devices import compiled, fault_of
from tests.kernels.programs import everything
from tests.lowering.instances.test_swapping import swapped
from workbench.backends import backends
from workbench.backends.native.backend import NativeBackend
from workbench.backends.numpy import NumPyBackend
from workbench.measure.checking.agreement import TOLERANCE
from workbench.program.values import Program

SEED = 3
WHOLE = {"B": 20, "I": 2, "T": 6}
HIDDEN = (20,)
FEW = 3
"""The programs of a rehearsal."""


def programs(few: bool) -> Iterator[tuple[str, Program, dict[str, int]]]:
    """Small programs under two schedules, and with all arrays in host memory, whose slices come
    early; every algorithm on every environment.
    """
    small = list(cases())
    for name, equations, axes in small[:FEW] if few else small:
        plain = scheduled(equations)
        for made in (plain, folded(scheduled(equations, axes[-1])), swapped(plain, prefetch=1)):
            sizes = {k: v for k, v in SIZES[0].items() if k in {p.name for p in made.parameters}}
            yield name, made, sizes
    whole = everything()
    for one in whole[:FEW] if few else whole:
        yield str(one), one.variant(hidden=HIDDEN).program, WHOLE


def checked(where: str, few: bool) -> Iterator[dict[str, Any]]:
    """A line for each program: what is wrong with it."""
    native = backends()["native"] is None
    for name, program, sizes in programs(few):
        made, wrong = compiled(program, where), []
        exact = NumPyBackend().compile(program).run(sizes, SEED, "float64").outputs
        found = made.run(sizes, SEED, "float64").outputs
        wrong += [
            f"{output} differs from NumPy"
            for output, values in exact.items()
            if not _near(found[output], values)
        ]
        if native:
            bits = NativeBackend().compile(program).run(sizes, SEED, "float32").outputs
            found = made.run(sizes, SEED, "float32").outputs
            wrong += [
                f"{output} has other bits than compiled C"
                for output, values in bits.items()
                if not np.array_equal(found[output], values, equal_nan=values.dtype.kind == "f")
            ]
        if fault_of(where):
            wrong.append(fault_of(where))
        yield {"program": name, "bits": native, "wrong": wrong}


def _near(found: Any, wanted: Any) -> bool:
    if wanted.dtype.kind != "f":
        return bool(np.array_equal(found, wanted))
    scale = float(np.abs(wanted[np.isfinite(wanted)]).max(initial=1.0))
    tolerance = TOLERANCE["float64"]
    return bool(np.allclose(found, wanted, rtol=tolerance, atol=tolerance * scale, equal_nan=True))
