"""The front end's sources and what is built of them."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
EXTENSION = REPOSITORY / "extensions" / "jupyterlab-workbench"
STATIC = REPOSITORY / "workbench" / "session" / "static"
GOLDEN = REPOSITORY / "tests" / "golden" / "session"
FOLDERS = ("schema", "src")
OTHER_SOURCES = ("build.mjs", "package-lock.json", "package.json", "tsconfig.json")


def stamp() -> str:
    """The hash of the sources that `build.mjs` writes beside what it builds."""
    found = [path for folder in FOLDERS for path in (EXTENSION / folder).rglob("*")]
    names = [path.relative_to(EXTENSION).as_posix() for path in found if path.is_file()]
    digest = hashlib.sha256()
    for name in sorted([*names, *OTHER_SOURCES]):
        text = (EXTENSION / name).read_text("utf8").replace("\r\n", "\n")
        digest.update(f"{name}\0{text}\0".encode())
    return digest.hexdigest()


def is_built() -> bool:
    """Whether the committed files are built from these sources."""
    return (STATIC / "sources.sha256").read_text().strip() == stamp()


def installed(folder: Path) -> Path:
    """A copy of the sources with their packages, in `folder`, and of what Python stores for their
    tests where these look for it. Skips the test without npm, which in CI fails it.
    """
    if shutil.which("npm") is None:
        _missing("no npm: install Node to rebuild the front end")
    copied = folder / EXTENSION.relative_to(REPOSITORY)
    shutil.copytree(GOLDEN, folder / GOLDEN.relative_to(REPOSITORY), dirs_exist_ok=True)
    shutil.copytree(EXTENSION, copied, ignore=shutil.ignore_patterns("node_modules"))
    if (EXTENSION / "node_modules").is_dir():
        (copied / "node_modules").symlink_to(EXTENSION / "node_modules")
        return copied
    install = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(install, cwd=copied, capture_output=True, text=True)
    if done.returncode:
        _missing(f"npm ci failed: {done.stderr[-500:]}")
    return copied


def build(sources: Path, out: Path) -> None:
    """Builds an installed copy of the sources into `out`."""
    subprocess.run(["node", "build.mjs", str(out)], cwd=sources, check=True)


def files(folder: Path) -> dict[str, bytes]:
    """Every file in a folder by its path there."""
    found = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def _missing(reason: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
