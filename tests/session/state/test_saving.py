"""A workbench saved as a file or a page, and taken up again."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.programs import leaky_sum
from tests.session.listening import PATIENCE
from tests.session.shown import MEASURE, VECTORIZE, Shown
from workbench.session.protocol.messages import PROTOCOL, Done, Failed, Saved
from workbench.session.requests.sessions import Sessions
from workbench.session.state.page_parts import _played, fill
from workbench.transforms import Tile
from workbench.variants.proposals import every_step


def test_a_saved_state_is_loaded_with_names_steps_and_measurements(
    shown: Shown, sessions: Sessions, tmp_path: Path
) -> None:
    key = shown.apply(shown.root, VECTORIZE)
    shown.view.ask(type="rename", variant=key, name="fast")
    shown.view.ask(**MEASURE | {"repeats": 1}, variants=[key])
    saved = shown.view.ask(type="save", format="state")
    assert isinstance(saved, Saved)
    assert saved.name.endswith(".json")
    sessions.forget("leaky_sum")
    fresh = Shown(sessions, tmp_path / "elsewhere", leaky_sum())
    assert isinstance(fresh.view.ask(type="load", show=True, text=saved.text), Done)
    state = fresh.view.state(lambda s: s.current == key)
    assert [(v.key, v.name) for v in state.variants if v.named] == [(key, "fast")]
    (measured,) = state.measurements
    assert (measured.variant, measured.recorded) == (key, "a saved workbench")


def test_a_tree_is_taken_up_without_a_change_of_what_is_shown(
    shown: Shown, sessions: Sessions, tmp_path: Path
) -> None:
    key = shown.apply(shown.root, VECTORIZE)
    saved = shown.view.ask(type="save", format="state")
    assert isinstance(saved, Saved)
    sessions.forget("leaky_sum")
    fresh = Shown(sessions, tmp_path / "elsewhere", leaky_sum())
    assert isinstance(fresh.view.ask(type="load", show=False, text=saved.text), Done)
    state = fresh.view.state(lambda s: len(s.variants) == 2)
    assert (state.current, state.variants[1].key) == (shown.root, key)


def test_a_name_stays_with_the_variant_that_has_it_when_a_file_is_loaded(shown: Shown) -> None:
    key = shown.apply(shown.root, VECTORIZE)
    shown.view.ask(type="rename", variant=key, name="fast")
    saved = shown.view.ask(type="save", format="state")
    assert isinstance(saved, Saved)
    shown.view.ask(type="rename", variant=key, name="")
    shown.view.ask(type="rename", variant=shown.root, name="fast")
    assert isinstance(shown.view.ask(type="load", show=True, text=saved.text), Done)
    assert dict(shown.session.tree.names) == {shown.root: "fast"}


def test_a_saved_state_of_another_release_is_refused(shown: Shown) -> None:
    key = shown.apply(shown.root, VECTORIZE)
    saved = shown.view.ask(type="save", format="state")
    assert isinstance(saved, Saved)
    older = json.loads(saved.text) | {"protocol": 0, "release": "0.0.1"}
    failed = shown.view.ask(type="load", show=True, text=json.dumps(older))
    assert isinstance(failed, Failed)
    assert failed.error.sentence == (
        "this workbench was saved by release 0.0.1 (protocol 0), "
        f"which this one (protocol {PROTOCOL}) cannot read"
    )
    broken = json.loads(saved.text)
    broken["state"]["variants"][0]["key"] = 3
    failed = shown.view.ask(type="load", show=True, text=json.dumps(broken))
    assert isinstance(failed, Failed)
    assert failed.error.sentence == "saved.state.variants[0].key is 3; expected a text"
    broken = json.loads(saved.text)
    broken["state"]["variants"][1]["parent"] = key
    failed = shown.view.ask(type="load", show=True, text=json.dumps(broken))
    assert isinstance(failed, Failed)
    assert failed.error.sentence == (
        f"this is no saved workbench: variant {key[:8]} comes from none before it"
    )
    broken = json.loads(saved.text.replace("leaky_sum", "other"))
    failed = shown.view.ask(type="load", show=True, text=json.dumps(broken))
    assert isinstance(failed, Failed)
    assert "a saved workbench of other, not of leaky_sum" in failed.error.sentence


def test_a_page_is_saved_with_everything_in_it(shown: Shown) -> None:
    saved = shown.view.ask(type="save", format="html")
    assert isinstance(saved, Saved)
    assert saved.text.startswith("<!doctype html>")
    assert shown.root in saved.text


def test_a_page_holds_instances_and_predictions_that_nobody_looked_at(shown: Shown) -> None:
    fill(shown.session.kept, shown.session.values, shown.session.name)
    parts = [part for part in shown.session.capsule().parts if part.variant == shown.root]
    listed = [tuple(part.arguments["statements"]) for part in parts if part.part == "domain"]
    program = shown.session.tree.shown.program
    assert set(listed) == {(statement.name,) for statement in program.statements}
    swept = {part.arguments["size"] for part in parts if part.part == "sweep"}
    assert swept == {one.name for one in program.parameters if one.definition is None}


def test_a_page_plays_what_is_shown_beside_the_program_as_written(shown: Shown) -> None:
    key = shown.apply(shown.root, Tile("b", 16).to_json())
    fill(shown.session.kept, shown.session.values, shown.session.name)
    found = {
        (part.variant, part.arguments["sizes"].get("B")): part.value["sizes"]["B"]
        for part in shown.session.capsule().parts
        if part.part == "play"
    }
    assert found == {(shown.root, None): 3, (key, None): 7, (shown.root, 7): 7, (key, 7): 7}


def test_a_page_plays_a_few_statements_of_what_is_too_large(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.session.state.page_parts.MOST_PLAYED", 2)
    views = [{"sizes": {"B": 3, "T": 3}, "whole": whole} for whole in (False, True)]
    wanted = list(_played(shown.session.tree, views[:1]))
    assert [arguments["statement"] for _, _, arguments in wanted] == [None, "s[0]", "s[0]"] + [
        "s[t+1]"
    ] * 2
    assert len(list(_played(shown.session.tree, views[1:]))) == 1


def test_a_page_holds_the_compiled_kernels_where_they_are_what_runs(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.session.state.page_parts.default", lambda: "native")
    fill(shown.session.kept, shown.session.values, shown.session.name)
    parts = [part for part in shown.session.capsule().parts if part.variant == shown.root]
    (listed,) = [part.value["kernels"] for part in parts if part.part == "kernels"]
    texts = {str(part.arguments["name"]) for part in parts if part.part == "kernel"}
    assert texts == {kernel["name"] for kernel in listed}
    assert {name for kernel in listed for name in kernel["statements"]} == {
        statement.name for statement in shown.session.tree.shown.program.statements
    }


def test_a_page_holds_the_moves_of_every_variant(shown: Shown) -> None:
    key = shown.apply(shown.root, VECTORIZE)
    shown.view.ask(type="show", variant=shown.root)
    fill(shown.session.kept, shown.session.values, shown.session.name)
    found = {
        p.variant: p.value["moves"] for p in shown.session.capsule().parts if p.part == "moves"
    }
    assert set(found) == {shown.root, key}
    program = shown.session.tree.shown.program
    assert {move["step"]["text"] for move in found[shown.root]} == {
        str(step) for step in every_step(program)
    }


def test_moves_of_what_is_shown_are_saved_though_nobody_asked_for_them(shown: Shown) -> None:
    key = shown.apply(shown.root, VECTORIZE)
    for variant in (shown.root, key):
        shown.view.ask(type="show", variant=variant)
        until = time.monotonic() + PATIENCE
        while variant not in _with_moves(shown):
            assert time.monotonic() < until
            time.sleep(0.02)


def _with_moves(shown: Shown) -> set[str]:
    return {part.variant for part in shown.session.capsule().parts if part.part == "moves"}


def test_a_page_explains_a_legal_move_and_an_illegal_one(shown: Shown) -> None:
    fill(shown.session.kept, shown.session.values, shown.session.name)
    parts = [part for part in shown.session.capsule().parts if part.variant == shown.root]
    refused = {json.dumps(p.arguments["step"]): p.value for p in parts if p.part == "why"}
    (why,) = refused.values()
    assert why["step"]["text"] == "Vectorize('t', statements=('s[t+1]',))"
    assert why["space"] is not None
    legal = [p.arguments["step"] for p in parts if p.part == "reason"]
    assert legal == [VECTORIZE]
    previewed = [p.arguments["step"] for p in parts if p.part == "preview"]
    assert len(previewed) == 2 and VECTORIZE in previewed and why["step"]["json"] in previewed
    about = [p.arguments for p in parts if p.part == "moves"]
    assert {"statements": ["s[t+1]"]} in about
