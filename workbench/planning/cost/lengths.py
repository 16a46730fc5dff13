"""The lengths of episodes that end, as a prediction takes them: a number for all, or each as it was
measured. A loop that runs while one of its lanes is open runs as long as the longest of these.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.errors import ProgramError, nearest
from workbench.lowering.instances.guards import OpenStep
from workbench.polyhedral.expression import Expression
from workbench.program.text.units import digits
from workbench.program.values import End, Equations


@dataclass(frozen=True)
class EpisodeLengths:
    """The lengths of episodes along `dim`, at most `most`, over the other dims of their event, in
    order: floats in `data`. A number for all is an array without dims.
    """

    dim: str
    dims: tuple[str, ...]
    along: int
    """The place of `dim` among the dims of the event."""
    most: int
    shape: tuple[int, ...]
    data: bytes

    @property
    def values(self) -> npt.NDArray[np.float64]:
        """The lengths as an array."""
        return np.frombuffer(self.data).reshape(self.shape)

    @property
    def mean(self) -> float:
        """The mean over episodes."""
        return float(self.values.mean())


@dataclass(frozen=True)
class Lengths:
    """The lengths of episodes by the array that tells which steps are open."""

    known: tuple[tuple[str, EpisodeLengths], ...] = ()

    def of(self, array: str) -> EpisodeLengths | None:
        """Return the lengths of the episodes that an array tells of; None where none are known."""
        return next((lengths for name, lengths in self.known if name == array), None)

    def __str__(self) -> str:
        """Return what is assumed, in words."""
        return "; ".join(
            f"episodes along {one.dim} of {digits(one.mean)} steps"
            + ("" if one.shape else " in all lanes")
            for _, one in self.known
        )


UNKNOWN = Lengths()
"""The lengths of a prediction in which no episode ends."""


@lru_cache(maxsize=1024)
def longest(lengths: EpisodeLengths, lanes: tuple[tuple[str, int], ...]) -> float:
    """Return the mean length of the longest episode in each group of so many lanes of some dims."""
    values, counts = lengths.values, dict(lanes)
    for axis, dim in enumerate(lengths.dims if lengths.shape else ()):
        if dim in counts:
            starts = range(0, values.shape[axis], max(counts[dim], 1))
            values = np.maximum.reduceat(values, starts, axis=axis)
    return float(values.mean())


def lengths_of(given: Mapping[str, Any], equations: Equations, sizes: Mapping[str, int]) -> Lengths:
    """Return lengths given by dim: a number, or an array over the other dims of the event, as
    `result.lengths` has them. Raises ProgramError for what they cannot be.
    """
    ends = {end.dim: end for end in equations.ends}
    return Lengths(
        tuple(
            (_end(dim, ends, equations).open, _lengths(dim, value, ends[dim], equations, sizes))
            for dim, value in given.items()
        )
    )


def expect_lengths(
    given: Mapping[str, Any], equations: Equations, sizes: Mapping[str, int]
) -> None:
    """Expect lengths by dim that a run at these sizes may have, or that one at larger sizes found.
    Raises ProgramError for others.
    """
    lengths_of(cut(given, equations, sizes), equations, sizes)


def cut(given: Mapping[str, Any], equations: Equations, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Return lengths by dim. Those that a run found, arrays, are cut to sizes that are smaller."""
    found = {dim: value for dim, value in given.items() if isinstance(value, np.ndarray)}
    return {**given, **at_most(found, equations, sizes)}


def at_most(
    given: Mapping[str, Any], equations: Equations, sizes: Mapping[str, int]
) -> dict[str, Any]:
    """Return lengths by dim, which some sizes have, cut to sizes that are smaller."""
    return {
        dim: np.minimum(value, equations.dim[dim].size.evaluate(sizes))
        for dim, value in given.items()
    }


def _end(dim: str, ends: Mapping[str, End], equations: Equations) -> End:
    if dim in ends:
        return ends[dim]
    if dim not in equations.dim:
        raise ProgramError(f"lengths of {dim!r}: unknown dim; {nearest(dim, ends, 'dims')}")
    along = f"they end along {', '.join(ends)}" if ends else "the program has no wb.until"
    raise ProgramError(
        f"lengths of {dim!r}: no episodes end along it; {along}", equations.dim[dim].line
    )


def _lengths(
    dim: str, value: Any, end: End, equations: Equations, sizes: Mapping[str, int]
) -> EpisodeLengths:
    dims = equations.array[end.open].dims
    others = tuple(d for d in dims if d != dim)
    over = ", ".join(others) or "no dims"
    expected = f"expected a number of steps, or an array of them over {over}"
    array = np.asarray(value)
    if array.dtype.kind not in "iuf" or not array.size or array.ndim not in (0, len(others)):
        raise ProgramError(f"lengths of {dim!r}: {_shown(value)}; {expected}", end.line)
    size, values = equations.dim[dim].size.evaluate(sizes), array.astype(np.float64)
    bad = next((x for x in values.flat if not 1 <= x <= size), None)
    if bad is not None:
        found = int(bad) if math.isfinite(bad) and bad == int(bad) else bad
        raise ProgramError(
            f"lengths of {dim!r}: {found}; an episode has between 1 and "
            f"{equations.dim[dim].size}={size} steps",
            end.line,
        )
    return EpisodeLengths(dim, others, dims.index(dim), size, values.shape, values.tobytes())


def _shown(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    return repr(value)


@dataclass(frozen=True)
class OpenPart:
    """The part of a loop over steps in which lanes are open: its mean number of steps, of how many,
    and the step as an expression over loops.
    """

    steps: float
    of: int
    step: Expression


def open_part(known: Lengths, step: OpenStep, sizes: Mapping[str, int]) -> OpenPart | None:
    """Return the part in which a step is open; None where no lengths are known."""
    lengths = known.of(step.open)
    if lengths is None:
        return None
    lanes = tuple((dim, _of_first(n, sizes)) for dim, n in step.lanes)
    return OpenPart(longest(lengths, lanes), lengths.most, step.index[lengths.along])


def _of_first(lanes: Expression, sizes: Mapping[str, int]) -> int:
    """Return the number of lanes of the first block."""
    return lanes.substitute(dict.fromkeys(lanes.variables, 0)).evaluate(sizes)
