"""What kernels tell their users: the arrays that they read and write, and themselves in a line."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from workbench.algorithms import ppo, reinforce
from workbench.codegen.described import Kernel
from workbench.polyhedral.expression import expression, size
from workbench.transforms import Contract, Donate, Persist
from workbench.variants.variant import Variant


def in_blocks(algorithm: Any, dim: str) -> Variant:
    """An algorithm whose layers are products of matrices, in blocks of a dim."""
    variant = wb.variant(algorithm(hidden=(20,)))
    return variant.apply(Persist(dim, 16)).apply(Contract()).apply(Donate())


@pytest.mark.parametrize(
    ("algorithm", "dim", "network"), [(reinforce, "b", "policy"), (ppo, "k", "actor")]
)
def test_kernel_names_the_weights_that_products_read_and_the_points_that_they_write(
    algorithm: Any, dim: str, network: str
) -> None:
    variant = in_blocks(algorithm, dim)
    kernel = max(variant.kernels(), key=lambda k: len(k.statements))
    for layer in (1, 2):
        points = f"gradient.{network}.weight_{layer}.points"
        assert f"parameters.{network}.weight_{layer}" in kernel.loads
        assert points in kernel.stores and points in kernel.loads  # they are added to


@pytest.mark.parametrize(("algorithm", "dim"), [(reinforce, "b"), (ppo, "k")])
def test_kernel_touches_what_the_equations_of_its_statements_do(algorithm: Any, dim: str) -> None:
    variant = in_blocks(algorithm, dim)
    kernel = max(variant.kernels(), key=lambda k: len(k.statements))
    own = [variant.program.statement[name] for name in kernel.statements]
    written = {statement.array for statement in own} - {*kernel.private}
    read = {read.array for statement in own for read in statement.reads} - {*kernel.private}
    assert written == {*kernel.stores}
    assert {*kernel.loads} == read | {name for name in written if name.endswith(".points")}


# -- in a line -------------------------------------------------------------------------------------


def one(**given: Any) -> Kernel:
    """A kernel of these fields."""
    fields: dict[str, Any] = {
        "name": "kernel_y", "statements": ("y",), "text": "", "lines": (), "loads": ("x", "weight"),
        "stores": ("y",), "private": (), "tile_bytes": size("B") * 64, "flops": size("B") * 312,
        "bytes": expression(96),
    }  # fmt: skip
    return Kernel(**{**fields, **given})


def test_kernel_shows_itself_in_a_line() -> None:
    assert str(one()) == (
        "kernel_y: 1 statement; loads x, weight; stores y; 312 * B FLOP; 96 bytes moved; "
        "64 * B bytes of memory a block"
    )
    assert repr([one()]) == f"[{one()}]"
    none = one(loads=(), stores=())
    assert "loads nothing; stores nothing" in str(none)


def test_kernel_shows_how_many_arrays_and_which_sizes_where_all_are_too_many() -> None:
    long = sum((size(f"L{k}") * size("T") for k in range(40)), expression(0))
    kernel = one(
        name="kernel_" + "of_a_long_name" * 20,
        loads=tuple(f"parameters.policy.weight_{k}" for k in range(30)),
        flops=size("T") * size("B") * size("T") * size("B") * size("T") * size("B") * 7,
        bytes=long,
        statements=tuple("abc"),
    )
    shown = str(kernel)
    assert len(shown) == 200 and "\n" not in shown
    assert shown.startswith("kernel_of_a_long_name") and "…: 3 statements; loads 30 arrays" in shown
    assert "; FLOP over B, T; bytes moved over 41 sizes; " in shown


@pytest.mark.parametrize(("algorithm", "dim"), [(reinforce, "b"), (ppo, "k")])
def test_kernels_of_an_algorithm_are_a_line_each(algorithm: Any, dim: str) -> None:
    for kernel in in_blocks(algorithm, dim).kernels():
        shown = str(kernel)
        assert shown.startswith(f"{kernel.name}: ")
        assert len(shown) <= 200 and "\n" not in shown


def test_amounts_need_the_sizes_that_they_name() -> None:
    assert one().flops.evaluate({"B": 2}) == 624
    assert one().flops.sizes == {"B"}
