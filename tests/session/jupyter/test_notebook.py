"""Workbenches in a real InteractiveShell, with comms that lead nowhere but here."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import comm
import IPython
import pytest
from IPython.core.interactiveshell import InteractiveShell

from workbench.errors import SizeError
from workbench.polyhedral.sets.as_text import limited
from workbench.session.jupyter import notebook as jupyter
from workbench.session.outputs import mime_bundle, page
from workbench.session.outputs.mime_bundle import MIME
from workbench.session.picture.snapshot import line_view
from workbench.session.protocol.messages import PROTOCOL

PATIENCE = 120.0
CELL = """
import workbench as wb

@wb.program
def decay(B=3, T=4, rate=0.5):
    b, t = wb.dims(b=B, t=T)
    x = wb.normal(over=(b, t))
    s = wb.recurrent("s", (), over=(b, t))
    s[b, 0] = 0.0
    s[b, t + 1] = rate * s + x
    return {"total": (2.0 * s).sum(over=(b, t))}
"""


class FakeComm:
    """A comm whose other end is the test."""

    def __init__(self, target_name: str = "", data: Any = None) -> None:
        self.target, self.sent = target_name, list[Any]()
        self.said: Callable[[Any], None] = lambda message: None
        self.closed: Callable[[Any], None] = lambda message: None

    def send(self, data: Any) -> None:
        self.sent.append(data)

    def on_msg(self, callback: Callable[[Any], None]) -> None:
        self.said = callback

    def on_close(self, callback: Callable[[Any], None]) -> None:
        self.closed = callback

    def say(self, **data: Any) -> None:
        self.said({"content": {"data": data}})

    def until(self, found: Callable[[Any], bool]) -> Any:
        return until(lambda: next((m for m in self.sent if found(m)), None))


class FakeManager:
    def __init__(self) -> None:
        self.targets: dict[str, Callable[[Any, Any], None]] = {}

    def register_target(self, name: str, opened: Callable[[Any, Any], None]) -> None:
        self.targets[name] = opened


def until(found: Callable[[], Any]) -> Any:
    end = time.monotonic() + PATIENCE
    while (result := found()) in (None, False):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)
    return result


class Together:
    """A shell, its notebook, the comms and the outputs there are."""

    def __init__(self) -> None:
        self.shell = InteractiveShell()
        self.manager = FakeManager()
        self.made: list[FakeComm] = []
        self.outputs: list[tuple[Any, Any, bool]] = []
        self.jupyter: Any = None

    def run(self, cell: str, name: str | None = None) -> None:
        result = self.shell.run_cell(cell, cell_id=name)
        if result.error_before_exec or result.error_in_exec:
            raise result.error_before_exec or result.error_in_exec


@pytest.fixture
def notebook(lasting: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    found = Together()

    def create(**options: Any) -> FakeComm:
        found.made.append(FakeComm(**options))
        return found.made[-1]

    def published(data: Any, transient: Any, update: bool = False) -> None:
        found.outputs.append((data, transient, update))

    package = SimpleNamespace(get_comm_manager=lambda: found.manager, create_comm=create)
    monkeypatch.setattr(jupyter, "comms", package)
    monkeypatch.setattr(jupyter, "publish_display_data", published)
    monkeypatch.setattr(jupyter, "PAUSE", 0.01)
    monkeypatch.setattr(jupyter, "get_ipython", lambda: found.shell)
    jupyter.notebook.cache_clear()
    found.jupyter = jupyter.notebook()
    yield found
    found.jupyter.close()
    jupyter.notebook.cache_clear()


def test_the_kernel_opens_a_comm_for_the_first_workbench(notebook: Any, tmp_path: Path) -> None:
    notebook.run(CELL + f"program = decay()\nw = wb.Workbench(program, {str(tmp_path / 's')!r})")
    (comm,) = notebook.made
    assert comm.target == "workbench"
    opened = comm.until(lambda m: m["type"] == "state")
    assert (opened["open"], opened["state"]["name"]) == (True, "decay")
    notebook.run("w2 = wb.Workbench(program)")
    assert len(notebook.made) == 1


def test_the_front_end_opens_a_comm_and_asks(notebook: Any, tmp_path: Path) -> None:
    comm = FakeComm()
    notebook.manager.targets["workbench"](comm, {})
    comm.say(type="hello", protocol=PROTOCOL)
    assert comm.sent[-1]["type"] == "welcome"
    notebook.run(CELL + f"w = wb.Workbench(decay(), {str(tmp_path / 's')!r})")
    assert notebook.made == []  # there is a view already
    state = comm.until(lambda m: m["type"] == "state")["state"]
    comm.say(
        type="want",
        id=5,
        workbench="decay",
        variant=state["current"],
        part="snapshot",
        arguments={},
    )
    part = comm.until(lambda m: m.get("id") == 5)
    assert part["value"]["name"] == "decay"
    comm.closed({})
    count = len(comm.sent)
    notebook.run("w.apply(wb.transforms.Vectorize('b'))")
    assert len(comm.sent) == count


AT_THE_END = """\
import atexit
from types import SimpleNamespace
import workbench.session.jupyter.notebook as jupyter
from workbench.session.protocol.messages import Forget

