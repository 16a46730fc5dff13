"""`.ci/run` gives `make` a home in which nothing is, and finds what is left there."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

MAKE = """#!/bin/sh
ls -A "$HOME" > seen
env >> seen
{more}
"""


@pytest.fixture
def user(tmp_path: Path) -> Path:
    """The home of a user with settings of pip and npm, and with what the workbench measured."""
    home = tmp_path / "user"
    for file in (".config/pip/pip.conf", ".npmrc", ".cache/workbench/numpy-here.json"):
        (home / file).parent.mkdir(parents=True, exist_ok=True)
        (home / file).touch()
    return home


@pytest.fixture
def checkout(tmp_path: Path, repository: Path) -> Path:
    """A folder with `.ci/run` and caches of tools."""
    folder = tmp_path / "checkout"
    (folder / ".hypothesis").mkdir(parents=True)
    shutil.copytree(repository / ".ci", folder / ".ci")
    return folder


def run(checkout: Path, user: Path, more: str = "") -> subprocess.CompletedProcess[str]:
    """With a `make` that writes down what it sees."""
    programs = checkout / "bin"
    programs.mkdir()
    (programs / "make").write_text(MAKE.format(more=more), encoding="utf-8")
    (programs / "make").chmod(0o755)
    ours = ("PIP_", "RUSTUP_", "npm_config", "XDG_", "WORKBENCH_")
    env = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    env |= {"HOME": str(user), "PATH": f"{programs}:{env['PATH']}"}
    env |= {"XDG_DATA_HOME": str(user / "data"), "WORKBENCH_CACHE": str(user / "cache")}
    return subprocess.run([checkout / ".ci/run"], env=env, capture_output=True, text=True)


def test_the_home_is_empty_and_only_pip_and_npm_know_of_the_users(
    checkout: Path, user: Path
) -> None:
    done = run(checkout, user)
    assert done.returncode == 0, done.stderr
    seen = (checkout / "seen").read_text(encoding="utf-8").splitlines()
    assert "=" in seen[0]  # a variable: nothing lies in the home
    of_user = {
        name for name, _, value in (line.partition("=") for line in seen) if str(user) in value
    }
    assert of_user == {
        "PIP_CACHE_DIR", "PIP_CONFIG_FILE", "RUSTUP_HOME", "npm_config_cache",
        "npm_config_userconfig",
    }  # fmt: skip
    assert not (checkout / ".hypothesis").exists()


def test_what_is_left_in_the_home_is_a_failure(checkout: Path, user: Path) -> None:
    done = run(checkout, user, 'mkdir "$HOME/.config" && touch "$HOME/.config/left"')
    assert done.returncode == 1
    assert ".config/left" in done.stderr


def test_a_failure_of_make_is_one(checkout: Path, user: Path) -> None:
    assert run(checkout, user, "exit 3").returncode == 3
