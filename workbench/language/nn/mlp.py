"""The multi-layer perceptron, its layers unrolled or a dimension."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from workbench.errors import ProgramError
from workbench.language.nn.initializers import Initializer, constant, orthogonal
from workbench.language.nn.network import Network, expect_shape, widths
from workbench.language.nn.parameters import Member
from workbench.language.tracing.functions import tanh
from workbench.language.tracing.recurrent import Recurrent
from workbench.language.tracing.tensor import Tensor
from workbench.language.tracing.trace import Range, current, user_line
from workbench.polyhedral.expression import expression, variable, whole

Activation = Callable[[Tensor], Tensor]


def linear(
    name: str, inputs: int, outputs: int, gain: float = 1.0, initializer: Initializer | None = None
) -> Network[Tensor]:
    """Make the network x @ weight + bias, weight of shape (inputs, outputs)."""
    return mlp(name, inputs, (), outputs, output_gain=gain, initializer=initializer)


def mlp(
    name: str,
    inputs: int,
    hidden: Sequence[int],
    outputs: int,
    activation: Activation = tanh,
    hidden_gain: float = math.sqrt(2.0),
    output_gain: float = 0.01,
    initializer: Initializer | None = None,
    layers: str = "unrolled",
) -> Network[Tensor]:
    """Make a multi-layer perceptron with orthogonal weights and zero biases (unless `initializer`
    is given).

    `layers="unrolled"` makes statements for each layer. `layers="dim"`, for hidden layers of one
    width, makes those between the first and the output one recurrence over a dimension of layers:
    the program has the same number of statements whatever the depth.
    """
    if layers not in ("unrolled", "dim"):
        raise ProgramError(f'layers={layers!r}; expected "unrolled" or "dim"', user_line())
    if not _are_widths(hidden):
        raise ProgramError(
            f"network {name!r}: hidden layers {hidden!r}; expected their widths, like (64, 64)",
            user_line(),
        )
    sizes = widths(name, inputs, *hidden, outputs)
    if layers == "dim" and len(hidden) > 1:
        if len(set(sizes[1:-1])) > 1:
            raise ProgramError(
                f"network {name!r}: layers as a dim need hidden layers of one width, found "
                f"{', '.join(map(str, sizes[1:-1]))}",
                user_line(),
            )
        gains = hidden_gain, output_gain
        return _recurrent(name, sizes, activation, gains, initializer)
    last = len(sizes) - 1
    members: dict[str, Member] = {}
    for k in range(1, len(sizes)):
        gain = output_gain if k == last else hidden_gain
        members[f"weight_{k}"] = Member((sizes[k - 1], sizes[k]), initializer or orthogonal(gain))
        members[f"bias_{k}"] = Member((sizes[k],), constant(0.0))

    def function(own: Mapping[str, Tensor], x: Tensor) -> Tensor:
        expect_shape(name, "inputs", inputs, x)
        for k in range(1, len(sizes)):
            x = x @ own[f"weight_{k}"] + own[f"bias_{k}"]
            if k < last:
                x = activation(x)
                x.source.name = f"hidden_{k}"
        return x

    return Network(name, members, function)


def _are_widths(hidden: object) -> bool:
    if not isinstance(hidden, Sequence) or isinstance(hidden, str):
        return False
    return all((whole(width) or 0) > 0 for width in hidden)


def _recurrent(
    name: str,
    sizes: Sequence[int],
    activation: Activation,
    gains: tuple[float, float],
    initializer: Initializer | None,
) -> Network[Tensor]:
    """Make the perceptron with its equal layers over a dim l: hidden[…, 0] is the first layer's
    output, hidden[…, l + 1] = activation(hidden[…, l] @ weight[…, l] + bias[…, l]).
    """
    inputs, width, outputs, layer = sizes[0], sizes[1], sizes[-1], _layer_dim(len(sizes) - 3)
    inner, last = (initializer or orthogonal(gain) for gain in gains)
    members = {
        "weight_first": Member((inputs, width), inner),
        "bias_first": Member((width,), constant(0.0)),
        "weight": Member((width, width), inner, (layer,)),
        "bias": Member((width,), constant(0.0), (layer,)),
        "weight_last": Member((width, outputs), last),
        "bias_last": Member((outputs,), constant(0.0)),
    }

    def function(own: Mapping[str, Tensor], x: Tensor) -> Tensor:
        expect_shape(name, "inputs", inputs, x)
        trace = current()
        first = activation(x @ own["weight_first"] + own["bias_first"])
        dims = trace.ordered({*first.dims, *own["weight"].dims})
        between = Recurrent("hidden", (width,), dims, "float", trace.scope)
        trace.recurrents.append(between)
        at, l = {d: variable(d) for d in dims}, variable(layer)
        between.define(tuple((at | {layer: expression(0)}).values()), first)
        following = activation(between @ own["weight"] + own["bias"])
        between.define(tuple((at | {layer: l + 1}).values()), following)
        final = between.substitute({layer: trace.range(layer).upper})
        output = final @ own["weight_last"] + own["bias_last"]
        return output

    return Network(name, members, function)


def _layer_dim(count: int) -> str:
    """Return the dim of so many equal layers: networks of one depth share it."""
    trace, number = current(), 1
    while True:
        name = "l" if number == 1 else f"l_{number}"
        known = trace.dims.get(name)
        if known is None and name not in trace.sizes:
            upper = expression(count)
            trace.dims[name] = Range(name, expression(0), upper, line=user_line(), declared=True)
            return name
        if known is not None and known.declared and known.upper == count:
            return name
        number += 1
