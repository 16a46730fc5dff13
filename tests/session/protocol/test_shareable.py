"""What can be given away tells nobody's folders, user or machine."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.programs import leaky_sum
from tests.session.shown import MEASURE, VECTORIZE, Shown
from workbench.planning.machine.calibrated import file_of
from workbench.session.outputs.mime_bundle import bundle, mimebundle
from workbench.session.protocol.failures import error_view
from workbench.session.protocol.messages import Saved
from workbench.session.protocol.shareable import without_folders
from workbench.session.protocol.state import ArgumentView
from workbench.session.requests.sessions import Sessions

USERS = "Users"
SECRET = "anns-secret-place"
MACHINE = "anns-machine"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("/tmp/ann/work/data.csv is missing", "data.csv is missing"),
        ("'/tmp/ann/data.csv' and (/tmp/b.csv)", "'data.csv' and (b.csv)"),
        ("failed:/tmp/ann/data.csv:3", "failed:data.csv:3"),
        ("at file:///tmp/ann/data.csv", "at data.csv"),
        (rf"at C:\{USERS}\Ann\data.csv", "at data.csv"),
        ("https://example.org/tmp/x, ~/x, ./y/z", "https://example.org/tmp/x, ~/x, ./y/z"),
        ("x /y/z, B*T//M, (a)/b/c, 3 /2, a/tmp/b", "x /y/z, B*T//M, (a)/b/c, 3 /2, a/tmp/b"),
    ],
)  # fmt: skip
def test_a_path_is_its_last_component(text: str, left: str) -> None:
    assert without_folders(text) == left


def test_a_home_with_a_space_is_not_cut_at_it(monkeypatch: pytest.MonkeyPatch) -> None:
    home = f"/{USERS}/Ann Lee"
    monkeypatch.setattr(Path, "home", lambda: Path(home))
    said = without_folders(f"'{home}/my/data.csv' in {home}, not {home}s/x")
    assert said.startswith("'data.csv' in …, not ")


@pytest.fixture
def secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home that nobody is to hear of, with everything that the workbench keeps in it."""
    home = tmp_path / SECRET
    home.mkdir()
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "WORKBENCH_CACHE", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    for backend in ("numpy", "cuda"):  # and what is said of constants that cannot be read
        file_of(backend).write_text("broken", encoding="utf-8")
    monkeypatch.setattr(
        "workbench.session.protocol.state_views.backends", lambda: {"cuda": _missing(home)}
    )
    monkeypatch.setattr("platform.node", lambda: MACHINE)
    for name in ("USER", "LOGNAME", "HOSTNAME"):
        monkeypatch.setenv(name, SECRET)
    monkeypatch.chdir(home)
    return home


def _missing(home: Path) -> str:
    return f"CuPy is not installed: {home}/bin/python -m pip install cupy"


@pytest.fixture
def own(secret: Path) -> Iterator[Sessions]:
    """Workbenches whose worker was started in that home."""
    sessions = Sessions()
    yield sessions
    sessions.close()


def filled(shown: Shown, home: Path) -> Shown:
    """With a step, a measurement of it and one from the store, arguments and an error."""
    key = shown.apply(shown.root, VECTORIZE)
    shown.view.ask(**MEASURE | {"repeats": 1}, variants=[key])
    shown.view.state(lambda s: any(m.recorded for m in s.measurements))
    for part in ("cost", "code", "memory"):
        arguments = {"sizes": {}, "backend": "numpy", "dtype": "float32"}
        names = {"code": ["backend"], "memory": ["sizes", "backend", "dtype"]}.get(
            part, list(arguments)
        )
        shown.view.want(part, key, **{name: arguments[name] for name in names})
    try:
        exec(compile("open(PLACE)", str(home / "mine.py"), "exec"), {"PLACE": home / "data.csv"})
    except OSError as error:
        shown.session.fail(error_view(error))
    views = (ArgumentView("data", "other", repr(home / "x"), None, (str(home / "y"),)),)
    shown.session.change(lambda v: replace(v, arguments=views))
    return shown


def shared_texts(shown: Shown, home: Path) -> Iterator[tuple[str, str]]:
    """All that is made to be given away, by name, as plain text."""
    session = shown.session
    state, html = (shown.view.ask(type="save", format=kind) for kind in ("state", "html"))
    assert isinstance(state, Saved)
    assert isinstance(html, Saved)
    yield "the state file", state.text
    yield "the page", re.sub(r">[\w+/=]{1000,}<", "><", html.text)
    for kind in ("capsule", "views"):
        (text,) = re.findall(rf'id="{kind}">(.*?)</script>', html.text, re.DOTALL)
        yield f"the page's {kind}", unpacked(text)
    picture = session.kept.picture(session.tree.shown)
    assert picture is not None
    yield "the notebook's output", plain_text(bundle(session.capsule(), picture))
    yield "a program's output", plain_text(mimebundle(session.tree.shown))
    found = wb.compare([session.tree.shown], repeats=1, progress=False, backend="numpy")
    session.store.append(found)
    for what, value in (("a comparison", found), ("what is recorded", session.store.read())):
        html_text = getattr(value, "_repr_html_", str)()
        yield what, repr(value) + html_text + value.frame.to_csv()
    yield "a measurement", "".join(map(repr, session.store.read()))
    yield "the store", session.store.path.read_text(encoding="utf-8")
    session.tree.shown.save(home / "recipe.json")
    yield (
        "a recipe",
        (home / "recipe.json").read_text(encoding="utf-8") + session.tree.shown.recipe(),
    )
    done = wb.run(session.tree.shown, progress=False, backend="numpy")
    yield "a run", repr(done)
    wb.report(session.tree.shown, home / "report.html", notes=f"Read from {home / 'data.csv'}.")
    yield "a report", (home / "report.html").read_text(encoding="utf-8")


def unpacked(text: str) -> str:
    """A text that may be compressed."""
    if text.startswith("{"):
        value = json.loads(text)
        return text if "gzip" not in value else unpacked(value["gzip"])
    return gzip.decompress(base64.b64decode(text)).decode()


def plain_text(made: dict[str, Any]) -> str:
    text = json.dumps(made, default=str)
    images = re.findall(r"base64,([\w+/=]+)", text)
    packed_ones = re.findall(r'"gzip": "([\w+/=]+)"', text)
    more = [base64.b64decode(image).decode() for image in images] + [*map(unpacked, packed_ones)]
    return text + "".join(more)


def test_nothing_that_is_shared_holds_a_path(own: Sessions, secret: Path) -> None:
    before = wb.compare([wb.variant(leaky_sum())], repeats=1, progress=False, backend="numpy")
    wb.store(secret / "measured.jsonl").append(before)
    shown = filled(Shown(own, secret, leaky_sum()), secret)
    hidden = [SECRET, str(secret), "/tmp/", str(Path(wb.__file__).parent), MACHINE]
    for what, text in shared_texts(shown, secret):
        for word in hidden:
            assert word not in text, (what, word, text[max(0, text.index(word) - 90) :][:200])
