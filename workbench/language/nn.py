"""Networks and their parameters: layers, initialisers, and arrays with one value per update."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.errors import ProgramError
from workbench.language.random import draws
from workbench.language.tracing.functions import broadcast_to, tanh
from workbench.language.tracing.given_shapes import shape_of
from workbench.language.tracing.nodes import apply, literal
from workbench.language.tracing.recurrent import Recurrent
from workbench.language.tracing.tensor import Tensor
from workbench.language.tracing.trace import Range, current, dim_names, scope, user_line
from workbench.polyhedral.expression import Expression, choice, expression, variable, whole
from workbench.program.operations.shapes import shape_text
from workbench.program.values import Shape

Initializer = Callable[[Shape, tuple[str, ...]], Tensor]
"""A function of a parameter's shape and layer dims that returns its first value, for each layer."""
Activation = Callable[[Tensor], Tensor]


def orthogonal(gain: float = 1.0) -> Initializer:
    """Return an initializer: a random matrix with orthonormal rows or columns, times `gain` (Saxe
    et al. 2014).
    """
    return lambda shape, layers: apply("orthogonalize", draws("normal", shape, layers)) * gain


def uniform(bound: float) -> Initializer:
    """Return an initializer: independent entries from [-bound, bound)."""
    return lambda shape, layers: draws("uniform", shape, layers) * (2.0 * bound) - bound


def constant(value: float = 0.0) -> Initializer:
    """Return an initializer: every entry the same."""
    return lambda shape, layers: broadcast_to(literal(float(value)), shape)


@dataclass(frozen=True)
class Member:
    """A parameter of a network: its inner shape, its first value, and its layer dim, if any."""

    shape: Shape
    initializer: Initializer
    layers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Network:
    """A function of parameters and an input; `members` are its parameters by name."""

    name: str
    members: Mapping[str, Member]
    function: Callable[[Mapping[str, Tensor], Any], Tensor]

    def __call__(self, parameters: Parameters | ParametersAt, x: Tensor | None = None) -> Tensor:
        """Return the output for input `x`, with the given parameters."""
        missing = [n for n in self.members if f"{self.name}.{n}" not in parameters.tensors]
        if missing:
            raise ProgramError(
                f"network {self.name!r} needs the parameters {', '.join(missing)}, which are not "
                f"among {', '.join(parameters.tensors)}; pass the network to nn.parameters",
                user_line(),
            )
        own = {n: parameters.tensors[f"{self.name}.{n}"] for n in self.members}
        with scope(self.name):
            output = self.function(own, x)
        return output


def linear(
    name: str, inputs: int, outputs: int, gain: float = 1.0, initializer: Initializer | None = None
) -> Network:
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
) -> Network:
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
    sizes = _widths(name, inputs, hidden, outputs)
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
        _expect_inputs(name, inputs, x)
        for k in range(1, len(sizes)):
            x = x @ own[f"weight_{k}"] + own[f"bias_{k}"]
            if k < last:
                x = activation(x)
                x.source.name = f"hidden_{k}"
        return x

    return Network(name, members, function)


def _widths(name: str, inputs: Any, hidden: Iterable[Any], outputs: Any) -> list[int]:
    """Return the widths as Python numbers (`env.observation_space.n` is NumPy's)."""
    numbers = []
    for width in (inputs, *hidden, outputs):
        number = whole(width)
        if number is None or number < 1:
            raise ProgramError(
                f"network {name!r}: a width is {width!r}; expected a whole number from 1 on",
                user_line(),
            )
        numbers.append(number)
    return numbers


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
) -> Network:
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
        _expect_inputs(name, inputs, x)
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


def _expect_inputs(name: str, inputs: int, x: Tensor) -> None:
    if x.shape != (inputs,):
        raise ProgramError(
            f"network {name!r} expects inputs of shape ({inputs},), found {shape_text(x.shape)}",
            user_line(),
        )


