"""A statement in the polyhedral model: its points and the elements they touch."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from workbench.polyhedral.expression import Expression
from workbench.polyhedral.hashed import Hashed


@dataclass(frozen=True)
class Between:
    """A data-dependent index in a known range: `lower <= index < upper` over the point."""

    lower: Expression
    upper: Expression

    @property
    def variables(self) -> frozenset[str]:
        """The dimensions on which the range depends."""
        return frozenset(self.lower.variables | self.upper.variables)

    @property
    def sizes(self) -> frozenset[str]:
        """The sizes on which the range depends."""
        return frozenset(self.lower.sizes | self.upper.sizes)


@dataclass(frozen=True)
class Tied:
    """A data-dependent index that is bounded where the entries before it have given values.

    Where the entries at the positions `at` equal `first`, it is at least `lower`; where they equal
    `last`, it is below `upper`. So entries lie between two tuples in lexicographic order.
    """

    at: tuple[int, ...]
    lower: tuple[tuple[Expression, ...], Expression] | None
    """The values of the entries, and the bound there; None where there is none."""
    upper: tuple[tuple[Expression, ...], Expression] | None

    @property
    def bounds(self) -> tuple[Expression, ...]:
        """All expressions over the point."""
        known = (bound for bound in (self.lower, self.upper) if bound is not None)
        return tuple(e for values, bound in known for e in (*values, bound))

    @property
    def variables(self) -> frozenset[str]:
        """The dimensions on which the bounds depend."""
        return frozenset(d for e in self.bounds for d in e.variables)

    @property
    def sizes(self) -> frozenset[str]:
        """The sizes on which the bounds depend."""
        return frozenset(n for e in self.bounds for n in e.sizes)


AccessEntry = Expression | Between | Tied | None
"""An index along one dimension. None may touch any element within the array's extent."""


@dataclass(frozen=True)
class Access(Hashed):
    """The elements of `array` that one point touches: an entry per array dimension.

    A data-dependent index (a gather) may touch any element in its range.
    """

    array: str
    index: tuple[AccessEntry, ...]

    @cached_property
    def depends_on_data(self) -> bool:
        """Tell whether any element along some dimension may be touched."""
        return any(e is None or isinstance(e, Tied) for e in self.index)


@dataclass(frozen=True)
class Instances(Hashed):
    """One statement as sets and relations.

    `domain` is isl text of a set over `dims`. `points` is isl text of a set over `dims +
    reduction_dims`, equal to `domain` where there is no reduction. Both use the generated names of
    `sets/isl_names.py`. The write's index is over `dims`, the reads' indices over `dims +
    reduction_dims`.
    """

    name: str
    dims: tuple[str, ...]
    domain: str
    write: Access
    reads: tuple[Access, ...] = ()
    reduction_dims: tuple[str, ...] = ()
    points: str = ""
    may_alias: tuple[str, ...] = field(default=())
    """Arrays that an instance may overwrite in place: it reads them elementwise only."""


Extent = tuple[tuple[Expression, Expression], ...]
"""The lower (inclusive) and upper (exclusive) bound of each array dimension, over sizes."""
