"""Kernels of tables that are learned from a log: how its rows are read, what a block of one is."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import workbench as wb
from tests.benchmarks.tables import learning
from tests.codegen.cuda.fibres import expect_bits_of_compiled_c
from tests.truth import truth
from workbench.transforms import Contract, Donate, Persist

COLUMNS = ("state", "action", "following", "reward")


@cache
def text(size: int) -> str:
    """The C of the kernel in blocks of so many workers."""
    variant = wb.variant(learning())
    for step in (Persist("w", size), Contract(), Donate()):
        variant = variant.apply(step)
    (kernel,) = variant.kernels("native")
    return kernel.text


def statement(size: int, name: str) -> str:
    """The lines of a statement there."""
    return text(size).split(f"/* statement: {name} */")[1].split("/* statement:")[0]


def test_rows_of_a_log_are_read_side_by_side() -> None:
    """A column of a block's rows is stored with the lanes innermost, as all arrays of a block."""
    for column in COLUMNS:
        assert f"log_{column}[(16 * k + " in statement(16, f"log.{column}")
    assert "load_vi(log_state + (16 * k + " in statement(16, "here")
    assert "load_vf(log_reward + (16 * k + " in statement(16, "change")


def test_numbers_of_a_block_of_one_go_on_without_memory() -> None:
    update = statement(1, "q[k+1]")
    assert "fail(" not in update  # the indices were checked where the entry was looked up
    assert [line.strip() for line in update.splitlines()[1:3]] == [
        "const float sum_2 = add_f(q_2, change_2);",
        "q[(4 * inside_2 + inside_2_2)] = sum_2;",
    ]
    for array in ("here", "best", "change"):
        assert f" {array}[" not in text(1)


@pytest.mark.parametrize("size", [1, 16])
def test_an_update_changes_one_entry(size: int) -> None:
    assert statement(size, "q[k+1]").count("q[") == 1


def test_lanes_beyond_the_last_index_read_inside_the_table() -> None:
    """Of 3 indices in memory a vector has some from behind them, whatever lies there."""

    @wb.program
    def looked_up(I: int = 4, N: int = 9, K: int = 3) -> dict[str, wb.Tensor]:
        i = wb.dim(i=I)
        table = wb.uniform(shape=N, over=i)
        return {"y": table[..., wb.cast(wb.uniform(shape=K, over=i) * 9.0, int)]}

    variant = wb.variant(looked_up())
    kernel = next(k for k in variant.kernels("native") if k.name.endswith("y"))
    (read,) = (line for line in kernel.text.splitlines() if "load_vi(row" in line)
    assert "minimum_vi(maximum_vi(load_vi(row" in read and "(int32_t)(N - 1)" in read
    numpy, native = (wb.run(variant, name, progress=False)["y"] for name in ("numpy", "native"))
    np.testing.assert_array_equal(numpy, native)


@wb.program
def looked_up_again(B: int = 3, P: int = 4) -> dict[str, wb.Tensor]:
    """Dyna-Q: a model, which is a table, says where the next table is looked up."""
    b, p = wb.dims(b=B, p=P)
    pair = wb.cast(wb.uniform(over=(b, p)) * 10.0, int)
    model = wb.cast(wb.uniform(shape=(5, 2), over=b) * 5.0, int)
    routes = wb.cast(wb.uniform(shape=(5, 2, 3), over=b) * 5.0, int)
    q = wb.recurrent("q", (5, 2), over=(b, p))
    q[b, 0] = wb.normal(shape=(5, 2), over=b)
    after = model[..., pair // 2, pair % 2]
    worth = q[..., model[..., after, pair % 2], :].max()
    way = q[..., routes[..., after, pair % 2, :], pair % 2].sum()
    q[b, p + 1] = wb.put(q, (model[..., pair % 5, 0], pair % 2), worth) + 0.1 * way
    return {"q": q[b, P]}


@pytest.mark.parametrize("block", [0, 1, 2, 16])
def test_an_index_is_looked_up_in_another_table(block: int) -> None:
    variant = wb.variant(looked_up_again())
    for step in (Persist("b", block), Contract(), Donate()) if block else ():
        variant = variant.apply(step)
    expected = truth(variant.program).outputs()["q"]
    for backend in ("numpy", "native"):
        found = wb.run(variant, backend, dtype="float64", progress=False)["q"]
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    expect_bits_of_compiled_c(variant.program)
