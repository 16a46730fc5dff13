"""Networks and their parameters: layers, initialisers, cells, attention, targets.

`network` says what a network is, `parameters` what is carried from one update to the next; each
other file has networks of one kind.
"""

from workbench.language.nn.attention import attention
from workbench.language.nn.cells import gru, lstm
from workbench.language.nn.duelling import duelling
from workbench.language.nn.initializers import Initializer, constant, normal, orthogonal, uniform
from workbench.language.nn.layers import embedding, layer_norm, vector
from workbench.language.nn.mlp import Activation, linear, mlp
from workbench.language.nn.network import Network, parameters
from workbench.language.nn.parameters import (
    Member,
    Parameters,
    ParametersAt,
    carried,
    expect_over,
    given,
    step_number,
    successor,
)
from workbench.language.nn.target import target

__all__ = [
    "Activation",
    "Initializer",
    "Member",
    "Network",
    "Parameters",
    "ParametersAt",
    "attention",
    "carried",
    "constant",
    "duelling",
    "embedding",
    "expect_over",
    "given",
    "gru",
    "layer_norm",
    "linear",
    "lstm",
    "mlp",
    "normal",
    "orthogonal",
    "parameters",
    "step_number",
    "successor",
    "target",
    "uniform",
    "vector",
]
