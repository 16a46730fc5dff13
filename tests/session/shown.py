"""A workbench that is shown, with a view that talks to it, and what it is often asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import workbench as wb
from tests.session.listening import Listener
from workbench.program.values import Program
from workbench.session.protocol.messages import Done
from workbench.session.requests.sessions import Sessions
from workbench.session.state.session import Session

VECTORIZE = wb.transforms.Vectorize("b").to_json()
RECURRENCE = wb.transforms.Vectorize("t").to_json()
CONTRACT = wb.transforms.Contract("x").to_json()
MEASURE: dict[str, Any] = {
    "type": "measure", "backend": "numpy", "sizes": {}, "lengths": {}, "seed": 0,
    "dtype": "float32", "repeats": 5, "force": False,
}  # fmt: skip


class Shown:
    """A workbench of a program, a view of it, and its root."""

    def __init__(self, sessions: Sessions, folder: Path, program: Program) -> None:
        self.view = Listener(sessions, program.name)
        self.store = wb.store(folder / "measured.jsonl")
        self.session: Session = sessions.show(wb.variant(program), self.store)
        self.root = self.session.tree.root

    def pid_under_way(self) -> int:
        """The number of the process that measures, runs or profiles."""
        client = self.session.under_way._client
        assert client is not None
        return client._child.pid

    def apply(self, variant: str, step: Any) -> str:
        done = self.view.ask(type="apply", variant=variant, step=step)
        assert isinstance(done, Done), done
        assert done.variant is not None
        return done.variant
