"""Loops, guards and instances, as records with the user's names."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.polyhedral.conditions import Condition
from workbench.polyhedral.expression import Expression


@dataclass(frozen=True)
class LoopNode:
    """A loop `lower <= variable < upper`, or backwards from the last value.

    `dim` is the name of the tree's loop; `apart`: its iterations may run in any order.
    """

    variable: str
    lower: Expression
    upper: Expression
    backwards: bool
    dim: str
    body: tuple[Node, ...]
    apart: bool = False


@dataclass(frozen=True)
class Guard:
    """A condition around `body`."""

    condition: Condition
    body: tuple[Node, ...]


@dataclass(frozen=True)
class Instance:
    """One statement at given loop dimensions.

    Axis dimensions have no value here; the blocks in which they run have one
    (`axis_blocks.Block.number`).
    """

    statement: str
    values: tuple[tuple[str, Expression], ...]


Node = LoopNode | Guard | Instance
