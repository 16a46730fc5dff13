"""Kernels of tables that are learned from a log: how its rows are read, what a block of one is."""

from __future__ import annotations

from functools import cache

import pytest

import workbench as wb
from tests.benchmarks.tables import learning
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
