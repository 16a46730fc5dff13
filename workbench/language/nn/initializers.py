"""First values of parameters."""

from __future__ import annotations

from collections.abc import Callable

from workbench.language.random import draws
from workbench.language.tracing.functions import broadcast_to
from workbench.language.tracing.nodes import apply, literal
from workbench.language.tracing.tensor import Tensor
from workbench.program.bodies import Shape

Initializer = Callable[[Shape, tuple[str, ...]], Tensor]
"""A function of a parameter's shape and layer dims that returns its first value, for each layer."""


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


def normal(std: float = 1.0) -> Initializer:
    """Return an initializer: independent normal entries with mean 0."""
    return lambda shape, layers: draws("normal", shape, layers) * std
