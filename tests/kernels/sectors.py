"""Sectors of PPO's two large kernels on a GPU, as fibres count them, beside what they cannot do
without.

The recipe is that of 2048 environments. With fewer environments there are fewer chunks, so that a
block does as much as it does there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tests.codegen.cuda.fibres import FibreDriver, Traffic, fibres, watched
from workbench.algorithms import ppo
from workbench.transforms import Contract, Donate, Persist, Recompute
from workbench.transforms.step.transform import Transform
from workbench.variants.variant import Variant, optimize, variant

MANY, CHUNKS = 2048, 128
TILES = {"b": 16, "k": 32}
"""The lanes of blocks along each dimension, as the recipe has them."""
SIZES = {"B": 32, "I": 1, "T": 128, "E": 4, "M": 4}
WANTED = 1.5
"""The most sectors of a kernel, of those that it needs."""
REACHED = {"rollout": 1.49, "minibatch": 1.05}
"""The most that is held today."""


def steps(environments: int) -> list[Transform]:
    """The recipe's steps, with as many chunks as make a block's share that of many environments."""
    chunks = max(2, CHUNKS * environments // MANY)
    blocks = [Persist(dim, lanes, chunks) for dim, lanes in TILES.items()]
    return [Recompute("target"), *blocks, Contract(), Donate()]


def recipe() -> list[Transform]:
    """The recipe's own steps for many environments."""
    return list(optimize(ppo(), sizes={"B": MANY, "T": 128}, backend="cuda").steps)


def traffic(sizes: Mapping[str, int]) -> tuple[Variant, list[Traffic]]:
    """Return a variant, and what the launches of an update ask for. Raises AssertionError for a
    fault.
    """
    chosen = variant(ppo())
    for step in steps(sizes["B"]):
        chosen = chosen.apply(step)
    made = fibres(chosen.program, sizes)
    driver = made.driver
    assert isinstance(driver, FibreDriver)
    driver.counts = True
    _, fault = watched(made, sizes)
    assert not fault, fault
    return chosen, driver.traffic


def of_array(found: Iterable[Traffic], array: str) -> Traffic:
    """The first launch that stores an array."""
    return next(one for one in found if array in one.stored)


def rollout(found: Iterable[Traffic]) -> dict[str, Any]:
    """The sectors of a rollout, and those that are stored."""
    one = of_array(found, "policy_action")
    return _line(one, sum(one.stored.values()))


def minibatch(found: Iterable[Traffic]) -> dict[str, Any]:
    """The sectors of a minibatch's main kernel, and those of samples, of parameters once for each
    block, and of partial sums. A sample is looked up number by number.
    """
    one = of_array(found, "gradient_actor_weight_2_points")
    samples = sum(n for a, n in one.loaded.items() if not a.startswith("parameters"))
    each = sum(parameters(4, 64, outputs) for outputs in (2, 1))
    return _line(one, samples + one.blocks * each + sum(one.stored.values()))


def parameters(inputs: int, hidden: int, outputs: int) -> int:
    """The sectors of a network's parameters, of two layers."""
    sides = (inputs * hidden, hidden, hidden * hidden, hidden, hidden * outputs, outputs)
    return sum(-(-side // 8) for side in sides)


def _line(one: Traffic, needed: int) -> dict[str, Any]:
    return {
        "blocks": one.blocks,
        "loaded": sum(one.loaded.values()),
        "stored": sum(one.stored.values()),
        "needed": needed,
        "ratio": round(one.sectors / needed, 2),
    }


def figures(sizes: Mapping[str, int]) -> dict[str, Any]:
    """Both kernels' sectors, and what is wrong: more than was reached before, another recipe."""
    _, found = traffic(sizes)
    lines = {"rollout": rollout(found), "minibatch": minibatch(found)}
    wrong = [
        f"{name}: {line['ratio']} x the sectors that it needs, more than {REACHED[name]}"
        for name, line in lines.items()
        if line["ratio"] > REACHED[name]
    ]
    if (found_steps := recipe()) != steps(MANY):
        wrong.append(f"the recipe has other steps: {', '.join(map(str, found_steps))}")
    return {**lines, "wanted": WANTED, "wrong": wrong}
