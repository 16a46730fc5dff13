"""Slices that the turns of a loop hand on: which there are, and which there are not."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from tests.codegen.cuda.turns.block_records import (
    MEMORY,
    B,
    T,
    load,
    over_lanes,
    place,
    store,
    turns,
)
from workbench.codegen.cuda.turns.carried_slices import slices_of, with_slices
from workbench.codegen.kernel_records import (
    Invoke,
    KernelRecord,
    Leave,
    Let,
    Load,
    Loop,
    Scratch,
    Serves,
    Where,
    loads,
    walk,
    writes,
)
from workbench.lowering.instances.guards import OpenStep
from workbench.names import unique
from workbench.polyhedral.conditions import AffineComparison
from workbench.polyhedral.expression import expression, variable


def sliced(loop: Loop) -> list[KernelRecord]:
    """The loop with slices, and what is before and behind."""
    records = with_slices([loop], MEMORY, partial(unique, taken=set()))
    return [record for record in records if not isinstance(record, Serves)]


OLD, NEW = load(place(T)), store(place(T + 1))


@pytest.mark.parametrize("backwards", [False, True])
def test_what_a_turn_writes_the_next_one_reads(backwards: bool) -> None:
    before, now = (T + 1, T) if backwards else (T, T + 1)
    loop = turns(over_lanes(load(place(before)), store(place(now))), backwards=backwards)
    (found,) = slices_of(loop, MEMORY)
    assert (found.written, found.before) == (640 * now, 640 * before)
    assert found.direct and not found.in_place and found.loads_before


def test_lanes_with_more_elements_do_not_store_where_they_belong() -> None:
    numbers = [store(place(T + 1, 2, k)) for k in range(2)]
    loop = turns(over_lanes(load(place(T, 2, 1)), *numbers))
    (found,) = slices_of(loop, MEMORY)
    assert (found.stride, found.direct) == (2, False)
    memory, other, first, changed = sliced(loop)
    assert isinstance(memory, Scratch) and memory.elements == 32 and isinstance(other, Scratch)
    assert {b for r in walk((first,)) for b in writes(r)} == {"x of the last turn"}
    assert isinstance(changed, Loop)
    *inside, _, copies = changed.body
    assert not {load.buffer for r in walk(tuple(inside)) for load in loads(r)} & {"x"}
    assert {b for r in walk(tuple(inside)) for b in writes(r)} == {"x of the turn"}
    assert {b for r in walk((copies,)) for b in writes(r)} == {"x", "x of the last turn"}


def test_the_same_slice_of_all_turns_comes_and_goes_once() -> None:
    loop = turns(over_lanes(load(B + 0), store(B + 0)))
    (found,) = slices_of(loop, MEMORY)
    assert found.in_place
    _, first, changed, last = sliced(loop)
    assert {b for r in walk((changed,)) for b in writes(r)} == {"x of the last turn"}
    assert {b for r in walk((last,)) for b in writes(r)} == {"x"}
    assert {load.buffer for r in walk((first,)) for load in loads(r)} == {"x"}


GUARD = AffineComparison(expression(1), "<=", T)


@pytest.mark.parametrize(
    "records",
    [
        (over_lanes(NEW),),
        (over_lanes(load(place(T - 1)), NEW),),
        (Where(GUARD, (over_lanes(OLD),)), over_lanes(NEW)),
        (over_lanes(OLD, Where(GUARD, (NEW,))),),
        (over_lanes(load(place(T, 2)), store(place(T + 1, 2))),),
        (over_lanes(OLD, load(640 * T + variable("local 0") + B), NEW),),
        (over_lanes(OLD, NEW, load(place(T), "y")),),
        (over_lanes(load(place(T + 1)), OLD, NEW),),
        (over_lanes(OLD, NEW), Invoke("product", ("z", expression(0)), (("x", 640 * T),))),
        (over_lanes(store(B + 0), load(B + 0)),),
    ],
    ids=[
        "nothing is read",
        "two turns before",
        "none before the first turn",
        "not always written",
        "not all elements written",
        "a place of data",
        "memory under another name",
        "read before it is written",
        "read by a function",
        "written first",
    ],
)
def test_other_accesses_stay_where_they_are(records: tuple[KernelRecord, ...]) -> None:
    data = Let("local 0", Load("z", B + 0, "int32"))
    loop = turns(over_lanes(data), *records)
    assert slices_of(loop, MEMORY) == []
    assert with_slices([loop], MEMORY, lambda wish: wish) == (loop,)


def test_a_loop_that_may_have_no_turn_stays() -> None:
    loop = Loop("t", expression(1), variable("n"), (over_lanes(OLD, NEW),))
    assert with_slices([loop], MEMORY, lambda wish: wish) == (loop,)


OPEN = OpenStep("open", (T,), (("b", expression(16)),))
LEFT = Where(GUARD, (Leave(),))


def test_what_turns_hand_on_of_a_loop_that_is_left() -> None:
    """Behind it nobody knows which turn was the last."""
    loop = replace(turns(LEFT, over_lanes(OLD, NEW)), step=OPEN)
    (last, behind) = (over_lanes(load(place(loop.upper))), over_lanes(load(place(T))))
    for step, known in ((None, True), (OPEN, False)):
        records = [replace(loop, step=step), last, behind]
        found = with_slices(records, MEMORY, partial(unique, taken=set()))
        carried = {load.buffer for r in walk((found[3],)) for load in loads(r)}
        assert "x of the last turn" in carried and "x" not in carried
        assert any(load.buffer != "x" for r in walk(found[4:5]) for load in loads(r)) is known


def test_a_loop_that_begins_where_another_was_left_has_the_slice_of_the_turn_before() -> None:
    loop = replace(turns(over_lanes(OLD, NEW)), step=OPEN, begin="left t")
    _, first, changed = sliced(loop)
    assert isinstance(changed, Loop) and changed.begin == "left t"
    (copied,) = [load for r in walk((first,)) for load in loads(r)]
    assert (
        copied.buffer == "x" and "left t" in copied.at.variables and "t" not in copied.at.variables
    )


def test_a_slice_that_is_written_before_its_loop_is_left_stays() -> None:
    loop = replace(turns(over_lanes(OLD, NEW), LEFT), step=OPEN)
    assert with_slices([loop], MEMORY, lambda wish: wish) == (loop,)
