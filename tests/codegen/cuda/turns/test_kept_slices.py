"""Slices that a block loads once, or keeps for turns that come back: which there are, which there
are not, and the bits of compiled C, whatever the ring.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pytest

from tests.codegen.cuda.fibres import fibres, text_of, watched
from tests.codegen.cuda.test_kernels_as_fibres import in_blocks
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
from tests.native_runs import compiled, shared_cache
from workbench.algorithms import ppo
from workbench.codegen.cuda.turns import kept_slices
from workbench.codegen.cuda.turns.kept_slices import (
    FEWEST_TURNS,
    MOST_TURNS,
    for_room,
    kept_slices_of,
)
from workbench.codegen.cuda.turns.slice_rings import with_kept_slices
from workbench.codegen.kernel_records import (
    Invoke,
    KernelRecord,
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
from workbench.codegen.kernels import program_kernels
from workbench.names import unique
from workbench.polyhedral.conditions import AffineComparison
from workbench.polyhedral.expression import expression, variable


@pytest.mark.parametrize("slices", [pytest.param(8, marks=pytest.mark.kernels), 2])
def test_turns_that_a_ring_has_no_more_are_loaded(
    slices: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rings of eight slices and of two, of a rollout of eleven steps."""
    monkeypatch.setattr(kept_slices, "MOST_TURNS", slices)
    monkeypatch.setattr(kept_slices, "FEWEST_TURNS", 2)
    program = in_blocks(ppo(hidden=(5,)), 16, 2).program
    sizes = {"B": 20, "I": 1, "T": 11, "E": 1, "M": 1}
    text = text_of(program_kernels(program))
    assert f"if ({slices - 1} <= (T - t - 1))" in text and "turns_of_done" in text
    found, fault = watched(fibres(program, sizes), sizes)
    with shared_cache():
        wanted = compiled(program).run(sizes, 3, "float32").outputs
    assert fault == ""
    for name, value in wanted.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


# -- which slices there are ----------------------------------------------------------------------

HERE, NEXT = load(place(T)), load(place(T + 1))
WRITER = turns(over_lanes(store(place(T))))
READER = turns(over_lanes(HERE, NEXT), backwards=True)
ONCE = turns(over_lanes(HERE), backwards=True)


@pytest.mark.parametrize("backwards", [False, True])
def test_what_two_turns_read_is_loaded_once(backwards: bool) -> None:
    loop = turns(over_lanes(HERE, NEXT), backwards=backwards)
    (found,) = kept_slices_of([loop], MEMORY)
    assert (found.nearest, found.furthest, found.often, found.writer) == (0, 1, True, None)
    (ring,) = for_room([found], 10**6, bytes_of)
    assert (ring.turns, ring.elements) == (2, 32)
    memory, *before, changed = moved([loop], [ring])
    assert isinstance(memory, Scratch) and memory.elements == 32
    assert loaded_from_x(before) == 1, "what the first turn needs besides its newest"
    assert loaded_from_x([changed]) == 1, "its newest"


def test_turns_that_come_back_find_what_was_written_last() -> None:
    (found,) = kept_slices_of([WRITER, ONCE], MEMORY)
    assert (found.writer, found.reader, found.often) == (0, 1, False)
    (ring,) = for_room([found], 10**6, bytes_of)
    assert ring.turns == MOST_TURNS
    _, writer, reader = moved([WRITER, ONCE], [ring])
    assert {b for r in walk((writer,)) for b in writes(r)} == {"x", "turns of x"}
    assert loaded_from_x([reader]) == 0, "nine turns are in the ring"
    (few,) = for_room([found], FEWEST_TURNS * 64, bytes_of)
    assert few.turns == FEWEST_TURNS
    _, _, reader = moved([WRITER, ONCE], [few])
    guards = [r for r in walk((reader,)) if isinstance(r, Where)]
    assert len(guards) == 1 and loaded_from_x(guards) == 1, "the first turns are not"


