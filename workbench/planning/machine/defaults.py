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
    "chain": (0.82, 0.83),
    "check": (1.6, 14.0),
    "cos": (6.1, 130.0),
    "divide": (1.9, 3.7),
    "draw": (40.0, 44.0),
    "elementwise": (0.19, 0.3),
    "exp": (5.2, 91.0),
    "floor_divide": (12.0, 12.0),
    "gather": (6.6, 7.6),
    "lane_sums": (0.04, 0.16),
    "load": (0.22, 0.26),
    "log": (8.4, 110.0),
    "log1p": (9.4, 72.0),
    "lone sum": (0.86, 0.85),
    "normal": (200.0, 160.0),
    "orthogonalize": (1.0, 1.0),
    "permutation": (12.0, 11.0),
    "power": (93.0, 86.0),
    "remainder": (12.0, 12.0),
    "sin": (6.8, 130.0),
    "sqrt": (3.1, 5.8),
    "store": (0.63, 3.2),
    "tanh": (7.2, 39.0),
    "total": (3.7, 12.0),
    "turned": (0.07, 0.42),
    "uniform": (0.97, 0.64),
    "one cos": (2.2, 7.0),
    "one divide": (1.1, 1.0),
    "one draw": (21.0, 27.0),
    "one elementwise": (0.2, 0.17),
    "one exp": (4.7, 6.5),
    "one floor_divide": (0.42, 0.17),
    "one load": (0.0, 0.17),
    "one log": (1.9, 6.7),
    "one log1p": (2.7, 4.5),
    "one normal": (23.0, 20.0),
    "one power": (18.0, 7.5),
    "one remainder": (0.46, 0.17),
    "one sin": (2.2, 7.6),
    "one sqrt": (1.7, 2.3),
    "one store": (0.0, 0.17),
    "one tanh": (1.6, 3.1),
    "one uniform": (1.1, 0.03),
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
        "begin": 150 * US,
        "begin kernel": 5 * US,
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
    widths=((64, 1.0), (32, 1.0), (16, 1.5)),
    fresh=0.0,
    cold=1.0,
)

DEFAULTS: Mapping[str, Machine] = {"numpy": NUMPY, "native": NATIVE, "cuda": CUDA}
