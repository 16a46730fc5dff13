"""`wb.play`: sizes, the statements that are played of large programs, tables and text."""

from __future__ import annotations

import time
from functools import reduce
from typing import Any

import pytest

import workbench as wb
from tests.programs import PROGRAMS, leaky_sum, small_ppo, small_reinforce
from workbench.algorithms import ppo
from workbench.errors import SizeError, WorkbenchError
from workbench.lowering.memory.takeover import memory_of
from workbench.measure.play import MOST, MOST_TOUCHES, TooLargeToPlay, neighbours
from workbench.measure.play_sizes import playable_sizes
from workbench.polyhedral.tree import blocks
from workbench.transforms import Contract, Donate, Incrementalize, Persist, Tile, Vectorize
from workbench.variants.variant import Variant, variant


@wb.program
def late(T: int = 50) -> dict[str, Any]:
    """A recurrence that reads draws four steps late."""
    t = wb.dim(t=T)
    x = wb.normal(over=t)
    y = wb.recurrent("y", (), over=t)
    y[0] = 1.0
    y[t + 1] = 0.5 * y + x[wb.maximum(t - 4, 0)]
    return {"last": y[T]}


def test_sizes_are_the_smallest_with_three_values_of_each_loop() -> None:
    assert wb.play(leaky_sum()).execution.sizes == {"B": 3, "T": 3}


