"""A view made of Python: it asks, and waits for what it hears."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from workbench.session.protocol.messages import Done, Failed, Message, Saved, StateMessage
from workbench.session.protocol.state import State
from workbench.session.requests.sessions import Sessions

PATIENCE = 120.0
"""Seconds after which what was waited for will not come."""

Heard = TypeVar("Heard")


class Listener:
    """Connected to workbenches; requests are JSON as a browser sends it."""

    def __init__(self, sessions: Sessions, workbench: str = "") -> None:
        self.sessions, self.workbench = sessions, workbench
        self.heard: list[Message] = []
        self._number = 0
        self._news = threading.Condition()
        sessions.connect(self.hear)

    def hear(self, message: Message) -> None:
        with self._news:
            self.heard.append(message)
            self._news.notify_all()

    def say(self, **request: Any) -> int:
        """Ask for something; the result is the number of the request."""
        self._number += 1
        common = {"id": self._number, "workbench": self.workbench}
        self.sessions.receive({**common, **request}, self.hear)
        return self._number

    def ask(self, **request: Any) -> Done | Failed | Saved:
        """Ask for a change, and wait for its end."""
        number = self.say(**request)
        return self.until(
            lambda m: m if isinstance(m, Done | Failed | Saved) and m.id == number else None
        )

    def want(self, part: str, variant: str, **arguments: Any) -> Any:
        """A part's value, or Failed."""
        number = self.say(type="want", part=part, variant=variant, arguments=arguments)
        answer = self.until(
            lambda m: (
                m
                if getattr(m, "id", None) == number
                and (isinstance(m, Failed) or getattr(m, "done", False))
                else None
            )
        )
        return answer if isinstance(answer, Failed) else answer.value  # type: ignore[attr-defined]

    def until(self, found: Callable[[Message], Heard | None]) -> Heard:
        """The first that was heard, or is, of which `found` gives something."""
        at, until = 0, time.monotonic() + PATIENCE
        with self._news:
            while True:
                for message in self.heard[at:]:
                    if (result := found(message)) is not None:
                        return result
                at = len(self.heard)
                left = until - time.monotonic()
                assert self._news.wait(max(0.0, left)), f"waited in vain; heard {self.heard[-3:]}"

    def state(self, fits: Callable[[State], bool]) -> State:
        """The first state that fits."""
        return self.until(
            lambda m: m.state if isinstance(m, StateMessage) and fits(m.state) else None
        )

    @property
    def newest(self) -> State:
        """The newest state that was heard."""
        states = [m.state for m in self.heard if isinstance(m, StateMessage)]
        return max(states, key=lambda state: state.revision)
