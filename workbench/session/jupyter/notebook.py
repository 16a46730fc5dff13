"""Workbenches in Jupyter: connects comms and widgets as views, follows cells, updates outputs.

The front end may open a comm, or the Jupyter kernel does with the first workbench that is shown.
Handlers may run on the thread of a subshell while a cell runs: they call only what is thread-safe.
"""

from __future__ import annotations

import atexit
import contextlib
import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import comm as comms
from IPython import get_ipython
from IPython.display import display, publish_display_data

from workbench.errors import TooComplexError
from workbench.language.template.template import Template
from workbench.measure.store import Store
from workbench.session.jupyter.controls import controls
from workbench.session.outputs import page
from workbench.session.outputs.mime_bundle import bundle, drawn
from workbench.session.processes.sampler import RunPosition, Sampler
from workbench.session.protocol.capsule import plain
from workbench.session.protocol.messages import Message
from workbench.session.requests.notebook_variables import Following
from workbench.session.requests.sessions import Sessions
from workbench.session.requests.watched_template import Watched
from workbench.session.state.session import Session
from workbench.variants.variant import Data, Variant

TARGET = "workbench"
PAUSE = 3.0
"""Least seconds between two updates of an output."""
MEASURING_PAUSE = 30.0
"""The same while a measurement runs: an update would spoil its times."""


class Notebook:
    """The front ends of this Jupyter kernel. `shell` is IPython's, None outside of it."""

    def __init__(self, shell: Any) -> None:
        self.sessions = Sessions()
        self.following = Following(self.sessions)
        self._door = Door()
        self._outputs: dict[str, Output] = {}
        self._sampler = Sampler(self._seen)
        comms.get_comm_manager().register_target(TARGET, self._opened)
        self._result: Any = None  # of the running cell
        if shell is not None:
            self._shell = shell
            self._hear_results(shell)
            shell.events.register("pre_run_cell", self._before_cell)
            shell.events.register("post_run_cell", self._after_cell)

    def show(self, variant: Variant, store: Store) -> Session:
        """Open the workbench of a variant's program in every front end."""
        if not self.sessions.views:
            self._connect(comms.create_comm(target_name=TARGET, data={}))
        session = self.sessions.show(variant, store)
        _draw(session, session.tree.shown)
        return session

    def adopt(self, session: Session, variant: Variant) -> None:
        """Show a variant in its workbench, drawn before views hear of it."""
        _draw(session, variant)
        session.adopt([variant])

    def watch(
        self, template: Template, arguments: Mapping[str, Any], session: Session, data: Data
    ) -> Watched:
        """Watch a template whose program is shown."""
        watched = Watched(template, arguments, session, self.sessions.work, data)
        self.following.watch(template, watched.redefined)
        return watched

    def display(self, session: Session) -> None:
        """Show a workbench in the output of the running cell, and keep that output up to date."""
        _draw(session, session.tree.shown)
        self.sessions.open(session)
        before = self._outputs.pop(session.name, None)
        if before is not None:
            before.close()
        self._outputs[session.name] = Output(self.sessions, session, self._door)

    def display_controls(self, watched: Watched) -> None:
        """Show a control for each argument of a watched template."""
        display(controls(watched))

    def close(self) -> None:
        """End the processes and threads of all workbenches. Nothing is sent after it."""
        self._door.close()
        for output in self._outputs.values():
            output.close()
        self._sampler.stop()
        self.sessions.close()

    # -- views -------------------------------------------------------------------------------------

    def _opened(self, comm: Any, message: Any) -> None:
        """Connect a comm that the front end opened."""
        self._connect(comm)

    def _connect(self, comm: Any) -> None:
        def send(message: Message) -> None:
            with self._door as is_open:
                if is_open:
                    comm.send(plain(message))

        _answered_where_asked(comm)
        comm.on_msg(lambda said: self.sessions.receive(said["content"]["data"], send))
        comm.on_close(lambda said: self.sessions.disconnect(send))
        self.sessions.connect(send)

    # -- cells -------------------------------------------------------------------------------------

    def _hear_results(self, shell: Any) -> None:
        """Hear of each cell's result. Behind a semicolon IPython keeps it for nobody."""
        hook = shell.display_trap.hook

        def hear(result: Any = None) -> None:
            self._result = result
            hook(result)

        shell.display_trap.hook = hear
        if sys.displayhook is hook:  # in the middle of the cell that made this
            sys.displayhook = hear

    def _before_cell(self, info: Any) -> None:
        self._sampler.start()

    def _after_cell(self, result: Any) -> None:
        self._sampler.stop()
        cell = getattr(result.info, "cell_id", None)
        variables = {**self._shell.user_ns, "_": self._result}
        self._result = None
        self.following.after_cell(variables, result.error_in_exec, cell)

    def _seen(self, place: RunPosition, variant: Variant | None) -> None:
        session = self.sessions.find(place.program)
        if session is None:
            return
        if variant is not None:
            session.join_running(variant)
        session.show_running(place)


