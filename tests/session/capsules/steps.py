"""Steps on one variant: moves, prices, refusals and previews; instances and values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import workbench as wb
from tests.session.capsules.diverging import returns
from workbench.session.parts.code import code
from workbench.session.parts.cost import cost
from workbench.session.parts.domain import domain
from workbench.session.parts.legality.reason import reason
from workbench.session.parts.legality.why import why
from workbench.session.parts.memory import memory
from workbench.session.parts.moves import MovesView, moves
from workbench.session.parts.preview import preview, price
from workbench.session.parts.value import value
from workbench.session.picture.snapshot import snapshot
from workbench.session.protocol.capsule import Capsule, SavedPart
from workbench.session.protocol.messages import PROTOCOL, Part
from workbench.session.protocol.state import State
from workbench.session.protocol.state_views import end_views, size_views, variant_view
from workbench.transforms import Contract, Fuse, Incrementalize, Recompute, Tile, Vectorize
from workbench.variants.variant import Variant

RUN: dict[str, Any] = {"sizes": {}, "backend": "numpy", "dtype": "float32"}
STEPS = {
    "recurrence": Vectorize("t", ("state[t+1]",)),
    "joined": Fuse(("state[t+1]", "to_go")),
    "folded": Contract("reward", "t"),
    "capability": Recompute("state"),
    "order": Vectorize("b"),
    "range": Vectorize("t", ("to_go",)),
    "storage": Contract("reward", "b"),
    "equation": Incrementalize("to_go", "t"),
}
UNFIT = (Tile("b", 0), Contract("rewrd"), Fuse(("to_go", "x")))
"""Steps that are none of this program, which a form says at one of their arguments."""

STATEMENTS = (["state[t+1]"], ["reward", "to_go"], ["to_go"])
SIZES = {"B": 2, "T": 4}


def merged(variant: Variant, arguments: Mapping[str, Any]) -> MovesView:
    """All batches as one, as a view that has heard them all holds them."""
    batches = list(moves(variant, arguments))
    by_source = {move.step.source: move for batch in batches for move in batch.moves}
    return replace(batches[0], moves=tuple(by_source.values()))


def parts(variant: Variant) -> list[tuple[Part, Mapping[str, Any], Any]]:
    """Every part with its arguments."""
    made: list[tuple[Part, Mapping[str, Any], Any]] = [
        ("snapshot", {}, snapshot(variant.program)),
        ("code", {"backend": "numpy"}, code(variant, {"backend": "numpy"})),
        ("cost", RUN, cost(variant, RUN)),
        ("memory", RUN, memory(variant, RUN)),
    ]
    legal: dict[str, Mapping[str, Any]] = {}
    for about in ({}, {"statements": ["state[t+1]"]}):
        judged = merged(variant, about)
        made.append(("moves", about, judged))
        legal |= {m.step.source: m.step.json for m in judged.moves if m.refused is None}
    for step in STEPS.values():
        previewed = {"step": step.to_json(), "backend": RUN["backend"]}
        made.append(("preview", previewed, preview(variant, previewed)))
        if variant.check(step) is None:
            legal[repr(step)] = step.to_json()
            for sizes in (None, SIZES):
                asked = {"step": step.to_json(), "sizes": sizes}
                made.append(("reason", asked, reason(variant, asked)))
            continue
        for sizes in (None, {"B": 1, "T": 1}):
            asked = {"step": step.to_json(), "sizes": sizes}
            made.append(("why", asked, why(variant, asked)))
    for step in UNFIT:
        previewed = {"step": step.to_json(), "backend": RUN["backend"]}
        made.append(("preview", previewed, preview(variant, previewed)))
    for written in legal.values():
        run = {"step": written, **RUN}
        made.append(("price", run, price(variant, run)))
    for statements in STATEMENTS:
        for sizes in ({}, SIZES):
            points = {"statements": statements, "sizes": sizes}
            made.append(("domain", points, domain(variant, points)))
    for array, b, t in (("state", 1, 2), ("state", 1, 1), ("wrong", 0, 4), ("wrong", 0, 3)):
        element = {"array": array, "coordinates": {"b": b, "t": t}, "sizes": SIZES, "seed": 0}
        made.append(("value", element, value(variant, element)))
    return made


def state(variant: Variant) -> State:
    """Only the program as written."""
    return State(
        workbench="golden",
        revision=1,
        name=variant.program.name,
        root=variant.key,
        current=variant.key,
        variants=(variant_view(variant, 0),),
        sizes=size_views(variant),
        ends=end_views(variant),
        measurements=(),
        runs=(),
        result="",
        profiles=(),
        backends=(),
        backend="numpy",
        arguments=(),
        measuring=None,
        unrun=None,
        unprofiled=None,
        error=None,
        recipe_error=None,
        taken_over="",
    )


def capsule() -> Capsule:
    """Everything, with predictions of no measured machine."""
    variant = wb.variant(returns())
    with patch("workbench.planning.machine.calibrated.file_of", lambda backend: Path("nowhere")):
        saved = tuple(
            SavedPart(part, variant.key, arguments, view)
            for part, arguments, view in parts(variant)
        )
    return Capsule(PROTOCOL, "golden", state(variant), saved)
