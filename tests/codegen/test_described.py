"""What kernels tell their users: the arrays that they read and write, and themselves in a line."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from workbench.algorithms import ppo, reinforce
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
