"""A workbench in a real Jupyter kernel, asked over its own channels."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.manager import KernelManager

import workbench as wb
from workbench.session.outputs.mime_bundle import MIME
from workbench.session.protocol.measurements import measurement_views

PATIENCE = 120.0
CELL = """
import workbench as wb
from workbench.algorithms import reinforce
program = reinforce(B=2, I=2, T=3, hidden=(4,))
w = wb.Workbench(program, {store!r})
w
"""


class Kernel:
    """A Jupyter kernel and its client, which keeps all that was published."""

    def __init__(self) -> None:
        self.manager = KernelManager()
        self.manager.start_kernel()
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=PATIENCE)
        self.published: list[Any] = []

    def until(self, found: Callable[[Any], bool]) -> Any:
        """The first message that was published, or is, that fits."""
        for message in self.published:
            if found(message):
                return message
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                message = self.client.get_iopub_msg(timeout=1.0)
            except queue.Empty:
                continue
            self.published.append(message)
            assert message["msg_type"] != "error", message["content"]
            if found(message):
                return message
        raise AssertionError(f"in vain; last: {[m['msg_type'] for m in self.published[-5:]]}")

    def said(self, kind: str, number: int | None = None) -> Callable[[Any], bool]:
        """Whether a message is one of ours, of that type and id."""

        def fits(message: Any) -> bool:
            data = message["content"].get("data", {})
            return (
                message["msg_type"] == "comm_msg"
                and data.get("type") == kind
                and (number is None or data["id"] == number)
            )

        return fits

    def say(self, comm: str, subshell: str | None = None, **data: Any) -> None:
        """A front end's message on a comm, in a subshell if one is named."""
        content = {"comm_id": comm, "data": data}
        message = self.client.session.msg("comm_msg", content)
        if subshell is not None:
            message["header"]["subshell_id"] = subshell
        self.client.shell_channel.send(message)

    def subshell(self) -> str:
        """A new subshell of the Jupyter kernel."""
        message = self.client.session.msg("create_subshell_request", {})
        self.client.control_channel.send(message)
        while True:
            reply = self.client.get_control_msg(timeout=PATIENCE)
            if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                found: str = reply["content"]["subshell_id"]
                return found


@pytest.fixture
def kernel() -> Iterator[Kernel]:
    found = Kernel()
    yield found
    found.client.stop_channels()
    found.manager.shutdown_kernel(now=True)


def test_a_click_is_answered_while_a_cell_runs_and_the_output_follows(
    kernel: Kernel, tmp_path: Any
) -> None:
    kernel.client.execute(CELL.format(store=str(tmp_path / "m.jsonl")))
    opened = kernel.until(lambda m: m["msg_type"] == "comm_open")
    assert opened["content"]["target_name"] == "workbench"
    comm = opened["content"]["comm_id"]
    first = kernel.until(kernel.said("state"))["content"]["data"]
    assert first["open"]
    shown = kernel.until(lambda m: m["msg_type"] == "display_data")["content"]
    assert {MIME, "text/html", "application/vnd.jupyter.widget-view+json"} <= set(shown["data"])
    subshell = kernel.subshell()
    kernel.client.execute("import time; print('busy'); time.sleep(600)")
    kernel.until(lambda m: m["msg_type"] == "stream" and "busy" in m["content"]["text"])
    step = {"transform": "Vectorize", "arguments": {"dim": "b"}}
    root = first["state"]["root"]
    kernel.say(comm, subshell, type="apply", id=1, workbench="reinforce", variant=root, step=step)
    made = kernel.until(kernel.said("done", 1))["content"]["data"]["variant"]
    update = kernel.until(lambda m: m["msg_type"] == "update_display_data")
    assert update["content"]["transient"] == shown["transient"]
    kernel.say(
        comm, subshell, type="want", id=2, workbench="reinforce", part="snapshot", variant=made,
        arguments={},
    )  # fmt: skip
    part = kernel.until(kernel.said("part", 2))["content"]["data"]
    assert part["value"]["name"] == "reinforce"
    idle = [m for m in kernel.published if m["content"].get("execution_state") == "idle"]
    busy = kernel.published.index(
        next(m for m in kernel.published if "busy" in m["content"].get("text", ""))
    )
    cell = kernel.published[busy]["parent_header"]["msg_id"]
    assert all(m["parent_header"]["msg_id"] != cell for m in idle)  # the cell runs on


def test_without_subshells_a_click_waits_for_the_cell(kernel: Kernel, tmp_path: Any) -> None:
    kernel.client.execute(CELL.format(store=str(tmp_path / "m.jsonl")))
    comm = kernel.until(lambda m: m["msg_type"] == "comm_open")["content"]["comm_id"]
    root = kernel.until(kernel.said("state"))["content"]["data"]["state"]["root"]
    kernel.say(comm, type="rename", id=1, workbench="reinforce", variant=root, name="mine")
    assert kernel.until(kernel.said("done", 1))
    kernel.client.execute("print(list(w.names))")
    kernel.until(lambda m: m["msg_type"] == "stream" and "mine" in m["content"]["text"])


def test_the_worker_ends_with_the_jupyter_kernel(kernel: Kernel, tmp_path: Any) -> None:
    cell = CELL.format(store=str(tmp_path / "m.jsonl"))
    kernel.client.execute(cell + "\nprint('pid', w._session.work.pid)")
    said = kernel.until(lambda m: m["msg_type"] == "stream" and "pid" in m["content"]["text"])
    pid = int(said["content"]["text"].split()[1])
    kernel.manager.shutdown_kernel(now=True)
    end = time.monotonic() + PATIENCE
    while is_running(pid):
        assert time.monotonic() < end
        time.sleep(0.1)


def test_what_was_measured_is_kept_when_the_jupyter_kernel_dies(
    kernel: Kernel, tmp_path: Path
) -> None:
    store = wb.store(tmp_path / "m.jsonl")
    kernel.client.execute(CELL.format(store=str(store.path)))
    comm = kernel.until(lambda m: m["msg_type"] == "comm_open")["content"]["comm_id"]
    root = kernel.until(kernel.said("state"))["content"]["data"]["state"]["root"]
    kernel.say(
        comm, type="measure", id=1, workbench="reinforce", variants=[root], backend="numpy",
        sizes={}, lengths={}, seed=0, dtype="float32", repeats=10_000_000, force=True,
    )  # fmt: skip

    def shown(message: Any) -> bool:
        said = kernel.said("state")(message)
        rows = message["content"]["data"]["state"]["measurements"] if said else []
        return any(row["samples"] for row in rows)

    (told,) = kernel.until(shown)["content"]["data"]["state"]["measurements"]
    kernel.manager.shutdown_kernel(now=True)
    end = time.monotonic() + PATIENCE
    while not len(store.read()):
        assert time.monotonic() < end
        time.sleep(0.1)
    (kept,) = store.read()
    taken = len(told["samples"])
    assert kept.samples[:taken] == tuple(told["samples"])
    assert 0 < taken <= len(kept.samples) < kept.planned
    (after,) = measurement_views([kept])
    assert after.id == told["id"]


def is_running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
