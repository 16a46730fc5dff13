"""The execution that is sent to the player: the same events, and no more of it than can be sent."""

from __future__ import annotations

import json
from itertools import zip_longest
from typing import Any

import pytest

import workbench as wb
from tests.programs import PROGRAMS, automatic, leaky_sum, small_reinforce, statistics
from tests.session.capsules.diverging import returns
from workbench.algorithms import a2c, ppo, reinforce
from workbench.errors import WorkbenchError
from workbench.measure.play import MOST
from workbench.session.parts.play import PlayView, play, points
from workbench.session.protocol.capsule import plain
from workbench.transforms import Accumulate, Contract, Donate, Vectorize
from workbench.variants.variant import Variant

MOST_BYTES = 60_000


def shown(variant: Variant, statement: str | None = None, **sizes: int) -> PlayView:
    return play(variant, {"statement": statement, "sizes": sizes})


def told(view: PlayView) -> list[tuple[Any, ...]]:
    """What is sent, read as the player reads it: for each event its instances' points, and the
    elements and slots that they read and write.
    """
    elements = [
        (array.name, point, view.memories[array.memory], slots)
        for array in view.arrays
        for point, slots in zip(points(array.lower, array.lengths), array.slots, strict=True)
    ]
    assert [array.first for array in view.arrays] == [
        next(n for n, element in enumerate(elements) if element[0] == array.name)
        for array in view.arrays
    ]
    left = {}
    for number, statement in enumerate(view.statements):
        box = points(statement.lower, statement.lengths)
        place, write, row = 0, 0, list[int]()
        instances = left[number] = list[Any]()
        for by, to, reads in zip(statement.points, statement.writes, statement.reads, strict=True):
            place, write = place + by, write + to
            row = [n + m for n, m in zip_longest(reads, row[: len(reads)], fillvalue=0)]
            named = [(elements[n][:2], elements[n][3]) for n in (*row, write)]
            instances.append((box[place], named[:-1], named[-1]))
    events = []
    for number, count in zip(view.order, view.at_once, strict=True):
        own = left[number]
        events.append((view.statements[number].title, own[:count]))
        del own[:count]
    assert not any(left.values())
    return events


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n != "small_ppo"])
def test_the_player_is_told_the_events(name: str) -> None:
    for variant in (wb.variant(PROGRAMS[name][0]()), automatic(name)):
        found = wb.play(variant)
        events = told(shown(variant))
        assert len(events) == len(found.execution.events)
        for (_, instances), event in zip(events, found.execution.events, strict=True):
            assert instances == [
                (
                    i.point,
                    [((r.array, r.element), r.slots) for r in i.reads],
                    ((i.write.array, i.write.element), i.write.slots),
                )
                for i in event.instances
            ]


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_execution_is_small_enough_to_be_sent(name: str) -> None:
    assert size(shown(wb.variant(PROGRAMS[name][0]()))) <= MOST_BYTES


def test_the_largest_execution_is_small_enough_to_be_sent() -> None:
    view = shown(wb.variant(leaky_sum()), B=40, T=24)
    assert MOST - 80 < sum(view.at_once) <= MOST
    assert size(view) <= MOST_BYTES


def test_a_program_of_many_statements_is_sent_as_one_with_its_neighbours() -> None:
    program = a2c()
    assert wb.play(program).whole
    for statement in (None, "advantage"):
        view = shown(wb.variant(program), statement)
        assert not view.whole
        assert "too many to be played" in view.remark
        assert size(view) <= MOST_BYTES
    assert size(shown(wb.variant(ppo()), "advantage")) <= MOST_BYTES


def test_reinforce_is_sent_whole() -> None:
    view = shown(wb.variant(reinforce()))
    assert view.whole
    assert size(view) <= MOST_BYTES


def size(view: PlayView) -> int:
    return len(json.dumps(plain(view), separators=(",", ":")))


def test_instances_of_two_variants_are_known_by_origin_and_coordinates() -> None:
    root = wb.variant(statistics())
    for variant in (root.apply(Vectorize("b")), root.apply(Accumulate("t"))):
        one, other = ({s.origin for s in shown(v).statements} for v in (root, variant))
        assert one <= other


def test_a_start_is_told_apart_from_its_points() -> None:
    view = shown(wb.variant(statistics()).apply(Accumulate("t")))
    starts = [s for s in view.statements if s.title.endswith(" starts")]
    assert starts
    for start in starts:
        own = [s for s in view.statements if s.statement == start.statement]
        assert len({s.origin for s in own}) == len(own) == 2


def test_memory_says_what_of_an_array_is_kept() -> None:
    view = shown(wb.variant(returns()).apply(Vectorize("b")).apply(Contract()))
    kept = {view.arrays[m.arrays[0]].name: m.kept for m in view.memories}
    assert kept["state"] == "t: 2 of 4"
    assert kept["to_go"] == ""
    state = next(m for m in view.memories if view.arrays[m.arrays[0]].name == "state")
    assert (state.slots, state.along, state.lengths) == (6, ("t", "b"), (2, 3))
    assert "of t only the slices in use" in state.storage


def test_memory_of_several_arrays_is_one_piece() -> None:
    variant = wb.variant(small_reinforce()).apply(Vectorize("b")).apply(Donate())
    view = shown(variant)
    together = {
        frozenset(view.arrays[array].name for array in memory.arrays) for memory in view.memories
    }
    for array, to in variant.program.storage.donated:
        if array != to:
            assert any({array, to} <= names for names in together)


def test_what_the_data_say_is_one_of_several() -> None:
    view = shown(wb.variant(PROGRAMS["repeated"][0]()))
    gathering = next(s for s in view.statements if s.statement == "y")
    assert gathering.anywhere == ("x",)


def test_outputs_are_read_at_the_end() -> None:
    view = shown(wb.variant(leaky_sum()))
    assert {a.name for a in view.arrays if a.output} == {"s", "last"}


def test_nothing_is_played_of_a_statement_that_is_too_large_but_smaller_sizes_are_told() -> None:
    view = shown(wb.variant(leaky_sum()), "x", B=300, T=7)
    assert not view.order and not view.whole
    assert view.sizes == {"B": 300, "T": 7}
    assert "B=300 is too large, B=150 can be played" in view.too_large
    assert view.smaller == {"B": 150, "T": 7}
    smaller = shown(wb.variant(leaky_sum()), "x", **view.smaller)
    assert smaller.order and not smaller.too_large


def test_sizes_at_which_all_is_played_are_told_where_a_part_is() -> None:
    view = shown(wb.variant(leaky_sum()), "last", B=3, T=3000)
    assert view.order and not view.whole
    assert "played together: T=3000 is too large, T=187 can be played." in view.remark
    assert view.smaller == {"B": 3, "T": 187}
    assert shown(wb.variant(leaky_sum()), **view.smaller).whole


def test_play_refused_when_no_statement_has_the_name() -> None:
    with pytest.raises(WorkbenchError, match="unknown statement 'nothing'"):
        shown(wb.variant(leaky_sum()), "nothing")
