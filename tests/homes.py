"""A home of its own for each test, empty at its beginning, and a watch over the user's.

Where the user keeps caches, settings and measurements is asked of the environment, so it is that
which is changed: whatever process a test starts has the same home. A test that all the same opens
the user's own files is stopped there. What matplotlib knows of fonts is found out once for all.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[1]
WITHIN_HOME = (
    *(".cache", ".config", ".ipython", ".jupyter", ".matplotlib", ".workbench"),
    *(".local/share", ".local/state", "Library/Application Support", "Library/Caches"),
    *("Library/Jupyter", "Library/Preferences"),
)
NAMES_A_PLACE = (
    *("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "WORKBENCH_CACHE"),
    *("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTERLAB_SETTINGS_DIR"),
    *("JUPYTERLAB_WORKSPACES_DIR", "IPYTHONDIR", "MPLCONFIGDIR"),
)
"""Variables that say instead of HOME where something of the user is."""
TOUCHING = frozenset(
    ("open", "os.listdir", "os.scandir", "os.mkdir", "os.rename", "os.remove", "os.rmdir")
)
HOMES = pytest.StashKey[Path]()
KNOWN = "WORKBENCH_TEST_UNITS"
"""The environment variable that names a folder of compiled units which tests begin with: those of
the run-time take seconds for each build.
"""


def begin_with_units(folder: Path) -> None:
    """Make a folder of compiled units, with those that are known already. Processes that begin at
    once have one: that of the first, whole.
    """
    if folder.exists():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    own = Path(tempfile.mkdtemp(dir=folder.parent))
    if KNOWN in os.environ:
        shutil.copytree(os.environ[KNOWN], own, dirs_exist_ok=True)
    try:
        own.rename(folder)
    except OSError:  # another was quicker, and has units there
        shutil.rmtree(own)


class Watch:
    """Stops who opens, lists or changes what is in the user's folders: an audit hook."""

    folders: tuple[str, ...] = ()
    spared: tuple[str, ...] = ()
    """Folders within them that are not of the user: the installation, this repository."""

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event not in TOUCHING or not self.folders:
            return
        place = arguments[0]
        if isinstance(place, os.PathLike):
            place = os.fspath(place)
        if isinstance(place, bytes):
            place = os.fsdecode(place)
        if not isinstance(place, str) or not f"{place}/".startswith(self.folders):
            return
        if not f"{place}/".startswith(self.spared):
            raise RuntimeError(f"a test touches the user's own files: {place}")


WATCH = Watch()
sys.addaudithook(WATCH)


def users_folders() -> list[Path]:
    """Where this environment says that the user's caches, settings and data are."""
    named = [Path(os.environ[name]) for name in NAMES_A_PLACE if os.environ.get(name)]
    return [*(Path.home() / folder for folder in WITHIN_HOME), *named]


def installation(folders: list[Path]) -> list[Path]:
    """Programs and this repository, where they lie in the user's folders."""
    found = [Path(path) for path in (sys.prefix, sys.base_prefix, *sys.path) if path]
    found += [REPOSITORY, Path(tempfile.gettempdir())]
    return [path for path in found if any(path.is_relative_to(folder) for folder in folders)]


def pytest_configure(config: pytest.Config) -> None:
    """Leaves the user's home, before anything is collected."""
    given: dict[str, Any] | None = getattr(config, "workerinput", None)
    if given is not None:  # a process of pytest-xdist, which has left it already
        WATCH.folders, WATCH.spared = given["users_folders"], given["spared"]
        config.stash[HOMES] = Path(os.environ["HOME"])
        return
    folders = users_folders()
    WATCH.folders = tuple(f"{folder}/" for folder in folders)
    WATCH.spared = tuple(f"{folder}/" for folder in installation(folders))
    for name, of_npm in (("npm_config_cache", ".npm"), ("npm_config_userconfig", ".npmrc")):
        if (Path.home() / of_npm).exists():  # which registry, and what it gave already
            os.environ.setdefault(name, str(Path.home() / of_npm))
    for name in NAMES_A_PLACE:
        os.environ.pop(name, None)
    homes = config.stash[HOMES] = Path(tempfile.mkdtemp(prefix="homes-"))
    os.environ["HOME"] = str(homes)
    os.environ["MPLCONFIGDIR"] = str(homes / "matplotlib")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Removes the homes, in the process that made the folder."""
    if not hasattr(config, "workerinput"):
        shutil.rmtree(config.stash[HOMES], ignore_errors=True)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tells a process of pytest-xdist what to watch over."""
    node.workerinput |= {"users_folders": WATCH.folders, "spared": WATCH.spared}


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Gives the test its home."""
    os.environ["HOME"] = tempfile.mkdtemp(dir=item.config.stash[HOMES])
    return (yield)
