"""Variants that are played: as written, with an axis, with arrays of which slices are kept."""

from __future__ import annotations

from collections.abc import Iterator

import workbench as wb
from tests.session.capsules.diverging import returns
from workbench.session.parts.play import PlayView, play
from workbench.session.protocol.capsule import Capsule, SavedPart
from workbench.session.protocol.messages import PROTOCOL
from workbench.session.protocol.state import State
from workbench.session.protocol.state_views import end_views, size_views, variant_view
from workbench.transforms import Contract, Tile, Vectorize
from workbench.variants.variant import Variant


def variants() -> tuple[Variant, ...]:
    """As written; with an axis; with windows too; in blocks."""
    root = wb.variant(returns())
    axis = root.apply(Vectorize("b"))
    return root, axis, axis.apply(Contract()), axis.apply(Tile("b", 16))


def state(shown: tuple[Variant, ...]) -> State:
    """The one with windows is shown."""
    root = shown[0]
    return State(
        workbench="golden", revision=1, name=root.program.name, root=root.key,
        current=shown[2].key, variants=tuple(variant_view(v, n) for n, v in enumerate(shown)),
        sizes=size_views(root),
        ends=end_views(root),
        measurements=(), runs=(), result="", profiles=(), backends=(), backend="numpy",
        arguments=(), measuring=None, unrun=None, unprofiled=None, error=None, recipe_error=None,
        taken_over="",
    )  # fmt: skip


def executions(shown: tuple[Variant, ...]) -> Iterator[SavedPart]:
    """Each at its least sizes, and at those that suit the last one too."""
    for variant in shown:
        for sizes in ({}, {"B": 7, "T": 3}):
            asked = {"statement": None, "sizes": sizes}
            found: PlayView = play(variant, asked)
            yield SavedPart("play", variant.key, asked, found)


def capsule() -> Capsule:
    """All of them."""
    shown = variants()
    return Capsule(PROTOCOL, "golden", state(shown), tuple(executions(shown)))
