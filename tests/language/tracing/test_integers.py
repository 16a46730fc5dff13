"""Integers are two's complement in their dtype; indices are as wide as the sizes need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.language.tracing.refused import B, T, b, recurrent, refused, t
from workbench.backends import get
from workbench.backends.reference.evaluator import Reference
from workbench.errors import SizeError
from workbench.program.values import Program


def program_of(body: Callable[[], Any], **sizes: int) -> Program:
    @wb.program
    def example(B: int = 2, T: int = 4) -> dict[str, Any]:
        wb.dims(b=B, t=T)
        return {"y": body()}

    return example(**sizes)


def agreed(program: Program) -> Any:
    """The output by the reference, which every variant and the array backend equal."""
    expected = Reference(program.equations).outputs()["y"]
    for one in (program, wb.optimize(wb.variant(program), backend="numpy").program):
        found = get("numpy").compile(one).run().outputs["y"]
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype
    return expected


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integers_wrap_in_their_dtype(dtype: str) -> None:
    def body() -> Any:
        n = wb.index(t, dtype=dtype) + (2**31 - 3)
        return wb.stack([n * 2**16, n + n, n * n * n, -n, n + 2**30 + 2**30])

    n = np.arange(4, dtype=dtype) + np.array(2**31 - 3, dtype)
    rows = [n * 2**16, n + n, n * n * n, -n, n + np.array(2**30, dtype) + np.array(2**30, dtype)]
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(agreed(program_of(body)), np.stack(rows, axis=-1))


def test_sum_of_integers_wraps() -> None:
    found = agreed(program_of(lambda: (wb.index(t) + 2**30).sum(over=t)))
    assert found == np.array(4 * 2**30 + 6).astype(np.int32)


def test_index_is_as_wide_as_the_sizes_need() -> None:
    def body() -> Any:
        assert wb.index(t).dtype == "int32"
        assert wb.index(b * T + t).dtype == "int32"
        assert wb.index(2**29 * t).dtype == "int32"
        assert wb.index(2**30 * t).dtype == "int64"
        assert wb.index(2**31 * B * t // 2**31).dtype == "int64"
        assert wb.index(T * 2**29).dtype == "int64"
        assert wb.index(wb.minimum(2**40 * t, 7)).dtype == "int64"
        return wb.index(2**40 * t - b)

    assert agreed(program_of(body))[1, 3] == 3 * 2**40 - 1


def test_mean_of_many_counts_them_all() -> None:
    program = program_of(lambda: (wb.index(b) * 0 + 1.0).sum(over=(b, t)) / wb.index(B * T))
    with pytest.raises(SizeError, match=r"reaches 4294967296 \(B=65536, T=65536\), more than"):
        Reference(program.equations, {"B": 2**16, "T": 2**16})
    body = program_of(lambda: wb.index(B * T), B=2**16, T=2**16)
    assert agreed(body) == 2**32


def test_index_that_int32_cannot_hold_refused_when_run() -> None:
    program = program_of(lambda: wb.index(1000 * t + b))
    for run in (
        lambda sizes: Reference(program.equations, sizes),
        lambda sizes: get("numpy").compile(program).run(sizes),
    ):
        run({"T": 1000})
        with pytest.raises(SizeError) as error:
            run({"T": 3_000_000})
        assert error.value.message == (
            "wb.index(b + 1000 * t) in y reaches 2999999001 (B=2, T=3000000), more than int32 "
            'holds, which it was traced with; write wb.index(b + 1000 * t, dtype="int64") or trace '
            "the program at these sizes"
        )
    wide = program_of(lambda: wb.index(1000 * (T - 1), dtype="int64"))
    found = get("numpy").compile(wide).run({"T": 3_000_000}).outputs["y"]
    assert found == 2_999_999_000


def test_int64_in_int32_recurrence_refused() -> None:
    def body() -> None:
        x = recurrent(dtype=int)
        x[t] = wb.cast(wb.index(t), "int64")

    assert refused(body).message == (
        's[t] is int32, but the value is int64; declare it with dtype="int64", or convert with '
        "wb.cast"
    )
