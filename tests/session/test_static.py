"""The committed front end: built from these sources, and saying the same as Python."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.front_end import EXTENSION, STATIC, build, files, installed, is_built
from tests.session import example
from workbench.session.outputs.mime_bundle import MIME
from workbench.session.picture.dot import dot
from workbench.session.picture.dot_boxes import box_text, scope_texts
from workbench.session.picture.snapshot import Snapshot, snapshot
from workbench.session.protocol.capsule import plain
from workbench.session.protocol.typescript import typescript

COMPARE = """\
import { readFileSync } from "node:fs";
import { contents, dot, key } from "./both.mjs";
for (const { snapshot, closed, text } of JSON.parse(readFileSync("cases.json", "utf8"))) {
  const made = dot(contents(snapshot, new Set(closed.map(key))));
  if (made !== text) { console.log(made); process.exit(1); }
}
"""

BOTH = """\
export { dot } from "./graph/layout/dot";
export { contents } from "./graph/layout/scene";
export { key } from "./model/scopes";
"""


def test_the_built_files_belong_to_these_sources() -> None:
    assert is_built(), "run `npm ci && npm run build` in extensions/jupyterlab-workbench"


def test_the_types_are_written_from_python() -> None:
    written = (EXTENSION / "src" / "protocol.ts").read_text("utf8")
    assert written == typescript(), "run `python -m workbench.session.protocol > …/protocol.ts`"


def test_both_sides_name_the_same_type_of_output() -> None:
    assert f'export const MIME = "{MIME}";' in (EXTENSION / "src/shells/mime.ts").read_text("utf8")


def test_jupyterlab_finds_the_extension_and_its_settings() -> None:
    package = json.loads((STATIC / "package.json").read_text())
    built = package["jupyterlab"]["_build"]
    assert built["extension"] == "./extension"
    assert built["mimeExtension"] == "./mimeExtension"
    assert (STATIC / built["load"]).is_file()
    schema = STATIC / "schemas" / package["name"] / "plugin.json"
    assert "workbench:open" in schema.read_text()


def test_the_lock_file_names_no_host() -> None:
    assert '"resolved"' not in (EXTENSION / "package-lock.json").read_text("utf8")


# One process installs the packages.
pytestmark = pytest.mark.xdist_group("front end")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The extension's sources with its packages, in another folder."""
    return installed(tmp_path_factory.mktemp("extension"))


def test_the_built_files_are_what_a_build_gives(sources: Path, tmp_path: Path) -> None:
    subprocess.run(["npm", "run", "--silent", "check"], cwd=sources, check=True)
    build(sources, tmp_path)
    built, committed = files(tmp_path), files(STATIC)
    assert built.keys() == committed.keys()
    assert [name for name in built if built[name] != committed[name]] == []


def test_the_views_pass_their_own_tests(sources: Path) -> None:
    done = subprocess.run(["npm", "test"], cwd=sources, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_browser_writes_the_same_dot(sources: Path, tmp_path: Path) -> None:
    cases = []
    shown: list[Snapshot] = [snapshot(p) for p in (example.small(), example.reinforce(14))]
    shown.append(_odd_names(shown[0]))
    for one in shown:
        every = {n.scope[:depth] for n in one.nodes for depth in range(1, len(n.scope) + 1)}
        for closed in (frozenset[tuple[str, ...]](), frozenset(one.closed), frozenset(every)):
            text = dot(one, closed)
            cases.append({"snapshot": plain(one), "closed": sorted(closed), "text": text})
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    (tmp_path / "compare.mjs").write_text(COMPARE)
    (sources / "src" / "both.ts").write_text(BOTH)
    bundle = [
        "node_modules/.bin/esbuild", "src/both.ts", "--bundle", "--format=esm",
        f"--outfile={tmp_path / 'both.mjs'}", "--log-level=warning",
    ]  # fmt: skip
    subprocess.run(bundle, cwd=sources, check=True)
    done = subprocess.run(["node", "compare.mjs"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def _odd_names(shown: Snapshot) -> Snapshot:
    odd = ['<b>"x"</b> &amp;', "a\\b\n\tc", "𝛉∇" * 30, "", "plain"]
    paths = [(name, "x") for name in odd]
    nodes = (
        replace(n, box=box_text(o, o, o, is_output=False), scope=path, kind="external")
        for n, o, path in zip(shown.nodes, odd, paths, strict=True)
    )
    edges = (replace(e, mark=o) for e, o in zip(shown.edges, odd, strict=False))
    return replace(shown, nodes=tuple(nodes), edges=tuple(edges), scopes=scope_texts(paths))
