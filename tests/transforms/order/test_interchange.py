"""Interchange: loops, axes and loops of blocks change places, or are refused with what helps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import workbench as wb
from tests.polyhedral.notation import parse
from tests.transforms.order.moments import assert_breaks
from tests.transforms.order.ordering import assert_computes_the_same, refusal
from workbench.program.values import Program
from workbench.transforms import Distribute, Interchange, Tile, Vectorize


@wb.program
def table(P: int = 4, Q: int = 5) -> dict[str, Any]:
    """Every element needs the one before in its row, and in its column."""
    p, q = wb.dims(p=P, q=Q)
    cost = wb.uniform(over=(p, q))
    best = wb.recurrent("best", (), over=(p, q))
    best[0, 0] = 0.0
    best[p + 1, 0] = 1.0
    best[0, q + 1] = 2.0
    best[p + 1, q + 1] = wb.minimum(best[p, q + 1], best[p + 1, q]) + cost
    return {"best": best}


@wb.program
def slanted(P: int = 3, Q: int = 5) -> dict[str, Any]:
    """Every element needs the one to the right in the row before."""
    p, q = wb.dims(p=P, q=Q)
    row = wb.recurrent("row", (), over=(p, q))
    row[0, q] = wb.uniform(over=q)
    row[p + 1, q] = row[p, wb.minimum(q + 1, Q - 1)] + 1.0
    noise = wb.uniform(over=(p, q))
    return {"row": row, "twice": 2.0 * noise}


@wb.program
def walk(B: int = 2, T: int = 5) -> dict[str, Any]:
    b, t = wb.dims(b=B, t=T)
    total = wb.recurrent("total", (), over=(b, t))
    total[b, 0] = 0.0
    total[b, t + 1] = total + wb.uniform(over=(b, t))
    return {"total": total}


SLANTED = (
    "for p:\n    for q:\n        noise\n        twice\n"
    "for q:\n    row[0]\n"
    "for p:\n    for q:\n        row[p+1]\n"
)

TABLE = (
    "for p:\n    for q:\n        cost\n"
    "best[0,0]\nfor q:\n    best[0,q+1]\nfor p:\n    best[p+1,0]\n"
    "for p:\n    for q:\n        best[p+1,q+1]\n"
)


def nested(program: Program, text: str) -> wb.Variant:
    return wb.variant(replace(program, schedule=parse(text)))


def test_nested_loops_change_places_wherever_they_are() -> None:
    found = nested(table(), TABLE).apply(Interchange("p", "q"))
    assert found.notes == ()
    assert found.schedule.startswith("for q:\n    for p:\n        cost\n")
    assert found.schedule.endswith("for q:\n    for p:\n        best[p+1,q+1]\n")
    assert_computes_the_same(found, {"P": 3, "Q": 4})
    assert found.apply(Interchange("q", "p")).schedule == nested(table(), TABLE).schedule


def test_named_statement_gets_a_nest_of_its_own() -> None:
    found = wb.variant(walk()).apply(Interchange("b", "t", "total"))
    assert found.schedule.endswith("for t:\n    for b:\n        total[t+1]\n")
    assert_computes_the_same(found, {"B": 3, "T": 4})


def test_loop_and_axis_change_places() -> None:
    root = nested(table(), TABLE).apply(Vectorize("q", ("cost",)))
    assert "for p:\n    axis q:\n        cost\n" in root.schedule
    found = root.apply(Interchange("p", "q", "cost"))
    assert "axis q:\n    for p:\n        cost\n" in found.schedule
    assert_computes_the_same(found, {"P": 3, "Q": 4})


def test_blocks_of_both_loops_make_tiles() -> None:
    found = nested(table(), TABLE).apply(Tile("p", 2)).apply(Tile("q", 3))
    found = found.apply(Interchange("p", "q_block3", ("best[p+1,q+1]", "cost")))
    assert found.schedule.endswith(
        "for p in blocks of 2:\n    for q in blocks of 3:\n        for p:\n            for q:\n"
        "                best[p+1,q+1]\n"
    )
    for sizes in ({"P": 5, "Q": 7}, {"P": 1, "Q": 1}, {"P": 4, "Q": 6}):
        assert_computes_the_same(found, sizes)


def test_what_is_not_legal_is_left_and_noted() -> None:
    found = nested(slanted(), SLANTED).apply(Interchange("p", "q"))
    assert found.schedule == SLANTED.replace("for p:\n    for q:", "for q:\n    for p:", 1)
    (note,) = found.notes
    assert note.startswith("Interchange('p', 'q'): row[p+1] at p=1, q=0 reads row[1, 1], which ")
    assert_computes_the_same(found, {"P": 3, "Q": 4})


# -- refusals --------------------------------------------------------------------------------------


def test_refused_when_a_dependence_would_go_back() -> None:
    root = nested(slanted(), SLANTED)
    step = Interchange("p", "q", "row")
    found = refusal(root, step)
    assert found.kind == "dependence"
    assert found.sentence == (
        "Interchange('p', 'q', ('row',)): row[p+1] at p=1, q=0 reads row[1, 1], which row[p+1] at "
        "p=0, q=1 writes, but the loop over q runs forwards (smallest case: P=2, Q=2)"
    )
    turned = parse(
        SLANTED.replace("for p:\n    for q:\n        row", "for q:\n    for p:\n        row")
    )
    assert_breaks(root.program, turned, found.witness)


def test_refused_when_a_statement_stands_between() -> None:
    root = wb.variant(walk())
    found = refusal(root, Interchange("b", "t"))
    assert found.kind == "capability"
    assert found.sentence == (
        "Interchange('b', 't'): t is not directly inside b: total[0] stands between"
    )
    (first,), (second,) = found.instead, found.repairs
    assert isinstance(first, Interchange) and isinstance(second, Distribute)
    assert "for t:\n    for b:\n" in root.apply(first).schedule
    after = root.apply(second)
    assert after.apply(Interchange("b", "t")).schedule == root.apply(first).schedule


def test_refused_when_a_loop_stands_between() -> None:
    root = nested(table(), TABLE).apply(Tile("q", 3))
    found = refusal(root, Interchange("p", "q"))
    assert found.sentence == (
        "Interchange('p', 'q'): q is not directly inside p: the loop q_block3 stands between"
    )


def test_refused_when_the_loops_are_the_other_way_around() -> None:
    found = refusal(nested(table(), TABLE), Interchange("q", "p"))
    assert found.kind == "no effect"
    assert found.sentence == "Interchange('q', 'p'): p is outside q already"
    assert found.instead == (Interchange("p", "q"),)


def test_refused_when_blocks_would_stand_inside_what_runs_within_them() -> None:
    root = wb.variant(walk()).apply(Tile("t", 2))
    found = refusal(root, Interchange("t_block2", "t"))
    assert found.kind == "capability"
    assert found.sentence == (
        "Interchange('t_block2', 't'): blocks of t stand around what runs within them"
    )


def test_refused_when_a_loop_is_unknown() -> None:
    found = refusal(wb.variant(walk()).apply(Tile("t", 2)), Interchange("t_block3", "t"))
    assert found.sentence == (
        "Interchange('t_block3', 't'): no loop t_block3: did you mean t_block2? "
        "(loops: b, t_block2, t)"
    )


def test_refused_when_there_is_nothing_to_exchange() -> None:
    root = wb.variant(walk())
    assert refusal(root, Interchange("t", "t")).sentence == (
        "Interchange('t', 't'): a loop cannot change places with itself"
    )
    assert "unknown statement ttal: did you mean" in (
        refusal(root, Interchange("b", "t", "ttal")).sentence
    )
    assert refusal(root, Interchange("b", "t", ())).sentence == (
        "Interchange('b', 't', ()): statements is empty; name some, or leave it out"
    )
    assert refusal(root, Interchange("b", "t", "total[0]")).sentence == (
        "Interchange('b', 't', ('total[0]',)): t is not directly inside b: "
        "no loop t is around total[0] there"
    )
    apart = nested(slanted(), SLANTED)
    assert refusal(apart, Interchange("p", "q", "row[0]")).sentence == (
        "Interchange('p', 'q', ('row[0]',)): no loop q is inside a loop p around row[0]"
    )
