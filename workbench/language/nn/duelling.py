"""The duelling network: the worth of a state and the advantages of actions from shared features."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from workbench.errors import ProgramError
from workbench.language.nn.mlp import Activation, linear, mlp
from workbench.language.nn.network import Network
from workbench.language.tracing.functions import tanh
from workbench.language.tracing.tensor import Tensor
from workbench.language.tracing.trace import user_line


def duelling(
    name: str,
    inputs: int,
    hidden: Sequence[int],
    outputs: int,
    activation: Activation = tanh,
    output_gain: float = 1.0,
) -> Network[Tensor]:
    """Make a network of action values, V(x) + A(x, a) - mean of A(x, ·) (Wang et al. 2016, eq. 9).

    The `hidden` layers, at least one, are shared by V and A, which are linear in the last.
    """
    if not hidden:
        raise ProgramError(
            f"network {name!r}: a duelling network without hidden layers; expected at least one",
            user_line(),
        )
    width = hidden[-1]
    features = mlp("features", inputs, hidden[:-1], width, activation, output_gain=math.sqrt(2.0))
    worth = linear("worth", width, 1, output_gain)
    advantage = linear("advantage", width, outputs, output_gain)
    parts = (features, worth, advantage)
    members = {f"{part.name}.{key}": m for part in parts for key, m in part.members.items()}

    def function(own: Mapping[str, Tensor], x: Tensor) -> Tensor:
        def output(part: Network[Tensor], of: Tensor) -> Tensor:
            return part.function({key: own[f"{part.name}.{key}"] for key in part.members}, of)

        shared = activation(output(features, x))
        advantages = output(advantage, shared)
        return output(worth, shared) + (advantages - advantages.mean())

    return Network(name, members, function)
