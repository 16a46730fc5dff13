"""Derivatives of derivatives, through recurrences and windows, against central differences."""

from __future__ import annotations

from typing import Any

import workbench as wb
from tests.language.differences import check


def test_derivatives_of_derivatives_through_a_recurrence() -> None:
    @wb.program
    def growing(B: int = 2, T: int = 3) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        noise = wb.normal(over=(b, t))
        weight = wb.uniform(over=b)
        x = wb.recurrent("x", (), over=(b, t))
        x[b, 0] = weight
        x[b, t + 1] = wb.tanh(weight * x + noise) * x
        loss = (x[b, T] ** 2 + (x[b, 0:T] ** 3).sum()).sum(over=b)
        slope, steep = wb.gradient(loss, noise), wb.gradient(loss, weight)
        second = (slope * slope * wb.sin(noise)).sum(over=(b, t)) + (steep**3).sum(over=b)
        bend = wb.gradient(second, noise)
        third = (bend * bend).sum(over=(b, t))
        return {
            "noise": noise,
            "weight": weight,
            "second": second,
            "third": third,
            "to_noise": bend,
            "to_weight": wb.gradient(second, weight),
            "again": wb.gradient(third, noise),
        }

    program = growing()
    check(program, ("noise", "weight"), ("to_noise", "to_weight"), loss="second")
    check(program, ("noise",), ("again",), loss="third", tolerance=1e-5)


def test_derivatives_through_a_recurrence_over_its_own_window() -> None:
    @wb.program
    def windowed(B: int = 1, T: int = 4) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        noise = wb.normal(over=(b, t))
        x = wb.recurrent("x", (), over=(b, t))
        x[b, 0] = 1.0
        last = wb.window(x, t=3, before=0.3).sum(axis=0)
        x[b, t + 1] = wb.tanh(last + x[b, wb.maximum(t - 2, 0) : t + 1].sum() * 0.3) + noise
        loss = (x[b, T] ** 2).sum(over=b)
        slope = wb.gradient(loss, noise)
        second = (slope * slope * wb.sin(noise)).sum(over=(b, t))
        return {
            "noise": noise,
            "loss": loss,
            "second": second,
            "slope": slope,
            "bend": wb.gradient(second, noise),
        }

    program = windowed()
    check(program, ("noise",), ("slope",))
    check(program, ("noise",), ("bend",), loss="second")
