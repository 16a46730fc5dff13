"""Events of small programs: what they hold, and that they compute the program by themselves."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from tests.lowering.execution.executed import (
    computes,
    differs,
    early,
    run,
    unlike,
    with_fewer_slots,
)
from tests.programs import PROGRAMS, automatic, leaky_sum, returns, small_reinforce, statistics
from workbench.lowering.execution.events import Execution, execution, instances
from workbench.program.sizes import resolve
from workbench.transforms import Accumulate, Contract, Donate, Tile, Vectorize


@wb.program
def smoothed(B: int = 2, T: int = 5) -> dict[str, Any]:
    """A recurrence that is read once more, and summed: nothing but the sum is an output."""
    b, t = wb.dims(b=B, t=T)
    noise = wb.normal(over=(b, t))
    s = wb.recurrent("s", (), over=(b, t))
    s[b, 0] = 1.0
    s[b, t + 1] = 0.5 * s + noise
    square = s * s
    return {"total": square.sum(over=t)}


@wb.program
def delayed_sums(T: int = 9) -> dict[str, Any]:
    """Reads that reach some slices back, of a draw and of a recurrence."""
    t = wb.dim(t=T)
    noise = wb.normal(over=t)
    s = wb.recurrent("s", (), over=t)
    s[0] = 1.0
    s[1] = 2.0
    s[t + 2] = 0.5 * s[t] + noise[wb.maximum(t - 2, 0)]
    return {"last": s[T + 1]}


def lines(found: Execution) -> list[str]:
    """An event a line: its time, statement and points, what it reads and writes in which slots."""

    def touch(one: Any) -> str:
        return f"{one.array}{list(one.element)}@{','.join(map(str, one.slots))}"

    return [
        f"{event.time} {event.statement} "
        + "; ".join(
            f"{list(i.point)}: {' '.join(map(touch, i.reads)) or '-'} > {touch(i.write)}"
            for i in event.instances
        )
        for event in found.events
    ]


@pytest.mark.parametrize("name", PROGRAMS)
def test_events_and_slots_alone_compute_the_outputs(name: str) -> None:
    template, every = PROGRAMS[name]
    root = template()
    for sizes in every[:2]:
        assert computes(root, wb.variant(root), sizes)
    if name != "small_ppo":
        assert computes(root, automatic(name), every[0])


def test_a_loop_brings_instances_one_by_one() -> None:
    assert lines(run(leaky_sum(), {"B": 1, "T": 2})) == [
        "0 s[0] [0]: - > s[0, 0]@0",
        "1 x [0, 0]: - > x[0, 0]@0",
        "2 s[t+1] [0, 0]: s[0, 0]@0 x[0, 0]@0 > s[0, 1]@1",
        "3 x [0, 1]: - > x[0, 1]@1",
        "4 s[t+1] [0, 1]: s[0, 1]@1 x[0, 1]@1 > s[0, 2]@2",
        "5 last [0]: s[0, 2]@2 > last[0]@0",
    ]


def test_an_axis_brings_all_its_instances_at_once() -> None:
    variant = wb.variant(leaky_sum()).apply(Vectorize("b"))
    found = run(variant.program, {"B": 3, "T": 2})
    steps = [event for event in found.events if event.statement == "s[t+1]"]
    assert [[i.point for i in event.instances] for event in steps] == [
        [(0, 0), (1, 0), (2, 0)],
        [(0, 1), (1, 1), (2, 1)],
    ]


def test_a_block_brings_its_tile() -> None:
    variant = wb.variant(leaky_sum()).apply(Vectorize("b")).apply(Tile("b", 2))
    found = run(variant.program, {"B": 3, "T": 1})
    steps = [event for event in found.events if event.statement == "s[t+1]"]
    assert [[i.point[0] for i in event.instances] for event in steps] == [[0, 1], [2]]


def test_a_window_is_used_in_turn() -> None:
    variant = wb.variant(smoothed()).apply(Contract("s", "t"))
    found = run(variant.program, {"B": 1, "T": 4})
    slots = [i.write.slots for e in found.events for i in e.instances if i.write.array == "s"]
    (piece,) = (p for p in found.memory.pieces if "s" in p.arrays)
    assert slots == [(n % piece.slots,) for n in range(len(slots))]
    assert piece.slots < len(slots)


def test_what_takes_over_memory_has_its_slots() -> None:
    variant = wb.variant(statistics()).apply(Vectorize("b")).apply(Vectorize("t")).apply(Donate())
    found = run(variant.program)
    shared = [piece for piece in found.memory.pieces if len(piece.arrays) > 1]
    assert {frozenset(piece.arrays) for piece in shared} == {
        frozenset(pair) for pair in variant.program.storage.donated
    }
    for piece in shared:
        first, second = (
            {i.write.slots for e in found.events for i in e.instances if i.write.array == name}
            for name in piece.arrays
        )
        assert first & second
    assert computes(statistics(), variant, {})


def test_points_that_are_added_up_start_with_an_event_of_their_own() -> None:
    variant = wb.variant(smoothed()).apply(Vectorize("b")).apply(Accumulate("t"))
    found = run(variant.program, {"T": 3})
    names = [event.statement for event in found.events if event.statement.startswith("total")]
    assert names[0].endswith(".start")
    assert computes(smoothed(), variant, {})


def test_a_few_statements_run_alone() -> None:
    program = leaky_sum()
    sizes = resolve(program.equations, {"B": 2, "T": 3})
    found = execution(program, sizes, ["x"])
    assert {event.statement for event in found.events} == {"x"}
    assert found.instances == instances(program, sizes, ["x"]) == 6
    assert execution(program, sizes, []).events == ()


def test_a_slot_written_too_early_changes_the_outputs() -> None:
    variant = wb.variant(smoothed()).apply(Contract("noise", "t"))
    sizes = {"B": 2, "T": 5}
    found = run(variant.program, sizes)
    assert unlike(smoothed(), variant.program, found, sizes) is None
    wrong = list(early(found))
    assert len(wrong) == 8  # of each b all draws but the first, in front of the one reader
    for other in wrong:
        assert differs(smoothed(), variant.program, other, sizes)


@pytest.mark.parametrize("array", ["s", "noise"])
def test_a_slot_fewer_than_a_window_changes_the_outputs(array: str) -> None:
    variant = wb.variant(delayed_sums()).apply(Contract(array, "t"))
    found = run(variant.program, {"T": 9})
    assert unlike(delayed_sums(), variant.program, found, {"T": 9}) is None
    (piece,) = (piece for piece in found.memory.pieces if array in piece.arrays)
    assert piece.slots > 1
    other = with_fewer_slots(found, array, piece.slots - 1)
    assert differs(delayed_sums(), variant.program, other, {"T": 9})


def test_a_training_program_computes_in_its_slots_after_many_steps() -> None:
    variant = wb.variant(small_reinforce())
    for step in (Vectorize("b"), Contract(), Donate()):
        variant = variant.apply(step)
    assert computes(small_reinforce(), variant, {"B": 2, "I": 2, "T": 3})


def test_a_loop_that_runs_backwards_is_played_backwards() -> None:
    found = run(returns(), {"B": 1, "T": 3})
    order = [i.point[1] for e in found.events if e.statement == "g" for i in e.instances]
    assert order == [2, 1, 0]
