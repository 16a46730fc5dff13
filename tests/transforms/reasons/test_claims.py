"""Each claim of a reason, "ordered by X", holds of all instances at small sizes; none is left out.

What orders them is found by hand (`by_hand.py`), without relations and legality.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache

import pytest

from tests.soundness.order import given_of, operations, run_at
from tests.transforms.reasons.by_hand import (
    PairKey,
    flow_by_hand,
    handed_by_hand,
    moved_by_hand,
    own_pairs,
    slots_by_hand,
)
from tests.transforms.reasons.steps import taken
from workbench.measure.checking.check_sizes import least_lengths
from workbench.program.accumulating import derived
from workbench.program.fitting import Need, fitting
from workbench.program.sizes import resolve
from workbench.program.values import Program
from workbench.transforms.reasons.links import folded, handed
from workbench.transforms.reasons.moved import moved
from workbench.transforms.reasons.reason import Ordered, Orderer, Reason
from workbench.transforms.step.transform import REGISTRY, Transform
from workbench.variants.variant import Variant

SMALL = 2
"""The blocks of a step: two and a tail fit small sizes."""
MORE = (8, 9, 10)
"""Values along the last dimension that show every delay, and blocks with each tail."""


def in_small_blocks(on: Variant, step: Transform) -> Transform | None:
    """The step in blocks that small sizes have several of; None where it then is refused."""
    given = {field.name: getattr(step, field.name) for field in fields(step)}
    if type(step).__name__ in ("Tile", "Persist"):
        given["size"] = SMALL
    elif given.get("block") is not None:
        given["block"] = SMALL
    step = type(step)(**given)
    return step if on.check(step) is None else None


@cache
def reasons(name: str) -> tuple[tuple[Variant, Reason], ...]:
    """Reasons of one transform, on programs whose instances are few."""
    on_small = [(on, step) for program, on, step in taken(name) if program != "small_reinforce"]
    small = [(on, in_small_blocks(on, step)) for on, step in on_small]
    return tuple((on, on.why(step)) for on, step in small if step is not None)


def sizes_of(program: Program) -> Iterator[Mapping[str, int]]:
    """Three along each dimension, and more along the last."""
    least = list(least_lengths(program))
    yield fitting(program, least)
    for length in MORE:
        yield fitting(program, [*least, Need(program.dims[-1].size, length)])


def claimed(pairs: Sequence[Ordered]) -> dict[PairKey, set[str]]:
    return {(p.source, p.sink, p.array): {said(o) for o in p.by} for p in pairs if p.by}


def said(orderer: Orderer) -> str:
    return f"loop {orderer.loop}" if orderer.kind == "loop" else orderer.kind


@cache
def flows(name: str) -> tuple[Mapping[PairKey, set[str]], ...]:
    """What orders the reads of each of the reasons, at any sizes."""
    return tuple(
        both([flow_by_hand(reason.program, sizes) for sizes in sizes_of(reason.program)])
        for _, reason in reasons(name)
    )


def both(
    found: Sequence[Mapping[PairKey, set[str]]],
) -> dict[PairKey, set[str]]:
    """What was seen at any sizes."""
    keys = dict.fromkeys(key for one in found for key in one)
    return {key: {by for one in found for by in one.get(key, ())} for key in keys}


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_reads_are_ordered_by_what_the_reason_says_and_none_is_left_out(name: str) -> None:
    checked = 0
    for (on, reason), seen in zip(reasons(name), flows(name), strict=True):
        claims = claimed([p for p in reason.dependences if p.kind == "reads"])
        assert all("nothing" not in by for by in seen.values()), reason
        for key, by in claims.items():
            assert seen[key] == by, (reason.step, key)
            checked += 1
        changed = moved_by_hand(on.program, reason.program)
        touched = {key for key in seen if changed & set(key[:2])}
        assert touched <= claims.keys(), (reason.step, touched - claims.keys())
    assert checked or name in ("Contract", "Donate", "Layout", "Simplify")


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_no_pair_is_no_pair(name: str) -> None:
    for (on, reason), seen in zip(reasons(name), flows(name), strict=True):
        alone = {p.source for p in reason.dependences if not p.by}
        itself = {source for source, sink, _ in seen if source == sink}
        assert not alone & itself
        if not reason.step.equation_step:
            assert moved_by_hand(on.program, reason.program) <= alone | itself


@pytest.mark.parametrize("name", ["Vectorize", "Tile", "Interchange", "Persist"])
def test_no_result_is_read_at_another_value_of_an_axis_but_where_it_is_said(name: str) -> None:
    checked = 0
    for on, reason in reasons(name):
        what = moved(on.program, reason.program)
        pairs = [p for sizes in sizes_of(reason.program) for p in own_pairs(reason.program, sizes)]
        for statement, dims in what.axes.items():
            s = reason.program.statement[statement]
            places = [s.dims.index(dim) for dim in dims]
            own = [(p, q) for n, p, q in pairs if n == statement]
            crosses = any(p[k] != q[k] for p, q in own for k in places)
            assert crosses == (statement in what.crossing), (reason.step, statement)
            checked += bool(dims)
    assert checked or name != "Vectorize"


def test_blocks_of_a_loop_leave_every_instance_in_its_place() -> None:
    checked = 0
    for on, reason in reasons("Tile"):
        if not reason.sentence.startswith("every instance keeps its place"):
            continue
        for sizes in sizes_of(reason.program):
            known = resolve(on.program.equations, given_of(on.program, sizes))
            runs = [
                [*operations(p.schedule, p, run_at(p, known))] for p in (on.program, reason.program)
            ]
            assert runs[0] == runs[1]
            checked += 1
    assert checked


def test_a_slice_is_used_for_the_last_time_before_another_takes_its_place() -> None:
    checked = 0
    for on, reason in reasons("Contract"):
        program = derived(reason.program)
        for one in folded(on.program, reason.program):
            assert one.way, (reason.step, one)
            position = program.array[one.array].dims.index(one.dim)
            seen = []
            for sizes in sizes_of(reason.program):
                distance = one.way * one.window.evaluate(sizes)
                seen.append(slots_by_hand(program, sizes, one.array, position, distance))
            found = both(seen)
            claims = claimed([link.ordered for link in one.links])
            reads = {k: by for k, by in claims.items() if k in found}
            assert found == reads, (reason.step, one)
            assert all("nothing" not in by for by in found.values())
            checked += len(reads)
    assert checked


def test_memory_is_handed_on_when_all_is_used() -> None:
    checked = 0
    for on, reason in reasons("Donate"):
        for one in handed(on.program, reason.program):
            first, second = (reason.program.array[name] for name in (one.array, one.to))
            if (first.extent, first.shape) != (second.extent, second.shape):
                continue
            found = both(
                [
                    handed_by_hand(reason.program, sizes, one.array, one.to)
                    for sizes in sizes_of(reason.program)
                ]
            )
            links = [link.ordered for link in one.links if link.ordered.array == one.array]
            assert found == claimed(links), (reason.step, one)
            checked += len(found)
    assert checked


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_equal_numbers_are_one_operation_and_each_drawn_pair_is_there(name: str) -> None:
    for _, reason in reasons(name):
        placed = {p.statement: p for p in reason.instances}
        assert len(reason.drawn) <= 4
        for pair in reason.drawn:
            if pair.kind == "reads":
                seen = flow_by_hand(reason.program, reason.sizes)
                assert (pair.source, pair.sink, pair.array) in seen, (reason.step, pair)
        for one in placed.values():
            assert len(one.points) == len(one.order)
            assert min(one.order) >= 1
