"""Attention of a value to the points of a range."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

from workbench.errors import ProgramError
from workbench.language.nn.initializers import Initializer, constant, orthogonal
from workbench.language.nn.network import Network, expect_shape, widths
from workbench.language.nn.parameters import Member
from workbench.language.tracing.functions import contract, exp, reshape, stop_gradient, where
from workbench.language.tracing.tensor import Tensor
from workbench.language.tracing.trace import current, inline, user_line
from workbench.polyhedral.expression import Expression
from workbench.program.operations.shapes import shape_text


def attention(
    name: str,
    size: int,
    heads: int = 1,
    inputs: int | None = None,
    initializer: Initializer | None = None,
) -> Network[Tensor]:
    """Make multi-head attention with scaled dot products (Vaswani et al. 2017, section 3.2).

    `network(theta, x, memory)` returns what x, of shape (size,), finds at the points of `memory`:
    of inner shape (points, inputs), as in `attend(theta, x, wb.window(x, t=16))` of the last 16
    steps, or of inner shape (inputs,) with one range axis, as in `attend(theta, x, x[b, i,
    wb.maximum(t - 15, 0):t + 1])`, which is slower but leaves out what is ahead of the first step.
    `inputs` is `size` unless given. The output has shape (size,). Points at which `network(theta,
    x, memory, mask)` finds False, a boolean for each, are not attended to: those of another
    episode, or ahead of the first step (`wb.window(known, t=16)` of a boolean that is True). One at
    least has to be True, or the output is NaN.

    Each of `heads` weighs the points by the softmax of query · key / sqrt(d), with d = size /
    heads, and the weighted sum of their values is projected. Keys and values are not made for each
    point: (x W_q) · (m W_k) is (x W_q W_k') · m, so that W_k is applied to the query, and W_v to
    the weighted sum of the points themselves. A bias of keys would change nothing, as it adds one
    number to all scores of a query.
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

    def function(
        own: Mapping[str, Tensor], x: Tensor, memory: Tensor, mask: Tensor | None = None
    ) -> Tensor:
        expect_shape(name, "inputs", width, x)
        rows = _points(name, given, memory, mask)
        query = by_head(x @ own["weight_query"] + own["bias_query"]) * (1.0 / math.sqrt(depth))
        asked = contract("hd,fhd->hf", query, by_head(own["weight_key"]))

        def score() -> Tensor:
            each = contract("hf,f->h" if rows is None else "hf,wf->wh", asked, memory)
            if mask is None:
                return each
            return where(mask if rows is None else reshape(mask, (rows, 1)), each, -math.inf)

        # what is computed for each point of a range is part of each sum: it would be an array over
        # all pairs of points
        with inline() if rows is None else nullcontext():
            along: Any = {"axis": 0} if rows else {"over": "range"}
            highest = stop_gradient(score().max(**along))
            total = exp(score() - highest).sum(**along)
            spec = "h,f->hf" if rows is None else "wh,wf->hf"
            found = contract(spec, exp(score() - highest), memory)
            found = found if rows else found.sum(**along)
        mixed = contract("hf,fhd->hd", found, by_head(own["weight_value"]))
        heads = reshape(mixed / reshape(total, (count, 1)), (width,)) + own["bias_value"]
        return heads @ own["weight_output"] + own["bias_output"]

    return Network(name, members, function)


def _points(name: str, inputs: int, memory: Tensor, mask: Tensor | None) -> int | None:
    """Return the points of a memory along its first inner axis, None where they are a range."""
    *rows, width = memory.shape or (0,)
    points = rows[0] if rows else None
    if width != inputs or len(rows) > 1 or isinstance(points, Expression):
        raise ProgramError(
            f"network {name!r} expects a memory of shape ({inputs},) with a range axis, as "
            f"x[b, t:T], or of shape (points, {inputs}), found {memory!r}",
            user_line(),
        )
    if mask is not None and (mask.dtype != "bool" or mask.shape != tuple(rows)):
        raise ProgramError(
            f"network {name!r} expects a mask of booleans of shape {shape_text(tuple(rows))}, one "
            f"for each point, found {mask!r}",
            user_line(),
        )
    if not rows:
        _range_of(name, memory)
    return points


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
