"""A tree of variants as steps to take anew: of a program traced again, or of a saved file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from workbench.errors import WorkbenchError
from workbench.program.values import Program
from workbench.session.processes.orders import Misfit, ReplayOrder
from workbench.session.protocol.capsule import Capsule
from workbench.session.protocol.messages import PROTOCOL
from workbench.session.protocol.reading import record
from workbench.session.protocol.state import MeasurementView, ProfileView, RunView, State
from workbench.session.state.variant_tree import VariantTree

RECORDED = "a saved workbench"
"""The file name shown for measurements of a saved file."""


@dataclass(frozen=True)
class SavedTree:
    """A tree from before: its root, every other variant as a step on its parent (parents first, the
    ancestors of the current one before all others), the users' names.
    """

    name: str
    root: str
    current: str
    entries: tuple[ReplayOrder, ...]
    names: Mapping[str, str]
    measurements: tuple[MeasurementView, ...] = ()
    runs: tuple[RunView, ...] = ()
    profiles: tuple[ProfileView, ...] = ()

    def way(self) -> tuple[str, ...]:
        """The path to the current variant, from the root, both included."""
        parents = {entry.key: entry.parent for entry in self.entries}
        way = [self.current]
        while way[-1] in parents:
            way.append(parents[way[-1]])
        return tuple(reversed(way))


def old_tree(name: str, tree: VariantTree) -> SavedTree:
    """Return the tree of a program that has since been traced again."""
    first = {one.key for one in tree.shown.lineage}
    ordered = sorted(tree.variants.values(), key=lambda one: one.key not in first)
    return SavedTree(
        name,
        tree.root,
        tree.current,
        tuple(
            ReplayOrder(one.key, one.parent.key, one.step.to_json())
            for one in ordered
            if one.parent is not None and one.step is not None
        ),
        tree.names,
    )


def saved_tree(text: str) -> SavedTree:
    """Read the tree in a state file. Raises WorkbenchError where the text is no state file, or of
    another release.
    """
    state = _state(text)
    entries = [
        ReplayOrder(one.key, one.parent, one.step.json)
        for one in state.variants
        if one.parent is not None and one.step is not None
    ]
    known = {state.root}
    for entry in entries:
        if entry.parent not in known:
            said = f"variant {entry.key[:8]} comes from none before it"
            raise WorkbenchError(f"this is no saved workbench: {said}")
        known.add(entry.key)
    saved = SavedTree(
        state.name,
        state.root,
        state.current,
        tuple(entries),
        {one.key: one.name for one in state.variants if one.named},
        tuple(replace(m, recorded=m.recorded or RECORDED) for m in state.measurements),
        state.runs,
        state.profiles,
    )
    first = saved.way()
    return replace(saved, entries=tuple(sorted(entries, key=lambda one: one.key not in first)))


def taken_over(former: Program, now: Program) -> str:
    """Say that a program takes over the steps of another one, which had its name before; "" where
    it is that one, edited: where they have most statements in common.
    """
    names = now.statement.keys()
    common = len(names & former.statement.keys())
    if 2 * common >= min(len(names), len(former.statement)):
        return ""
    return (
        f"The steps are those of another program that was called {now.name} before: of its "
        f"{len(former.statement)} statements this one has {common}."
    )


def misfit_text(old: SavedTree, misfits: list[Misfit]) -> str:
    """Tell in a sentence what no longer fits: first what stands in the way of the current
    variant.
    """
    way = old.way()
    first, *others = sorted(misfits, key=lambda one: one.entry not in way)
    more = f" {len(others)} more do not fit either." if others else ""
    said = first.sentence.removeprefix(f"{first.step}: ").rstrip(".")
    return f"{first.step} does not fit any more and is left out with what came of it: {said}.{more}"


def _state(text: str) -> State:
    try:
        value: Any = json.loads(text)
    except json.JSONDecodeError as error:
        raise WorkbenchError(f"this is no saved workbench: it is not JSON ({error})") from None
    if not isinstance(value, dict) or not {"protocol", "release", "state"} <= value.keys():
        raise WorkbenchError("this is no saved workbench: it lacks protocol, release or state")
    if value["protocol"] != PROTOCOL:
        raise WorkbenchError(
            f"this workbench was saved by release {value['release']} (protocol "
            f"{value['protocol']}), which this one (protocol {PROTOCOL}) cannot read"
        )
    return record("saved", value, Capsule).state
