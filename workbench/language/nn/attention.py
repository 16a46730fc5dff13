"""Attention of a value to the points of a range."""

from __future__ import annotations

import math
from collections.abc import Mapping

from workbench.errors import ProgramError
from workbench.language.nn.initializers import Initializer, constant, orthogonal
from workbench.language.nn.network import Network, expect_shape, widths
from workbench.language.nn.parameters import Member
from workbench.language.tracing.functions import contract, exp, reshape, stop_gradient
from workbench.language.tracing.tensor import Tensor
from workbench.language.tracing.trace import current, inline, user_line
from workbench.polyhedral.expression import variable


def attention(
    name: str,
    size: int,
    heads: int = 1,
    inputs: int | None = None,
    initializer: Initializer | None = None,
) -> Network[Tensor]:
    """Make multi-head attention with scaled dot products (Vaswani et al. 2017, section 3.2).

    `network(theta, x, memory)` returns what x, of shape (size,), finds in `memory`, of inner shape
    (inputs,) and with one range axis: `attend(theta, x, x[b, i, wb.maximum(t - 15, 0):t + 1])`
    attends to the last 16 steps. `inputs` is `size` unless given. The output has shape (size,).

    Each of `heads` weighs the points by the softmax over the range of query · key / sqrt(d), with d
    = size / heads, and the weighted sum of their values is projected. Keys and values are not made
    for each point: (x W_q) · (m W_k) is (x W_q W_k') · m, so that W_k is applied to the query, and
    W_v to the weighted sum of the points themselves. A bias of keys would change nothing, as it
    adds one number to all scores of a query.
    """
    width, count, given = widths(name, size, heads, size if inputs is None else inputs)
    depth, weights = width // count, initializer or orthogonal()
    if width % count:
        raise ProgramError(
            f"network {name!r}: {width} numbers in {count} heads; expected a multiple of {count}",
            user_line(),
        )
    members = {
        "weight_query": Member((width, width), weights),
        "bias_query": Member((width,), constant(0.0)),
        "weight_key": Member((given, width), weights),
        "weight_value": Member((given, width), weights),
        "bias_value": Member((width,), constant(0.0)),
        "weight_output": Member((width, width), weights),
        "bias_output": Member((width,), constant(0.0)),
    }

    def by_head(x: Tensor) -> Tensor:
        return reshape(x, (*x.shape[:-1], count, depth))

    def function(own: Mapping[str, Tensor], x: Tensor, memory: Tensor) -> Tensor:
        expect_shape(name, "inputs", width, x)
        expect_shape(name, "a memory", given, memory)
        point = variable(_range_of(name, memory))
        query = by_head(x @ own["weight_query"] + own["bias_query"]) * (1.0 / math.sqrt(depth))
        asked = contract("hd,fhd->hf", query, by_head(own["weight_key"]))
        # what is computed for each point is part of each sum: it would be an array over all points
        with inline():
            highest = stop_gradient((asked @ memory).max(over=point))
            total = exp(asked @ memory - highest).sum(over=point)
            found = contract("h,f->hf", exp(asked @ memory - highest), memory).sum(over=point)
        mixed = contract("hf,fhd->hd", found, by_head(own["weight_value"]))
        heads = reshape(mixed / reshape(total, (count, 1)), (width,)) + own["bias_value"]
        return heads @ own["weight_output"] + own["bias_output"]

    return Network(name, members, function)


def _range_of(name: str, memory: Tensor) -> str:
    """Return the one range axis of a memory."""
    ranges = [d for d in memory.dims if current().dims[d].axis is not None]
    if len(ranges) != 1:
        raise ProgramError(
            f"network {name!r} expects a memory with one range axis, as x[b, t:T], found "
            f"{memory!r}",
            user_line(),
        )
    return ranges[0]
