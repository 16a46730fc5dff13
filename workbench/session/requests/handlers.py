"""The effect of each request on a workbench; its answer goes to whoever asked, now or later."""

from __future__ import annotations

import threading
from typing import Any

from workbench.errors import WorkbenchError
from workbench.session.outputs import page
from workbench.session.processes.measuring.calibrator import CalibrateOrder
from workbench.session.processes.measuring.meter import MeasureOrder
from workbench.session.processes.measuring.profiler import ProfileOrder
from workbench.session.processes.measuring.runner import RunOrder
from workbench.session.processes.orders import Grown, Picture
from workbench.session.processes.pipe import NotSentError
from workbench.session.protocol.failures import error_view
from workbench.session.protocol.messages import (
    Apply,
    Calibrate,
    Cancel,
    Change,
    Done,
    Failed,
    Follow,
    Forget,
    Load,
    Measure,
    Optimize,
    Profile,
    Remove,
    Rename,
    Replay,
    Report,
    Request,
    Run,
    Save,
    Saved,
    Show,
    Want,
)
from workbench.session.protocol.state import ErrorView
from workbench.session.report.facts import Setting
from workbench.session.requests.recipe_search import search
from workbench.session.state.page_parts import fill
from workbench.session.state.part_cache import Reply
from workbench.session.state.saved_tree import saved_tree
from workbench.session.state.session import Session
from workbench.variants.variant import Variant


def handle(session: Session, request: Request, reply: Reply) -> None:
    """Handle a request; one that cannot be met is answered with the reason."""
    try:
        _handle(session, request, reply)
    except Exception as error:  # whoever asked must hear of any error
        reply(Failed("failed", getattr(request, "id", None), error_view(error)))


def _handle(session: Session, request: Request, reply: Reply) -> None:
    tree = session.tree
    match request:
        case Want():
            session.kept.want(request, tree[request.variant], reply)
        case Forget():
            session.kept.forget(reply, request.id)
        case Apply(variant=key, step=step):
            _grow(session, request, reply, "apply", tree[key], step)
        case Replay(variant=key, onto=onto):
            last = request.only_last
            _grow(session, request, reply, "replay", tree[onto], tree[key], last)
        case Follow(steps=steps):
            _grow(session, request, reply, "follow", tree.variants[tree.root], steps)
        case Optimize():
            search(session, request, reply)
        case Measure():
            _measure(session, request, reply)
        case Run():
            _run(session, request, reply)
        case Profile():
            _profile(session, request, reply)
        case Calibrate(backend=backend):
            order = CalibrateOrder(backend)
            session.under_way.calibrate(order, lambda result: _finish(request, reply, result.error))
        case Save():
            threading.Thread(target=_save, args=(session, request, reply), daemon=True).start()
        case Report():
            _report(session, request, reply)
        case Load(text=text, show=show):
            session.load(saved_tree(text), lambda error: _finish(request, reply, error), show)
        case _:
            _handle_at_once(session, request)
            reply(Done("done", getattr(request, "id", 0), None))


def _handle_at_once(session: Session, request: Request) -> None:
    match request:
        case Show(variant=key):
            session.show(key)
        case Rename(variant=key, name=name):
            session.rename(key, name)
        case Remove(variant=key):
            session.remove(key)
        case Cancel():
            if not session.under_way.cancel():
                raise WorkbenchError("there is nothing to stop")
        case Change(arguments=arguments):
            if session.on_change is None:
                raise WorkbenchError(f"no template of {session.name} is watched: wb.watch(…)")
            session.on_change(arguments)
        case _:
            raise WorkbenchError(f"{request.type} is not for one workbench")


def _grow(
    session: Session,
    request: Apply | Replay | Follow,
    reply: Reply,
    task: str,
    *arguments: Any,
) -> None:
    """Have variants made, take them into the tree, and answer with the last."""
    made: list[Variant] = []
    late: list[ErrorView] = []

    def came(value: Picture | Grown) -> None:
        if late:
            return
        if isinstance(value, Picture):
            session.kept.keep(made[-1], value.value)
            return
        made.extend(value.variants)
        try:
            session.adopt(made)
        except WorkbenchError as error:  # the program was traced again meanwhile
            late.append(error_view(error))

    def ended(error: ErrorView | None) -> None:
        said = error or next(iter(late), None)
        _finish(request, reply, said, made[-1].key if made else None)

    session.work.order(task, *arguments, came=came, ended=ended)


def _measure(session: Session, request: Measure, reply: Reply) -> None:
    order = MeasureOrder(
        tuple(session.tree[key] for key in request.variants),
        request.backend,
        request.sizes,
        request.seed,
        request.dtype,
        request.repeats,
        request.force,
        session.store,
        session.values.found(request.lengths),
    )
    if not order.variants:
        raise WorkbenchError("there is nothing to measure: choose a variant")
    session.under_way.measure(order, lambda result: _finish(request, reply, result.error))


def _run(session: Session, request: Run, reply: Reply) -> None:
    """Run on the usual number of threads. The state tells the result, and what cannot be sent."""
    order = RunOrder(
        session.tree[request.variant],
        request.backend,
        request.sizes,
        request.seed,
        request.dtype,
        None,
    )
    try:
        session.under_way.run(order, lambda result: _finish(request, reply, None), request.here)
    except NotSentError:
        _finish(request, reply, None)


def _profile(session: Session, request: Profile, reply: Reply) -> None:
    """Profile as a measurement runs, on the usual number of threads. The state tells the result."""
    order = ProfileOrder(
        session.tree[request.variant],
        request.backend,
        request.sizes,
        request.seed,
        request.dtype,
        None,
        request.force,
    )
    try:
        session.under_way.profile(order, lambda result: _finish(request, reply, None), request.here)
    except NotSentError:
        _finish(request, reply, None)


def _save(session: Session, request: Save, reply: Reply) -> None:
    """Write everything as text, on a thread of its own, since it is much."""
    html = request.format == "html"
    if html:
        fill(session.kept, session.values, session.name)
    kept = session.capsule()
    text = page.page(kept) if html else page.state_file(kept)
    name = page.file_name(kept, "html" if html else "json")
    reply(Saved("saved", request.id, name, text))


def _report(session: Session, request: Report, reply: Reply) -> None:
    """Have a report written by the worker, which draws and reasons."""
    tree, pages = session.tree, list[tuple[str, str]]()

    def ended(error: ErrorView | None) -> None:
        if error is not None:
            reply(Failed("failed", request.id, error))
            return
        ((name, text),) = pages
        reply(Saved("saved", request.id, name, text))

    session.work.order(
        "report",
        tree[request.before],
        tree[request.variant],
        session.values.measurements,
        dict(tree.names),
        request.notes,
        Setting(
            request.sizes, request.backend, request.dtype, session.values.found(request.lengths)
        ),
        came=pages.append,
        ended=ended,
    )


def _finish(
    request: Apply | Replay | Follow | Measure | Run | Profile | Calibrate | Load,
    reply: Reply,
    error: ErrorView | None,
    variant: str | None = None,
) -> None:
    """Answer the end of a request's work."""
    if error is None:
        reply(Done("done", request.id, variant))
    else:
        reply(Failed("failed", request.id, error))
