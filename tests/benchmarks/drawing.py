"""How the graph stays under the hand: while all scopes of a large program are opened, and while the
picture is dragged, at its first scale and from afar. Headless Chromium without a GPU. The longest
task is told in time on the clock, which a busy machine makes longer, and in time on the processor.

python -m tests.benchmarks.drawing [--statements 300 1000] [--static FOLDER]
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests import chromium
from tests.benchmarks.measuring import emit, machine
from tests.front_end import STATIC
from tests.session import example
from workbench.program.values import Program
from workbench.session.picture.snapshot import snapshot
from workbench.session.protocol.capsule import SavedPart, capsule, to_json
from workbench.session.protocol.state import State, VariantView
from workbench.session.protocol.state_views import size_views
from workbench.variants.variant import Variant

PAGE = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<body style="margin:0"><div id="w" style="height:100vh"></div>
<script type="application/json" id="c">{capsule}</script><script type="module">
import {{ renderSaved }} from "./graph.js";
renderSaved(document.getElementById("w"), JSON.parse(document.getElementById("c").textContent));
</script></body>"""

WATCH = """() => {
    window.seen = { events: [], tasks: [] };
    new PerformanceObserver((list) => {
        for (const one of list.getEntries()) window.seen.events.push(one.duration);
    }).observe({ type: "event", durationThreshold: 16 });
    new PerformanceObserver((list) => {
        for (const one of list.getEntries()) window.seen.tasks.push(one.duration);
    }).observe({ type: "longtask" });
}"""

SEEN = """() => {
    const { events, tasks } = window.seen;
    window.seen = { events: [], tasks: [] };
    return { events, tasks };
}"""

FRAMES = """() => {
    window.frames_ = 0;
    window.counting = true;
    const count = () => { window.frames_++; if (window.counting) requestAnimationFrame(count); };
    requestAnimationFrame(count);
}"""

IN_SIGHT = """() => {
    const [of, ground] = [(e) => e.getBoundingClientRect(), document.querySelector(".wbk-stage")];
    const room = of(ground);
    return [...document.querySelectorAll("g.node")].map(of).map((box) => [
        box.x + box.width / 2, box.y + box.height / 2,
    ]).filter(([x, y]) => x > room.left && x < room.right && y > room.top && y < room.bottom);
}"""

BUSY = "document.querySelector('.wbk-picture')?.getAttribute('aria-busy')"


def program(statements: int) -> Program:
    """A REINFORCE by hand with about so many statements: every layer has seventeen."""
    return example.reinforce(layers(statements))


def layers(statements: int) -> int:
    """How many layers that takes."""
    return max(1, (statements - 42) // 17)


def page(shown: Program) -> str:
    """The saved workbench of a program as a page beside `graph.js`."""
    variant = VariantView("root", 0, None, "as written", False, None, (), "", "")
    state = State(
        workbench=shown.name, revision=1, name=shown.name, root="root", current="root",
        variants=(variant,), sizes=size_views(Variant(shown)), ends=(), measurements=(), runs=(),
        result="", profiles=(), backends=(), backend="numpy", arguments=(), measuring=None,
        unrun=None, unprofiled=None, error=None, recipe_error=None, taken_over="",
    )  # fmt: skip
    kept = capsule(state, (SavedPart("snapshot", "root", {}, snapshot(shown)),))
    return PAGE.format(capsule=to_json(kept).replace("<", "\\u003c"))


def opening(view: Any) -> dict[str, float]:
    """Clicks boxes while every scope is opened and until all that is in sight is drawn."""
    view.evaluate(WATCH)
    view.get_by_text("Open all").click()
    start = time.perf_counter()
    while view.evaluate(BUSY) == "true" or time.perf_counter() - start < 1.0:
        found = view.evaluate(IN_SIGHT)
        if found:
            view.mouse.click(*found[int(time.perf_counter() * 10) % len(found)])
        view.wait_for_timeout(80)
        if time.perf_counter() - start > 60:
            break
    seconds = time.perf_counter() - start
    view.wait_for_timeout(800)
    seen = view.evaluate(SEEN)
    return {
        "seconds": seconds,
        "input_latency_ms": max(seen["events"], default=0.0),
        "longest_task_ms": max(seen["tasks"], default=0.0),
        "boxes": view.evaluate("document.querySelectorAll('g.node').length"),
    }


def dragging(view: Any, seconds: float = 2.0) -> dict[str, float]:
    """Drags the picture to and fro."""
    place = view.locator(".wbk-graph").bounding_box()
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    view.evaluate(SEEN)
    view.keyboard.press("Escape")
    view.mouse.move(x, y)
    view.mouse.down()
    view.evaluate(FRAMES)
    start, step = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        step += 1
        view.mouse.move(x + 200 * ((step // 10) % 2 * 2 - 1) * (step % 10) / 10, y + step % 40)
    taken = time.perf_counter() - start
    frames = view.evaluate("() => { window.counting = false; return window.frames_; }")
    view.mouse.up()
    seen = view.evaluate(SEEN)
    return {
        "frames_per_second": frames / taken,
        "moves_per_second": step / taken,
        "input_latency_ms": max(seen["events"], default=0.0),
        "longest_task_ms": max(seen["tasks"], default=0.0),
    }


def traced(browser: Any, view: Any, act: Callable[[Any], dict[str, float]]) -> dict[str, float]:
    """What `act` gives, with the longest task of the page's main thread in processor time."""
    browser.start_tracing(page=view, categories=["toplevel", "devtools.timeline"])
    found = act(view)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    main = {
        (e["pid"], e["tid"])
        for e in events
        if e["name"] == "thread_name" and e["args"]["name"] == "CrRendererMain"
    }
    tasks = [
        e.get("tdur", 0) / 1000
        for e in events
        if e.get("ph") == "X" and e["name"].endswith("RunTask") and (e["pid"], e["tid"]) in main
    ]
    return {**found, "longest_task_cpu_ms": max(tasks, default=0.0)}


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing of requests."""


def measure(statements: int, static: Path) -> None:
    """Prints a line for the opening and one for each scale of dragging."""
    shown = program(statements)
    with tempfile.TemporaryDirectory() as folder, chromium.launched(chromium.found()) as browser:
        shutil.copy(static / "graph.js", folder)
        Path(folder, "index.html").write_text(page(shown), "utf8")
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        view = browser.new_page(viewport={"width": 1280, "height": 720})
        start = time.perf_counter()
        view.goto(f"http://127.0.0.1:{server.server_port}/")
        view.wait_for_selector("g.node", timeout=60_000)
        emit(
            what="first_picture",
            statements=len(shown.statements),
            seconds=time.perf_counter() - start,
        )
        emit(what="open_all", statements=len(shown.statements), **traced(browser, view, opening))
        emit(what="drag_near", statements=len(shown.statements), **traced(browser, view, dragging))
        view.get_by_label("Show the whole graph").click()
        view.wait_for_timeout(500)
        emit(what="drag_far", statements=len(shown.statements), **traced(browser, view, dragging))
        server.shutdown()


def main() -> None:
    """The command line above."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--statements", type=int, nargs="+", default=[300, 1000])
    parser.add_argument("--static", type=Path, default=STATIC)
    given = parser.parse_args()
    emit(what="machine", **machine())
    for statements in given.statements:
        measure(statements, given.static)


if __name__ == "__main__":
    main()
