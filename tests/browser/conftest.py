"""JupyterLab on a port of this machine, with this checkout's extension and no user's settings.

Views that are not built from the sources are built first: what is tested are the sources.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.front_end import build, installed, is_built

QUIET = {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True}
HARMLESS = ("favicon", "service worker", "ServiceWorker")


@dataclass
class Page:
    """A browser page, with what it said on its console and asked from elsewhere."""

    page: Any
    errors: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)

    def check(self) -> None:
        """No error on the console, no request to another machine."""
        assert not self.errors
        assert not self.outside


@dataclass
class Lab:
    """The server: its address and the folder it serves."""

    address: str
    root: Path
    browser: Any
    shots: Path
    checkout: Path
    contexts: list[Any] = field(default_factory=list)

    def notebook(self, name: str, cells: Sequence[str]) -> str:
        """Writes a notebook of code cells."""
        made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
        made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
        nbformat.write(made, self.root / name)
        return name

    def open(self, name: str, width: int = 1280, height: int = 800, dark: bool = False) -> Page:
        """The notebook in JupyterLab; with its Jupyter kernel idle."""
        context = self.browser.new_context(viewport={"width": width, "height": height})
        self.contexts.append(context)
        page = Page(context.new_page())
        page.page.on("console", lambda message: self._console(page, message))
        page.page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.page.on("request", lambda request: self._request(page, request))
        page.page.goto(f"{self.address}/lab/workspaces/{name.replace('.', '-')}/tree/{name}?reset")
        page.page.wait_for_selector("#jupyterlab-splash", state="detached", timeout=60_000)
        page.page.wait_for_selector(".jp-NotebookPanel .jp-Cell", timeout=60_000)
        if dark:
            command(page, "apputils:change-theme", {"theme": "JupyterLab Dark"})
            page.page.wait_for_selector("body[data-jp-theme-light=false]", state="attached")
        return page

    def close(self) -> None:
        """Closes every page and ends every Jupyter kernel."""
        while self.contexts:
            self.contexts.pop().close()
        with urllib.request.urlopen(f"{self.address}/api/sessions", timeout=30) as answer:
            running = json.load(answer)
        for session in running:
            end = f"{self.address}/api/sessions/{session['id']}"
            urllib.request.urlopen(urllib.request.Request(end, method="DELETE"), timeout=30).close()

    def _console(self, page: Page, message: Any) -> None:
        if message.type == "error" and not any(word in message.text for word in HARMLESS):
            page.errors.append(f"{message.text} ({message.location.get('url')})")

    def _request(self, page: Page, request: Any) -> None:
        if request.url.startswith(("http", "ws")) and not request.url.startswith(self.address):
            page.outside.append(request.url)


def command(page: Page, name: str, arguments: dict[str, Any] | None = None) -> None:
    """Runs a JupyterLab command."""
    page.page.evaluate(
        "([name, args]) => window.jupyterapp.commands.execute(name, args).then(() => null)",
        [name, arguments or {}],
    )


def run_all(page: Page) -> None:
    """Runs every cell, once the Jupyter kernel is idle."""
    page.page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.status"
        " === 'idle'",
        timeout=60_000,
    )
    command(page, "notebook:run-all-cells")


@pytest.fixture(scope="session")
def checkout(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the packages `workbench` and `tests` and with views built from the sources."""
    if is_built():
        return repository
    folder = tmp_path_factory.mktemp("checkout")
    unwanted = shutil.ignore_patterns("__pycache__", "static")
    for package in ("workbench", "tests"):
        shutil.copytree(repository / package, folder / package, ignore=unwanted)
    build(installed(folder), folder / "workbench/session/static")
    return folder


@pytest.fixture(scope="session")
def lab(checkout: Path, browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """JupyterLab for the whole session; its log is shown where it does not start."""
    home, root = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("root")
    shots = _shots(tmp_path_factory)
    extensions = home / "labextensions"
    shutil.copytree(checkout / "workbench/session/static", extensions / "jupyterlab-workbench")
    settings = home / "settings/@jupyterlab/apputils-extension/notification.jupyterlab-settings"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps(QUIET))
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    with (home / "log").open("w") as log:
        server = subprocess.Popen(
            _command(port, root, extensions), env=_environment(home, checkout),
            cwd=root, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
        try:
            address = f"http://127.0.0.1:{port}"
            _wait(address, server, home / "log")
            yield Lab(address, root, browser, shots, checkout)
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(server.pid, signal.SIGKILL)


@pytest.fixture(autouse=True)
def closed(lab: Lab) -> Iterator[None]:
    """No test leaves pages and Jupyter kernels to the next, which would be slowed by them."""
    yield
    lab.close()


def _shots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where screenshots go: the folder that WORKBENCH_SHOTS names, to be kept and looked at."""
    named = os.environ.get("WORKBENCH_SHOTS")
    if not named:
        return tmp_path_factory.mktemp("shots")
    Path(named).mkdir(parents=True, exist_ok=True)
    return Path(named)


def _command(port: int, root: Path, extensions: Path) -> list[str]:
    return [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root",
        "--ServerApp.ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0",
        "--IdentityProvider.token=", "--ServerApp.password=",
        "--ServerApp.disable_check_xsrf=True", f"--ServerApp.root_dir={root}",
        "--LabApp.expose_app_in_browser=True", "--LabApp.extension_manager=readonly",
        f"--LabApp.extra_labextensions_path={extensions}",
    ]  # fmt: skip


def _environment(home: Path, checkout: Path) -> dict[str, str]:
    folders = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    return {
        **os.environ,
        "HOME": str(home),
        "PYTHONPATH": str(checkout),
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
    pytest.fail(f"JupyterLab did not start:\n{log.read_text()[-3000:]}", pytrace=False)
