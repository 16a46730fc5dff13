"""JupyterLab on a port of this machine, with an extension of ours and no user's settings, and its
pages in a headless Chromium.

One page is used for notebook after notebook, as people use it: loading JupyterLab takes longer
than most of what is done there. What is loaded under other settings is shared by those who want
these. What reloads the page, or needs its address, gets one of its own.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import nbformat

from workbench.measure.store import FILE

QUIET = {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True}
# The last two are JupyterLab's own, of a Jupyter kernel that ended meanwhile: its debugger looked
# at it; a comm of ipywidgets was to get a subshell there.
HARMLESS = (
    "favicon",
    "service worker",
    "ServiceWorker",
    "Could not restore the debugger state",
    "Canceled future for create_subshell_request",
    # anywidget gives a model two seconds, which a busy page may not have. Where our extension
    # draws, no view of it is ever made; where it does not, a test waits for the picture.
    "[anywidget] Failed to initialize model.",
)
THERE = "() => window.jupyterapp?.commands.hasCommand('docmanager:open')"
OPEN = """([path, runs]) => {
  const { commands, docRegistry, restored, shell } = window.jupyterapp;
  Object.defineProperty(
    docRegistry.getWidgetFactory("Notebook"), "preferKernel", { configurable: true, value: runs }
  );
  return restored.then(() => commands.execute("docmanager:open", { path })).then((opened) => {
    for (const one of [...shell.widgets("main")]) {
      if (one === opened) continue;
      if (one.context?.model) one.context.model.dirty = false;  // else it is asked whether to save
      one.close();
    }
    return opened.context.ready.then(() => null);
  });
}"""
# A panel begins with the pane that the one before had open, and with its ticks.
CLOSE = """async () => {
  const { commands, shell } = window.jupyterapp;
  const close = () => {
    for (const one of [...shell.widgets("main")]) {
      if (one.context?.model) one.context.model.dirty = false;  // else it is asked whether to save
      one.close();
    }
  };
  close();
  if (commands.hasCommand("workbench:open")) {
    await commands.execute("workbench:open", { pane: "moves", compared: [], programs: [] });
    close();
  }
  localStorage.clear();
}"""
RUN = """(number) => {
  const { commands, shell } = window.jupyterapp;
  const notebook = [...shell.widgets("main")].find((one) => one.content?.widgets);
  shell.activateById(notebook.id);
  notebook.content.activeCellIndex = number;
  return commands.execute("notebook:run-cell").then(() => null);
}"""
IDLE = """() => window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.status
    === 'idle'"""


class Want(NamedTuple):
    """A request for a part of a variant, and what distinguishes it: the variant, the arguments."""

    part: str
    of: str


@dataclass
class Page:
    """A browser page from `home`, with what it said on its console and asked from elsewhere, and
    the parts of variants that its workbenches asked the Jupyter kernel for.
    """

    page: Any
    home: str
    errors: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    wants: list[Want] = field(default_factory=list)

    def begin(self) -> None:
        """What it said and asked before is another test's."""
        self.errors.clear()
        self.outside.clear()

    def check(self) -> None:
        """No error on the console, no request to another machine."""
        assert not self.errors, self.errors
        assert not self.outside, self.outside

    def said(self, message: Any) -> None:
        """It wrote to its console."""
        if message.type == "error":
            self.failed(f"{message.text} ({message.location.get('url')})")

    def thrown(self, error: Any) -> None:
        """Nobody caught an error. Those of JupyterLab alone, without a line of another's in their
        stack, are about notebooks that tests closed while it was busy with them; one of ipywidgets
        is about a notebook without a Jupyter kernel.
        """
        text = error.stack or str(error)
        theirs = [f"{self.home}/static/lab/"]
        if "(reading 'kernel')" in text:
            theirs.append(f"{self.home}/lab/extensions/@jupyter-widgets/")
        frames = [line for line in text.splitlines() if line.strip().startswith("at ")]
        frames = [line for line in frames if "(<anonymous>)" not in line]  # the browser's own
        if not frames or any(all(place not in line for place in theirs) for line in frames):
            self.failed(text)

    def failed(self, text: str) -> None:
        """Something in it went wrong."""
        if not any(word in text for word in HARMLESS):
            self.errors.append(text)

    def asked(self, request: Any) -> None:
        """It sent a request."""
        if not request.url.startswith((self.home, "blob:", "data:")):
            self.outside.append(request.url)

    def connected(self, socket: Any) -> None:
        """It opened a web socket: channels of a Jupyter kernel, perhaps."""
        socket.on("framesent", self.sent)

    def sent(self, frame: bytes | str) -> None:
        """It sent a message over one."""
        text = frame if isinstance(frame, str) else frame.decode(errors="replace")
        for part, of in re.findall(r'"type":"want".*?"part":"(\w+)",(.*)', text):
            self.wants.append(Want(part, of))


