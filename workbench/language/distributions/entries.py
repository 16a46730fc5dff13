"""The common part of distributions of independent entries: inner shape, dims, values."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.errors import ProgramError
from workbench.language.tracing.functions import broadcast_to
from workbench.language.tracing.tensor import Node, Tensor
from workbench.language.tracing.trace import dim_names, user_line
from workbench.program.bodies import Shape
from workbench.program.operations.shapes import broadcast_shapes, shape_text


def shape_of_entries(expected: str, *parameters: Tensor) -> Shape:
    """Return the inner shape to which parameters broadcast; `expected` begins the refusal."""
    try:
        return broadcast_shapes([x.shape for x in parameters])
    except ProgramError:
        found = " and ".join(map(repr, parameters))
        raise ProgramError(f"{expected} of one inner shape, found {found}", user_line()) from None


def expect_positive(**parameters: Tensor) -> None:
    """Refuse parameters that are numbers and not all above 0. Of others only a run knows."""
    for name, x in parameters.items():
        source = x.source
        if isinstance(source, Node) and source.operation == "literal":
            values = np.asarray(source.options["value"], float)
            if not (values > 0.0).all():
                raise ProgramError(
                    f"{name} = {values[~(values > 0.0)][0]}; expected a number above 0", user_line()
                )


def value_of(distribution: str, shape: Shape, value: Tensor) -> Tensor:
    """Return a value, which has to be a scalar or of the distribution's inner shape."""
    if value.shape not in (shape, ()):
        raise ProgramError(
            f"{distribution} of inner shape {shape_text(shape)} has no value of inner shape "
            f"{shape_text(value.shape)}: {value!r}",
            user_line(),
        )
    return value


def dims_of(*xs: Tensor, over: Any) -> tuple[str, ...]:
    """Return the dims that the tensors vary over, and those of `over`."""
    added = dim_names(over) if over != () else ()
    return tuple(dict.fromkeys([*(d for x in xs for d in x.dims), *added]))


def total(x: Tensor, shape: Shape = ()) -> Tensor:
    """Return the sum over all entries, of `shape` if given: `x` is widened to it first."""
    if shape:
        return total(broadcast_to(x, shape))
    return total(x.sum(axis=0)) if x.shape else x
