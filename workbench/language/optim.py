"""Optimizers: from derivatives to the parameters after the update."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from typing import Any

from workbench.errors import ProgramError
from workbench.language.gradient import Gradient
from workbench.language.nn import carried, constant, step_number
from workbench.language.tracing.functions import minimum, sqrt
from workbench.language.tracing.nodes import apply, as_tensor, cast, index
from workbench.language.tracing.quoting import element_text
from workbench.language.tracing.tensor import Tensor, TensorLike
from workbench.language.tracing.trace import current, dim_names, scope, user_line
from workbench.polyhedral.expression import variable


def sgd(gradient: Gradient, learning_rate: TensorLike) -> Mapping[str, Tensor]:
    """Return theta - learning_rate * gradient."""
    _expect(gradient)
    with scope("optimizer"):
        theta = gradient.parameters.tensors
        return {name: theta[name] - as_tensor(learning_rate) * g for name, g in gradient.items()}


def adam(
    gradient: Gradient,
    learning_rate: TensorLike,
    beta_1: float = 0.9,
    beta_2: float = 0.999,
    eps: float = 1e-8,
) -> Mapping[str, Tensor]:
    """Apply Adam (Kingma & Ba 2015, algorithm 1); its moments are stored beside the parameters."""
    _expect(gradient)
    parameters = gradient.parameters
    zeros = parameters.like(constant(0.0))
    first = carried({f"m.{n}": row for n, row in zeros.items()}, parameters.over, "optimizer")
    second = carried({f"v.{n}": row for n, row in zeros.items()}, parameters.over, "optimizer")
    # no variable holds a single parameter's moment or step: it would be named, and so a statement
    values, means, squares = {}, {}, {}
    with scope("optimizer"):
        k = cast(index(step_number(parameters.over) + 1), "float")
        correction_1 = 1.0 - apply("power", beta_1, k)
        correction_2 = 1.0 - apply("power", beta_2, k)
        for name, g in gradient.items():
            m, v = f"m.{name}", f"v.{name}"
            means[m] = beta_1 * first.tensors[m] + (1.0 - beta_1) * g
            squares[v] = beta_2 * second.tensors[v] + (1.0 - beta_2) * (g * g)
            values[name] = parameters.tensors[name] - as_tensor(learning_rate) * (
                means[m] / correction_1 / (sqrt(squares[v] / correction_2) + eps)
            )
    first.update(means)
    second.update(squares)
    return values


def rmsprop(
    gradient: Gradient, learning_rate: TensorLike, decay: float = 0.99, eps: float = 1e-5
) -> Mapping[str, Tensor]:
    """Apply RMSProp without momentum (Mnih et al. 2016, section 4): eps is inside the root."""
    _expect(gradient)
    parameters = gradient.parameters
    zeros = parameters.like(constant(0.0))
    second = carried({f"v.{n}": row for n, row in zeros.items()}, parameters.over, "optimizer")
    values, squares = {}, {}
    with scope("optimizer"):
        for name, g in gradient.items():
            v = f"v.{name}"
            squares[v] = decay * second.tensors[v] + (1.0 - decay) * (g * g)
            values[name] = parameters.tensors[name] - as_tensor(learning_rate) * (
                g / sqrt(squares[v] + eps)
            )
    second.update(squares)
    return values


def clip_by_global_norm(gradient: Gradient, norm: float) -> Gradient:
    """Scale all derivatives together so that their joint Euclidean norm is at most `norm`."""
    _expect(gradient)
    with scope("optimizer"):
        squares = [_total(g * g, gradient.parameters.layers(name)) for name, g in gradient.items()]
        global_norm = sqrt(functools.reduce(operator.add, squares))
        # the small constant only guards the quotient at 0, as CleanRL's and PyTorch's clipping do
        scale = minimum(1.0, norm / (global_norm + 1e-6))
        return Gradient(
            {name: g * scale for name, g in gradient.items()}, gradient.parameters, gradient.loss
        )


def linear_annealing(start: float, end: float, over: Any) -> Tensor:
    """Return a rate that goes linearly from `start` at a dim's first value to `end` behind its
    last.
    """
    (name,) = dim_names(over)
    count = cast(index(current().range(name).upper), "float")
    return start + (end - start) * (cast(index(variable(name)), "float") / count)


def _total(x: Tensor, layers: tuple[str, ...]) -> Tensor:
    """Return the sum over inner axes and layers."""
    total = x.sum() if x.shape else x
    return total.sum(over=tuple(variable(d) for d in layers)) if layers else total


def _expect(gradient: Any) -> None:
    if not isinstance(gradient, Gradient):
        raise ProgramError(
            f"expected wb.gradient(loss, theta) of nn.parameters, found {gradient!r}", user_line()
        )
    over, loss = gradient.parameters.over, gradient.loss
    extra = [current().dims[d].text for d in loss.dims if d not in over]
    if extra:
        listed = " and ".join(extra)
        raise ProgramError(
            f"the gradient is of {element_text(loss)}, which varies over {listed}: there is one "
            f"for each of its values, but the parameters vary over {', '.join(over) or 'no dim'}; "
            f"sum or average the loss over {listed} first",
            user_line(),
        )
