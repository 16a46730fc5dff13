"""The content of a workbench: one immutable value, and what replaces it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from workbench.errors import WorkbenchError
from workbench.session.protocol.measurements import together
from workbench.session.protocol.state import (
    ArgumentView,
    ErrorView,
    MeasurementView,
    NotMadeView,
    ProfileView,
    ProgressView,
    RunView,
    UntracedView,
)
from workbench.session.state.saved_tree import SavedTree
from workbench.session.state.variant_tree import VariantTree


@dataclass(frozen=True)
class Values:
    """The whole content of a workbench at a moment."""

    revision: int
    tree: VariantTree
    measurements: tuple[MeasurementView, ...] = ()
    runs: tuple[RunView, ...] = ()
    result: str = ""
    """The run whose arrays Python has, by its id."""
    lengths: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The lengths of episodes by run and dim, as arrays, of runs made here."""
    profiles: tuple[ProfileView, ...] = ()
    arguments: tuple[ArgumentView, ...] = ()
    measuring: ProgressView | None = None
    unrun: NotMadeView | None = None
    unprofiled: NotMadeView | None = None
    error: UntracedView | None = None
    recipe_error: ErrorView | None = None
    taken_over: str = ""

    def replanted(self, tree: VariantTree) -> Values:
        """Return them with another program's tree, of which nothing is measured yet. A run that is
        under way stays, as one of the program before.
        """
        group = "" if self.measuring is None else self.measuring.group
        return replace(
            self,
            tree=tree,
            measurements=(),
            runs=tuple(one for one in self.runs if one.id == group),
            result="",
            lengths={},
            profiles=(),
            unrun=None,
            unprofiled=None,
            error=None,
            recipe_error=None,
            taken_over="",
        )

    def without(self, key: str) -> Values:
        """Return them without a variant and what came from it; runs and profiles go with their
        variants.
        """
        tree = self.tree.without(key)
        gone = self.tree.variants.keys() - tree.variants.keys()
        runs = tuple(one for one in self.runs if one.variant not in gone)
        profiles = tuple(one for one in self.profiles if one.variant not in gone)
        return replace(self, tree=tree, runs=runs, profiles=profiles)

    def with_run(self, run: RunView, lengths: Mapping[str, Any] | None = None) -> Values:
        """Return them with a run of a variant of the tree, or of one that was there when it began,
        in the place of an earlier one that was the same, and with the lengths of episodes that it
        found.
        """
        began = self.measuring is not None and self.measuring.group == run.id
        began = began or any(one.id == run.id for one in self.runs)
        if not (began or run.variant in self.tree.variants) or run in self.runs:
            return self
        runs = (*(one for one in self.runs if one.id != run.id), run)
        known = {one.id for one in runs}
        found = {name: own for name, own in self.lengths.items() if name in known}
        return replace(self, runs=runs, lengths=found | {run.id: lengths} if lengths else found)

    @property
    def typical(self) -> dict[str, str]:
        """The run whose lengths predictions take by dim: the last that found some."""
        own = (run for run in self.runs if run.variant in self.tree.variants)
        return {dim: run.id for run in own for dim in run.lengths}

    def found(self, lengths: Mapping[str, float | str]) -> dict[str, Any]:
        """Return lengths of episodes by dim: for a run's id those that it found, their mean where a
        file has no more of it.
        """
        return {dim: self._found(dim, x) for dim, x in lengths.items()}

    def _found(self, dim: str, length: float | str) -> Any:
        if not isinstance(length, str):
            return length
        means = {run.id: run.lengths.get(dim) for run in self.runs}
        own = self.lengths.get(length, {}).get(dim, means.get(length))
        if own is None:
            raise WorkbenchError(f"there is no run any more that found lengths of {dim}: {length}")
        return own

    def with_profile(self, profile: ProfileView) -> Values:
        """Return them with a profile of a variant of the tree, in the place of an earlier one of
        the same run.
        """
        if profile.variant not in self.tree.variants or profile in self.profiles:
            return self
        others = (one for one in self.profiles if one.id != profile.id)
        return replace(self, profiles=(*others, profile))

    def with_saved(self, saved: SavedTree) -> Values:
        """Return them with the measurements, runs and profiles of a saved file; present ones
        stay.
        """
        known = {run.id for run in self.runs} | {profile.id for profile in self.profiles}
        return replace(
            self,
            measurements=together(self.measurements, saved.measurements),
            runs=(*(r for r in saved.runs if r.id not in known), *self.runs),
            profiles=(*(p for p in saved.profiles if p.id not in known), *self.profiles),
        )
