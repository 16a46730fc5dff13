"""Optimizers: from derivatives to the parameters after the update."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from numbers import Real
from typing import Any

from workbench.errors import ProgramError
from workbench.language.gradient import Gradient
from workbench.language.nn import (
    Member,
    Parameters,
    carried,
    constant,
    expect_over,
    given,
    step_number,
)
from workbench.language.tracing.functions import minimum, sqrt, where
from workbench.language.tracing.nodes import apply, as_tensor, cast, index
from workbench.language.tracing.quoting import element_text
from workbench.language.tracing.tensor import Tensor, TensorLike
from workbench.language.tracing.trace import current, dim_names, scope, user_line
from workbench.polyhedral.expression import variable
from workbench.program.operations.shapes import shape_text


def sgd(
    gradient: Gradient, learning_rate: TensorLike, momentum: float = 0.0, nesterov: bool = False
) -> Mapping[str, Tensor]:
    """Return theta - learning_rate * gradient.

    With `momentum` a velocity v = momentum * v + gradient, stored beside the parameters, takes the
    gradient's place (Polyak 1964), with `nesterov` also gradient + momentum * v (Sutskever et al.
    2013), as in PyTorch.
    """
    _expect(gradient)
    _expect_momentum(momentum)
    if nesterov and not momentum:
        raise ProgramError("optim.sgd with nesterov=True; expected momentum= too", user_line())
    velocity = _Velocity(gradient.parameters, momentum)
    theta, values = gradient.parameters.tensors, {}
    with scope("optimizer"):
        for name, g in gradient.items():
            values[name] = theta[name] - as_tensor(learning_rate) * (
                g + momentum * velocity(name, g) if nesterov else velocity(name, g)
            )
    velocity.update()
    return values


class _Velocity:
    """The steps of an optimizer added up: momentum * velocity + step, stored beside the parameters.
    Without momentum it is the step itself, and nothing is stored.
    """

    def __init__(self, parameters: Parameters, momentum: float) -> None:
        self.momentum, self.after = momentum, dict[str, Tensor]()
        if momentum:
            zeros = parameters.like(constant(0.0)).items()
            members = {f"velocity.{name}": row for name, row in zeros}
            self.before = carried(members, parameters.over, "optimizer")

    def __call__(self, name: str, step: Tensor) -> Tensor:
        """Return a parameter's velocity after one more step."""
        if not self.momentum:
            return step
        key = f"velocity.{name}"
        self.after[key] = self.momentum * self.before.tensors[key] + step
        return self.after[key]

    def update(self) -> None:
        """Define the velocities after the present update."""
        if self.momentum:
            self.before.update(self.after)


def adam(
    gradient: Gradient,
    learning_rate: TensorLike,
    beta_1: float = 0.9,
    beta_2: float = 0.999,
    eps: float = 1e-8,
    when: Tensor | None = None,
) -> Mapping[str, Tensor]:
    """Apply Adam (Kingma & Ba 2015, algorithm 1); its moments are stored beside the parameters.

    `when`, a boolean over the dims of the updates, tells which of them are made: in the others
    parameters and moments stay as they are, and the algorithm's step does not count.
    """
    _expect(gradient)
    parameters = gradient.parameters
    zeros = parameters.like(constant(0.0))
    first = carried({f"m.{n}": row for n, row in zeros.items()}, parameters.over, "optimizer")
    second = carried({f"v.{n}": row for n, row in zeros.items()}, parameters.over, "optimizer")
    # no variable holds a single parameter's moment or step: it would be named, and so a statement
    values, means, squares = {}, {}, {}
    with scope("optimizer"):
        k = _made(parameters, when)
        correction_1 = 1.0 - apply("power", beta_1, k)
        correction_2 = 1.0 - apply("power", beta_2, k)
        for name, g in gradient.items():
            m, v = f"m.{name}", f"v.{name}"
            means[m] = beta_1 * first.tensors[m] + (1.0 - beta_1) * g
            squares[v] = beta_2 * second.tensors[v] + (1.0 - beta_2) * (g * g)
            values[name] = parameters.tensors[name] - as_tensor(learning_rate) * (
                means[m] / correction_1 / (sqrt(squares[v] / correction_2) + eps)
            )
    first.update(_chosen(when, means, first.tensors))
    second.update(_chosen(when, squares, second.tensors))
    return _chosen(when, values, parameters.tensors)


