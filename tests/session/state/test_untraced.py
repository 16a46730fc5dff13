"""Programs that could not be traced, as views are told of them: each by name until it is traced."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.session.listening import Listener
from tests.session.shown import Shown
from workbench.language.template.template import Template
from workbench.session.protocol.messages import PROTOCOL, Untraced
from workbench.session.protocol.state import CycleView, UntracedView
from workbench.session.requests.notebook_variables import Following
from workbench.session.requests.sessions import Sessions
from workbench.session.requests.watched_template import Watched


@wb.program
def cyc(T: int = 4, factor: float = 0.5) -> dict[str, Any]:
    """Two arrays that wait for each other; one, where nothing is passed on."""
    t = wb.dim(t=T)
    x, y = (wb.recurrent(name, (), over=t) for name in ("x", "y"))
    x[t] = factor * y[t] if factor else 1.0
    y[t] = x + 1.0
    return {"last": y.sum(over=t)}


@wb.program
def lost(T: int = 4) -> dict[str, Any]:
    """A name that nobody knows."""
    t = wb.dim(t=T)
    return {"out": nowhere.sum(over=t)}  # type: ignore[name-defined]  # noqa: F821


@wb.program
def leaky_sum(T: int = 4) -> dict[str, Any]:
    """What the shown program became."""
    t = wb.dim(t=T)
    return {"out": wb.uniform(over=t, low=nowhere)}  # type: ignore[call-arg,name-defined]  # noqa: F821


def failure(template: Template, **arguments: Any) -> BaseException:
    with pytest.raises(Exception, match=r".") as caught:
        template(**arguments)
    return caught.value


def told(view: Listener) -> tuple[UntracedView, ...]:
    """What a view was told last."""
    return [message.programs for message in view.heard if isinstance(message, Untraced)][-1]


@pytest.fixture
def following(shown: Shown) -> Following:
    return Following(shown.view.sessions)


def test_a_program_without_a_workbench_is_told_with_cell_reason_and_line(
    shown: Shown, following: Following
) -> None:
    following.after_cell({"cyc": cyc}, failure(cyc), "four")
    (view,) = told(shown.view)
    assert (view.program, view.place) == ("cyc", "test_untraced.py")
    assert view.error.sentence.startswith("a cycle with no delay: x[t=0] needs y[t=0] needs x[t=0]")
    assert view.error.line is not None
    assert view.error.line.text == "x[t] = factor * y[t] if factor else 1.0"
    assert shown.view.newest.error is None  # its own workbench shows what it says


def test_a_cycle_comes_with_its_instances_and_their_lines(
    shown: Shown, following: Following
) -> None:
    following.after_cell({"cyc": cyc}, failure(cyc), "four")
    cycle = told(shown.view)[0].error.cycle
    assert isinstance(cycle, CycleView)
    assert cycle.sizes == {"T": 1}
    assert [(one.text, one.line and one.line.text) for one in cycle.instances] == [
        ("x[t=0]", "x[t] = factor * y[t] if factor else 1.0"),
        ("y[t=0]", "y[t] = x + 1.0"),
    ]


def test_every_failing_program_is_told_and_goes_by_itself(
    shown: Shown, following: Following
) -> None:
    variables = {"cyc": cyc, "lost": lost}
    following.after_cell(variables, failure(cyc), "four")
    following.after_cell(variables, failure(lost), "five")
    following.after_cell(variables, failure(leaky_sum), "six")
    assert [view.program for view in told(shown.view)] == ["cyc", "lost"]
    own = shown.view.newest.error
    assert own is not None and own.program == "leaky_sum"
    cyc(factor=0.0)  # traced, whoever holds what comes out
    following.after_cell(variables, None, "seven")
    assert [view.program for view in told(shown.view)] == ["lost"]
    following.after_cell(variables, None, "five")  # it says something else now
    assert told(shown.view) == ()
    assert shown.view.newest.error == own
    following.after_cell(variables, None, "six")
    assert shown.view.newest.error is None


def test_a_cell_that_fails_at_another_program_now_is_not_told_of_the_former(
    shown: Shown, following: Following
) -> None:
    following.after_cell({"cyc": cyc}, failure(cyc), "four")
    following.after_cell({"lost": lost}, failure(lost), "four")
    assert [view.program for view in told(shown.view)] == ["lost"]
    following.after_cell({}, ValueError("no trace"), "four")  # whether it traces is not known
    assert [view.program for view in told(shown.view)] == ["lost"]


def test_a_cell_that_traces_a_shown_program_and_then_fails_is_told(
    shown: Shown, following: Following
) -> None:
    program = shown.session.tree.shown.program
    following.after_cell({"p": program}, failure(leaky_sum), "four")
    assert shown.view.newest.error is not None


def test_a_view_that_comes_later_is_told_after_its_welcome(
    shown: Shown, following: Following
) -> None:
    following.after_cell({"cyc": cyc}, failure(cyc), "four")
    newcomer = Listener(shown.view.sessions)
    newcomer.say(type="hello", protocol=PROTOCOL)
    assert [message.type for message in newcomer.heard] == ["welcome", "untraced", "state"]
    assert told(newcomer) == told(shown.view)


def test_a_program_that_gets_a_workbench_was_traced(
    shown: Shown, following: Following, sessions: Sessions
) -> None:
    following.after_cell({"cyc": cyc}, failure(cyc), "four")
    sessions.show(wb.variant(cyc(factor=0.0)), shown.store)
    assert told(shown.view) == ()


def test_a_watched_template_that_cannot_be_traced_shows_its_cycle(
    sessions: Sessions, tmp_path: Path
) -> None:
    shown = Shown(sessions, tmp_path, cyc(factor=0.0))
    watched = Watched(cyc, {"factor": 0.0}, shown.session, sessions.work)
    watched.change({"factor": 0.5})
    error = shown.view.state(lambda state: state.error is not None).error
    assert error is not None
    assert (error.program, error.place) == ("cyc", "test_untraced.py")
    assert error.error.cycle is not None
    assert [one.text for one in error.error.cycle.instances] == ["x[t=0]", "y[t=0]"]
    failed = shown.view.newest.revision
    watched.change({"factor": 0.0})
    shown.view.state(lambda state: state.error is None and state.revision > failed)