def test_sizes_are_as_large_as_derived_ones_need() -> None:
    """The blocks of m make M large, and T with it: else T // M were none."""

    @wb.program
    def nested(T: int = 6, M: int = 2) -> dict[str, Any]:
        k, m = wb.dims(k=wb.size(T // M), m=M)
        return {"mean": wb.normal(over=(k, m)).mean(over=(k, m))}

    tiled = variant(nested()).apply(Incrementalize("mean_sum", "m", block=64))
    sizes = wb.play(tiled.apply(Persist("m_block64", 16))).execution.sizes
    assert sizes["T"] == 3 * sizes["M"] and sizes["M"] > 16


def test_sizes_have_more_slices_than_a_window() -> None:
    variant = wb.variant(late()).apply(Contract("x", "t"))
    assert [str(w) for w in memory_of(variant.program).stored("x").windows] == ["min(T, 5)"]
    assert wb.play(late()).execution.sizes == {"T": 3}
    assert wb.play(variant).execution.sizes == {"T": 6}


def test_given_sizes_stay() -> None:
    assert wb.play(leaky_sum(), {"T": 5}).execution.sizes == {"B": 3, "T": 5}


def test_large_blocks_are_played_in_small_ones() -> None:
    variant = wb.variant(leaky_sum()).apply(Vectorize("b")).apply(Tile("b", 64))
    found = wb.play(variant)
    assert blocks(found.program.schedule) == {"b_block3": ("b", 3)}
    assert found.execution.sizes["B"] == 7
    assert found.remark == "Played in blocks of 3 instead of 64."


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_more_is_played_than_can_be_followed(name: str) -> None:
    found = wb.play(PROGRAMS[name][0]())
    assert 0 < found.execution.instances <= MOST
    touches = sum(event.touches for event in found.execution.events)
    assert touches <= MOST_TOUCHES
    played = {event.statement for event in found.execution.events}
    assert found.whole == (played == set(PROGRAMS[name][0]().statement))
    assert found.whole or "too many to be played" in found.remark


def test_of_a_large_program_a_statement_is_played_with_its_neighbours() -> None:
    program = small_ppo()
    found = wb.play(program, statement="advantage")
    assert not found.whole
    played = {event.statement for event in found.execution.events}
    assert played == {"advantage", *neighbours(program, program.statement["advantage"])}
    sizes = found.execution.sizes
    shown = f"Only advantage is played, with its {len(played) - 1} neighbours: small_ppo has "
    assert found.remark.startswith(shown)
    assert found.remark.endswith(" statements at these sizes, too many to be played together.")
    assert min(sizes.values()) >= 3


def test_of_a_large_program_an_output_is_played_where_nothing_is_named() -> None:
    program = ppo(hidden=(3,))
    found = wb.play(program)
    output = program.outputs[0].array
    assert any(
        program.statement[event.statement].array == output for event in found.execution.events
    )


def test_neighbours_write_what_is_read_or_read_what_is_written() -> None:
    program = leaky_sum()
    assert list(neighbours(program, program.statement["s[t+1]"])) == ["x", "s[0]", "last"]
    assert list(neighbours(program, program.statement["x"])) == ["s[t+1]"]


def test_neighbours_are_left_out_where_they_are_too_many() -> None:
    found = wb.play(leaky_sum(), {"B": 100, "T": 19}, "x")
    assert "Only x is played: " in found.remark
    found = wb.play(leaky_sum(), {"B": 100, "T": 19}, "last")
    assert {event.statement for event in found.execution.events} == {"last", "s[0]"}
    assert "Only last is played, with 1 of its 2 neighbours: " in found.remark


def test_play_refused_when_no_statement_has_the_name() -> None:
    with pytest.raises(WorkbenchError, match=r"unknown statement 's\[t\]'.*s\[t\+1\]"):
        wb.play(leaky_sum(), statement="s[t]")


def test_play_refused_when_a_statement_alone_has_too_many_instances() -> None:
    sentence = (
        r"x has 2,100 instances at B=300, T=7, which .* more than can be played .*: "
        r"B=300 is too large, B=150 can be played$"
    )
    with pytest.raises(TooLargeToPlay, match=sentence) as refusal:
        wb.play(leaky_sum(), {"B": 300, "T": 7}, "x")
    assert refusal.value.smaller == {"B": 150, "T": 7}
    assert wb.play(leaky_sum(), refusal.value.smaller, "x").execution.events


def test_play_refused_when_several_sizes_are_too_large() -> None:
    with pytest.raises(TooLargeToPlay, match=r"B=5000, T=9000 are too large, B=39, T=35 can be"):
        wb.play(leaky_sum(), {"B": 5000, "T": 9000}, "x")


def test_arrays_of_any_size_are_not_gone_through() -> None:
    """By element, it would take hours."""
    start = time.process_time()
    played = wb.play(late(), {"T": 10**11}, "last")
    assert [event.statement for event in played.execution.events] == ["y[0]", "last"]
    shared = reduce(Variant.apply, (Vectorize("b"), Donate()), variant(small_reinforce()))
    with pytest.raises(TooLargeToPlay, match=r"B=10000000000 is too large, B=\d+ can be"):
        wb.play(shared, {"B": 10**10})
    assert time.process_time() - start < 120


def test_play_refused_when_even_the_smallest_sizes_are_too_large() -> None:
    @wb.program
    def wide(B: int = 3) -> dict[str, Any]:
        b, c = wb.dims(b=B, c=B + 1000)
        return {"x": wb.uniform(over=(b, c))}

    with pytest.raises(
        TooLargeToPlay, match=r"x has 3,009 .* writes\): play another st"
    ) as refusal:
        wb.play(wide())
    assert refusal.value.smaller is None


def test_smaller_sizes_leave_alone_what_does_not_matter_and_divide() -> None:
    smaller = playable_sizes(
        small_ppo(), {"B": 64, "I": 900, "T": 640}, lambda sizes: sizes["T"] * sizes["B"] <= 2000
    )
    assert smaller is not None
    assert smaller["I"] == 900
    assert smaller["T"] * smaller["B"] <= 2000


def test_play_refused_when_a_size_is_unknown() -> None:
    with pytest.raises(SizeError, match="unknown size 'X'"):
        wb.play(leaky_sum(), {"X": 3})


def test_the_table_has_a_row_an_instance_with_what_its_slot_held() -> None:
    found = wb.play(wb.variant(late()).apply(Contract("x", "t")))
    table = found.frame()
    assert len(table) == found.execution.instances
    assert table["time"].tolist() == list(range(len(table)))
    (draw,) = table[table["writes"] == "x[5]"].to_dict("records")
    assert (draw["instance"], draw["reads"], draw["replaces"]) == ("t=5", [], ["x[0]"])
    (step,) = table[table["writes"] == "y[6]"].to_dict("records")
    assert step["statement"] == "y[t+1]"
    assert (step["reads"], step["replaces"]) == (["y[5]", "x[1]"], [])


def test_it_shows_its_first_events() -> None:
    shown = repr(wb.play(leaky_sum()))
    assert shown.splitlines()[0].startswith("leaky_sum at B=3, T=3: 24 instances in 24 events")
    assert shown.splitlines()[-1].strip() == "… 12 more"
    assert "x: x[0, 0] in slot 0" in shown


def test_a_training_program_is_played_whole() -> None:
    found = wb.play(wb.variant(small_reinforce()).apply(Vectorize("b")))
    assert found.whole