def vector(name: str, size: int, value: float = 0.0) -> Network:
    """Make parameters that are themselves the output: a free log standard deviation."""

    def function(own: Mapping[str, Tensor], x: Tensor | None) -> Tensor:
        return own["value"]

    (width,) = shape_of(size, f"network {name!r}: size")
    return Network(name, {"value": Member((width,), constant(value))}, function)


@dataclass(frozen=True)
class ParametersAt:
    """Parameters read at fixed indices (`theta[i, 0, 0]`): other elements than `theta` itself."""

    tensors: Mapping[str, Tensor]


class Parameters:
    """One recurrent tensor per parameter, over the dims that count updates.

    `update(values)` writes the lexicographic successor of the present update: the next one of the
    innermost dim, or the first one of the next outer dim. So element (i, e + 1, 0) follows (i, e, M
    - 1).
    """

    def __init__(self, arrays: Mapping[str, Recurrent], over: tuple[str, ...]) -> None:
        self.arrays = dict(arrays)
        self.over = over

    @property
    def tensors(self) -> Mapping[str, Tensor]:
        """The parameters at the loop variables, by name."""
        return self.arrays

    def layers(self, name: str) -> tuple[str, ...]:
        """Return a parameter's layer dim, if it has one: its dims behind those of the updates."""
        return self.arrays[name].declared[len(self.over) :]

    def like(self, initializer: Initializer) -> dict[str, Member]:
        """Return members of the parameters' shapes and layers: an optimizer's moments."""
        return {
            name: Member(x.shape, initializer, self.layers(name)) for name, x in self.arrays.items()
        }

    def __getitem__(self, key: Any) -> ParametersAt:
        return ParametersAt({name: x[key] for name, x in self.arrays.items()})

    def update(self, values: Mapping[str, Tensor]) -> None:
        """Define the parameters after the present update."""
        if set(values) != set(self.arrays):
            raise ProgramError(
                f"update of {', '.join(sorted(values))}; expected {', '.join(sorted(self.arrays))}",
                user_line(),
            )
        for name, value in values.items():
            layers = (variable(d) for d in self.layers(name))
            self.arrays[name].define((*successor(self.over), *layers), value)


def parameters(*networks: Network, over: Any = ()) -> Parameters:
    """Make parameters over the dims that count updates: `over=i`, `over=(i, e, m)`."""
    dims = dim_names(over) if over != () else ()
    return carried(
        {f"{n.name}.{key}": member for n in networks for key, member in n.members.items()}, dims
    )


def carried(
    members: Mapping[str, Member],
    dims: tuple[str, ...],
    within: str = "parameters",
) -> Parameters:
    """Make recurrent tensors over the update dims, with first values; `update` defines the rest."""
    trace = current()
    trace.updates.update(dict.fromkeys(dims[:1]))
    arrays: dict[str, Recurrent] = {}
    with scope(within):
        for name, member in members.items():
            if any(r.name == name and r.scope == trace.scope for r in trace.recurrents):
                raise ProgramError(f"there are already parameters named {name}", user_line())
            layers = member.layers
            array = Recurrent(name, member.shape, (*dims, *layers), "float", trace.scope)
            trace.recurrents.append(array)
            first = (*(expression(0) for _ in dims), *(variable(d) for d in layers))
            array.define(first, member.initializer(member.shape, layers))
            arrays[name] = array
    return Parameters(arrays, dims)


def successor(dims: tuple[str, ...]) -> tuple[Expression, ...]:
    """Return the lexicographic successor of an index over dims, the outermost unbounded."""
    trace = current()
    last = {d: variable(d) - trace.range(d).upper + 1 for d in dims}
    following = []
    for position, d in enumerate(dims):
        inner_at_end = tuple(last[x] for x in dims[position + 1 :])
        stepped = choice(inner_at_end, variable(d) + 1, variable(d))
        if position:
            stepped = choice((last[d], *inner_at_end), 0, stepped)
        following.append(stepped)
    return tuple(following)


def step_number(dims: tuple[str, ...]) -> Expression:
    """Return the number of updates before the present one."""
    trace = current()
    number = expression(0)
    for d in dims:
        number = number * trace.range(d).upper + variable(d)
    return number
