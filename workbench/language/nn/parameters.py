"""Parameters: recurrent tensors with one value per update, and what is carried over beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.errors import ProgramError, SourceLine
from workbench.language.gradient import Gradient
from workbench.language.nn.initializers import Initializer
from workbench.language.tracing.functions import stop_gradient
from workbench.language.tracing.nodes import as_tensor
from workbench.language.tracing.recurrent import Recurrent
from workbench.language.tracing.tensor import Node, Tensor, TensorLike
from workbench.language.tracing.trace import current, scope, user_line
from workbench.polyhedral.expression import Expression, choice, expression, variable
from workbench.program.bodies import Shape


@dataclass(frozen=True)
class Member:
    """A parameter of a network: its inner shape, its first value, and its layer dim, if any."""

    shape: Shape
    initializer: Initializer
    layers: tuple[str, ...] = ()


@dataclass(frozen=True)
class ParametersAt:
    """Parameters read at fixed indices (`theta[i, 0, 0]`): other elements than `theta` itself."""

    tensors: Mapping[str, Tensor]

    def constant(self) -> ParametersAt:
        """Return the same parameters, constant to `gradient`."""
        return ParametersAt({name: stop_gradient(x) for name, x in self.tensors.items()})


class Parameters:
    """One recurrent tensor per parameter, over the dims that count updates.

    `update(values)` writes the lexicographic successor of the present update: the next one of the
    innermost dim, or the first one of the next outer dim. So element (i, e + 1, 0) follows (i, e, M
    - 1).
    """

    def __init__(self, arrays: Mapping[str, Recurrent], over: tuple[str, ...]) -> None:
        self.arrays = dict(arrays)
        self.over = over
        self._updated: SourceLine | None = None

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
        if isinstance(key, str):
            raise ProgramError(
                f"[{key!r}] of parameters, which are indexed by {', '.join(self.over)}; one of "
                f"them by its name is .tensors[{key!r}]",
                user_line(),
            )
        return ParametersAt({name: x[key] for name, x in self.arrays.items()})

    def update(self, values: Mapping[str, TensorLike]) -> None:
        """Define the parameters after the present update, once. Raises ProgramError for a gradient,
        of which an optimizer makes them.
        """
        if isinstance(values, Gradient):
            raise ProgramError(
                f"update of {', '.join(sorted(values))} by a gradient; expected the next "
                "parameters, which an optimizer makes of it: optim.sgd(gradient, 0.1)",
                user_line(),
            )
        if set(values) != set(self.arrays):
            raise ProgramError(
                f"update of {', '.join(sorted(values))}; expected {', '.join(sorted(self.arrays))}",
                user_line(),
            )
        if self._updated is not None:
            raise ProgramError(
                f"{', '.join(self.arrays)} are updated twice; their next values are given already "
                f"by {self._updated}",
                user_line(),
            )
        self._updated = user_line()
        for name, value in values.items():
            layers = (variable(d) for d in self.layers(name))
            self.arrays[name].define((*successor(self.over), *layers), as_tensor(value))


def given(values: Mapping[str, Tensor]) -> ParametersAt:
    """Make parameters of values by name, which networks take in the place of those that are
    learned: `nn.given({name: x + noise[name] for name, x in theta.tensors.items()})`.
    """
    for name, value in values.items():
        if isinstance(value.source, Node) and value.source.name is None:
            value.source.name = name
    return ParametersAt(values)


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


def expect_over(parameters: Parameters, when: Any) -> None:
    """Refuse what does not tell of each update whether it is made."""
    known = isinstance(when, Tensor) and when.dtype == "bool" and not when.shape
    if not known or not set(when.dims) <= set(parameters.over):
        raise ProgramError(
            f"when={when!r}; expected a boolean scalar over {', '.join(parameters.over)}",
            user_line(),
        )
