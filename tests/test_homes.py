"""No test reads or writes the user's home, nor does a process that it starts."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import workbench as wb
from tests.conftest import SERVER
from tests.homes import KNOWN, begin_with_units
from tests.programs import leaky_sum
from tests.session.listening import Listener
from workbench.planning.machine.calibrated import file_of
from workbench.planning.machine.constants import Machine
from workbench.session.requests.sessions import Sessions

pytestmark = pytest.mark.nothing_compiled

PLACES = """
import jupyter_core.paths as jupyter, IPython.paths, matplotlib
from workbench.folders import cache_directory, users_folder
print(cache_directory(), users_folder(), jupyter.jupyter_config_dir(), jupyter.jupyter_data_dir())
print(jupyter.jupyter_runtime_dir(), IPython.paths.get_ipython_dir(), matplotlib.get_configdir())
"""

TOUCHING = """
import os, subprocess, sys
from pathlib import Path
import workbench as wb
from workbench.planning.machine.calibrated import file_of, machine
from tests.programs import leaky_sum

USERS = Path({users!r})

def test_of_predictions():
    assert not machine("numpy").calibrated
    wb.variant(leaky_sum()).predict()

def test_of_the_store():
    assert not wb.store().read().problems

def test_of_processes():
    code = "from workbench.planning.machine.calibrated import machine; assert machine('numpy').note"
    subprocess.run([sys.executable, "-c", code], check=True)

def test_that_reads():
    file_of("numpy").parent.mkdir(parents=True)
    (USERS / ".cache/workbench" / file_of("numpy").name).read_text()

def test_that_writes():
    (USERS / ".local/share/workbench/measurements.jsonl").open("a")

def test_that_lists():
    os.listdir(USERS / ".config")
"""


def test_a_test_has_a_home_of_its_own_with_nothing_in_it() -> None:
    assert Path.home() != Path(pwd.getpwuid(os.getuid()).pw_dir)
    assert list(Path.home().iterdir()) == []
    (Path.home() / "left").touch()


def test_what_one_test_leaves_is_not_there_for_the_next() -> None:
    assert list(Path.home().iterdir()) == []


def test_a_process_asks_for_nothing_outside_of_that_home() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PLACES], capture_output=True, text=True, check=True
    )
    *in_home, fonts = map(Path, done.stdout.split())
    assert [place for place in in_home if not place.is_relative_to(Path.home())] == []
    assert fonts.parent == Path.home().parent


@pytest.mark.usefixtures("default_backend")
def test_the_worker_of_a_workbench_predicts_for_the_machine_of_the_test(server: Machine) -> None:
    sessions = Sessions()
    try:
        view = Listener(sessions, "leaky_sum")
        session = sessions.show(wb.variant(leaky_sum()), wb.store())
        arguments = {"sizes": {}, "backend": "numpy", "dtype": "float32"}
        cost = view.want("cost", session.tree.root, **arguments)
    finally:
        sessions.close()
    assert server.calibrated
    assert cost["note"] == ""  # else that these are not measured here


@pytest.fixture
def user(tmp_path: Path) -> Path:
    """The home of a user who has measured the machine, and whose store is broken."""
    cache = tmp_path / ".cache" / "workbench"
    store = tmp_path / ".local" / "share" / "workbench"
    for folder in (cache, store, tmp_path / ".config"):
        folder.mkdir(parents=True)
    shutil.copy(SERVER, cache / file_of("numpy").name)
    (store / "measurements.jsonl").write_text("broken\n", encoding="utf-8")
    return tmp_path


def test_tests_do_not_see_what_the_user_has_and_are_stopped_where_they_go_there(
    user: Path, tmp_path_factory: pytest.TempPathFactory, repository: Path
) -> None:
    before = {path: path.stat().st_mtime_ns for path in user.rglob("*")}
    tests = tmp_path_factory.mktemp("tests") / "test_touching.py"
    tests.write_text(TOUCHING.format(users=str(user)), encoding="utf-8")
    without = (f"no:{plugin}" for plugin in ("cacheprovider", "randomly"))
    words = ("-p", "tests.homes", *(w for name in without for w in ("-p", name)), "-q", "-rA")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, f"--rootdir={tests.parent}", str(tests)],
        env={**os.environ, "HOME": str(user), "COLUMNS": "400"},
        cwd=repository,
        capture_output=True,
        text=True,
    )
    passed = {line.split("::")[1] for line in done.stdout.splitlines() if line.startswith("PASSED")}
    stopped = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    assert passed == {f"test_of_{what}" for what in ("predictions", "the_store", "processes")}
    assert len(stopped) == 3 and all("the user's own files" in line for line in stopped), done
    assert {path: path.stat().st_mtime_ns for path in user.rglob("*")} == before


def test_units_that_are_known_are_there_from_the_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that is there is left alone."""
    monkeypatch.delenv(KNOWN, raising=False)
    begin_with_units(tmp_path / "none" / "objects")
    assert not list((tmp_path / "none" / "objects").iterdir())
    (tmp_path / "units").mkdir()
    (tmp_path / "units" / "runtime.o").touch()
    monkeypatch.setenv(KNOWN, str(tmp_path / "units"))
    for name, files in (("new/objects", ["runtime.o"]), ("none/objects", [])):
        begin_with_units(tmp_path / name)
        assert [file.name for file in (tmp_path / name).iterdir()] == files


def test_processes_that_begin_at_once_have_one_folder_of_units(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another one has made it behind the look whether it is there."""
    folder = tmp_path / "compiled" / "objects"
    begin_with_units(folder)
    with monkeypatch.context() as late:
        late.setattr(Path, "exists", lambda path: False)
        begin_with_units(folder)
        (folder / "unit.o").touch()
        begin_with_units(folder)
    assert [file.name for file in folder.iterdir()] == ["unit.o"]
    assert [path.name for path in folder.parent.iterdir()] == ["objects"]
