"""Pictures as they are sent to the views, small and the same every time: what the tests in Python
compare, and those in TypeScript read. `python -m tests.session.golden_graph` writes them anew.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import workbench as wb
from tests.programs import returns
from tests.session import example
from workbench.session.picture.snapshot import snapshot
from workbench.session.protocol.capsule import Capsule, SavedPart, plain
from workbench.session.protocol.messages import PROTOCOL
from workbench.session.protocol.state import State
from workbench.session.protocol.state_views import size_views, variant_view
from workbench.transforms import Vectorize

FILE = Path(__file__).parents[1] / "golden" / "session" / "graph.json"


def golden() -> Any:
    """A program as written and with one dimension vectorized, as a workbench; and one of many
    scopes.
    """
    root = wb.variant(returns())
    shown = (root, root.apply(Vectorize("b")))
    state = State(
        workbench="golden", revision=1, name=root.program.name, root=root.key, current=root.key,
        variants=tuple(variant_view(v, n) for n, v in enumerate(shown)),
        sizes=size_views(root.program),
        measurements=(), backends=(), arguments=(), measuring=None, error=None, recipe_error=None,
    )  # fmt: skip
    parts = tuple(SavedPart("snapshot", v.key, {}, snapshot(v.program)) for v in shown)
    return plain(
        {
            "capsule": Capsule(PROTOCOL, "golden", state, parts),
            "layers": snapshot(example.reinforce(1)),
        }
    )


def text() -> str:
    """The file."""
    return json.dumps(golden(), ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
