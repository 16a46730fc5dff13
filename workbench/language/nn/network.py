"""A network: a function of named parameters and inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any, Generic, TypeVar

from workbench.errors import ProgramError
from workbench.language.nn.parameters import Member, Parameters, ParametersAt, carried
from workbench.language.tracing.nodes import as_tensor
from workbench.language.tracing.tensor import Tensor, TensorLike
from workbench.language.tracing.trace import dim_names, scope, user_line
from workbench.polyhedral.expression import Expression, whole
from workbench.program.operations.shapes import shape_text

Output = TypeVar("Output")


@dataclass(frozen=True)
class Network(Generic[Output]):
    """A function of parameters and inputs; `members` are its parameters by name."""

    name: str
    members: Mapping[str, Member]
    function: Callable[..., Output]
    """The output for the parameters by name, and the inputs."""

    def __call__(self, parameters: Parameters | ParametersAt, *inputs: TensorLike) -> Output:
        """Return the output for inputs, with the given parameters."""
        if not isinstance(parameters, Parameters | ParametersAt):
            raise ProgramError(
                f"network {self.name!r} is called with parameters before its inputs, as in "
                f"{self.name}(theta, x) where theta = nn.parameters({self.name}), found "
                f"{parameters!r}",
                user_line(),
            )
        missing = [n for n in self.members if f"{self.name}.{n}" not in parameters.tensors]
        if missing:
            raise ProgramError(
                f"network {self.name!r} needs the parameters {', '.join(missing)}, which are not "
                f"among {', '.join(parameters.tensors)}; pass the network to nn.parameters",
                user_line(),
            )
        own = {n: parameters.tensors[f"{self.name}.{n}"] for n in self.members}
        _, *expected = signature(self.function).parameters.values()
        needed = [p for p in expected if p.default is Parameter.empty]
        if not len(needed) <= len(inputs) <= len(expected):
            listed = ", ".join(p.name if p in needed else f"{p.name}=None" for p in expected)
            raise ProgramError(
                f"network {self.name!r} takes the inputs ({listed}), found {len(inputs)} of them",
                user_line(),
            )
        with scope(self.name):
            output = self.function(own, *map(as_tensor, inputs))
        return output


def parameters(*networks: Network[Any], over: Any = ()) -> Parameters:
    """Make parameters over the dims that count updates: `over=i`, `over=(i, e, m)`."""
    dims = dim_names(over) if over != () else ()
    names = [network.name for network in networks]
    for name in names:
        if names.count(name) > 1:
            raise ProgramError(
                f"{names.count(name)} networks are named {name!r}; expected a name for each",
                user_line(),
            )
    return carried(
        {f"{n.name}.{key}": member for n in networks for key, member in n.members.items()}, dims
    )


def expect_shape(name: str, what: str, size: int, x: Tensor) -> None:
    """Refuse an input of a network that is no vector of `size` entries."""
    if x.shape != (size,):
        raise ProgramError(
            f"network {name!r} expects {what} of shape ({size},), found {shape_text(x.shape)}",
            user_line(),
        )


def widths(name: str, *given: Any) -> list[int]:
    """Return the widths as Python numbers (`env.observation_space.n` is NumPy's)."""
    numbers = []
    for width in given:
        number = whole(width)
        if number is None or number < 1:
            said = f"network {name!r}: a width is {width!r}; expected a whole number from 1 on"
            if isinstance(width, Expression) and width.sizes:
                listed = ", ".join(sorted(width.sizes))
                said += f" (an argument whose name starts with a capital is a size: {listed})"
            raise ProgramError(said, user_line())
        numbers.append(number)
    return numbers
