"""Learning curves of a run: as values that a measurement keeps, and as a matplotlib figure (without
pyplot and so without global state).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from workbench.errors import WorkbenchError, nearest
from workbench.figures import empty_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LABELS = {
    "episode_return": "return per episode\n(sum of rewards)",
    "episodes": "episodes ended\nper update",
}
"""The axis label of an output of that name; another output is labelled by its name."""

DIMS = {"b": "environment", "i": "update", "t": "environment step", "e": "epoch", "m": "minibatch"}
"""The unit that a dimension of that name counts."""

MOST_VALUES = 256
"""The most values of a kept curve: more than a chart shows."""


@dataclass(frozen=True)
class Curve:
    """An output over its first dimension, averaged over the others. Each value is the mean of
    `every` consecutive ones (the last of what is left); NaN where none of them is a number.
    """

    name: str
    dim: str
    every: int
    values: tuple[float, ...]


def kept(
    outputs: Mapping[str, npt.NDArray[Any]], dims: Mapping[str, tuple[str, ...]]
) -> tuple[Curve, ...]:
    """Return the curves of all outputs that can be drawn, thinned to `MOST_VALUES`."""
    curves = []
    for name in drawable(outputs, dims):
        values = _over_first(outputs[name])
        every = max(1, math.ceil(len(values) / MOST_VALUES))
        groups = (values[at : at + every] for at in range(0, len(values), every))
        curves.append(Curve(name, dims[name][0], every, tuple(map(_mean, groups))))
    return tuple(curves)


def _over_first(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    means = np.asarray(values, dtype=float)
    return means.mean(axis=tuple(range(1, means.ndim))) if means.ndim > 1 else means


def _mean(values: npt.NDArray[np.float64]) -> float:
    """Return the mean of the finite values, in the digits that a run in float32 has."""
    finite = values[np.isfinite(values)]
    return float(f"{finite.mean():.7g}") if finite.size else math.nan


def curves(
    outputs: Mapping[str, npt.NDArray[Any]],
    dims: Mapping[str, tuple[str, ...]],
    title: str,
    names: Sequence[str] | None = None,
    first: Mapping[str, int] | None = None,
) -> Figure:
    """Draw axes below each other, one for each output, against its first dimension.

    An output of several dimensions is averaged over all but the first (the loss of an update over
    its epochs and minibatches). A value that is not a number leaves a gap. Without `names` all
    outputs of scalars that vary over a dimension are drawn. `first` gives the first index of a
    dimension, where that is not 0.
    """
    chosen = list(drawable(outputs, dims) if names is None else names)
    for name in chosen:
        _expect(name, outputs, dims)
    if not chosen:
        raise WorkbenchError("there is no curve to draw: no output varies over a dimension")
    figure = empty_figure(7.0, 0.8 + 2.0 * len(chosen))
    figure.suptitle(title)
    shared: dict[str, Any] = {}
    for axes, name in zip(figure.subplots(len(chosen), squeeze=False)[:, 0], chosen, strict=True):
        dim, averaged = dims[name][0], dims[name][1:]
        values = _over_first(outputs[name])
        # points between gaps would not be seen as lines
        at = np.arange(len(values)) + (first or {}).get(dim, 0)
        axes.plot(at, values, marker="." if _lonely(values) else None)
        over = f"\nmean over {', '.join(averaged)}" if averaged else ""
        axes.set_ylabel(LABELS.get(name, name) + over)
        axes.set_xlabel(f"{DIMS[dim]} {dim}" if dim in DIMS else dim)
        axes.grid(alpha=0.3)
        if dim in shared:
            axes.sharex(shared[dim])
        shared.setdefault(dim, axes)
    return figure


def drawable(
    outputs: Mapping[str, npt.NDArray[Any]], dims: Mapping[str, tuple[str, ...]]
) -> list[str]:
    """Return the outputs of scalar elements that vary over at least one dimension, in the program's
    order.
    """
    return [name for name, own in dims.items() if own and outputs[name].ndim == len(own)]


def _lonely(values: npt.NDArray[Any]) -> bool:
    """Tell whether some value stands between two gaps."""
    there = np.concatenate([[False], np.isfinite(values), [False]])
    return bool((there[1:-1] & ~there[:-2] & ~there[2:]).any())


def _expect(
    name: str, outputs: Mapping[str, npt.NDArray[Any]], dims: Mapping[str, tuple[str, ...]]
) -> None:
    names_drawn = drawable(outputs, dims)
    if name in outputs and name not in names_drawn:
        raise WorkbenchError(
            f"{name!r} is no curve: it varies over no dimension, or its elements are no scalars"
        )
    if name not in names_drawn:
        raise WorkbenchError(f"no output {name!r}: {nearest(name, names_drawn, 'curves')}")
