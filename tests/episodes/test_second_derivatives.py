"""Second derivatives of what ends, by central differences of the first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.episodes.test_gradients import READ
from tests.language.differences import check
from workbench.backends.reference.evaluator import Reference
from workbench.program.values import Program


def _table(x: Any, end: Any, b: Any, t: Any, T: Any) -> Any:
    """A table written at each step, and read behind the step that writes it."""
    table = wb.recurrent("table", (3,), over=(b, t))
    row = wb.cast(wb.uniform(over=(b, t)) * 3.0, int)
    table[b, 0] = 0.5
    table[b, t + 1] = wb.put(table, row, x * table[..., row] + x)
    return (table[b, t + 1].sum(axis=0) ** 2).sum(over=t)


def _so_far(b: Any, t: Any) -> Any:
    """A step up to that of the reader, drawn by each."""
    drawn = wb.uniform(over=(b, t)) * wb.cast(wb.index(t + 1), float)
    return wb.within(wb.cast(drawn, int), 0, t + 1)


def _chosen(x: Any, end: Any, b: Any, t: Any, T: Any) -> Any:
    """A choice by what each step gathers, of the steps up to each."""
    before = wb.gather(x, t=_so_far(b, t))
    return wb.where(before > 0.8, before * x, x**3)[b, 0 : t + 1].sum().sum(over=t)


SECOND = READ | {
    "each_gathers": lambda x, end, b, t, T: (wb.gather(x, t=_so_far(b, t)) ** 2).sum(over=t),
    "each_gathers_a_product": lambda x, end, b, t, T: (
        wb.gather(x * x, t=_so_far(b, t)) * wb.gather(x, t=_so_far(b, t)) * x
    ).sum(over=t),
    "chosen": _chosen,
    "behind_the_end": lambda x, end, b, t, T: x[b, end + 1] ** 2,
    "next": lambda x, end, b, t, T: (x[b, t + 1] * x).sum(over=t),
    "next_squared": lambda x, end, b, t, T: (x[b, t + 1] ** 2).sum(over=t),
    "spread": lambda x, end, b, t, T: x[b, 0:T].std(),
    "table": _table,
    "window": lambda x, end, b, t, T: (x[b, wb.maximum(t - 2, 0) : t + 1].sum() ** 2).sum(over=t),
    "inner_window": lambda x, end, b, t, T: (
        (wb.window(x, t=3, before=0.1) * np.array([1.0, 2.0, 3.0])).sum(axis=0) ** 2
    ).sum(over=t),
}


def walked(read: Any) -> Program:
    """A walk with the weight `w`; its ends are drawn, hence fixed."""

    @wb.program
    def walk(B: int = 3, T: int = 5) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        w = wb.uniform(0.5, 1.0, shape=2, over=())
        noise = wb.uniform(over=(b, t))
        x = wb.recurrent("x", (), over=(b, t))
        x[b, 0] = w[..., 0]
        x[b, t + 1] = wb.sin(x * w[..., 0]) * (1.0 + noise) + w[..., 1]
        end = wb.until(wb.uniform(over=(b, t)) < 0.3, over=t)
        loss = read(x, end, b, t, T).sum(over=b)
        by_w = wb.gradient(loss, w)
        first = by_w[..., 0] + 0.5 * by_w[..., 1]
        return {"first": first, "second": wb.gradient(first, w), "end": end}

    return walk()


@pytest.mark.parametrize("read", SECOND.values(), ids=SECOND)
def test_second_derivative_is_the_central_difference_of_the_first(read: Any) -> None:
    program = walked(read)
    end = Reference(program.equations, seed=3).array("end")
    assert (end < 4).any() and (end > 0).any()
    check(program, ("w",), ("second",), loss="first")


@pytest.mark.parametrize("backend", ["numpy", "native"])
@pytest.mark.parametrize("read", ["behind_the_end", "next", "spread", "drawn", "each_gathers"])
def test_second_derivative_is_the_same_on_backends(read: str, backend: str) -> None:
    program = walked(SECOND[read])
    expected = Reference(program.equations, seed=3).outputs()
    for variant in (wb.variant(program), wb.optimize(wb.variant(program), backend=backend)):
        run = wb.run(variant, backend, seed=3, dtype="float64", progress=False)
        for name in ("first", "second"):
            np.testing.assert_allclose(run[name], expected[name], rtol=1e-9, atol=1e-12)