def test_the_slice_behind_the_last_turn_is_loaded() -> None:
    written = over_lanes(store(place(expression(9))))
    (found,) = kept_slices_of([WRITER, written, READER], MEMORY)
    assert (found.writer, found.nearest, found.furthest) == (0, 0, 1)
    (ring,) = for_room([found], 10**6, bytes_of)
    _, _, _, *before, reader = moved([WRITER, written, READER], [ring])
    assert loaded_from_x(before) == 1 and loaded_from_x([reader]) == 0


@pytest.mark.parametrize(
    "records",
    [
        (turns(over_lanes(store(place(T))), backwards=True), ONCE),
        (turns(over_lanes(store(place(T, 2)))), ONCE),
        (turns(over_lanes(store(place(T)), store(place(T + 1)))), ONCE),
        (turns(over_lanes(store(place(T)), store(place(T), "y"))), ONCE),
        (turns(Where(AffineComparison(expression(1), "<=", T), (WRITER.body[0],))), ONCE),
        (WRITER, over_lanes(store(place(expression(3)))), ONCE),
        (WRITER, over_lanes(store(place(expression(3)), "y")), ONCE),
        (WRITER, Invoke("product", ("x", expression(0)), (("z", expression(0)),)), ONCE),
    ],
    ids=[
        "in the same direction",
        "not side by side",
        "twice in a turn",
        "under another name too",
        "not in each turn",
        "written anew",
        "written anew under another name",
        "written by a function",
    ],
)
def test_what_is_written_otherwise_is_not_kept(records: tuple[KernelRecord, ...]) -> None:
    assert kept_slices_of(records, MEMORY) == []
    twice = kept_slices_of([*records[:-1], READER], MEMORY)
    assert [(one.often, one.writer) for one in twice] == [(True, None)]


@pytest.mark.parametrize(
    "records",
    [
        (HERE,),
        (load(place(T, 2)), load(place(T + 1, 2))),
        (HERE, load(place(T + 2))),
        (HERE, load(place(T + 1), "x"), store(place(T), "y")),
        (HERE, load(640 * variable("local 0") + B)),
        (HERE, load(expression(640) + B)),
        (HERE, Where(AffineComparison(expression(1), "<=", T), (NEXT,))),
        (HERE, Loop("m", expression(0), expression(3), (NEXT,))),
    ],
    ids=[
        "once",
        "not side by side",
        "not of neighbouring turns",
        "memory that is written",
        "a place of data",
        "the same in all turns",
        "not in each turn",
        "by several threads of a lane",
    ],
)
def test_other_reads_stay_where_they_are(records: tuple[KernelRecord, ...]) -> None:
    data = Let("local 0", Load("z", B + 0, "int32"))
    assert kept_slices_of([turns(over_lanes(data, *records))], MEMORY) == []


def test_there_is_room_for_those_that_are_read_more_than_once_first() -> None:
    (written,) = kept_slices_of([WRITER, ONCE], MEMORY)
    (read,) = kept_slices_of([READER], MEMORY)
    enough = (FEWEST_TURNS + 2) * 64
    assert [one.turns for one in for_room([written, read], enough, bytes_of)] == [FEWEST_TURNS, 2]
    assert [one.turns for one in for_room([written, read], enough - 1, bytes_of)] == [2]
    assert for_room([written, read], 127, bytes_of) == []


def bytes_of(one: kept_slices.KeptSlices) -> int:
    return 4 * one.elements


def moved(
    records: Sequence[KernelRecord], kept: Sequence[kept_slices.KeptSlices]
) -> list[KernelRecord]:
    """The records with slices in rings, without those that say what they serve."""
    found = with_kept_slices(records, kept, partial(unique, taken=set()))
    return [record for record in found if not isinstance(record, Serves)]


def loaded_from_x(records: Sequence[KernelRecord]) -> int:
    """How many places of the text load from the array itself."""
    return sum(load.buffer == "x" for r in walk(tuple(records)) for load in loads(r))