def _made(parameters: Parameters, when: Tensor | None) -> Tensor:
    """Return the number of updates made, the present one included."""
    if when is None:
        return cast(index(step_number(parameters.over) + 1), "float")
    expect_over(parameters, when)
    name = f"made.{next(iter(parameters.arrays))}"  # several optimizers have a number each
    made = carried({name: Member((), constant(0.0))}, parameters.over, "optimizer")
    present = made.tensors[name] + 1.0
    made.update({name: where(when, present, made.tensors[name])})
    return present


def _chosen(
    when: Tensor | None, after: Mapping[str, Tensor], before: Mapping[str, Tensor]
) -> Mapping[str, Tensor]:
    """Return what follows where an update is made, and what was before elsewhere."""
    if when is None:
        return after
    return {name: where(when, x, before[name]) for name, x in after.items()}


def rmsprop(
    gradient: Gradient,
    learning_rate: TensorLike,
    decay: float = 0.99,
    eps: float = 1e-5,
    momentum: float = 0.0,
    centered: bool = False,
) -> Mapping[str, Tensor]:
    """Apply RMSProp (Tieleman & Hinton 2012), eps inside the root as in Mnih et al. 2016, section
    4.

    With `centered` the mean square is less the squared mean, and with `momentum` the steps are
    added up as in `sgd` (Graves 2013, eq. 38 to 41: the optimizer of Mnih et al. 2015).
    """
    _expect(gradient)
    _expect_momentum(momentum)
    parameters = gradient.parameters
    zeros = parameters.like(constant(0.0))
    kept = {f"v.{n}": row for n, row in zeros.items()}
    if centered:
        kept |= {f"m.{n}": row for n, row in zeros.items()}
    before, velocity = carried(kept, parameters.over, "optimizer"), _Velocity(parameters, momentum)
    values, after = {}, {}
    with scope("optimizer"):
        for name, g in gradient.items():
            m, v = f"m.{name}", f"v.{name}"
            after[v] = decay * before.tensors[v] + (1.0 - decay) * (g * g)
            if centered:
                after[m] = decay * before.tensors[m] + (1.0 - decay) * g
            values[name] = parameters.tensors[name] - as_tensor(learning_rate) * velocity(
                name, g / sqrt((after[v] - after[m] * after[m] if centered else after[v]) + eps)
            )
    before.update(after)
    velocity.update()
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


def estimate(parameters: Parameters, values: Mapping[str, TensorLike]) -> Gradient:
    """Make what optimizers take of derivatives that were found otherwise than by `wb.gradient`, as
    by evolution strategies: a value by name for each parameter, of its shape and over its dims.
    """
    arrays: Mapping[str, Tensor] = getattr(parameters, "arrays", {})
    if not arrays or set(values) != set(arrays):
        expected = ", ".join(arrays) or "nn.parameters and a value for each of them"
        raise ProgramError(
            f"optim.estimate of {', '.join(values) or 'nothing'}; expected {expected}", user_line()
        )
    tensors = {name: as_tensor(values[name]) for name in arrays}
    for name, x in tensors.items():
        shape, dims = arrays[name].shape, arrays[name].dims
        if x.shape != shape or x.dtype != "float" or not set(x.dims) <= set(dims):
            raise ProgramError(
                f"optim.estimate of {name}: {x!r}; expected a float{shape_text(shape)} over "
                f"{', '.join(dims) or 'no dim'}",
                user_line(),
            )
    return Gradient(given(tensors).tensors, parameters, None)


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
    extra = [current().dims[d].text for d in loss.dims if d not in over] if loss is not None else []
    if loss is not None and extra:
        listed = " and ".join(extra)
        raise ProgramError(
            f"the gradient is of {element_text(loss)}, which varies over {listed}: there is one "
            f"for each of its values, but the parameters vary over {', '.join(over) or 'no dim'}; "
            f"sum or average the loss over {listed} first",
            user_line(),
        )


def _expect_momentum(momentum: object) -> None:
    if not isinstance(momentum, Real) or not 0.0 <= float(momentum) < 1.0:
        raise ProgramError(
            f"momentum={momentum!r}; expected a number from 0 to below 1", user_line()
        )