said = []
comm = SimpleNamespace(
    send=said.append, on_msg=lambda heard: None, on_close=lambda closed: None
)
manager = SimpleNamespace(register_target=lambda name, opened: None)
jupyter.comms = SimpleNamespace(
    get_comm_manager=lambda: manager, create_comm=lambda **options: comm
)

def late():
    before = len(said)
    jupyter.notebook().sessions.broadcast(Forget("forget", 0))
    print(before, len(said))

atexit.register(late)
"""


def test_nothing_is_sent_once_the_process_ends(tmp_path: Path, repository: Path) -> None:
    """Where threads of a Jupyter kernel that ends send at once, their messages get mixed."""
    cell = CELL + f"w = wb.Workbench(decay(), {str(tmp_path / 's')!r})\nassert said"
    script = tmp_path / "ends.py"
    script.write_text(AT_THE_END + cell)
    environment = {**os.environ, "PYTHONPATH": str(repository)}
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, env=environment, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    *_, before, after = done.stdout.split()
    assert before == after


def test_what_is_shown_again_comes_to_the_front(notebook: Any, tmp_path: Path) -> None:
    both = CELL + CELL.replace("decay", "other").replace("import workbench as wb", "")
    notebook.run(both + f"w = wb.Workbench(decay(), {str(tmp_path / 's')!r})")
    notebook.run(f"v = wb.Workbench(other(), {str(tmp_path / 't')!r})")
    (comm,) = notebook.made
    comm.sent.clear()
    notebook.run("w._ipython_display_()")
    opened = [m["state"]["name"] for m in comm.sent if m["type"] == "state" and m["open"]]
    assert opened == ["decay"]
    assert [one.name for one in notebook.jupyter.sessions.all()] == ["decay", "other"]


def test_a_handler_works_on_another_thread_while_a_cell_runs(notebook: Any, tmp_path: Path) -> None:
    notebook.run(CELL + f"w = wb.Workbench(decay(), {str(tmp_path / 's')!r})")
    (comm,) = notebook.made
    state = comm.until(lambda m: m["type"] == "state")["state"]
    go = threading.Event()
    notebook.shell.user_ns["go"] = go
    step = {"transform": "Vectorize", "arguments": {"dim": "b"}}

    def click() -> None:
        comm.say(type="apply", id=7, workbench="decay", variant=state["current"], step=step)
        comm.until(lambda m: m.get("id") == 7)
        go.set()

    thread = threading.Thread(target=click)
    thread.start()
    notebook.run(f"heard = go.wait({PATIENCE})")  # the cell lasts as long as the answer takes
    thread.join()
    assert notebook.shell.user_ns["heard"]
    notebook.run("steps = w.variant.steps")
    assert [str(step) for step in notebook.shell.user_ns["steps"]] == ["Vectorize('b')"]


def test_variants_made_in_python_appear_and_become_current(notebook: Any, tmp_path: Path) -> None:
    notebook.run(CELL + f"program = decay()\nw = wb.Workbench(program, {str(tmp_path / 's')!r})")
    notebook.run("v = wb.variant(program)\nv2 = v.apply(wb.transforms.Vectorize('b'))")
    tree = notebook.jupyter.sessions.find("decay").tree
    assert [str(v.step) for v in tree.variants.values()] == ["None", "Vectorize('b')"]
    assert tree.current == notebook.shell.user_ns["v2"].key
    notebook.run("w.undo()")
    assert notebook.jupyter.sessions.find("decay").tree.current == tree.root
    notebook.run("1 + 1")  # what was there before does not come back
    assert notebook.jupyter.sessions.find("decay").tree.current == tree.root


def test_a_program_defined_anew_takes_the_steps_along(notebook: Any, tmp_path: Path) -> None:
    notebook.run(CELL + f"program = decay()\nw = wb.Workbench(program, {str(tmp_path / 's')!r})")
    notebook.run("w.apply(wb.transforms.Vectorize('b')); w.rename(w.variant, 'fast')")
    session = notebook.jupyter.sessions.find("decay")
    before = session.tree
    notebook.run(CELL.replace("2.0 * s", "3.0 * s") + "program = decay()")
    until(lambda: len(session.tree.variants) == 2 and session.tree.current != session.tree.root)
    assert session.tree.root != before.root
    assert [str(step) for step in session.tree.shown.steps] == ["Vectorize('b')"]
    assert list(session.tree.names.values()) == ["fast"]
    assert session.state().recipe_error is None


def test_another_program_of_the_name_is_not_taken_for_the_one_shown(
    notebook: Any, tmp_path: Path
) -> None:
    notebook.run(CELL + f"program = decay()\nw = wb.Workbench(program, {str(tmp_path / 's')!r})")
    root = notebook.jupyter.sessions.find("decay").tree.root
    notebook.run("aside = decay(B=7)")
    assert notebook.jupyter.sessions.find("decay").tree.root == root


def test_a_cell_that_fails_to_trace_keeps_the_picture_and_shows_its_line(
    notebook: Any, tmp_path: Path
) -> None:
    notebook.run(CELL + f"program = decay()\nw = wb.Workbench(program, {str(tmp_path / 's')!r})")
    session = notebook.jupyter.sessions.find("decay")
    root = session.tree.root
    with pytest.raises(Exception, match="nowhere"):
        notebook.run(CELL.replace("s[b, 0] = 0.0", "nowhere[b, 0] = 0.0") + "program = decay()")
    state = session.state()
    assert state.root == root
    assert "nowhere" in state.error.error.sentence
    assert state.error.error.line.text == "nowhere[b, 0] = 0.0"
    assert state.error.error.line.file == "cell"
    notebook.run(CELL + "program = decay()")
    assert session.state().error is None


BROKEN = CELL.replace("s[b, 0]", "nowhere[b, 0]")


@pytest.mark.parametrize("later", [CELL + "decay();", CELL + "def walk():\n    decay(B=2)\nwalk()"])
def test_an_error_goes_when_the_template_is_traced_and_nobody_holds_it(
    notebook: Any, tmp_path: Path, later: str
) -> None:
    notebook.run(CELL + f"program = decay()\nw = wb.Workbench(program, {str(tmp_path / 's')!r})")
    session = notebook.jupyter.sessions.find("decay")
    with pytest.raises(NameError):
        notebook.run(BROKEN + "program = decay()")
    with pytest.raises(NameError):
        notebook.run("decay()")  # the newer of two
    notebook.run("1 + 1")
    assert "nowhere" in session.state().error.error.sentence
    notebook.run(later)
    assert session.state().error is None


def test_an_error_goes_when_the_same_template_is_traced_with_other_arguments(
    notebook: Any, tmp_path: Path
) -> None:
    notebook.run(CELL + f"program = decay()\nw = wb.Workbench(program, {str(tmp_path / 's')!r})")
    session = notebook.jupyter.sessions.find("decay")
    with pytest.raises(SizeError):
        notebook.run("decay(B=-1)")
    assert "positive" in session.state().error.error.sentence
    notebook.run("decay(B=1)")
    assert session.state().error is None


def test_an_error_goes_when_the_cell_that_failed_runs(notebook: Any, tmp_path: Path) -> None:
    notebook.run(CELL + f"program = decay()\nw = wb.Workbench(program, {str(tmp_path / 's')!r})")
    session = notebook.jupyter.sessions.find("decay")
    with pytest.raises(SizeError):
        notebook.run("decay(B=-1)", "four")
    notebook.run("2", "five")
    assert session.state().error is not None
    notebook.run("1", "four")
    assert session.state().error is None


def test_a_line_names_its_cell_by_the_count_that_it_ran_with(
    notebook: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(IPython, "get_ipython", lambda: notebook.shell)
    notebook.shell.run_cell("1", store_history=True)
    notebook.shell.run_cell(CELL, store_history=True)
    notebook.run("program = decay()")
    line = notebook.shell.user_ns["program"].statement["x"].line
    number = (
        CELL.splitlines().index("    x = wb.normal(over=(b, t))") + 1
    )  # the first line is empty
    assert (line.place, line.cell) == (f"cell 2, line {number}", 2)
    assert str(line) == f"x = wb.normal(over=(b, t))    (cell 2, line {number})"
    shown = line_view(line)
    assert (shown.file, shown.number, shown.place) == ("cell", number, f"cell 2, line {number}")


def test_the_output_is_updated_with_what_the_notebook_should_hold(
    notebook: Any, tmp_path: Path
) -> None:
    notebook.run(CELL + f"w = wb.Workbench(decay(), {str(tmp_path / 's')!r})\nw")
    data, transient, update = notebook.outputs[0]
    assert not update
    assert data[MIME]["state"]["name"] == "decay"
    assert "application/vnd.jupyter.widget-view+json" in data
    assert "text/html" in data
    notebook.run("w.apply(wb.transforms.Vectorize('b'))")
    last = until(
        lambda: next(
            (
                data[MIME]
                for data, own, update in notebook.outputs
                if own == transient
                and update
                and {p["part"] for p in data[MIME]["parts"]} >= {"snapshot", "cost", "memory"}
                and len(data[MIME]["state"]["variants"]) == 2
            ),
            None,
        )
    )
    assert last["state"]["current"] == last["state"]["variants"][1]["key"]


def test_a_picture_that_takes_too_much_work_comes_from_the_worker(
    notebook: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """isl cannot be interrupted: here it is asked only what it soon knows. What other tests have
    asked of this program's sets it knows already, so the dims have other names.
    """
    monkeypatch.setattr(mime_bundle, "limited", lambda task: limited(task, 1))
    cell = CELL.replace("t=T)", "unseen=T)")
    notebook.run(cell + f"w = wb.Workbench(decay(), {str(tmp_path / 's')!r})\nw")
    data, transient, update = notebook.outputs[0]
    assert (MIME in data, update) == (False, False)
    assert data["text/plain"] == "decay is being drawn"
    assert "application/vnd.jupyter.widget-view+json" in data
    drawn = until(lambda: next((data for data, *place in notebook.outputs[1:]), None))
    assert notebook.outputs[1][1:] == (transient, True)
    assert drawn[MIME]["parts"][0]["part"] == "snapshot"
    assert drawn["text/plain"].startswith("decay(")


def test_the_output_holds_the_rounds_that_are_finished_while_variants_are_measured(
    notebook: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jupyter, "MEASURING_PAUSE", 0.01)
    notebook.run(CELL + f"w = wb.Workbench(decay(), {str(tmp_path / 's')!r})\nw")
    comm = notebook.jupyter.sessions
    root = comm.find("decay").tree.root
    asked = {
        "type": "measure", "id": 1, "workbench": "decay", "variants": [root], "backend": "numpy",
        "sizes": {}, "lengths": {}, "seed": 0, "dtype": "float32", "repeats": 10_000_000,
        "force": True,
    }  # fmt: skip
    comm.receive(asked, lambda message: None)
    kept = until(
        lambda: next(
            (
                state["measurements"]
                for data, _, update in notebook.outputs
                if update and (state := data[MIME]["state"])["measuring"]
                if any(row["samples"] for row in state["measurements"])
            ),
            None,
        )
    )
    assert 0 < len(kept[0]["samples"]) < kept[0]["planned"]
    comm.receive({"type": "cancel", "id": 2, "workbench": "decay"}, lambda message: None)
    until(lambda: comm.find("decay").values.measuring is None)


def test_an_output_hears_of_a_workbench_while_it_is_drawn_as_a_widget(
    notebook: Any, tmp_path: Path
) -> None:
    notebook.run(CELL + f"w = wb.Workbench(decay(), {str(tmp_path / 's')!r})")
    views = notebook.jupyter.sessions.views
    notebook.run("w")
    notebook.run("w")
    assert notebook.jupyter.sessions.views == views  # the extension draws what the outputs hold
    drawn = [data for data, _, update in notebook.outputs if not update]
    assert len(drawn) == 2
    for data in drawn:
        widget = data["application/vnd.jupyter.widget-view+json"]["model_id"]
        hello = {"method": "custom", "content": {"type": "hello", "protocol": PROTOCOL}}
        said = {"content": {"data": hello}, "buffers": []}
        for _ in range(2):
            comm.get_comm_manager().get_comm(widget).handle_msg(said)
    assert len(notebook.jupyter.sessions.views) == len(views) + 2
    notebook.run("w")
    assert len(notebook.jupyter.sessions.views) == len(views) + 1  # the newest but this is over


def test_the_views_travel_to_a_widget_that_is_drawn_and_to_no_other(
    notebook: Any, tmp_path: Path
) -> None:
    notebook.run(CELL + f"w = wb.Workbench(decay(), {str(tmp_path / 's')!r})\nw")
    (output,) = (o[0] for o in notebook.outputs[:1])
    named = output["application/vnd.jupyter.widget-view+json"]["model_id"]
    widget = comm.get_comm_manager().get_comm(named)
    state = notebook.jupyter._outputs["decay"]._widget.get_state()
    assert len(state["_esm"]) < 3_000  # notebooks keep it
    views = len(notebook.jupyter.sessions.views)
    sent: list[Any] = []
    widget.publish_msg = lambda *_, data=None, **more: sent.append(data)
    said = {"method": "custom", "content": {"type": "views"}}
    widget.handle_msg({"content": {"data": said}, "buffers": []})
    assert [data["content"] for data in sent] == [{"views": page.views()}]
    assert len(notebook.jupyter.sessions.views) == views  # it has not said hello yet


def test_watched_arguments_are_traced_anew(notebook: Any, tmp_path: Path) -> None:
    notebook.run(CELL + f"w = wb.watch(decay, T=5, store=wb.store({str(tmp_path / 's')!r}))")
    session = notebook.jupyter.sessions.find("decay")
    (comm,) = notebook.made
    views = {a.name: (a.kind, a.value, a.default) for a in session.state().arguments}
    assert views == {"B": ("size", 3, 3), "T": ("size", 5, 4), "rate": ("number", 0.5, 0.5)}
    comm.say(type="change", id=3, workbench="decay", arguments={"rate": 1})
    assert comm.until(lambda m: m.get("id") == 3)["type"] == "done"
    until(
        lambda: (
            "1.0 * s" in str(session.tree.shown.program)
            or "s[b, t] + x" in str(session.tree.shown.program)
        )
    )
    comm.say(type="change", id=4, workbench="decay", arguments={"T": 0})
    until(lambda: session.state().error is not None)
    assert "size T must be a positive integer, found 0" in session.state().error.error.sentence
    comm.say(type="change", id=5, workbench="decay", arguments={"X": 0})
    said = comm.until(lambda m: m.get("id") == 5)
    assert "decay has no argument 'X'" in said["error"]["sentence"]
    notebook.run(CELL.replace("2.0 * s", "5.0 * s") + "w.set(T=6)")
    until(lambda: "5.0" in str(session.tree.shown.program) and session.state().error is None)
    assert w_sizes(session) == {"B": 3, "T": 6}


def w_sizes(session: Any) -> dict[str, int]:
    return {size.name: size.default for size in session.state().sizes}


OWN = """
import gymnasium, numpy as np, workbench as wb
from workbench.environments import Gymnasium

