"""Layers that are networks of their own: free vectors, embeddings, normalised inputs."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.errors import ProgramError
from workbench.language.nn.initializers import Initializer, constant, normal
from workbench.language.nn.network import Network, expect_shape, widths
from workbench.language.nn.parameters import Member
from workbench.language.tracing.functions import sqrt
from workbench.language.tracing.given_shapes import shape_of
from workbench.language.tracing.tensor import Tensor
from workbench.language.tracing.trace import user_line
from workbench.program.operations.dtypes import INTEGERS


def vector(name: str, size: int, value: float = 0.0) -> Network[Tensor]:
    """Make parameters that are themselves the output: a free log standard deviation."""

    def function(own: Mapping[str, Tensor]) -> Tensor:
        return own["value"]

    (width,) = shape_of(size, f"network {name!r}: size")
    return Network(name, {"value": Member((width,), constant(value))}, function)


def embedding(
    name: str, count: int, size: int, initializer: Initializer | None = None
) -> Network[Tensor]:
    """Make a table of `count` vectors of `size` numbers, standard normal unless `initializer` is
    given. The input is integers of any inner shape; the output has one more inner axis, of `size`.

    A run stops at an integer outside of the table and names the instance.
    """
    rows, width = widths(name, count, size)

    def function(own: Mapping[str, Tensor], index: Tensor) -> Tensor:
        if index.dtype not in INTEGERS:
            raise ProgramError(f"network {name!r} expects integers, found {index!r}", user_line())
        return own["table"][..., index, :]

    return Network(name, {"table": Member((rows, width), initializer or normal())}, function)


def layer_norm(name: str, size: int, eps: float = 1e-5) -> Network[Tensor]:
    """Make the network scale * (x - mean) / sqrt(variance + eps) + shift, with mean and variance of
    the `size` entries of x (Ba, Kiros and Hinton 2016, eq. 4). It begins with a scale of 1 and a
    shift of 0.
    """
    (width,) = widths(name, size)

    def function(own: Mapping[str, Tensor], x: Tensor) -> Tensor:
        expect_shape(name, "inputs", width, x)
        centred = x - x.mean(axis=0)
        return centred / sqrt((centred * centred).mean(axis=0) + eps) * own["scale"] + own["shift"]

    members = {"scale": Member((width,), constant(1.0)), "shift": Member((width,), constant(0.0))}
    return Network(name, members, function)
