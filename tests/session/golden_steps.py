"""Moves, prices, refusals, previews, instances and values as they are sent to the views, small and
the same every time. `python -m tests.session.golden_steps` writes the file anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import workbench as wb
from tests.session.golden import rounded
from workbench.session.parts.code import code
from workbench.session.parts.cost import cost
from workbench.session.parts.domain import domain
from workbench.session.parts.moves import MovesView, moves
from workbench.session.parts.preview import preview, price
from workbench.session.parts.value import value
from workbench.session.parts.why import why
from workbench.session.picture.snapshot import snapshot
from workbench.session.protocol.capsule import Capsule, SavedPart, plain
from workbench.session.protocol.messages import PROTOCOL, Part
from workbench.session.protocol.state import State
from workbench.session.protocol.state_views import size_views, variant_view
from workbench.transforms import Contract, Fuse, Incrementalize, Recompute, Vectorize
from workbench.variants.variant import Variant

FILE = Path(__file__).parents[1] / "golden" / "session" / "steps.json"
RUN: dict[str, Any] = {"sizes": {}, "backend": "numpy", "dtype": "float32"}


@wb.program
def returns(B: int = 3, T: int = 8, gamma: float = 0.9) -> dict[str, Any]:
    """Rewards from a state that goes on, their sums to the end, and a value that goes wrong."""
    b, t = wb.dims(b=B, t=T)
    state = wb.recurrent("state", (), over=(b, t))
    state[b, 0] = wb.uniform(over=b)
    state[b, t + 1] = 0.9 * state + 0.1 * wb.normal(over=(b, t))
    reward = wb.tanh(state)
    to_go = wb.discounted_sum(reward[b, t:T], gamma)
    wrong = wb.recurrent("wrong", (), over=(b, t))
    wrong[b, 0] = 2.0
    wrong[b, t + 1] = wb.log(wrong)
    return {"to_go": to_go, "wrong": wrong[b, T]}


STEPS = {
    "recurrence": Vectorize("t", ("state[t+1]",)),
    "joined": Fuse(("state[t+1]", "to_go")),
    "folded": Contract("reward", "t"),
    "capability": Recompute("state"),
    "order": Vectorize("b"),
    "storage": Contract("reward", "b"),
    "equation": Incrementalize("to_go", "t"),
}
STATEMENTS = (["state[t+1]"], ["reward", "to_go"], ["to_go"])
SIZES = {"B": 2, "T": 4}


def merged(variant: Variant, arguments: Mapping[str, Any]) -> MovesView:
    """All batches as one, as a view that has heard them all holds them."""
    batches = list(moves(variant, arguments))
    found = {move.step.source: move for batch in batches for move in batch.moves}
    return replace(batches[0], moves=tuple(found.values()))


def parts(variant: Variant) -> list[tuple[Part, Mapping[str, Any], Any]]:
    """Every part with its arguments."""
    found: list[tuple[Part, Mapping[str, Any], Any]] = [
        ("snapshot", {}, snapshot(variant.program)),
        ("code", {"backend": "numpy"}, code(variant, {"backend": "numpy"})),
        ("cost", RUN, cost(variant, RUN)),
    ]
    priced: dict[str, Mapping[str, Any]] = {}
    for about in ({}, {"statements": ["state[t+1]"]}):
        judged = merged(variant, about)
        found.append(("moves", about, judged))
        priced |= {m.step.source: m.step.json for m in judged.moves if m.refused is None}
    for step in STEPS.values():
        seen = {"step": step.to_json(), "backend": RUN["backend"]}
        found.append(("preview", seen, preview(variant, seen)))
        refusal = variant.check(step)
        if refusal is None:
            priced[repr(step)] = step.to_json()
        if refusal is not None:
            for sizes in (None, {"B": 1, "T": 1}):
                given = {"step": step.to_json(), "sizes": sizes}
                found.append(("why", given, why(variant, given)))
    for written in priced.values():
        run = {"step": written, **RUN}
        found.append(("price", run, price(variant, run)))
    for statements in STATEMENTS:
        for sizes in ({}, SIZES):
            given = {"statements": statements, "sizes": sizes}
            found.append(("domain", given, domain(variant, given)))
    for array, b, t in (("state", 1, 2), ("state", 1, 1), ("wrong", 0, 4), ("wrong", 0, 3)):
        given = {"array": array, "coordinates": {"b": b, "t": t}, "sizes": SIZES, "seed": 0}
        found.append(("value", given, value(variant, given)))
    return found


def state(variant: Variant) -> State:
    """Only the program as written."""
    return State(
        workbench="golden",
        revision=1,
        name=variant.program.name,
        root=variant.key,
        current=variant.key,
        variants=(variant_view(variant, 0),),
        sizes=size_views(variant.program),
        measurements=(),
        backends=(),
        arguments=(),
        measuring=None,
        error=None,
        recipe_error=None,
    )


def text() -> str:
    """The file, with predictions of no measured machine and numbers of six digits."""
    variant = wb.variant(returns())
    with patch("workbench.planning.machine.calibrated.file_of", lambda backend: Path("nowhere")):
        saved = tuple(
            SavedPart(part, variant.key, given, found) for part, given, found in parts(variant)
        )
    value = rounded(plain(Capsule(PROTOCOL, "golden", state(variant), saved)))
    return (
        json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace('{"part"', '\n{"part"')
        + "\n"
    )


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(text(), encoding="utf-8")
