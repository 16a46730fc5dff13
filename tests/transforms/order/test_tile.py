"""Tile: loops and axes in blocks, parts of them, what is refused and what helps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.polyhedral.notation import parse
from tests.transforms.order.moments import assert_breaks
from tests.transforms.order.ordering import assert_computes_the_same, refusal
from workbench.lowering.loops.records import Allocate
from workbench.lowering.loops.records import walk as walk_records
from workbench.lowering.lower import lower
from workbench.polyhedral.expression import minimum, size
from workbench.polyhedral.tree import Loop
from workbench.program.dependences import dependences
from workbench.transforms import (
    Contract,
    Distribute,
    Fuse,
    Incrementalize,
    Interchange,
    Tile,
    Vectorize,
)


@wb.program
def walk(B: int = 2, T: int = 5) -> dict[str, Any]:
    """A recurrence with something before, behind and beside it."""
    b, t = wb.dims(b=B, t=T)
    state = wb.recurrent("state", (), over=(b, t))
    state[b, 0] = 1.0
    draw = wb.uniform(over=(b, t))
    push = wb.sin(state) + draw
    state[b, t + 1] = 0.5 * state + push
    energy = state * state
    return {"energy": energy, "last": state[b, T]}


@wb.program
def ranges(T: int = 7) -> dict[str, Any]:
    """What blocks of an axis need of each other: earlier ones, later ones, all."""
    t = wb.dim(t=T)
    draw = wb.uniform(over=t)
    near = 2.0 * draw
    prefix = draw[0 : t + 1].sum()
    suffix = near[t:T].sum()
    whole = draw[0:T].sum()
    return {"prefix": prefix, "suffix": suffix, "share": near / whole}


@wb.program
def grid(P: int = 4, T: int = 5) -> dict[str, Any]:
    """Rows that need their neighbours on both sides in the row before."""
    p, t = wb.dims(p=P, t=T)
    row = wb.recurrent("row", (), over=(p, t))
    row[0, t] = wb.uniform(over=t)
    left = wb.where(wb.index(t) > 0, row[p, wb.maximum(t - 1, 0)], 0.0)
    right = row[p, wb.minimum(t + 1, T - 1)]
    row[p + 1, t] = left + right
    return {"row": row}


def axes(template: Any, *dims: str) -> wb.Variant:
    found = wb.variant(template())
    for dim in dims:
        found = found.apply(Vectorize(dim))
    return found


def together(template: Any, dim: str) -> wb.Variant:
    """All statements inside one axis."""
    program = template()
    names = "".join(f"    {s.name}\n" for s in program.statements)
    return wb.variant(replace(program, schedule=parse(f"axis {dim}:\n{names}")))


@pytest.mark.parametrize("values", [2, 3, 5, 8])
def test_loop_becomes_a_loop_of_blocks(values: int) -> None:
    found = wb.variant(walk()).apply(Tile("t", values))
    assert found.schedule == (
        f"for b:\n    state[0]\n    for t in blocks of {values}:\n        for t:\n"
        "            draw\n            push\n            state[t+1]\n            energy\n    last\n"
    )
    for T in (1, 5, 6):
        assert_computes_the_same(found, {"T": T})


def test_backward_loop_has_backward_blocks() -> None:
    @wb.program
    def back(T: int = 5) -> dict[str, Any]:
        t = wb.dim(t=T)
        total = wb.recurrent("total", (), over=t)
        total[T] = 0.0
        total[t] = total[t + 1] + wb.uniform(over=t)
        return {"total": total}

    found = wb.variant(back()).apply(Tile("t", 2, "total"))
    assert "for t in blocks of 2 reversed:\n    for t reversed:\n" in found.schedule
    assert_computes_the_same(found, {"T": 5})


def test_blocks_of_blocks_stand_the_larger_ones_outside() -> None:
    small = wb.variant(walk()).apply(Tile("t", 2))
    found = small.apply(Tile("t", 6)).apply(Tile("t", 3))
    lines = [line.strip() for line in found.schedule.splitlines() if " t" in line]
    assert lines == [
        "for t in blocks of 6:",
        "for t in blocks of 3:",
        "for t in blocks of 2:",
        "for t:",
    ]
    assert_computes_the_same(found, {"T": 11})


def test_axis_becomes_loops_of_blocks_split_where_a_block_needs_more() -> None:
    found = axes(ranges, "t").apply(Tile("t", 3))
    assert found.notes == ()
    assert found.schedule == (
        "for t in blocks of 3:\n    axis t:\n        draw\n        near\n        prefix\n"
        "whole\n"
        "for t in blocks of 3:\n    axis t:\n        suffix\n        share\n"
    )
    for T in (1, 3, 7, 8):
        assert_computes_the_same(found, {"T": T})


def test_what_later_elements_are_needed_for_runs_its_blocks_backwards() -> None:
    @wb.program
    def suffixes(T: int = 7) -> dict[str, Any]:
        t = wb.dim(t=T)
        draw = wb.uniform(over=t)
        return {"suffix": draw[t:T].sum(), "twice": draw + draw}

    found = together(suffixes, "t").apply(Tile("t", 3))
    assert found.schedule == (
        "for t in blocks of 3 reversed:\n    axis t:\n        draw\n        suffix\n        twice\n"
    )
    for T in (1, 7, 8):
        assert_computes_the_same(found, {"T": T})


def test_axis_outside_a_loop_gets_blocks_outside_it() -> None:
    found = axes(walk, "b").apply(Tile("b", 2))
    assert found.schedule.startswith("for b in blocks of 2:\n    axis b:\n        state[0]\n")
    for B in (1, 2, 5):
        assert_computes_the_same(found, {"B": B})


def test_arrays_of_a_block_are_as_small_as_a_block() -> None:
    steps = (Tile("t", 4), Vectorize("t", ("draw",)), Contract())
    root = wb.variant(walk())
    for step in steps:
        root = root.apply(step)
    body = lower(root.program).body
    shapes = {r.buffer.name: r.buffer.shape for r in walk_records(body) if isinstance(r, Allocate)}
    assert shapes["draw"] == (minimum(size("T"), 4),)
    for T in (1, 3, 4, 5, 11):
        assert_computes_the_same(root, {"T": T})


def test_reduction_in_blocks_joins_the_loop_of_what_it_sums() -> None:
    """A loss over all samples keeps one block of them, not all."""

    @wb.program
    def mean_square(B: int = 3, T: int = 7) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        draw = wb.uniform(over=(b, t))
        push = wb.sin(draw) * 2.0
        return {"loss": (push * push).sum(over=(b, t))}

    steps = (
        Vectorize("b"),
        Vectorize("t"),
        Incrementalize("loss", "t", block=4),
        Tile("t", 4),
        Interchange("b", "t_block4"),
        Fuse(("draw", "push", "loss.partial")),
        Contract(),
    )
    found = wb.variant(mean_square())
    for step in steps:
        found = found.apply(step)
    assert found.schedule == (
        "for t in blocks of 4:\n    axis b:\n        axis t:\n            draw\n            push\n"
        "    loss.partial\nloss\n"
    )
    body = lower(found.program).body
    shapes = {r.buffer.name: r.buffer.shape for r in walk_records(body) if isinstance(r, Allocate)}
    block = (minimum(size("T"), 4), size("B"))  # the blocked axis first: a block is contiguous
    assert shapes["draw"] == shapes["push"] == block
    for T in (1, 4, 7, 9):
        assert_computes_the_same(found, {"T": T})


def test_named_statement_gets_a_loop_of_its_own() -> None:
    found = wb.variant(walk()).apply(Tile("t", 2, "energy"))
    assert found.schedule.endswith(
        "    for t:\n        draw\n        push\n        state[t+1]\n"
        "    for t in blocks of 2:\n        for t:\n            energy\n    last\n"
    )
    assert_computes_the_same(found, {"T": 5})


def test_vectorize_works_within_blocks() -> None:
    found = wb.variant(walk()).apply(Tile("t", 2)).apply(Vectorize("t", ("energy",)))
    assert "        axis t:\n            energy\n" in found.schedule
    assert "for t in blocks of 2:\n        for t:\n            draw\n" in found.schedule
    assert_computes_the_same(found, {"T": 5})


def test_vectorize_outside_keeps_the_blocks() -> None:
    found = wb.variant(walk()).apply(Tile("t", 2)).apply(Vectorize("b", ("draw", "energy")))
    assert found.schedule.count("for t in blocks of 2:") >= 1
    around = [line for line in found.schedule.splitlines() if line.strip() == "for t:"]
    assert len(around) == found.schedule.count("in blocks of 2:")
    assert_computes_the_same(found, {"T": 5})


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [0, -3, 2.0, True, "2"])
def test_refused_when_the_size_is_not_a_positive_whole_number(values: Any) -> None:
    found = refusal(wb.variant(walk()), Tile("t", values))
    assert found.kind == "input"
    assert found.sentence == (
        f"Tile('t', {values!r}): size is a whole number from 1 on, not {values!r}"
    )


def test_refused_when_the_size_is_more_than_an_index_counts() -> None:
    found = refusal(wb.variant(walk()), Tile("t", 10**30))
    assert found.sentence == (
        f"Tile('t', {10**30}): size is a whole number from 1 to 2147483647, not {10**30}"
    )


def test_refused_when_blocks_are_single_values() -> None:
    found = refusal(wb.variant(walk()), Tile("t", 1))
    assert found.kind == "no effect"
    assert found.sentence == "Tile('t', 1): blocks of 1 value are the loop as it is"


def test_refused_when_the_dim_runs_in_such_blocks() -> None:
    found = refusal(wb.variant(walk()).apply(Tile("t", 2)), Tile("t", 2))
    assert found.sentence == "Tile('t', 2): t runs in blocks of 2 everywhere already"
    found = refusal(wb.variant(walk()).apply(Tile("t", 2)), Tile("t", 2, "energy"))
    assert found.sentence == (
        "Tile('t', 2, statements=('energy',)): nothing to tile around energy: it runs in blocks "
        "of 2 already"
    )


def test_refused_when_the_dim_is_unknown() -> None:
    found = refusal(wb.variant(walk()), Tile("tt", 2))
    assert found.sentence == "Tile('tt', 2): unknown dim tt: did you mean t? (dims: b, t)"


def test_refused_when_no_statement_has_the_dim() -> None:
    @wb.program
    def unused(T: int = 3) -> dict[str, Any]:
        wb.dim(t=T)
        return {"draw": wb.uniform()}

    program = unused()
    found = refusal(wb.variant(program), Tile("t", 2))
    assert found.kind in ("input", "no effect")
    assert found.sentence.startswith("Tile('t', 2): ")


def test_refused_when_a_named_statement_lacks_the_dim() -> None:
    found = refusal(wb.variant(walk()), Tile("t", 2, "last"))
    assert found.sentence == (
        "Tile('t', 2, statements=('last',)): nothing to tile around last: it does not vary over "
        "t; its dims: b"
    )
    assert found.kind == "no effect"
    among = refusal(wb.variant(walk()), Tile("t", 2, ("last", "energy")))
    assert among.kind == "capability"
    assert "nothing to tile around last: it does not vary over t" in among.sentence


def test_refused_when_a_statement_is_unknown_or_none_is_named() -> None:
    found = refusal(wb.variant(walk()), Tile("t", 2, "enrgy"))
    assert "unknown statement enrgy: did you mean energy?" in found.sentence
    found = refusal(wb.variant(walk()), Tile("t", 2, ()))
    assert found.sentence.endswith("statements is empty; name some, or leave it out")


def test_refused_when_a_cycle_holds_the_statement_in_its_loop() -> None:
    root = wb.variant(walk())
    step = Tile("t", 2, "push")
    found = refusal(root, step)
    assert found.kind == "dependence"
    assert found.sentence.startswith(f"{step}: ")
    assert found.witness.sizes == {"B": 1, "T": 2}
    assert "push at b=0, t=" in found.sentence or "push[b=0, t=" in found.sentence
    (other,) = found.instead
    assert other == Tile("t", 2, ("draw", "push", "state[t+1]", "energy"))
    assert "for t in blocks of 2:" in root.apply(other).schedule


def axis_around_rows() -> wb.Variant:
    """Rows one after the other inside an axis over their columns."""
    program = grid()
    lines = [s.name for s in program.statements if "p" in s.dims]
    start = [s.name for s in program.statements if "p" not in s.dims]
    inner = "".join(f"        {name}\n" for name in lines)
    text = "axis t:\n" + "".join(f"    {n}\n" for n in start) + f"    for p:\n{inner}"
    return wb.variant(replace(program, schedule=parse(text)))


def test_refused_when_blocks_of_an_axis_can_run_neither_way() -> None:
    root = axis_around_rows()
    rows = tuple(s.name for s in root.program.statements if "p" in s.dims)
    step = Tile("t", 2, rows)
    found = refusal(root, step)
    assert found.kind == "dependence"
    assert "the loop over blocks of 2 values of t runs forwards" in found.sentence
    axis = root.program.schedule
    assert isinstance(axis, Loop)
    assert_breaks(root.program, Loop("t", axis, tile=2), found.witness)
    tiled = root.apply(Tile("t", 2))
    assert len(tiled.notes) == 1 and "runs forwards" in tiled.notes[0]
    assert_computes_the_same(tiled, {"T": 5})


def test_refused_when_others_share_a_loop_inside_the_axis() -> None:
    root = axes(walk, "b")
    step = Tile("b", 2, "energy")
    found = refusal(root, step)
    assert found.kind == "capability"
    assert found.sentence == (
        f"{step}: in the axis b, energy is in a loop with draw, push, state[t+1]"
    )
    assert Distribute(("energy",)) in found.repairs
    for repair in found.repairs:
        assert root.apply(repair).check(step) is None
    for other in found.instead:
        assert "for b in blocks of 2:" in root.apply(other).schedule
    assert dependences(root.program.equations).all


@pytest.mark.parametrize("named", [None, ("draw",)])
def test_refused_when_the_loop_holds_what_runs_once_a_block(named: tuple[str, ...] | None) -> None:
    """Partial sums have the number of a block, and no value of the dim to put into larger ones."""

    @wb.program
    def summed(T: int = 11) -> dict[str, Any]:
        t = wb.dim(t=T)
        draw = wb.uniform(over=t)
        return {"whole": (draw * draw).sum(over=t)}

    found = wb.variant(summed()).apply(Incrementalize("whole", "t", block=4)).apply(Tile("t", 4))
    found = found.apply(Fuse(("draw", "whole.partial")))
    assert "for t in blocks of 4:\n    for t:\n        draw\n    whole.partial" in found.schedule
    step = Tile("t", 8, named)
    refused = refusal(found, step)
    assert refused.kind == "capability"
    assert refused.sentence == (
        f"{step}: whole.partial runs once for each block of 4 values of t, and blocks of 8 values "
        "can hold only what runs for each value of t"
    )
    smaller = found.apply(Tile("t", 2))
    assert "    for t in blocks of 2:\n        for t:\n            draw" in smaller.schedule
    assert_computes_the_same(smaller, {"T": 11})
    assert list(found.moves())


def test_vectorize_of_a_dim_of_blocks_leaves_loops_over_such_blocks() -> None:
    """`t_block4` is a dim of the partial sums, and what the loop around the samples is called."""

    @wb.program
    def summed(T: int = 5) -> dict[str, Any]:
        t = wb.dim(t=T)
        draw = wb.uniform(over=t)
        return {"twice": 2.0 * draw, "whole": (draw * draw).sum(over=t)}

    found = wb.variant(summed())
    for step in (Incrementalize("whole", "t", block=4), Tile("t", 4), Vectorize("t_block4")):
        found = found.apply(step)
    assert "axis t_block4:\n    whole.partial\n" in found.schedule
    assert "for t in blocks of 4:\n    for t:\n" in found.schedule
    assert_computes_the_same(found, {"T": 7})
    refused = refusal(found, Vectorize("t_block4", ("twice",)))
    assert refused.sentence.endswith(
        "twice has no loop over t_block4: it does not vary over t_block4; its dims: t"
    )


def test_size_of_a_tile_is_anything_with_an_index() -> None:
    assert repr(Tile("b", np.int64(4))) == repr(Tile("b", 4))  # type: ignore[arg-type]
