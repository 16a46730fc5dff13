"""The lifetime of one array, its dimensions folded as far as possible."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from workbench.polyhedral.accesses import Extent, Instances
from workbench.polyhedral.expression import Expression
from workbench.polyhedral.lifetimes.windows import Lifetime, together
from workbench.polyhedral.tree import Tree


def lifetime(
    array: str,
    extent: Extent,
    tree: Tree,
    statements: Mapping[str, Instances],
    *,
    live_out: bool = False,
    keep: Collection[int] = (),
    sizes: Mapping[str, int] | None = None,
) -> Lifetime:
    """Windows and place of an array under the schedule `tree`."""
    results = {array} if live_out else ()
    live = together({array: extent}, tree, statements, live_out=results, keep={array: keep})
    return live[array].folded(range(len(extent)), sizes)


def windows(
    array: str,
    extent: Extent,
    tree: Tree,
    statements: Mapping[str, Instances],
    *,
    sizes: Mapping[str, int] | None = None,
) -> tuple[Expression | None, ...]:
    """The circular window of each dimension."""
    return lifetime(array, extent, tree, statements, sizes=sizes).windows
