"""Moves as they stream, with their prices; previews of steps."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import pytest

import workbench as wb
from tests.programs import leaky_sum, returns
from tests.session import golden_steps
from workbench.errors import SizeError, WorkbenchError
from workbench.session.parts.moves import KINDS, MovesView, MoveView, moves, transform_view
from workbench.session.parts.preview import preview
from workbench.transforms import Contract, Fuse, Tile, Vectorize
from workbench.transforms.base import REGISTRY, from_json

RUN: dict[str, Any] = {"sizes": {}, "backend": "numpy", "dtype": "float32"}


def last(batches: Iterable[MovesView]) -> dict[str, MoveView]:
    return {move.step.source: move for batch in batches for move in batch.moves}


def test_the_file_that_the_views_are_tested_with_is_what_python_sends() -> None:
    written = golden_steps.FILE.read_text(encoding="utf-8")
    assert written == golden_steps.text(), "run `python -m tests.session.golden_steps`"


def test_moves_are_those_of_the_variant() -> None:
    variant = wb.variant(returns())
    found = last(moves(variant, RUN))
    expected = {repr(move.step): move for move in variant.moves()}
    assert found.keys() == expected.keys()
    for source, move in found.items():
        refusal = expected[source].refusal
        assert (move.refusal is None) == (refusal is None)
        if refusal is not None and move.refusal is not None:
            assert move.refusal.sentence == refusal.sentence
        assert move.notes == expected[source].notes


def test_every_legal_move_gets_its_price() -> None:
    variant = wb.variant(returns())
    batches = list(moves(variant, RUN))
    (before,) = (b.before for b in batches if b.before is not None)
    own = variant.predict()
    assert (before.seconds, before.peak_bytes) == (own.seconds, own.peak_bytes)
    for move in last(batches).values():
        if move.refusal is not None:
            assert move.effect is None
            continue
        after = variant.apply(from_json(move.step.json)).predict()
        assert move.effect is not None
        assert (move.effect.seconds, move.effect.peak_bytes) == (after.seconds, after.peak_bytes)


def test_what_can_be_done_comes_before_any_price() -> None:
    batches = list(moves(wb.variant(returns()), RUN))
    priced = next(n for n, b in enumerate(batches) if b.before is not None)
    assert len(last(batches[:priced])) == len(last(batches))
    assert not any(m.effect for b in batches[:priced] for m in b.moves)
    assert {t.name for t in batches[0].transforms} == set(REGISTRY)


def test_steps_about_the_whole_are_priced_first() -> None:
    batches = list(moves(wb.variant(returns()), RUN))
    priced = [m.step for b in batches for m in b.moves if m.effect is not None]
    about_all = [not s.statements and not s.arrays for s in priced]
    assert 0 < sum(about_all) < len(priced)
    assert about_all == sorted(about_all, reverse=True)


def test_moves_about_a_selection_name_it() -> None:
    variant = wb.variant(leaky_sum())
    found = last(moves(variant, {**RUN, "statements": ["s[t+1]"]}))
    refused = found["Vectorize('t', statements=('s[t+1]',))"]
    assert refused.refusal is not None and refused.refusal.kind == "dependence"
    assert refused.refusal.witness is not None
    assert refused.refusal.witness.sink.text == "s[t+1] at b=0, t=1"
    assert found["Vectorize('b', statements=('s[t+1]',))"].refusal is None
    assert all("s[t+1]" in m.step.statements or "s" in m.step.arrays for m in found.values())


def test_a_backend_that_nobody_knows_is_said_once() -> None:
    batches = list(moves(wb.variant(leaky_sum()), {**RUN, "backend": "abacus"}))
    assert "abacus" in batches[-1].remark
    assert not any(m.effect for b in batches for m in b.moves)


def test_bad_arguments_are_refused() -> None:
    variant = wb.variant(leaky_sum())
    with pytest.raises(WorkbenchError, match="unknown statement 'nobody'"):
        last(moves(variant, {**RUN, "statements": ["nobody"]}))
    with pytest.raises(SizeError, match="unknown size 'X'"):
        last(moves(variant, {**RUN, "sizes": {"X": 1}}))


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_every_argument_that_is_a_name_says_of_what(name: str) -> None:
    shown = transform_view(REGISTRY[name])
    for field in dataclasses.fields(REGISTRY[name]):
        described = shown.schema["properties"][field.name]
        if "string" in str({k: v for k, v in described.items() if k != "known"}):
            assert described["names"] == KINDS[field.name]
    assert shown.summary and "Legal when" in shown.documentation.replace("*", "")


def test_a_preview_is_the_program_after_the_step() -> None:
    variant = wb.variant(returns())
    step = Contract("reward", "b")
    found = preview(variant, {"step": step.to_json(), **RUN})
    after = variant.apply(step)
    assert found.refusal is None and found.code is not None and found.snapshot is not None
    assert found.code.loops.text == str(after.loop_program).removesuffix("\n")
    assert [n.id for n in found.snapshot.nodes] == list(after.program.statement)
    assert found.before is not None and found.after is not None
    assert found.before.peak_bytes == variant.predict().peak_bytes
    assert found.after.peak_bytes == after.predict().peak_bytes
    assert found.notes == after.notes


def test_a_preview_of_what_is_refused_says_why() -> None:
    found = preview(wb.variant(leaky_sum()), {"step": Vectorize("t", ("s[t+1]",)).to_json(), **RUN})
    assert found.refusal is not None and found.refusal.witness is not None
    assert (found.snapshot, found.code, found.before, found.after) == (None, None, None, None)


def test_a_preview_without_a_prediction_says_so() -> None:
    step = Tile("t", 2).to_json()
    found = preview(wb.variant(leaky_sum()), {"step": step, **RUN, "backend": "cuda"})
    assert found.snapshot is not None
    assert (found.before is None) == bool(found.remark)


def test_a_step_with_unknown_names_is_refused() -> None:
    found = preview(wb.variant(leaky_sum()), {"step": Fuse(("x", "nobody")).to_json(), **RUN})
    assert found.refusal is not None and "nobody" in found.refusal.sentence
    with pytest.raises(WorkbenchError, match="has no argument 'dims'"):
        step = {"transform": "Vectorize", "arguments": {"dims": "b"}}
        preview(wb.variant(leaky_sum()), {"step": step, **RUN})
