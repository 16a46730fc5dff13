from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace

import pytest

from tests.session import example
from workbench.session.picture.dot import LETTERS, dot, static_svg
from workbench.session.picture.dot_boxes import NAME, BoxText, box_text, scope_texts, shortened
from workbench.session.picture.snapshot import snapshot

needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="no Graphviz")


def test_scopes_are_nested_boxes() -> None:
    text = dot(snapshot(example.reinforce(1)))
    assert 'subgraph "cluster_s0"' in text
    assert text.count("subgraph") == len(set(re.findall(r'subgraph "(\w+)"', text)))


def test_a_closed_scope_is_one_box_without_arrows_to_itself() -> None:
    text = dot(snapshot(example.reinforce(1)), frozenset({("optimizer",)}))
    (name,) = re.findall(r"(s\d+) \[.*▸ optimizer<br/>.*16 statements", text)
    assert f"{name} -> {name}" not in text
    assert "change_weight0" not in text


def test_loop_carried_arrows_are_dashed() -> None:
    lines = dot(snapshot(example.small())).splitlines()
    (own,) = [line for line in lines if "n2 -> n2" in line]
    assert 'class="carried"' in own
    assert 'style="dashed"' in own
    assert 'label=" t + 1 "' in own


def test_an_output_has_a_double_line() -> None:
    (loss,) = [line for line in dot(snapshot(example.small())).splitlines() if "<loss<br/>" in line]
    assert 'peripheries="2"' in loss


def test_statements_and_scopes_come_in_the_order_of_the_text() -> None:
    shown = snapshot(example.small())
    paths = [("a",), (), ("b",), ("a",), ()]
    nodes = (replace(n, scope=path) for n, path in zip(shown.nodes, paths, strict=True))
    shown = replace(shown, nodes=tuple(nodes), scopes=scope_texts(paths))
    boxes = re.compile(r"^ *([ns]\d+) \[id", re.MULTILINE)
    assert boxes.findall(dot(shown, frozenset({("a",), ("b",)}))) == ["s0", "n1", "s1", "n4"]
    assert boxes.findall(dot(shown, frozenset())) == ["n0", "n3", "n1", "n2", "n4"]


def test_a_call_of_an_external_object_has_a_shape_of_its_own() -> None:
    shown = snapshot(example.small())
    nodes = (replace(shown.nodes[0], kind="external"), *shown.nodes[1:])
    first, second, *_ = [
        line for line in dot(replace(shown, nodes=nodes)).splitlines() if 'class="statement' in line
    ]
    assert 'shape="component"' in first and 'class="statement external"' in first
    assert 'shape="component"' not in second


def test_a_box_has_room_for_its_name_alone() -> None:
    text = dot(snapshot(example.reinforce(1)), frozenset({("environment",)}))
    (closed,) = [line for line in text.splitlines() if "▸ environment" in line]
    (width,) = re.findall(r' width="([0-9.]+)"', closed)
    assert 72 * float(width) > 0.6 * NAME * len("▸ environment") + 15


def test_a_box_has_room_for_loops_and_short_marks_of_what_is_kept() -> None:
    def box(*kept: str) -> BoxText:
        return box_text("x", "add", "x", ("i", "▮b/8", "[b]", "t"), is_output=False, kept=kept)

    assert "i ▮b/8 [b] t 1 of I<" in box("1 of I").dot
    assert "i ▮b/8 [b] t +2<" in box("min(B, 8) of B", "1 of I").dot
    (least,), (most,) = (
        re.findall(r'width="([0-9.]+)"', one.dot) for one in (box(), box("1 of I"))
    )
    assert 0 < float(least) < float(most)
    (folded,) = re.findall(r'width="([0-9.]+)"', box("min(B, 8) of B", "1 of I").dot)
    assert float(least) < float(folded) < float(most)


@needs_dot
def test_texts_of_the_static_picture_are_as_wide_as_they_were_measured() -> None:
    svg = static_svg(snapshot(example.reinforce(14)))
    assert svg is not None
    texts = re.findall(r'<text [^>]*?textLength="([0-9.]+)"[^>]*font-size="([0-9.]+)"', svg)
    assert len(texts) == svg.count("<text ")
    assert all(float(length) >= 0.6 * float(size) - 0.01 for length, size in texts)


def test_long_texts_lose_their_middle() -> None:
    assert shortened("abcdefghij", 10) == "abcdefghij"
    assert shortened("abcdefghijk", 10) == "abcde…hijk"


@needs_dot
@pytest.mark.parametrize("name", ['<b>"x"</b>&amp;', "a\\nb\\", "}; n0 -> n1", "état ∇θ", ""])
def test_no_name_is_markup(name: str) -> None:
    shown = snapshot(example.small())
    box = box_text(name, name, name, (), is_output=False)
    nodes = tuple(replace(n, box=box, scope=(name,)) for n in shown.nodes)
    shown = replace(shown, nodes=nodes, scopes=scope_texts([(name,)]))
    for closed in (frozenset[tuple[str, ...]](), frozenset({(name,)})):
        done = subprocess.run(
            ["dot", "-Tplain"], input=dot(shown, closed), capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("\nnode ") == (1 if closed else 5)


@needs_dot
def test_the_static_picture_is_an_overview() -> None:
    svg = static_svg(snapshot(example.reinforce(14)))
    assert svg is not None
    assert svg.startswith("<svg")
    assert svg.count('class="node ') <= 40


@needs_dot
def test_letters_of_the_static_picture_are_those_of_the_reader() -> None:
    """Courier, by which Graphviz measures, is thin on a screen."""
    svg = static_svg(snapshot(example.small()))
    assert svg is not None
    assert "Courier" not in svg
    assert svg.count(f'font-family="{LETTERS}"') == svg.count("<text ")


def test_there_is_no_static_picture_without_graphviz(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert static_svg(snapshot(example.small())) is None
