"""Where memory comes and goes: hoisting, reuse, windows, work in place."""

from __future__ import annotations

from collections.abc import Iterator

from tests import by_hand as h
from tests.backends.small_programs import cases, folded, scheduled
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.records import Allocate, Apply, For, Free, If, Record, walk
from workbench.lowering.lower import lower
from workbench.polyhedral.expression import expression

CASES = {name: p for name, p, _ in cases()}
B, T, b, t = h.B, h.T, h.b, h.t


def lowered(name: str, *axes: str) -> LoopProgram:
    return lower(folded(scheduled(CASES[name], axes)))


def loops(body: tuple[Record, ...]) -> Iterator[For]:
    return (r for r in walk(body) if isinstance(r, For))


def test_innermost_loop_allocates_nothing() -> None:
    for name, p, all_axes in cases():
        for axes in all_axes:
            for loop in loops(lower(scheduled(p, axes)).body):
                if any(True for _ in loops(loop.body)):
                    continue
                found = [r for r in walk(loop.body) if isinstance(r, (Allocate, Free))]
                assert not found, (name, axes)


def test_every_allocation_but_of_results_is_freed_in_its_body() -> None:
    for _, p, all_axes in cases():
        for axes in all_axes:
            program = lower(scheduled(p, axes))
            results = {r.buffer for r in program.results}
            bodies = [program.body, *(loop.body for loop in loops(program.body))]
            for body in bodies:
                live: set[str] = set()
                for record in body:
                    if isinstance(record, Allocate):
                        live.discard(record.source or "")
                        live.add(record.buffer.name)
                    elif isinstance(record, Free):
                        live.remove(record.name)
                assert live <= results


def test_state_that_is_read_once_needs_one_slice_in_place() -> None:
    program = lowered("forwards", "b")
    assert program.stored["s"].buffer.shape == (B,)
    written = [r for r in walk(program.body) if isinstance(r, Apply) and r.out == "s"]
    assert [r.function for r in written] == ["copyto", "add"]


def test_parameters_and_moments_need_one_slice() -> None:
    program = lowered("adam", "b")
    assert program.stored["theta"].buffer.shape == (expression(3),)
    assert program.stored["m"].buffer.shape == (expression(3),)


def test_what_is_not_folded_keeps_its_full_extent() -> None:
    program = lower(scheduled(CASES["forwards"], ("b",)))
    assert program.stored["s"].buffer.shape == (T + 1, B)


def test_results_keep_their_full_extent_with_axes_innermost() -> None:
    program = lowered("forwards_kept", "b")
    assert program.stored["s"].buffer.shape == (T + 1, B)
    (result,) = (r for r in program.results if r.name == "s")
    assert result.axes == (1, 0)


def test_result_is_written_over_the_temporary_it_is_made_from() -> None:
    bt = {"b": (0, B), "t": (0, T)}
    x, y = h.read("x", b, t), h.read("y", b, t)
    p = h.equations(
        h.statement("x", [b, t], h.call("uniform", shape=()), bt),
        h.statement("y", [b, t], h.call("add", h.call("exp", x), h.call("sin", x)), bt),
        h.statement("z", [b, t], h.call("add", h.call("exp", y), h.call("sin", y)), bt),
        sizes={"B": 2, "T": 3},
        dims={"b": B, "t": T},
        outputs=["z"],
    )
    asked = [
        r.buffer.name
        for r in lower(scheduled(p, ("b", "t"))).body
        if isinstance(r, Allocate) and not r.source and not r.buffer.scratch
    ]
    assert asked == ["x", "y_2", "z_2", "z"]  # in y_2 and z_2 is exp, then the result


def test_weight_gradient_makes_no_outer_products() -> None:
    program = lowered("contractions", "b", "t")
    sizes = {"B": 64, "T": 100, "N": 1, "I": 1}
    outer = 64 * 100 * 4 * 5 * 8  # one x[b, t] times h[b, t] for each point
    timeline = program.timeline(sizes, "float64")
    assert all(size < outer for point in timeline for _, size in point.live)
    functions = [r.function for r in walk(program.body) if isinstance(r, Apply)]
    assert functions.count("dot") >= 4


def test_timeline_ends_with_results_and_constants_only() -> None:
    program = lowered("adam", "b")
    last = program.timeline({"B": 2, "T": 1, "N": 1, "I": 3}, "float32")[-1]
    held = {name for name, _ in last.live}
    assert "loss" in held
    assert not held & {"theta", "m", "x"}


def test_conditions_between_loops_are_kept() -> None:
    program = lowered("successor")
    assert any(isinstance(r, (For, If)) for r in walk(program.body))
    assert "for" in str(program)
