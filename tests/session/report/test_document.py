"""The page of a report: what it says, and that nothing in it runs or tells who works where."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

import workbench as wb
from tests.session.report.test_facts import FAST, ROOT, of, told
from workbench.session.picture.snapshot import snapshot
from workbench.session.report.document import document, file_name
from workbench.session.report.pictures import differing, picture
from workbench.transforms import Contract

EVIL = "</style><script>window.pwned=1</script><img src=x onerror=pwned()>"


class Tags(HTMLParser):
    """Every element of a page, with its attributes; and those that were not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def measured_page(notes: str = "") -> str:
    old = of(ROOT, 0.2, 0.2, comparison="c")
    return document(told(old, of(FAST, 0.1, 0.1, comparison="c"), notes=notes))


def test_a_page_tells_result_numbers_check_and_recipe() -> None:
    text = measured_page("First.\n\nSecond line\nof two.")
    assert "<title>leaky_sum: time ÷ 2, memory same</title>" in text
    assert '<p class="headline measured">time ÷ 2, memory same</p>' in text
    assert "<p>First.</p><p>Second line\nof two.</p>" in text
    assert "✓ computes what the program says" in text
    assert "agrees with the reference at B=3, T=4 (float32)" in text
    assert "<code>Vectorize(&#x27;b&#x27;)</code>" in text
    assert "variant = variant.apply(wb.transforms.Vectorize(&#x27;b&#x27;))" in text
    assert "was not measured" not in text
    assert Tags(text).open == []


def test_nothing_measured_says_so_and_how() -> None:
    text = document(told())
    assert "Nothing was measured." in text
    assert "measured = wb.compare([before, after])" in text
    assert "Not checked by a run" in text
    half = document(told(of(FAST, 0.1, 0.1)))
    assert "as written was not measured." in half


def test_no_text_of_a_page_is_markup() -> None:
    named = replace(FAST.root.program, equations=replace(FAST.root.program.equations, name=EVIL))
    after = wb.variant(named).apply(wb.transforms.Vectorize("b"))
    text = document(told(before=after.root, after=after, notes=EVIL))
    tags = Tags(text)
    assert tags.open == []
    names = {name for name, _ in tags.found}
    assert not names & {"script", "img", "iframe", "a", "link", "object", "form"}
    assert not [key for _, own in tags.found for key in own if key.startswith("on")]
    assert "default-src 'none'" in text
    assert "script-src" not in text


def test_nothing_is_fetched() -> None:
    text = measured_page()
    assert re.findall(r"""(?:src|href|url)\s*[=(]""", text) == []
    assert "@import" not in text


def test_no_path_is_absolute(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    text = measured_page(f"Read from {tmp_path}/data/walk.csv by {Path.home()}/mine.py")
    assert "Read from walk.csv by mine.py" in text
    assert str(tmp_path) not in text


def test_a_file_name_is_safe_and_tells_the_variant() -> None:
    assert file_name(told()) == f"leaky_sum-{FAST.key[:8]}-report.html"


def test_what_differs_is_marked_in_the_pictures() -> None:
    before, after = snapshot(FAST.program), snapshot(FAST.apply(Contract("x")).program)
    changed = differing(after, before)
    assert changed == {node.id for node in after.nodes if node.array == "x"}
    assert differing(after, after) == frozenset()
    drawn = picture(after, before)
    if shutil.which("dot") is None:
        assert drawn is None
        return
    assert drawn is not None
    assert len(re.findall(r'class="node [^"]*changed"', drawn)) == len(changed)
    assert "<title>x[b, t]" in drawn
    assert "id=" not in drawn
    assert "fill=" not in drawn  # colours are the page's


def test_without_graphviz_the_equations_stand_in_place_of_the_graphs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("workbench.session.picture.dot.shutil.which", lambda name: None)
    text = measured_page()
    assert "and it is not installed here or failed" in text
    assert "<h2>Equations</h2>" in text
