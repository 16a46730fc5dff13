"""Constants for where nobody measured: a core of a server of about 2023 under NumPy 2, and a data
centre GPU of about 2022 under CuPy. Rounded from calibrations.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.planning.machine.constants import Machine, Rates

NS, US = 1e-9, 1e-6


def _nanoseconds(**rates: float) -> Rates:
    return {name.replace("masked_", "masked "): rate * NS for name, rate in rates.items()}


def _by_dtype(**rates: tuple[float, float]) -> Mapping[str, Rates]:
    return {
        name.replace("masked_", "masked "): {"float32": single * NS, "float64": double * NS}
        for name, (single, double) in rates.items()
    }


NUMPY = Machine(
    backend="numpy",
    call=_nanoseconds(
        elementwise=270,
        copy=100,
        cast=120,
        masked_copy=300,
        fill=150,
        sum=700,
        extremum=800,
        accumulate=340,
        argmax=100,
        dot=400,
        matmul=850,
        take=180,
        uniform=90_000,
        normal=125_000,
        permutation=88_000,
        segment_add=6_300,
        given=220,
        check_index=2_300,
        check_length=100,
        check_all=1_000,
        orthogonalize=18_000,
        external=100_000,
        view=90,
        broadcast=2_300,
        allocate=1_300,
        reserve=700,
        constant=1_500,
        loop=15,
        condition=20,
    ),
    row=_nanoseconds(
        elementwise=12,
        copy=5,
        cast=5,
        fill=5,
        sum=18,
        extremum=40,
        argmax=14,
        take=1,
        matmul=30,
        permutation=85_000,
    ),
    element=_by_dtype(
        cast=(0.1, 0.15),
        masked_copy=(0.9, 0.9),
        sum=(0.17, 0.18),
        extremum=(0.07, 0.25),
        accumulate=(3.3, 3.4),
        argmax=(0.07, 0.2),
        take=(0.6, 0.9),
        uniform=(21, 21),
        normal=(70, 70),
        permutation=(20, 20),
        segment_add=(3, 5),
        given=(1, 1.4),
        check_index=(0.2, 0.2),
        check_all=(0.03, 0.03),
        cos=(0.5, 8),
        divide=(0.15, 0.4),
        exp=(0.5, 0.8),
        floor=(0.08, 0.15),
        floor_divide=(1.7, 1.7),
        log=(0.4, 0.8),
        log1p=(0.45, 1),
        power=(0.9, 2.3),
        remainder=(1.7, 1.7),
        sin=(0.5, 8),
        sqrt=(0.35, 1.2),
        tanh=(0.45, 1.7),
        gaps=(0.4, 0.4),
        turned=(2.2, 2.8),
        orthogonalize=(0.32, 0.32),
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

_HOST = ("uniform", "normal", "permutation", "segment_add", "external")
"""Done on the host, with a copy there and back."""

CUDA = Machine(
    backend="cuda",
    call=dict.fromkeys(NUMPY.call, 8 * US)
    | {kind: NUMPY.call[kind] + 60 * US for kind in _HOST}
    | {"check_index": 80 * US, "check_all": 40 * US, "orthogonalize": 2_000 * US}
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

DEFAULTS: Mapping[str, Machine] = {"numpy": NUMPY, "cuda": CUDA}
