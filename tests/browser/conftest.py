"""One JupyterLab and one browser for the whole session; every test leaves them as they were.

Views that are not built from the sources are built first: what is tested are the sources.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.lab import Lab, Page, serving
from tests.browser.panel import REINFORCE, SHOW, STEP, live, shows
from tests.conftest import numpy_by_default
from tests.front_end import build, installed, is_built

LEFT = frozenset({"walk", "written", "reinforced"})
"""Fixtures with a notebook that one test leaves to the next."""
FAILED = pytest.StashKey[bool]()

expect.set_options(timeout=60_000)  # the machine may be busy; what is as expected is not waited for


@pytest.fixture(scope="package", autouse=True)
def _pages_begin_with_numpy() -> Iterator[None]:
    """Makes NumPy the default backend of pages that are written here; kernels have their own."""
    with numpy_by_default():
        yield


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
def whole_session(
    checkout: Path, browser: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Lab]:
    """JupyterLab; its log is shown where it does not start."""
    home, root = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("root")
    with serving(checkout / "workbench/session/static", home, root, checkout) as address:
        yield Lab(address, root, home, browser, _shots(), glides=False)


@pytest.fixture
def lab(whole_session: Lab, request: pytest.FixtureRequest) -> Iterator[Lab]:
    """JupyterLab with nothing open. No test leaves pages and Jupyter kernels to the next, which
    would be slowed by them, but a notebook of `LEFT` to those that use it too; after a failure the
    next one begins with another page.
    """
    shares = not LEFT.isdisjoint(request.fixturenames)
    if not shares and whole_session.left:
        whole_session.tidy()
    yield whole_session
    if request.node.stash.get(FAILED, True):
        whole_session.forget()
        shares = False
    if not shares:
        whole_session.tidy()


@pytest.fixture
def walk(lab: Lab) -> Page:
    """The notebook of a small program that is live in its panel, with a step taken. Those who use
    it one after the other leave it as it is.
    """
    page = lab.open_left("walk.ipynb", [SHOW, STEP])
    shows(live(page), "Vectorize")
    return page


@pytest.fixture
def written(lab: Lab) -> Page:
    """The same with a program of some length, as written."""
    page = lab.open_left("written.ipynb", [REINFORCE])
    live(page)
    return page


@pytest.fixture
def reinforced(lab: Lab) -> Page:
    """The same with a step taken."""
    page = lab.open_left("reinforced.ipynb", [REINFORCE, STEP], height=720)
    shows(live(page), "Vectorize")
    return page


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    """Remembers whether the test itself failed."""
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report


def _shots() -> Path | None:
    """Where screenshots go: the folder that WORKBENCH_SHOTS names, to be kept and looked at."""
    named = os.environ.get("WORKBENCH_SHOTS")
    if not named:
        return None
    Path(named).mkdir(parents=True, exist_ok=True)
    return Path(named)
