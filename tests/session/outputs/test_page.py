from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import replace

from tests.session import example
from workbench.session.outputs.page import VIEWS, file_name, page, state_file
from workbench.session.picture.snapshot import snapshot
from workbench.session.protocol.capsule import Capsule, SavedPart, capsule, plain
from workbench.session.protocol.state_views import still
from workbench.variants.variant import Variant

EVIL = "</script><script>window.pwned=1</script><!--"


def kept(name: str = "small") -> Capsule:
    small = example.small()
    variant = Variant(replace(small, equations=replace(small.equations, name=name)))
    return capsule(
        still(variant), (SavedPart("snapshot", variant.key, {}, snapshot(variant.program)),)
    )


def test_a_page_holds_the_capsule_and_the_views() -> None:
    text = page(kept())
    (inside,) = re.findall(r'<script type="application/json" id="capsule">(.*?)</script>', text)
    assert json.loads(inside) == plain(kept())
    (views,) = re.findall(r'<script type="text/plain" id="views">(.*?)</script>', text)
    assert gzip.decompress(base64.b64decode(views)) == VIEWS.read_bytes()


def test_a_page_asks_nothing_of_a_network() -> None:
    text = page(kept())
    assert re.findall(r'(?:src|href)="(?!data:)[^"]*"', text) == []
    assert "default-src 'none'" in text


def test_a_page_runs_no_text_as_a_program() -> None:
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page(kept()))
    allowed = dict(part.split(maxsplit=1) for part in policy.split("; "))
    assert "'unsafe-eval'" not in allowed["script-src"].split()
    assert "'wasm-unsafe-eval'" in allowed["script-src"].split()  # Graphviz is WebAssembly


def test_names_with_markup_stay_text() -> None:
    text = page(kept(EVIL))
    assert text.count("</script>") == 3
    assert EVIL not in text
    (inside,) = re.findall(r'<script type="application/json" id="capsule">(.*?)</script>', text)
    assert json.loads(inside)["state"]["name"] == EVIL


def test_a_state_file_is_the_capsule() -> None:
    assert json.loads(state_file(kept())) == plain(kept())


def test_a_file_name_is_safe_and_tells_the_variant() -> None:
    shown = kept("../ppo <b>")
    assert file_name(shown, "html") == f"ppo--b-{shown.state.current[:8]}.html"
    assert file_name(kept("***"), "html").startswith("workbench-")