@dataclass
class Lab:
    """The server: its address, the folder it serves and its user's home; a browser and the pages
    that it has, those that are shared by name; the folder for screenshots, if they are wanted;
    whether things glide; the notebook that tests leave to the next, while it is there.
    """

    address: str
    root: Path
    home: Path
    browser: Any
    shots: Path | None = None
    glides: bool = True
    shared: dict[str, Page] = field(default_factory=dict)
    own: list[Page] = field(default_factory=list)
    left: str = ""

    def notebook(self, name: str, cells: Sequence[str]) -> str:
        """Writes a notebook of code cells."""
        made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
        made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
        nbformat.write(made, self.root / name)
        return name

    def open(
        self,
        name: str,
        width: int = 1280,
        height: int = 800,
        under: str = "shared",
        runs: bool = True,
    ) -> Page:
        """The notebook alone in the page that is there for all of them, or for those `under` other
        settings; with a Jupyter kernel, unless nothing of it `runs`.
        """
        if under not in self.shared:
            self.shared[under] = self._page(f"/lab/workspaces/{under}?reset")
        page = self.shared[under]
        page.begin()
        page.page.set_viewport_size({"width": width, "height": height})
        page.page.evaluate(OPEN, [name, runs])
        page.page.wait_for_selector(".jp-NotebookPanel .jp-Cell", timeout=60_000)
        return page

    def open_left(self, name: str, cells: Sequence[str], **place: Any) -> Page:
        """A notebook whose cells were run, as the test before left it, else opened and run."""
        if self.left == name:
            page = self.shared["shared"]
            page.begin()
            return page
        if self.left:
            self.tidy()
        page = self.open(self.notebook(name, cells), **place)
        run_all(page)
        self.left = name
        return page

    def open_alone(self, name: str, width: int = 1280, height: int = 800, query: str = "") -> Page:
        """The notebook in a page of its own, by its address in a workspace of its name, with more
        behind the address's question mark.
        """
        place = f"/lab/workspaces/{name.replace('.', '-')}/tree/{name}?reset"
        page = self._page(f"{place}&{query}" if query else place)
        self.own.append(page)
        page.page.set_viewport_size({"width": width, "height": height})
        page.page.wait_for_selector(".jp-NotebookPanel .jp-Cell", timeout=60_000)
        return page

    def tidy(self) -> None:
        """Closes every notebook and every page of its own, ends every Jupyter kernel, and forgets
        what was measured: rows of another test's program would be shown beside a test's own.
        """
        self.left = ""
        while self.own:
            self.own.pop().page.context.close()
        for page in self.shared.values():
            page.page.evaluate(CLOSE)
        with urllib.request.urlopen(f"{self.address}/api/sessions", timeout=30) as answer:
            running = json.load(answer)
        for session in running:
            end = f"{self.address}/api/sessions/{session['id']}"
            urllib.request.urlopen(urllib.request.Request(end, method="DELETE"), timeout=30).close()
        for store in self.home.rglob(FILE):
            store.unlink()

    def forget(self) -> None:
        """Lets the pages go, whatever state they are in; the next notebook gets a new one."""
        while self.shared:
            self.shared.popitem()[1].page.context.close()

    def open_file(self, path: Path, width: int = 1280, height: int = 800) -> Page:
        """An HTML file in a page without a network."""
        page = self._new(path.as_uri(), offline=True)
        self.own.append(page)
        page.page.set_viewport_size({"width": width, "height": height})
        return page

    def reload(self, page: Page) -> None:
        """Loads the page anew."""
        page.page.reload()
        _wait_for_lab(page)

    def shot(self, page: Page, name: str, colours: str | None = None) -> None:
        """Takes a screenshot where they are wanted, in the colours of another theme perhaps."""
        if self.shots is None:
            return
        with theme(page, colours) if colours else nullcontext():
            page.page.screenshot(path=self.shots / f"{name}.png")

    def _page(self, path: str) -> Page:
        page = self._new(self.address, path)
        _wait_for_lab(page)
        return page

    def _new(self, home: str, path: str = "", **options: Any) -> Page:
        context = self.browser.new_context(
            viewport={"width": 1280, "height": 800},
            reduced_motion="no-preference" if self.glides else "reduce",
            **options,
        )
        page = Page(context.new_page(), home)
        page.page.on("console", page.said)
        page.page.on("pageerror", lambda error: page.thrown(error))
        page.page.on("request", page.asked)
        page.page.on("websocket", page.connected)
        page.page.goto(home + path)
        return page