@lru_cache(maxsize=1)
def notebook() -> Notebook:
    """Return the front ends of this process, which are closed with it: before the threads of the
    Jupyter kernel, since what is registered last is called first.
    """
    made = Notebook(get_ipython())
    atexit.register(made.close)
    return made


class Door:
    """A door through which threads of ours send one by one, and nothing once it is closed.

    At its end a Jupyter kernel (ipykernel 7.4) stops the thread that sends for all others. From
    then on each sends by itself, and the parts of two messages get mixed.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._is_open = True

    def __enter__(self) -> bool:
        """Wait for one's turn; returns whether it is open."""
        self._lock.acquire()
        return self._is_open

    def __exit__(self, *error: object) -> None:
        self._lock.release()

    def close(self) -> None:
        """Close it once nobody is in it."""
        with self._lock:
            self._is_open = False


class Output:
    """A workbench in a cell's output. It is drawn at once, and again some time after each change,
    so that the saved notebook holds all of it. Front ends that run widgets but not our extension
    draw a widget. The widget asks for the views, which would otherwise stand in every notebook, and
    hears of the workbench from its next message on.
    """

    def __init__(self, sessions: Sessions, session: Session, door: Door) -> None:
        self._sessions, self._session, self._door = sessions, session, door
        self._widget = _widget_class()(workbench=session.name)
        _answered_where_asked(self._widget.comm)
        self._widget.on_msg(lambda _, content, buffers: self._heard(content))
        self._id = uuid.uuid4().hex
        self._changed = threading.Event()
        self._closed = False
        self._publish(update=False)
        self._ignore = session.listen(self._changed.set)
        threading.Thread(target=self._follow, name="workbench output", daemon=True).start()

    def close(self) -> None:
        """Stop following: the workbench has another output."""
        self._closed = True
        self._changed.set()
        self._ignore()
        self._sessions.disconnect(self._send)

    def _heard(self, said: Any) -> None:
        if said == {"type": "views"}:
            self._widget.send({"views": page.views()})
            return
        self._sessions.connect(self._send)
        self._sessions.receive(said, self._send)

    def _send(self, message: Message) -> None:
        with self._door as is_open:
            if is_open:
                self._widget.send(plain(message))

    def _publish(self, update: bool) -> None:
        """Draw the shown variant. Until its picture is computed, the first output is a word and
        later ones stay as they are; the picture's arrival counts as a change.
        """
        picture = self._session.kept.picture(self._session.tree.shown)
        if picture is not None:
            made = bundle(self._session.capsule(), picture)
        elif not update:
            made = {"text/plain": f"{self._session.name} is being drawn"}
        else:
            return
        whole = {**self._widget._repr_mimebundle_()[0], **made}
        with self._door as is_open:
            if is_open:
                publish_display_data(whole, transient={"display_id": self._id}, update=update)

    def _follow(self) -> None:
        """Update after changes, less often while a measurement runs or if updates take long."""
        last = time.monotonic()
        while True:
            self._changed.wait()
            if self._closed:
                return
            started = time.monotonic()
            measuring = self._session.values.measuring is not None
            if not measuring or started - last > MEASURING_PAUSE:
                self._changed.clear()
                self._publish(update=True)
                last = time.monotonic()
            time.sleep(max(PAUSE, 10 * (time.monotonic() - started)))


def _draw(session: Session, variant: Variant) -> None:
    """Draw a variant here at once, sooner than a worker that has to start or is busy with prices. A
    large program is left to the worker, since isl cannot be interrupted here.
    """
    if session.kept.picture(variant) is not None:
        return
    with contextlib.suppress(TooComplexError):
        session.kept.keep(variant, drawn(variant.program))


def _answered_where_asked(comm: Any) -> None:
    """Let a message go to the subshell that the front end names.

    ipykernel (7.4) gives it to the shell that last sent on the comm, which is that of the cells:
    every click would wait for the running cell.
    """
    comm._reply_subshell_for = lambda data, named: named


@lru_cache(maxsize=1)
def _widget_class() -> Callable[..., Any]:
    import anywidget
    import traitlets

    class WorkbenchView(anywidget.AnyWidget):
        """The views, connected by custom messages; `workbench` names the one to show."""

        _esm = Path(__file__).parents[1] / "widget.js"
        workbench = traitlets.Unicode("").tag(sync=True)

    return WorkbenchView
