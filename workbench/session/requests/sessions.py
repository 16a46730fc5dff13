"""All workbenches of a Jupyter kernel, and the views that are connected to them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from workbench.errors import WorkbenchError, nearest
from workbench.measure.store import Store
from workbench.session.processes.workers import Workers
from workbench.session.protocol.capsule import release
from workbench.session.protocol.failures import error_view, sentence
from workbench.session.protocol.messages import (
    PROTOCOL,
    Failed,
    Forget,
    Hello,
    Message,
    StateMessage,
    Untraced,
    Welcome,
)
from workbench.session.protocol.reading import number_of, read
from workbench.session.protocol.state import UntracedView
from workbench.session.requests.handlers import handle
from workbench.session.state.session import Session
from workbench.variants.variant import Variant

Send = Callable[[Message], None]


class Sessions:
    """Workbenches by their programs' names, the last shown last, and the views that hear of all of
    them.
    """

    def __init__(self) -> None:
        self.work = Workers()
        self._lock = threading.RLock()
        self._sessions: dict[str, Session] = {}
        self._views: tuple[Send, ...] = ()
        self._untraced: dict[str, UntracedView] = {}

    @property
    def views(self) -> tuple[Send, ...]:
        """Every view that is connected."""
        return self._views

    @property
    def untraced(self) -> tuple[UntracedView, ...]:
        """Programs without a workbench that could not be traced."""
        return tuple(self._untraced.values())

    def all(self) -> tuple[Session, ...]:
        """Every workbench, the last shown first."""
        with self._lock:
            return tuple(reversed(self._sessions.values()))

    def find(self, name: str) -> Session | None:
        """Return the workbench of programs of that name."""
        return self._sessions.get(name)

    def show(self, variant: Variant, store: Store) -> Session:
        """Show the variant in the workbench of its program, made if there is none; every view opens
        it.
        """
        name = variant.root.program.name
        self.work.warm()
        with self._lock:
            session = self._sessions.get(name)
            new = session or Session(variant, self.work, store, self.broadcast)
            self._sessions[name] = new
        if session is not None:
            session.store = store
            session.redefine(variant)
        self._tell_untraced({key: view for key, view in self._untraced.items() if key != name})
        self.open(new)
        return new

    def open(self, session: Session) -> None:
        """Bring a workbench to the front: every view shows it."""
        with self._lock:
            if self._sessions.pop(session.name, None) is None:
                return  # it was forgotten
            self._sessions[session.name] = session
        self.broadcast(StateMessage("state", session.state(), True))

    def fail(self, view: UntracedView) -> None:
        """Tell views that a program could not be traced, whether it has a workbench or not."""
        session = self.find(view.program)
        if session is not None:
            session.fail(view)
        else:
            self._tell_untraced({**self._untraced, view.program: view})

    def mended(self, view: UntracedView) -> None:
        """Take back that error; another error of the program stays."""
        session = self.find(view.program)
        if session is not None:
            session.mended(view)
        self._tell_untraced({k: one for k, one in self._untraced.items() if one is not view})

    def _tell_untraced(self, programs: dict[str, UntracedView]) -> None:
        if programs != self._untraced:
            self._untraced = programs
            self.broadcast(Untraced("untraced", self.untraced))

    def broadcast(self, message: Message) -> None:
        """Tell every view."""
        for send in self._views:
            send(message)

    def forget(self, name: str) -> None:
        """Forget a workbench."""
        with self._lock:
            session = self._sessions.pop(name, None)
        if session is not None:
            session.close()

    def close(self) -> None:
        """End everything that the workbenches have started."""
        for session in self.all():
            session.under_way.cancel()
        self.work.stop()

    # -- views -------------------------------------------------------------------------------------

    def connect(self, send: Send) -> None:
        """Connect a view, if it is not yet connected."""
        with self._lock:
            if send not in self._views:
                self._views = (*self._views, send)

    def disconnect(self, send: Send) -> None:
        """Disconnect a view."""
        with self._lock:
            self._views = tuple(view for view in self._views if view != send)
        for session in self.all():
            session.kept.forget_all(send)

    def receive(self, payload: Any, send: Send) -> None:
        """Handle a view's request, given as JSON; messages for this view alone go to `send`."""
        try:
            request = read(payload)
            if isinstance(request, Hello):
                self._welcome(request, send)
            elif isinstance(request, Forget):
                for session in self.all():
                    session.kept.forget(send, request.id)
            else:
                handle(self._session(request.workbench), request, send)
        except WorkbenchError as error:
            send(Failed("failed", number_of(payload), error_view(error)))

    def _welcome(self, hello: Hello, send: Send) -> None:
        sessions = self.all()
        names = tuple(session.name for session in sessions)
        send(Welcome("welcome", PROTOCOL, release(), names))
        if hello.protocol != PROTOCOL:
            said = (
                f"These views speak protocol {hello.protocol} of the workbench, Python speaks "
                f"{PROTOCOL}: reload the page, and restart the Jupyter kernel after an update."
            )
            send(Failed("failed", None, sentence(said)))
            return
        if self.untraced:
            send(Untraced("untraced", self.untraced))
        for session in sessions:
            send(StateMessage("state", session.state(), False))

    def _session(self, name: str) -> Session:
        existing = self.find(name)
        if existing is None:
            known = nearest(name, [session.name for session in self.all()], "workbenches")
            raise WorkbenchError(f"there is no workbench {name!r}: {known}")
        return existing