class Walk(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-9.0, 9.0, (1,), np.float64)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = 0.0
        return np.array([self.x]), {}

    def step(self, action):
        self.x += 1.0 if action else -1.0
        return np.array([self.x]), self.x, abs(self.x) > 3, False, {}

@wb.program
def walk(B=2, I=1, T=4):
    b, i, t = wb.dims(b=B, i=I, t=T)
    env = Gymnasium(Walk)
    state = wb.recurrent("state", env.state_size, over=(b, i, t))
    action = wb.cast(wb.uniform(over=(b, i, t)) < 0.5, "int32")
    following, reward, terminated, truncated = env.step(state, action)
    state[b, i, 0] = env.reset(over=(b, i))
    state[b, i, t + 1] = following
    return {"reward": reward}

program = walk()
"""


def test_what_a_notebook_defines_is_known_to_its_processes(notebook: Any, tmp_path: Path) -> None:
    notebook.run(OWN + f"w = wb.Workbench(program, {str(tmp_path / 's')!r})")
    (comm,) = notebook.made
    session = notebook.jupyter.sessions.find("walk")
    step = next(m.step for m in session.tree.shown.moves() if m.legal)
    comm.say(type="apply", id=1, workbench="walk", variant=session.tree.root, step=step.to_json())
    done = comm.until(lambda m: m.get("id") == 1)
    assert done["type"] == "done", done
    external = session.tree[done["variant"]].program.externals[0]
    assert external == session.tree.variants[session.tree.root].program.externals[0]
    notebook.run("found = w.measure(repeats=1)\nresult = wb.run(w.variant, progress=False)")
    assert [m.check.verdict for m in notebook.shell.user_ns["found"].measurements] == ["passed"] * 2


def test_a_step_from_a_cell_is_drawn_before_views_ask(notebook: Any, tmp_path: Path) -> None:
    notebook.run(CELL + f"w = wb.Workbench(decay(), {str(tmp_path / 's')!r})")
    session = notebook.jupyter.sessions.find("decay")
    (comm,) = notebook.made
    drawn: list[bool] = []
    seen = comm.send

    def send(message: Any) -> None:
        seen(message)
        if message["type"] == "state":
            drawn.append(session.kept.picture(session.tree.shown) is not None)

    comm.send = send
    notebook.run("made = w.apply(wb.transforms.Vectorize('b'))")
    assert drawn and all(drawn)
    assert session.tree.shown.key == notebook.shell.user_ns["made"].key


def test_what_a_cell_compares_is_shown_in_the_workbench(notebook: Any, tmp_path: Path) -> None:
    store = str(tmp_path / "s")
    notebook.run(CELL + f"program = decay()\nw = wb.Workbench(program, {store!r})")
    session = notebook.jupyter.sessions.find("decay")
    notebook.run("rows = wb.compare([wb.variant(program)], repeats=2)\nlast = rows")
    (shown,) = session.state().measurements
    assert shown.variant == session.tree.root
    assert len(shown.samples) == 2
    assert not shown.recorded
    notebook.run("wb.compare([wb.variant(program)], repeats=3)")
    counts = [len(found.samples) for found in session.state().measurements]
    assert counts == [2, 3]
    notebook.run("1 + 1")
    assert len(session.state().measurements) == 2


def test_a_result_behind_a_semicolon_is_shown_too(notebook: Any, tmp_path: Path) -> None:
    store = str(tmp_path / "s")
    notebook.run(CELL + f"program = decay()\nw = wb.Workbench(program, {store!r})")
    notebook.run("plain = wb.variant(program)\nquick = plain.apply(wb.transforms.Vectorize('b'))")
    compared = "wb.compare({'as it was': plain, 'at once': quick}, repeats=2);"
    assert notebook.shell.run_cell(compared, store_history=True).result is None
    session = notebook.jupyter.sessions.find("decay")
    keys = {name: key for key, name in session.tree.names.items()}
    assert keys == {
        name: notebook.shell.user_ns[variable].key
        for name, variable in [("as it was", "plain"), ("at once", "quick")]
    }
    assert {found.variant for found in session.state().measurements} == set(keys.values())


def test_what_a_cell_profiles_is_shown_in_the_workbench(notebook: Any, tmp_path: Path) -> None:
    store = str(tmp_path / "s")
    notebook.run(CELL + f"program = decay()\nw = wb.Workbench(program, {store!r})")
    session = notebook.jupyter.sessions.find("decay")
    notebook.run(
        "made = wb.variant(program).apply(wb.transforms.Vectorize('b'))\n"
        'found = wb.profile(made, "numpy", progress=False)\nlast = found'
    )
    (shown,) = session.state().profiles
    assert shown.variant == notebook.shell.user_ns["made"].key
    assert shown.variant in session.tree.variants
    revision = session.state().revision
    notebook.run("1 + 1")
    assert session.state().revision == revision
