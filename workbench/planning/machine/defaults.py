"""Constants for machines without a measurement: a core of a server of about 2023 under NumPy 2 and
as compiled by gcc 12, and a data centre GPU of about 2022 under CuPy. Rounded from calibrations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from workbench.lowering.functions import Cost, costs
from workbench.planning.machine.constants import Machine, Rates

NS, US = 1e-9, 1e-6


DRAWS = ("uniform", "normal", "permutation")
COSTS = costs()
"""The constants of array functions; those of Python's work between their calls are below."""


def _nanoseconds(of: Callable[[Cost], float | None], **more: float) -> Rates:
    rates = {kind: rate for kind, cost in COSTS.items() if (rate := of(cost)) is not None}
    return {kind: rate * NS for kind, rate in (rates | more).items()}


def _by_dtype(**more: tuple[float, float]) -> Mapping[str, Rates]:
    rates = {kind: cost.element for kind, cost in COSTS.items() if cost.element is not None}
    return {
        kind: {"float32": single * NS, "float64": double * NS}
        for kind, (single, double) in (rates | more).items()
    }


NUMPY = Machine(
    backend="numpy",
    call=_nanoseconds(
        lambda cost: cost.call,
        cast=120,
        uniform=90_000,
        normal=125_000,
        permutation=88_000,
        view=90,
        broadcast=2_300,
        allocate=1_300,
        reserve=700,
        constant=1_500,
        loop=15,
        condition=20,
    ),
    row=_nanoseconds(lambda cost: cost.row, cast=5, permutation=85_000),
    element=_by_dtype(
        cast=(0.1, 0.15),
        uniform=(21, 21),
        normal=(70, 70),
        permutation=(20, 20),
        gaps=(0.4, 0.4),
        turned=(2.2, 2.8),
    ),
    byte=(
        (12_000, 0.010 * NS),
        (768_000, 0.010 * NS),
        (12_000_000, 0.013 * NS),
        (48_000_000, 0.028 * NS),
        (96_000_000, 0.060 * NS),
    ),
    product={"float32": 0.010 * NS, "float64": 0.020 * NS},
    panel={"float32": 0.04 * NS, "float64": 0.1 * NS},
    fresh=0.1 * NS,
    cold=2.0,
)

_HOST = [*DRAWS, *(kind for kind, cost in COSTS.items() if cost.on_host)]
"""The kinds done on the host, with a copy there and back."""

CUDA = Machine(
    backend="cuda",
    call=dict.fromkeys(NUMPY.call, 8 * US)
    | {kind: NUMPY.call[kind] + 60 * US for kind in _HOST}
    | {kind: cost.cuda * US for kind, cost in COSTS.items() if cost.cuda is not None}
    | {"view": 0.6 * US, "broadcast": 3 * US, "loop": 0.02 * US, "condition": 0.02 * US},
    row=dict.fromkeys(NUMPY.row, 0.0) | {"permutation": NUMPY.row["permutation"]},
    element={
        kind: rates if kind in _HOST else {"float32": 0.0, "float64": 0.0}
        for kind, rates in NUMPY.element.items()
    },
    byte=((1_000, 0.0005 * NS),),
    product={"float32": 0.00005 * NS, "float64": 0.0001 * NS},
    panel={"float32": 0.0, "float64": 0.0},
    fresh=0.0,
    cold=1.0,
)


GROUPS: Mapping[str, tuple[float, float]] = {
    "elementwise": (0.2, 0.3),
    "load": (0.15, 0.3),
    "store": (0.6, 2.5),
    "gather": (6.0, 5.0),
    "check": (1.5, 10.0),
    "total": (3.5, 7.0),
    "divide": (2.0, 3.0),
    "sqrt": (3.0, 6.5),
    "exp": (5.0, 65.0),
    "log": (8.0, 60.0),
    "log1p": (9.0, 45.0),
    "tanh": (7.0, 35.0),
    "sin": (6.0, 120.0),
    "cos": (6.0, 120.0),
    "power": (90.0, 70.0),
    "floor_divide": (26.0, 25.0),
    "remainder": (26.0, 25.0),
    "draw": (38.0, 36.0),
    "uniform": (1.0, 2.5),
    "normal": (130.0, 135.0),
    "lone sum": (0.75, 0.75),
    "turned": (0.05, 0.3),
    "permutation": (8.0, 8.0),
    "orthogonalize": (1.0, 1.0),
}
"""Nanoseconds of compiled code, of float32 and float64: of an operation in all lanes of a group,
and of an element of what run-time functions compute.
"""

NATIVE = Machine(
    backend="native",
    call={
        "elementwise": 10 * NS,
        "launch": 10 * NS,
        "threads": 2 * US,
        "begin": 30 * US,
        "external": NUMPY.call["external"],
    },
    row={"elementwise": 0.0, "loop": 0.5 * NS, "product": 10 * NS},
    element={
        kind: {"float32": single * NS, "float64": double * NS}
        for kind, (single, double) in GROUPS.items()
    },
    byte=NUMPY.byte,
    product={"float32": 0.010 * NS, "float64": 0.020 * NS},
    panel={"float32": 0.04 * NS, "float64": 0.1 * NS},
    fresh=0.0,
    cold=1.0,
)

DEFAULTS: Mapping[str, Machine] = {"numpy": NUMPY, "native": NATIVE, "cuda": CUDA}
