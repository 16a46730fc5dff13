"""Measurements made up for tests that need no run."""

from __future__ import annotations

import math
from typing import Any

from workbench.lowering.loops.bytes import Point
from workbench.measure.checking.agreement import Deviation
from workbench.measure.checking.report import Check
from workbench.measure.rounds.measurement import Measurement, Predicted


def passed(**changed: Any) -> Check:
    """A check that passed, or what the fields given make of it."""
    compared = (Deviation("loss", 2, 1e-8, 1e-4, (1,), "0.5", "0.5"),)
    fields = {"verdict": "passed", "backend": "numpy", "dtype": "float32"}
    return Check(**{**fields, "sizes": {"B": 3, "T": 4}, "seed": 0, "compared": compared} | changed)


def measurement(*samples: float, steps: tuple[str, ...] = (), **changed: Any) -> Measurement:
    """Samples of a variant vectorized over the dims `steps`."""
    fields: dict[str, Any] = {
        "program": "walk",
        "key": "-".join(["root", *steps]),
        "steps": tuple({"transform": "Vectorize", "arguments": {"dim": dim}} for dim in steps),
        "backend": "numpy",
        "device": "a processor, 2 of 2 cores",
        "dtype": "float32",
        "sizes": {"B": 64, "T": 100},
        "seed": 0,
        "check": passed(),
        "samples": samples,
        "compile_seconds": 0.25 if samples else math.nan,
        "peak_bytes": {"device": 4096} if samples else {},
        "process_peak_bytes": 100_000_000 if samples else None,
        "timeline": (
            Point(1, (), 16, (("x", 16),)),
            Point(3, ("t",), 48, (("x", 16), ("y", 32))),
            Point(5, ("t",), 16, (("x", 16),)),
        ),
        "predicted": Predicted(0.011, {"device": 4096}),
        "versions": {"python": "3.12"},
        "date": "2026-01-02T03:04:05+00:00",
    }
    return Measurement(**fields | changed)
