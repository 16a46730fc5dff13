"""Moves as they stream; prices and previews of steps."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import pytest

import workbench as wb
from tests.programs import leaky_sum, returns
from workbench.errors import SizeError, UnavailableError, WorkbenchError
from workbench.session.parts.cost import cost
from workbench.session.parts.moves import MovesView, MoveView, moves, transform_view
from workbench.session.parts.preview import preview, price
from workbench.session.protocol.failures import error_view
from workbench.transforms import Accumulate, Contract, Fuse, Swap, Vectorize
from workbench.transforms.step.refusal import Refused
from workbench.transforms.step.transform import REGISTRY

RUN: dict[str, Any] = {"sizes": {}, "backend": "numpy", "dtype": "float32"}
CODE = {"backend": "numpy"}


def last(batches: Iterable[MovesView]) -> dict[str, MoveView]:
    return {move.step.source: move for batch in batches for move in batch.moves}


def test_moves_are_those_of_the_variant() -> None:
    variant = wb.variant(returns())
    found = last(moves(variant, {}))
    expected = {repr(move.step): move for move in variant.moves()}
    assert found.keys() == expected.keys()
    for source, move in found.items():
        refusal = expected[source].refusal
        assert move.refused == (None if refusal is None else refusal.sentence)
        assert move.notes == expected[source].notes


def test_moves_come_in_batches_after_what_the_transforms_are() -> None:
    first, *rest = moves(wb.variant(returns()), {})
    assert {t.name for t in first.transforms} == set(REGISTRY) and first.moves == ()
    assert rest and all(batch.moves and not batch.transforms for batch in rest)


def test_a_price_is_what_the_variant_after_the_step_is_predicted_to_cost() -> None:
    variant = wb.variant(returns())
    for step in (Vectorize("b"), Contract("reward", "b")):
        after = variant.apply(step).predict({"B": 5}, "numpy", "float64")
        run = {"sizes": {"B": 5}, "backend": "numpy", "dtype": "float64"}
        found = price(variant, {"step": step.to_json(), **run})
        assert (found.seconds, found.peak_bytes) == (after.seconds, after.peak_bytes)
        shares = {name: share.seconds for name, share in after.by_statement.items()}
        assert found.parts and found.parts.items() <= shares.items()
        untold = [n for name, n in shares.items() if name not in found.parts]
        assert max(untold, default=0.0) <= 1e-3 * after.seconds


def test_a_price_names_the_memory_to_which_an_array_moves() -> None:
    variant = wb.variant(returns())
    away = next(move.step for move in variant.moves(Swap) if move.legal)
    found = price(variant, {"step": away.to_json(), **RUN})
    assert found.moved == {away.array: "host"} and found.arrays == {}
    assert price(variant, {"step": Vectorize("b").to_json(), **RUN}).moved == {}


@pytest.mark.parametrize(("backend", "one"), [("numpy", True), ("native", True), ("cuda", False)])
def test_a_cost_tells_where_the_host_is_the_memory_of_the_device(backend: str, one: bool) -> None:
    found = cost(wb.variant(returns()), {**RUN, "backend": backend})
    assert found.one_memory == one


def test_a_price_names_the_arrays_that_change_and_their_bytes() -> None:
    variant = wb.variant(returns())
    for move in variant.moves(Contract, Swap, Accumulate):
        if not move.legal:
            continue
        found = price(variant, {"step": move.step.to_json(), **RUN}).arrays
        before = cost_of(variant)
        after = cost_of(variant.apply(move.step))
        assert found == {n: after.get(n, 0) for n, b in before.items() if after.get(n, 0) != b}
    folded = price(variant, {"step": Contract("reward", "b").to_json(), **RUN})
    assert folded.arrays["reward"] < cost_of(variant)["reward"]


def cost_of(variant: wb.Variant) -> dict[str, int]:
    """The bytes of each array."""
    return {array.array: array.bytes for array in cost(variant, RUN).arrays}


def test_a_price_of_what_cannot_be_done_is_refused_with_the_reason() -> None:
    variant = wb.variant(leaky_sum())
    with pytest.raises(Refused, match=r"s\[t\+1\] at b=0, t=1"):
        price(variant, {"step": Vectorize("t", ("s[t+1]",)).to_json(), **RUN})
    step = Vectorize("b").to_json()
    with pytest.raises(SizeError, match="unknown size 'X'"):
        price(variant, {"step": step, **RUN, "sizes": {"X": 1}})
    with pytest.raises(UnavailableError, match="abacus"):
        price(variant, {"step": step, **RUN, "backend": "abacus"})


def test_moves_about_a_selection_name_it() -> None:
    variant = wb.variant(leaky_sum())
    found = last(moves(variant, {"statements": ["s[t+1]"]}))
    refused = found["Vectorize('t', statements=('s[t+1]',))"]
    assert refused.refused is not None and "s[t+1] at b=0, t=1 needs s[0, 1]" in refused.refused
    assert found["Vectorize('b', statements=('s[t+1]',))"].refused is None
    assert all("s[t+1]" in m.step.statements or "s" in m.step.arrays for m in found.values())


def test_an_unknown_statement_is_refused() -> None:
    with pytest.raises(WorkbenchError, match="unknown statement 'nobody'"):
        last(moves(wb.variant(leaky_sum()), {"statements": ["nobody"]}))


def test_names_and_kinds_of_steps_come_once() -> None:
    variant = wb.variant(leaky_sum())
    first, *others = moves(variant, {})
    assert len(first.transforms) == len(REGISTRY)
    assert first.names["dim"] == first.names["declared dim"] == ("b", "t")
    assert first.names["statement"] == (*variant.program.statement, "s")
    batches = [*others, *moves(variant, {"statements": ["last"]})]
    assert [one for one in batches if one.transforms or one.names] == []


def test_of_moves_by_kind_one_brings_the_names() -> None:
    variant = wb.variant(leaky_sum())
    first = {kind: next(moves(variant, {"transform": kind})) for kind in REGISTRY}
    assert [[one.name for one in view.transforms] for view in first.values()] == [
        [kind] for kind in REGISTRY
    ]
    (names,) = [view.names for view in first.values() if view.names]
    assert names == next(moves(variant, {})).names


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_every_argument_that_is_a_name_says_of_what(name: str) -> None:
    lists = next(moves(wb.variant(leaky_sum()), {})).names
    shown = transform_view(REGISTRY[name])
    for field in dataclasses.fields(REGISTRY[name]):
        described = shown.schema["properties"][field.name]
        if "string" in str({k: v for k, v in described.items() if k != "known"}):
            assert described["names"] in ("statement", "array", "dim", "loop", "rule")
            assert lists[described["known"]]
    assert shown.summary and "Legal when" in shown.documentation.replace("*", "")


def test_a_preview_is_the_program_after_the_step() -> None:
    variant = wb.variant(returns())
    step = Contract("reward", "b")
    found = preview(variant, {"step": step.to_json(), **CODE})
    after = variant.apply(step)
    assert found.refusal is None and found.code is not None and found.snapshot is not None
    assert found.code.loops.text == str(after.loop_program).removesuffix("\n")
    assert [n.id for n in found.snapshot.nodes] == list(after.program.statement)
    assert found.notes == after.notes


def test_a_preview_of_what_is_refused_says_why() -> None:
    found = preview(
        wb.variant(leaky_sum()), {"step": Vectorize("t", ("s[t+1]",)).to_json(), **CODE}
    )
    assert found.refusal is not None and found.refusal.witness is not None
    assert (found.snapshot, found.code) == (None, None)


def test_a_step_with_unknown_names_is_refused() -> None:
    found = preview(wb.variant(leaky_sum()), {"step": Fuse(("x", "nobody")).to_json(), **CODE})
    assert found.refusal is not None and "nobody" in found.refusal.sentence
    with pytest.raises(WorkbenchError, match="has no argument 'dims'"):
        step = {"transform": "Vectorize", "arguments": {"dims": "b"}}
        preview(wb.variant(leaky_sum()), {"step": step, **CODE})


def test_a_preview_of_bad_input_names_the_argument() -> None:
    variant = wb.variant(leaky_sum())
    shown = preview(variant, {"step": Fuse(("x", "nobody")).to_json(), **CODE})
    assert shown.refusal is not None
    assert (shown.refusal.kind, shown.refusal.argument) == ("input", "statements")
    step = {"transform": "Tile", "arguments": {"dim": "t", "size": "many"}}
    with pytest.raises(WorkbenchError) as refused:
        preview(variant, {"step": step, **CODE})
    error = error_view(refused.value)
    assert error.sentence == "Tile: size is 'many'; expected a whole number"
    assert error.arguments == {"size": error.sentence}
