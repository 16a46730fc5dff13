"""Hoisting: each view moves to the outermost body that has its source and positions, once."""

from __future__ import annotations

from workbench.lowering.loops.records import (
    Broadcast,
    For,
    If,
    Index,
    Range,
    Reshape,
    View,
)
from workbench.lowering.loops.renaming import renamed
from workbench.lowering.memory.bodies import Body
from workbench.polyhedral.expression import Expression

ViewNames = dict[tuple[int, str, object], str]
"""The names of a body's views (by identity of the body) of a source."""


def hoist(root: Body, bound: dict[str, Body], renamed: dict[str, str]) -> None:
    """Move the views of a program.

    `bound` gives the body that assigns each name, `renamed` the present names of buffers.
    """
    _Hoisting(bound, renamed, {}).visit(root)


class _Hoisting:
    def __init__(self, bound: dict[str, Body], renamed: dict[str, str], taken: ViewNames) -> None:
        self.bound = bound
        self.renamed = renamed
        self.taken = taken
        self.sliced: set[str] = set()
        """Views that are shorter than they say where a range goes beyond its source."""

    def visit(self, body: Body) -> None:
        """Move the views of a body and of all inside it, in text order."""
        for at, item in enumerate(body.items):
            if isinstance(item, Body):
                self.visit(item)
                continue
            item = renamed(item, self.renamed)
            body.items[at] = item
            if not isinstance(item, View):
                continue
            where, place_ = self._outermost(body, at, item)
            key = (id(where), item.source, item.how)
            if key in self.taken:
                self.renamed[item.name] = self.taken[key]
                body.dropped.add(at)
                continue
            self.taken[key] = item.name
            if _slices(item) or item.source in self.sliced:
                self.sliced.add(item.name)
            self.bound[item.name] = where
            if where is not body:
                where.before.setdefault(place_, []).append(item)
                body.dropped.add(at)

    def _outermost(self, body: Body, at: int, view: View) -> tuple[Body, int]:
        variables, positions = _variables(view)
        if isinstance(view.how, (Reshape, Broadcast)) and view.source in self.sliced:
            positions = True
        source = self.bound[view.source]
        while body is not source and body.parent is not None:
            frame = body.frame
            if isinstance(frame, If) and positions:
                break
            if isinstance(frame, For) and (
                frame.variable in variables or (positions and not frame.sure)
            ):
                break
            at, body = body.at, body.parent
        return body, at


def _variables(view: View) -> tuple[set[str], bool]:
    """Return the variables of a view, and whether it picks positions.

    A position may not exist where the loop or the condition around keeps the view from being taken.
    """
    how = view.how
    variables: set[str] = set()
    positions = False
    if isinstance(how, Index):
        for entry in how.entries:
            if isinstance(entry, Expression):
                variables |= entry.variables
                positions = True
            elif isinstance(entry, Range):
                variables |= entry.start.variables | entry.stop.variables
    elif isinstance(how, (Reshape, Broadcast)):
        variables = {v for n in how.shape for v in n.variables}
        positions = bool(variables)
    return variables, positions


def _slices(view: View) -> bool:
    """Tell whether a view takes a range of an axis."""
    return isinstance(view.how, Index) and any(isinstance(e, Range) for e in view.how.entries)
