"""The losses of the rival beside the workbench's, of the same draws and first parameters.

`python -m tests.benchmarks.rivals.losses` needs JAX; prints a JSON line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.algorithms import ppo
from workbench.backends import default, get
from workbench.program.values import Output, Program

SIZES = {"B": 64, "I": 3, "T": 128, "E": 4, "M": 4}
ACTIONS, RESETS = "policy.uniform", "environment.start_uniform_2"
FIRST, ORDERS = "environment.start_uniform", "minibatch.sample_permutation"
PARAMETERS = "parameters."


def shown() -> Program:
    """PPO with its draws and parameters among the outputs."""
    written: Program = ppo()
    names = [ACTIONS, RESETS, FIRST, ORDERS]
    names += [
        array.name
        for array in written.arrays
        if array.name.startswith(PARAMETERS) and array.dims == ("i", "e", "m")
    ]
    outputs = (*written.outputs, *(Output(name, name) for name in names))
    return replace(written, equations=replace(written.equations, outputs=outputs))


def ours(seed: int = 0) -> Mapping[str, Any]:
    """The outputs of the workbench's program, in float32."""
    return get(default()).compile(shown()).run(SIZES, seed, "float32").outputs


def compared() -> dict[str, Any]:
    """The largest difference of a loss, relative to the largest loss of its update."""
    import jax.numpy as jnp

    from tests.benchmarks.rivals.jax_ppo import Draws, same_losses

    found = ours()
    parameters = {
        name.removeprefix(PARAMETERS): values[0, 0, 0]
        for name, values in found.items()
        if name.startswith(PARAMETERS)
    }
    draws = [
        Draws(
            jnp.asarray(found[ACTIONS][:, i].T),
            jnp.asarray(np.swapaxes(found[RESETS][:, i], 0, 1)),
            jnp.asarray(found[ORDERS][i]),
        )
        for i in range(SIZES["I"])
    ]
    theirs = same_losses(parameters, jnp.asarray(found[FIRST]), draws, SIZES["M"])
    losses = found["loss"].reshape(SIZES["I"], -1)
    theirs = theirs.reshape(SIZES["I"], -1)
    off = np.abs(losses - theirs).max(axis=1) / np.abs(losses).max(axis=1)
    return {"benchmark": "losses beside jax", **SIZES, "off": [float(x) for x in off]}


if __name__ == "__main__":
    print(json.dumps(compared()))
