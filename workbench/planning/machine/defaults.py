"""Constants for machines without a measurement: a core of a server of about 2023 under NumPy 2 and
as compiled by gcc 12, rounded from calibrations; a data centre GPU of 2022, from published peaks.
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


GROUPS: Mapping[str, tuple[float, float]] = {
    "chain": (0.82, 0.83),
    "check": (1.6, 14.0),
    "cos": (6.1, 130.0),
    "digamma": (150.0, 200.0),
    "divide": (1.9, 3.7),
    "draw": (40.0, 44.0),
    "elementwise": (0.19, 0.3),
    "exp": (5.2, 91.0),
    "floor_divide": (12.0, 12.0),
    "gather": (6.6, 7.6),
    "lane_sums": (0.04, 0.16),
    "lgamma": (190.0, 190.0),
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
    "trigamma": (150.0, 150.0),
    "turned": (0.07, 0.42),
    "uniform": (0.97, 0.64),
    "one cos": (2.2, 7.0),
    "one digamma": (28.0, 28.0),
    "one divide": (1.1, 1.0),
    "one draw": (21.0, 27.0),
    "one elementwise": (0.2, 0.17),
    "one exp": (4.7, 6.5),
    "one floor_divide": (0.42, 0.17),
    "one lgamma": (25.0, 20.0),
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
    "one trigamma": (22.0, 22.0),
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

GPU_FLOPS = {"float32": 66.9e12, "float64": 33.5e12}
"""The most operations in a second, a fused multiply-add being two: NVIDIA, "H100 Tensor Core GPU
Architecture", SXM5, without tensor cores.
"""
GPU_LANES = 132 * 128 * 1.98e9
"""The elements of float32 in a second to each of which one instruction is applied."""
GPU_GROUP = 16 / GPU_LANES
"""The seconds of an instruction on a group of lanes, if all of the GPU has such groups."""
GPU_SORTED = 3e-10
"""The seconds of a word of a permutation, as an H200 took for 2 to 17 millions of them."""
GPU_BUS = 1 / 64e9
"""The seconds of a byte to or from host memory: 16 lanes of PCI Express 5.0."""
_GROUP = GROUPS["elementwise"][0]

CUDA = Machine(
    backend="cuda",
    call={
        "elementwise": 2.5 * US,
        "launch": 2.5 * US,
        "barrier": 0.25 * US,
        "begin": 500 * US,
        "begin kernel": 0.0,
        "external": NUMPY.call["external"] + 50 * US,
    },
    row={"elementwise": 0.0, "loop": 0.0},
    element={
        kind: {
            "float32": GPU_GROUP * single / _GROUP,
            "float64": GPU_GROUP * single / _GROUP * GPU_FLOPS["float32"] / GPU_FLOPS["float64"],
        }
        for kind, (single, _) in GROUPS.items()
    }
    | {"permutation": {"float32": GPU_SORTED, "float64": GPU_SORTED}},
    byte=(  # shared memory, 128 bytes a cycle of each multiprocessor; L2; memory
        (228 << 10, 1 / 33.5e12),
        (1 << 20, 1 / 5.5e12),
        (50_000_000, 1 / 5.5e12),
        (100_000_000, 1 / 3.35e12),
    ),
    product={dtype: 1 / flops for dtype, flops in GPU_FLOPS.items()},
    panel={"float32": 0.0, "float64": 0.0},
    fresh=0.0,
    cold=1.0,
    multiprocessors=132,
    shared_bytes=228 << 10,
    bus=GPU_BUS,
)
"""An H100 by its published peaks. Operations take as long beside each other as in compiled C; what
a launch takes, and the work between two barriers, is assumed.
"""

DEFAULTS: Mapping[str, Machine] = {"numpy": NUMPY, "native": NATIVE, "cuda": CUDA}
