"""The committed front end: built from these sources, and saying the same as Python."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.session import example
from workbench.session.dot import dot
from workbench.session.protocol import typescript
from workbench.session.snapshot import Snapshot, snapshot, to_json

EXTENSION = Path(__file__).parents[2] / "extensions" / "jupyterlab-workbench"
STATIC = Path(__file__).parents[2] / "workbench" / "session" / "static"
OTHER_SOURCES = ("build.mjs", "package-lock.json", "package.json", "tsconfig.json")

COMPARE = """\
import { readFileSync } from "node:fs";
import { dot } from "./dot.mjs";
for (const { snapshot, closed, text } of JSON.parse(readFileSync("cases.json", "utf8"))) {
  const made = dot(snapshot, new Set(closed.map((path) => JSON.stringify(path))));
  if (made !== text) { console.log(made); process.exit(1); }
}
"""


def test_the_built_files_belong_to_these_sources() -> None:
    sources = [f"src/{path.name}" for path in (EXTENSION / "src").iterdir()]
    digest = hashlib.sha256()
    for name in sorted([*sources, *OTHER_SOURCES]):
        text = (EXTENSION / name).read_text("utf8").replace("\r\n", "\n")
        digest.update(f"{name}\0{text}\0".encode())
    stamp = (STATIC / "sources.sha256").read_text().strip()
    assert stamp == digest.hexdigest(), "run `npm ci && npm run build` in extensions/"


def test_the_types_are_written_from_python() -> None:
    written = (EXTENSION / "src" / "snapshot.ts").read_text("utf8")
    assert written == typescript(), "run `python -m workbench.session.protocol > …/snapshot.ts`"


def test_the_lock_file_names_no_host() -> None:
    assert '"resolved"' not in (EXTENSION / "package-lock.json").read_text("utf8")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The extension's sources with its packages, in another folder."""
    if shutil.which("npm") is None:
        pytest.skip("no npm: install Node to rebuild the front end")
    folder = tmp_path_factory.mktemp("extension") / "views"
    ignored = shutil.ignore_patterns("node_modules")
    shutil.copytree(EXTENSION, folder, ignore=ignored)
    if (EXTENSION / "node_modules").is_dir():
        (folder / "node_modules").symlink_to(EXTENSION / "node_modules")
        return folder
    install = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(install, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        message = f"npm ci failed: {done.stderr[-500:]}"
        if os.environ.get("CI") == "true":
            pytest.fail(message, pytrace=False)
        pytest.skip(message)
    return folder


def test_the_built_files_are_what_a_build_gives(installed: Path, tmp_path: Path) -> None:
    subprocess.run(["npm", "run", "--silent", "check"], cwd=installed, check=True)
    subprocess.run(["node", "build.mjs", str(tmp_path)], cwd=installed, check=True)
    built = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    committed = {path.name: path.read_bytes() for path in STATIC.iterdir()}
    assert built.keys() == committed.keys()
    assert [name for name in built if built[name] != committed[name]] == []


def test_the_browser_writes_the_same_dot(installed: Path, tmp_path: Path) -> None:
    cases = []
    shown: list[Snapshot] = [snapshot(p) for p in (example.small(), example.reinforce(14))]
    shown.append(_odd_names(shown[0]))
    for one in shown:
        every = {n.scope[:depth] for n in one.nodes for depth in range(1, len(n.scope) + 1)}
        for closed in (frozenset[tuple[str, ...]](), frozenset(one.closed), frozenset(every)):
            text = dot(one, closed)
            value = json.loads(to_json(one))
            cases.append({"snapshot": value, "closed": sorted(closed), "text": text})
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    (tmp_path / "compare.mjs").write_text(COMPARE)
    bundle = [
        "node_modules/.bin/esbuild", "src/dot.ts", "--bundle", "--format=esm",
        f"--outfile={tmp_path / 'dot.mjs'}", "--log-level=warning",
    ]  # fmt: skip
    subprocess.run(bundle, cwd=installed, check=True)
    done = subprocess.run(["node", "compare.mjs"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def _odd_names(shown: Snapshot) -> Snapshot:
    odd = ['<b>"x"</b> &amp;', "a\\b\n\tc", "𝛉∇" * 30, "", "plain"]
    nodes = (
        replace(n, title=o, summary=o, scope=(o, "x"), kind="external")
        for n, o in zip(shown.nodes, odd, strict=True)
    )
    return replace(shown, nodes=tuple(nodes))
