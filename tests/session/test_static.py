"""The committed front end: built from these sources, and saying the same as Python."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.front_end import EXTENSION, STATIC, build, files, installed, is_built
from tests.session import example
from workbench.program.text.units import (
    UNITS,
    bytes_text,
    digits,
    percent,
    ratio_text,
    seconds_text,
)
from workbench.session.outputs.mime_bundle import MIME
from workbench.session.picture.dot import dot
from workbench.session.picture.dot_boxes import box_text, scope_texts
from workbench.session.picture.snapshot import Snapshot, snapshot
from workbench.session.protocol.capsule import plain
from workbench.session.protocol.typescript import typescript

COMPARE_DOT = """\
import { readFileSync } from "node:fs";
import { contents, dot, key } from "./both.mjs";
for (const { snapshot, closed, text } of JSON.parse(readFileSync("cases.json", "utf8"))) {
  const made = dot(contents(snapshot, new Set(closed.map(key))));
  if (made !== text) { console.log(made); process.exit(1); }
}
"""

COMPARE_NUMBERS = """\
import { readFileSync } from "node:fs";
import * as both from "./both.mjs";
for (const [name, number, text] of JSON.parse(readFileSync("cases.json", "utf8"))) {
  const made = both[name](number);
  if (made !== text) console.log(`${name}(${number}) is ${made}, in Python ${text}`);
}
"""

DOT = """\
export { dot } from "./graph/layout/dot";
export { contents } from "./graph/layout/scene";
export { key } from "./model/scopes";
"""

NUMBERS = """\
export { bytesText, digits, percent, ratioText, secondsText } from "./model/numbers";
"""


SAME: dict[str, Callable[[Any], str]] = {
    "bytesText": bytes_text,
    "digits": digits,
    "percent": percent,
    "ratioText": ratio_text,
    "secondsText": seconds_text,
}
"""Functions of the browser, and Python's."""


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


def test_one_process_has_all_of_this_file(request: pytest.FixtureRequest) -> None:
    if getattr(request.config.option, "loadgroup", False):  # --dist loadgroup, as in `make unit`
        assert request.node.nodeid.endswith("@front end")


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
    assert compared(sources, tmp_path, DOT, COMPARE_DOT, cases) == ""


def test_the_browser_writes_the_same_numbers(sources: Path, tmp_path: Path) -> None:
    chance = random.Random(0)
    numbers = [sign * 10 ** chance.uniform(-12, 16) for sign in (1, 1, -1) for _ in range(2000)]
    numbers += [float(f"{number:.4g}") for number in numbers]  # halves, which are rounded up
    for size in {size for kind in UNITS.values() for _, *sizes in kind for size in sizes}:
        numbers += [size * part for part in (0, 0.99, 0.9995, 0.99949, 1, 1.005, 999, 999.5, 1e3)]
    cases = [
        (name, number, text(number))
        for name, text in SAME.items()
        for number in numbers
        if number > 0 or name in ("digits", "bytesText", "secondsText")
    ]
    assert compared(sources, tmp_path, NUMBERS, COMPARE_NUMBERS, cases) == ""


def compared(sources: Path, folder: Path, exports: str, script: str, cases: object) -> str:
    """What a script prints of cases that differ, with exports of the front end as `both.mjs`."""
    (folder / "cases.json").write_text(json.dumps(cases))
    (folder / "compare.mjs").write_text(script)
    both = sources / "src" / "both.ts"
    both.write_text(exports)
    bundle = [
        "node_modules/.bin/esbuild", "src/both.ts", "--bundle", "--format=esm",
        f"--outfile={folder / 'both.mjs'}", "--log-level=warning",
    ]  # fmt: skip
    subprocess.run(bundle, cwd=sources, check=True)
    both.unlink()
    done = subprocess.run(["node", "compare.mjs"], cwd=folder, capture_output=True, text=True)
    return done.stdout + done.stderr


def _odd_names(shown: Snapshot) -> Snapshot:
    odd = ['<b>"x"</b> &amp;', "a\\b\n\tc", "𝛉∇" * 30, "", "plain"]
    paths = [(name, "x") for name in odd]
    nodes = (
        replace(n, box=box_text(o, o, o, (), is_output=False), scope=path, kind="external")
        for n, o, path in zip(shown.nodes, odd, paths, strict=True)
    )
    edges = (replace(e, mark=o) for e, o in zip(shown.edges, odd, strict=False))
    return replace(shown, nodes=tuple(nodes), edges=tuple(edges), scopes=scope_texts(paths))
