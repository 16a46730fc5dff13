"""Blocks in any order as one kernel: the same results, memory of one block, no memory for lanes."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.block_orders import all_apart
from tests.native_runs import compiled, shared_cache
from tests.programs import shuffled
from workbench.algorithms import ppo, reinforce
from workbench.backends.numpy import NumPyBackend
from workbench.codegen.described import Kernel, kernels
from workbench.program.values import Program
from workbench.transforms import Contract, Donate, Persist, Tile, Vectorize
from workbench.variants.variant import Variant


def in_blocks(variant: Variant, *tiles: tuple[str, int]) -> Program:
    """The program with blocks of these dims in any order, and the memory of one of each."""
    for dim, size in tiles:
        variant = variant.apply(Tile(dim, size))
    return all_apart(variant.apply(Contract()).apply(Donate()).program)


def persisted(program: Program, *blocks: tuple[str, int]) -> Program:
    """The program with all that runs over these dims in blocks, and the memory of one of each."""
    chosen = wb.variant(program)
    for dim, size in blocks:
        chosen = chosen.apply(Persist(dim, size))
    return chosen.apply(Contract()).apply(Donate()).program


def learning() -> Program:
    """REINFORCE with its gradient added up where it is computed."""
    return persisted(reinforce(hidden=(20,)), ("b", 16))


def agrees(program: Program, dtype: str = "float64", **sizes: int) -> None:
    """Compiled C and NumPy compute the same."""
    wanted = NumPyBackend().compile(program).run(sizes, 4, dtype).outputs
    made = compiled(program)
    with shared_cache():
        made.prepare(dtype)
    found = made.run(sizes, 4, dtype).outputs
    tolerance = 1e-11 if dtype == "float64" else 3e-5
    for name, values in wanted.items():
        scale = max(1.0, float(np.abs(np.nan_to_num(values.astype(float))).max(initial=0)))
        np.testing.assert_allclose(
            found[name], values, rtol=tolerance, atol=tolerance * scale, err_msg=name
        )


def largest(program: Program) -> Kernel:
    return max(kernels(program, "float32"), key=lambda kernel: len(kernel.statements))


@pytest.mark.parametrize("size", [3, 16, 32])
def test_episodes_in_blocks_agree_with_numpy(size: int) -> None:
    """In blocks that are no whole groups of lanes, too, and with a last one that is shorter."""
    program = in_blocks(wb.variant(reinforce(hidden=(20,))).apply(Vectorize("b")), ("b", size))
    for environments in (1, size, 2 * size + 5):
        agrees(program, B=environments, I=2, T=5)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_gradients_in_blocks_agree_with_numpy(dtype: str) -> None:
    program = learning()
    for environments in (1, 16, 37):
        agrees(program, dtype, B=environments, I=2, T=5)


def test_minibatches_in_blocks_agree_with_numpy() -> None:
    program = persisted(ppo(hidden=(20,)), ("b", 16), ("k", 32))
    for environments in (2, 20):
        agrees(program, B=environments, I=2, T=8)


def test_region_is_one_kernel_with_the_memory_of_one_block() -> None:
    kernel = largest(learning())
    assert {"policy.action", "surrogate", "gradient.policy.weight_1.points"} <= set(
        kernel.statements
    )
    assert {"state", "policy.hidden_1", "worth"} <= set(kernel.private)
    assert not {"state", "policy.hidden_1", "worth"} & {*kernel.loads, *kernel.stores}
    small, large = (kernel.tile_bytes.evaluate({"B": b, "I": 2, "T": 50}) for b in (16, 1600))
    assert small == large


def test_values_that_stay_in_lanes_need_no_memory() -> None:
    """What is read in its own lane only, right behind its computation, is never stored."""
    kernel = largest(learning())
    for name in ("environment_force", "policy_passed", "environment_cosine"):
        assert f"store_vf({name}" not in kernel.text
        assert f"load_vf({name}" not in kernel.text


def test_memory_of_episodes_does_not_grow_with_the_environments() -> None:
    made = compiled(learning())
    with shared_cache():
        made.prepare("float32")
    peaks = [made.run({"B": b, "I": 1, "T": 1000}).peak_bytes for b in (16, 160)]
    assert peaks[1] < 1.05 * peaks[0]


@pytest.mark.parametrize("chunks", [2, 3, 16])
def test_runs_of_blocks_are_added_up_apart(chunks: int) -> None:
    program = wb.variant(reinforce(hidden=(3,))).apply(Persist("b", 4, chunks)).program
    for count in (1, 7, 40):
        agrees(program, B=count, I=2, T=5)


def test_element_that_is_written_at_once_is_kept_together_in_blocks() -> None:
    agrees(wb.variant(shuffled()).apply(Persist("i", 8)).program)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_joined_loops_in_blocks_agree_with_numpy(dtype: str) -> None:
    """Time once forwards and once for learning, in memory of a window where it is enough."""
    program = persisted(reinforce(hidden=(20,), estimator="td_lambda"), ("b", 16))
    for environments in (1, 16, 37):
        agrees(program, dtype, B=environments, I=2, T=5)


def test_states_that_are_handed_on_last_agree_with_numpy() -> None:
    variant = wb.variant(ppo(hidden=(20,)))
    for step in (Persist("b", 16), Persist("k", 32), Contract(), Donate()):
        variant = variant.apply(step)
    for environments in (2, 20):
        agrees(variant.program, B=environments, I=3, T=8)
