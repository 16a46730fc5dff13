"""The content of a workbench: one immutable value, and what replaces it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from workbench.session.protocol.measurements import together
from workbench.session.protocol.state import (
    ArgumentView,
    ErrorView,
    MeasurementView,
    ProfileView,
    ProgressView,
    UnprofiledView,
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
    profiles: tuple[ProfileView, ...] = ()
    arguments: tuple[ArgumentView, ...] = ()
    measuring: ProgressView | None = None
    unprofiled: UnprofiledView | None = None
    error: UntracedView | None = None
    recipe_error: ErrorView | None = None

    def replanted(self, tree: VariantTree) -> Values:
        """Return them with another program's tree, of which nothing is measured yet."""
        return replace(
            self,
            tree=tree,
            measurements=(),
            profiles=(),
            unprofiled=None,
            error=None,
            recipe_error=None,
        )

    def without(self, key: str) -> Values:
        """Return them without a variant and what came from it; profiles go with their variants."""
        tree = self.tree.without(key)
        kept = tuple(one for one in self.profiles if one.variant in tree.variants)
        return replace(self, tree=tree, profiles=kept)

    def with_profile(self, profile: ProfileView) -> Values:
        """Return them with a profile of a variant of the tree, in the place of an earlier one of
        the same run.
        """
        if profile.variant not in self.tree.variants or profile in self.profiles:
            return self
        others = (one for one in self.profiles if one.id != profile.id)
        return replace(self, profiles=(*others, profile))

    def with_saved(self, saved: SavedTree) -> Values:
        """Return them with the measurements and profiles of a saved file; present ones stay."""
        known = {one.id for one in self.profiles}
        return replace(
            self,
            measurements=together(self.measurements, saved.measurements),
            profiles=(*(p for p in saved.profiles if p.id not in known), *self.profiles),
        )
