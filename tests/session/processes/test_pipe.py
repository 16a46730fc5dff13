from __future__ import annotations

import os
import queue
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from workbench.errors import WorkbenchError
from workbench.session.processes import pipe
from workbench.session.processes.pipe import NICENESS, Child

ECHO = """
from workbench.session.processes.pipe import Parent


def main():
    parent = Parent()
    print("this is no message")
    for message in parent:
        if message == "leave":
            raise SystemExit("nothing left to do")
        parent.send(message() if callable(message) else message)
"""


class Both:
    """A child of the module, with what it said."""

    def __init__(self, module: str) -> None:
        self.heard: queue.Queue[Any] = queue.Queue()
        self.reasons: queue.Queue[str] = queue.Queue()
        self.child = Child(module, self.heard.put, self.reasons.put)


@pytest.fixture
def echo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Both:
    (tmp_path / "echoing.py").write_text(ECHO)
    monkeypatch.syspath_prepend(str(tmp_path))
    return Both("echoing")


def test_messages_of_any_length_go_both_ways(echo: Both) -> None:
    for message in (1, "x" * 3_000_000, {"a": (1, 2)}):
        echo.child.send(message)
        assert echo.heard.get(timeout=60) == message
    echo.child.stop()


def test_what_no_module_holds_goes_by_value(echo: Both) -> None:
    scale = 3
    echo.child.send(lambda: scale * 2)
    assert echo.heard.get(timeout=60) == 6
    echo.child.stop()


def test_code_that_goes_by_value_keeps_its_file(echo: Both) -> None:
    made: dict[str, Any] = {}
    source = "def outer():\n    def inner():\n        return 1\n    return inner\n"
    exec(compile(source, "a cell of a notebook", "exec"), made)
    outer = made["outer"]
    echo.child.send(lambda: [f.__code__.co_filename for f in (outer, outer())])
    assert echo.heard.get(timeout=60) == ["a cell of a notebook"] * 2
    echo.child.stop()


def test_a_process_that_ends_says_why(echo: Both) -> None:
    echo.child.send("leave")
    assert echo.reasons.get(timeout=60) == "it ended with code 1: nothing left to do"


def test_a_process_that_is_ended_says_by_what(echo: Both) -> None:
    echo.child.send(1)
    echo.heard.get(timeout=60)
    os.kill(echo.child.pid, signal.SIGKILL)
    assert "it was ended by SIGKILL" in echo.reasons.get(timeout=60)


def test_a_process_that_is_stopped_is_not_heard_of(echo: Both) -> None:
    echo.child.send(1)
    echo.heard.get(timeout=60)
    echo.child.stop()
    for thread in threading.enumerate():
        if thread.name.startswith("echoing"):
            thread.join(60)
    assert echo.reasons.empty()


def test_interrupting_this_process_does_not_interrupt_the_other(echo: Both) -> None:
    # a group of its own: what the terminal or Jupyter sends to ours does not reach it
    assert os.getpgid(echo.child.pid) != os.getpgid(0)
    echo.child.stop()


@pytest.mark.skipif(not hasattr(os, "getpriority"), reason="Unix has a niceness")
def test_a_process_that_is_behind_lets_others_go_first(echo: Both) -> None:
    own = os.getpriority(os.PRIO_PROCESS, 0)
    for behind, wanted in ((False, own), (True, min(own + NICENESS, 19))):
        heard = queue.Queue[Any]()
        child = Child("echoing", heard.put, echo.reasons.put, behind)
        child.send("hello")
        assert heard.get(timeout=60) == "hello"
        assert os.getpriority(os.PRIO_PROCESS, child.pid) == wanted
        child.stop()
    echo.child.stop()


@pytest.mark.parametrize("folder", ["", "not there"])
def test_a_session_steps_back_too_where_it_has_a_share_of_its_own(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    autogroup, steps = tmp_path / folder / "autogroup", list[int]()
    monkeypatch.setattr(pipe, "AUTOGROUP", autogroup)
    monkeypatch.setattr(os, "nice", steps.append, raising=False)
    pipe.step_back()
    assert steps == [NICENESS]
    assert (autogroup.read_text() if autogroup.is_file() else "") == ("" if folder else "10")


def test_what_cannot_be_pickled_is_refused(echo: Both) -> None:
    with pytest.raises(WorkbenchError, match="cannot be given to another process: cannot pickle"):
        echo.child.send(threading.Lock())
    echo.child.stop()


def test_a_module_that_is_not_there_says_so() -> None:
    both = Both("workbench.session.no_such_module")
    assert "No module named 'workbench.session.no_such_module'" in both.reasons.get(timeout=60)
