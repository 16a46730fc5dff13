"""Pictures: a program as written and after a step, and one of many scopes."""

from __future__ import annotations

from typing import Any

import workbench as wb
from tests.returns import returns
from tests.session import example
from workbench.session.picture.snapshot import snapshot
from workbench.session.protocol.capsule import Capsule, SavedPart
from workbench.session.protocol.messages import PROTOCOL
from workbench.session.protocol.state import State
from workbench.session.protocol.state_views import end_views, size_views, variant_view
from workbench.transforms import Vectorize


def pictures() -> dict[str, Any]:
    """A program as written and with one dimension vectorized, as a workbench; and one of many
    scopes.
    """
    root = wb.variant(returns())
    shown = (root, root.apply(Vectorize("b")))
    state = State(
        workbench="golden", revision=1, name=root.program.name, root=root.key, current=root.key,
        variants=tuple(variant_view(v, n) for n, v in enumerate(shown)),
        sizes=size_views(root),
        ends=end_views(root),
        measurements=(), runs=(), result="", profiles=(), backends=(), backend="numpy",
        arguments=(), measuring=None, unrun=None, unprofiled=None, error=None, recipe_error=None,
        taken_over="",
    )  # fmt: skip
    parts = tuple(SavedPart("snapshot", v.key, {}, snapshot(v.program)) for v in shown)
    return {
        "capsule": Capsule(PROTOCOL, "golden", state, parts),
        "layers": snapshot(example.reinforce(1)),
    }