def _wait_for_lab(page: Page) -> None:
    page.page.wait_for_function(THERE, timeout=60_000, polling=100)
    page.page.wait_for_selector("#jupyterlab-splash", state="detached", timeout=60_000)


def until(page: Page, holds: Callable[[], bool]) -> None:
    """Waits until it holds, a minute at most; raises AssertionError."""
    for _ in range(240):
        if holds():
            return
        page.page.wait_for_timeout(250)
    raise AssertionError("it does not hold after a minute")


def command(page: Page, name: str, arguments: dict[str, Any] | None = None) -> None:
    """Runs a JupyterLab command."""
    page.page.evaluate(
        "([name, args]) => window.jupyterapp.commands.execute(name, args).then(() => null)",
        [name, arguments or {}],
    )


@contextmanager
def theme(page: Page, name: str) -> Iterator[None]:
    """JupyterLab in other colours for a while."""

    def change(name: str) -> None:
        command(page, "apputils:change-theme", {"theme": name})
        page.page.wait_for_selector(f'body[data-jp-theme-name="{name}"]', state="attached")
        page.page.wait_for_selector("#jupyterlab-splash", state="detached")

    change(name)
    try:
        yield
    finally:
        change("JupyterLab Light")


@contextmanager
def gliding(page: Page) -> Iterator[None]:
    """What moves glides for a while, as it does for people who did not ask for less motion."""
    page.page.emulate_media(reduced_motion="no-preference")
    try:
        yield
    finally:
        page.page.emulate_media(reduced_motion="reduce")


@contextmanager
def setting(lab: Lab, plugin: str, **values: Any) -> Iterator[None]:
    """A user's settings of a plugin for a while; pages that are loaded know nothing of it."""
    address = f"{lab.address}/lab/api/settings/{quote(plugin, safe='')}"

    def put(values: dict[str, Any]) -> None:
        data = json.dumps({"raw": json.dumps(values)}).encode()
        asked = urllib.request.Request(address, data, method="PUT")
        urllib.request.urlopen(asked, timeout=30).close()

    put(values)
    try:
        yield
    finally:
        put({})


def run_all(page: Page) -> None:
    """Runs every cell, once the Jupyter kernel is idle."""
    page.page.wait_for_function(IDLE, timeout=60_000, polling=100)
    command(page, "notebook:run-all-cells")


def run_cell(page: Page, number: int) -> None:
    """Runs one cell to its end."""
    page.page.evaluate(RUN, number)


@contextmanager
def serving(static: Path, home: Path, root: Path, packages: Path) -> Iterator[str]:
    """JupyterLab with the built front end `static` and the Python packages of `packages`, serving
    the folder `root`: its address. Its settings and its log are in `home`; raises RuntimeError with
    the log's end where it does not start.
    """
    extensions = home / "labextensions"
    shutil.copytree(static, extensions / "jupyterlab-workbench")
    settings = home / "settings/@jupyterlab/apputils-extension/notification.jupyterlab-settings"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps(QUIET))
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    with (home / "log").open("w") as log:
        server = subprocess.Popen(
            _command(port, root, extensions), env=_environment(home, packages),
            cwd=root, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
        try:
            address = f"http://127.0.0.1:{port}"
            _wait(address, server, home / "log")
            yield address
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(server.pid, signal.SIGKILL)


def _command(port: int, root: Path, extensions: Path) -> list[str]:
    return [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root",
        "--ServerApp.ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0",
        "--IdentityProvider.token=", "--ServerApp.password=",
        "--ServerApp.disable_check_xsrf=True", f"--ServerApp.root_dir={root}",
        "--LabApp.expose_app_in_browser=True", "--LabApp.extension_manager=readonly",
        f"--LabApp.extra_labextensions_path={extensions}",
    ]  # fmt: skip


def _environment(home: Path, packages: Path) -> dict[str, str]:
    folders = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
        "XDG_DATA_HOME": "share",
    }
    return {
        **os.environ,
        "HOME": str(home),
        "PYTHONPATH": str(packages),
        **{name: str(home / folder) for name, folder in folders.items()},
    }


def _wait(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(240):
        try:
            urllib.request.urlopen(f"{address}/api/status", timeout=2).close()
            return
        except OSError:
            if server.poll() is not None:
                break
            time.sleep(0.25)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()[-3000:]}")
