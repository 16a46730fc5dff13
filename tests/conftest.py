"""What all tests share: markers by folder, Hypothesis's profile, a machine, Chromium."""

import gc
import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.chromium import found, launched
from tests.golden_files import UPDATE, GoldenFiles
from tests.homes import begin_with_units
from tests.programs import PROGRAMS
from workbench.backends.compiling import cache
from workbench.planning.machine.calibrated import file_of, machine
from workbench.planning.machine.constants import Machine
from workbench.processor import CORE_CACHE_VARIABLE, processor

# A shell has what it starts in the background ignore Ctrl-C: a run that a test interrupts would
# never end there.
signal.signal(signal.SIGINT, signal.default_int_handler)

TESTS = Path(__file__).parent
SERVER = TESTS / "golden" / "server.json"
"""The constants of a server, as `workbench doctor --calibrate` writes them."""
MARKER_OF_FOLDER = {"browser": "browser", "learning": "learn", "benchmarks": "benchmark"}
IN_CI = os.environ.get("CI") == "true"

# No deadlines: on a shared machine they measure the neighbours. CI draws the same examples always.
settings.register_profile(
    "workbench",
    deadline=None,
    derandomize=IN_CI,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("workbench")

# Programs are many small objects without cycles that live long: to look through them at every 700th
# takes a tenth of the time.
gc.set_threshold(100_000, 50, 50)

# Notes say what fits a core's cache: in tests the same on every machine.
os.environ[CORE_CACHE_VARIABLE] = str(1 << 20)


class Unnamed:
    """No backend: what a test computes does not depend on the compilers of the machine."""

    def __iter__(self) -> Iterator[str]:
        """Fails the test."""
        pytest.fail('name the backend: backend="numpy", backend="native"')


BACKENDS: Any = import_module("workbench.backends")  # as `workbench.backends` it is a function
PREFERRED = BACKENDS.PREFERRED
BACKENDS.PREFERRED = Unnamed()


@contextmanager
def numpy_by_default() -> Iterator[None]:
    """Makes what views begin with, the default backend, the same on every machine while this lasts.

    It lasts longer than a test where tests share a process that tells what it did for the last one.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BACKENDS, "PREFERRED", ("numpy",))
        yield


@pytest.fixture
def default_backend(monkeypatch: pytest.MonkeyPatch) -> str:
    """The backend of runs that name none, for tests of just that."""
    monkeypatch.setattr(BACKENDS, "PREFERRED", PREFERRED)
    return str(BACKENDS.default())


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option that writes golden files anew."""
    parser.addoption(UPDATE, action="store_true", help="write the files of tests/golden anew")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what lies in tests/browser, tests/learning and tests/benchmarks, and leads the tests of
    a small program to one process, one after the other: what is known of it is found out once.
    """
    for item in items:
        name = getattr(item, "callspec", None) and item.callspec.params.get("name")
        if isinstance(name, str) and name in PROGRAMS:
            item.add_marker(pytest.mark.xdist_group(name))
        if item.path.is_relative_to(TESTS):
            marker = MARKER_OF_FOLDER.get(item.path.relative_to(TESTS).parts[0])
            if marker is not None:
                item.add_marker(marker)


@pytest.fixture(autouse=True)
def ends_with_what_it_began() -> Iterator[None]:
    """Waits for what a test compiled ahead and did not use: the next one has another cache."""
    yield
    for thread in threading.enumerate():
        if thread.name.startswith("compiles "):
            thread.join()


@pytest.fixture(autouse=True)
def known_objects(request: pytest.FixtureRequest) -> None:
    """Makes units of C that other tests have compiled known, above all that of the run-time, which
    takes seconds; not for tests that look at what is compiled.
    """
    if request.node.get_closest_marker("nothing_compiled"):
        return
    shared = Path(os.environ["HOME"]).parent / "compiled" / "native" / cache.OBJECTS
    place = cache.folder() / cache.OBJECTS
    begin_with_units(shared)
    place.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):  # what lasts for more than a test has compiled there already
        place.symlink_to(shared)


@pytest.fixture(scope="session")
def repository() -> Path:
    """The folder with pyproject.toml."""
    return TESTS.parent


@pytest.fixture(scope="session")
def golden(request: pytest.FixtureRequest) -> GoldenFiles:
    """`golden(name, text)` holds a text to the file of that name in tests/golden."""
    return GoldenFiles(TESTS / "golden", request.config.getoption(UPDATE))


@pytest.fixture
def server() -> Machine:
    """Makes this machine, for predictions, one whose constants are known: what a search finds
    depends on them.
    """
    place = file_of("numpy")
    place.parent.mkdir(parents=True, exist_ok=True)
    measured = json.loads(SERVER.read_text(encoding="utf-8")) | {"device": processor()}
    place.write_text(json.dumps(measured), encoding="utf-8")
    return machine("numpy")


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium. Without one the test is skipped; in CI it fails."""
    path = found()
    if path is not None:
        return path
    reason = "no Chromium: install it (Debian package chromium) or name it in CHROMIUM"
    if IN_CI:
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Any]:
    """A headless Chromium, as Playwright's Browser, for the whole session. It optimizes no scripts:
    tests are too short for that to pay.
    """
    with launched(chromium, "--js-flags=--no-opt") as instance:
        yield instance
