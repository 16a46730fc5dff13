"""What the polyhedral package knows of a statement: its points and the elements they touch."""

from __future__ import annotations

from dataclasses import dataclass, field

from workbench.polyhedral.expression import Expression


@dataclass(frozen=True)
class Access:
    """Elements of `array` that one point touches: an expression per array dimension.

    An index of None is data-dependent: any element within the array's extent along that dimension
    may be touched (a gather).
    """

    array: str
    index: tuple[Expression | None, ...]


@dataclass(frozen=True)
class Instances:
    """One statement as sets and relations.

    `domain` is isl text of a set over `dims`, `points` isl text of a set over `dims +
    reduction_dims` (equal to `domain` where there is no reduction). Both use the generated names of
    `names.py`. The write's index is over `dims`, the reads' indices over `dims + reduction_dims`.
    """

    name: str
    dims: tuple[str, ...]
    domain: str
    write: Access
    reads: tuple[Access, ...] = ()
    reduction_dims: tuple[str, ...] = ()
    points: str = ""
    may_alias: tuple[str, ...] = field(default=())
    """Arrays an instance may overwrite in place: it reads them elementwise only."""


Extent = tuple[tuple[Expression, Expression], ...]
"""Per dimension of an array: lower (inclusive) and upper (exclusive) bound over sizes."""
