"""Layout: any order computes the same with any other storage, on NumPy and as compiled C; what it
refuses and why.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.environments.playing import choice, restarting
from tests.lowering.instances.test_swapping import same_as_reference, swapped
from tests.native_runs import run_native
from tests.programs import PROGRAMS, small_ppo
from tests.transforms.order.ordering import refusal
from tests.truth import truth
from workbench.environments import Gymnasium
from workbench.language.tracing.nodes import apply
from workbench.lowering.launches import launches
from workbench.lowering.lower import stages
from workbench.lowering.stage_text import stage_text
from workbench.program.storage import INNER
from workbench.program.values import Array, Program
from workbench.transforms import (
    Accumulate,
    Contract,
    Donate,
    Layout,
    Persist,
    Recompute,
    Swap,
    Tile,
    Vectorize,
)
from workbench.transforms.step.step_json import from_json
from workbench.transforms.step.transform import Transform


@wb.program
def rolled(B: int = 5, T: int = 4, K: int = 6) -> dict[str, Any]:
    """A state whose elements are written along b, read along both, and gathered."""
    b, t, k = wb.dims(b=B, t=T, k=K)
    state = wb.recurrent("state", (2, 3), over=(b, t))
    state[b, 0] = wb.uniform(shape=(2, 3), over=b)
    state[b, t + 1] = wb.sin(state) + 1.0
    row = wb.cast(wb.uniform(0.0, 5.0, over=k), int) % B
    chosen = wb.gather(state[b, t], b=row, t=wb.index(k) % T)
    return {"state": state, "total": chosen.sum(over=k), "last": state[b, T].sum()}


def root() -> wb.Variant:
    return wb.variant(rolled())


def axes_of(array: Array) -> list[str]:
    return [*array.dims, *([INNER] if array.shape else [])]


def orders(program: Program) -> st.SearchStrategy[tuple[tuple[str, tuple[str, ...]], ...]]:
    """An order for every array."""
    return st.tuples(
        *(
            st.permutations(axes_of(a)).map(lambda order, a=a: (a.name, tuple(order)))
            for a in program.arrays
        )
    )


def laid(program: Program, layouts: tuple[tuple[str, tuple[str, ...]], ...]) -> Program:
    """The program with arrays in these orders, as steps would say so one by one."""
    return replace(program, storage=replace(program.storage, layouts=layouts))


def assert_both_compute_the_same(variant: wb.Variant, sizes: dict[str, int] | None = None) -> None:
    """NumPy and compiled C compute what the reference does for the program as written."""
    expected = truth(variant.root.program, sizes, 0).outputs()
    same_as_reference(variant.root.program, variant.program, sizes)
    found = run_native(variant.program, sizes)
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-9, atol=1e-9)


# -- what it does ----------------------------------------------------------------------------------


def test_memory_has_the_axes_in_the_order_given() -> None:
    found = root().apply(Layout("state", ("t", "...", "b")))
    assert "state over b (B), t (T + 1), in memory as t, ..., b\n" in found.storage
    shape = [str(n) for n in found.loop_program.stored["state"].buffer.shape]
    assert shape == ["T + 1", "2", "3", "B"]
    text = stage_text(stages(found.program), "storage")
    assert "state: float[T + 1, 2, 3, B] over t, ..., b" in text
    last = root().apply(Layout("state", ("t", "b", "...")))
    assert "state: float[T + 1, B, 2, 3] over t, b" in stage_text(stages(last.program), "storage")


def test_results_keep_their_order_of_dimensions() -> None:
    found = root().apply(Layout("state", ("t", "...", "b")))
    for backend in ("numpy", "native"):
        before, after = (wb.run(v, progress=False, backend=backend) for v in (root(), found))
        assert after["state"].shape == (5, 5, 2, 3)
        np.testing.assert_array_equal(before["state"], after["state"])


def test_lanes_that_are_innermost_are_neighbours_in_compiled_code() -> None:
    before = root().apply(Vectorize("b"))
    after = before.apply(Layout("state", ("t", "...", "b")))
    assert after.check(Layout("state", ("b", "t", "..."))) is None
    apart, near = (
        "\n".join(k.text for k in v.kernels() if "state_t_1" in k.name) for v in (before, after)
    )
    assert "6 * b" in apart
    assert "6 * b" not in near


def test_prediction_differs_where_the_layout_does() -> None:
    before = root().apply(Vectorize("b"))
    after = before.apply(Layout("state", ("t", "...", "b")))
    for backend in ("numpy", "native"):
        one, other = (v.predict({"B": 512, "T": 100}, backend=backend) for v in (before, after))
        assert one.seconds != other.seconds


def test_the_last_order_counts() -> None:
    found = (
        root().apply(Layout("state", ("t", "...", "b"))).apply(Layout("state", ("t", "b", "...")))
    )
    assert found.program.storage.layouts == (("state", ("t", "b", "...")),)


def test_step_survives_json() -> None:
    step = Layout("state", ("t", "...", "b"))
    assert from_json(step.to_json()) == step
    assert repr(step) == "Layout('state', ('t', '...', 'b'))"


def test_orders_are_proposed_where_another_axis_is_last() -> None:
    assert list(Layout.candidates(root().program)) == []
    batched = root().apply(Vectorize("b"))
    (step,) = (s for s in Layout.candidates(batched.program) if s.array == "state")
    assert step == Layout("state", ("t", "...", "b"))
    after = batched.apply(step)
    back = [s for s in Layout.candidates(after.program) if s.array == "state"]
    assert back == [Layout("state", ("t", "b", "..."))]
    assert all(move.legal for move in batched.moves(Layout))


# -- any order -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PROGRAMS)
@settings(max_examples=4)
@given(st.data())
def test_any_order_of_every_array_computes_the_same(name: str, data: st.DataObject) -> None:
    template, many = PROGRAMS[name]
    variant = wb.variant(template())
    if data.draw(st.booleans()):
        for dim in variant.program.dims:
            step = Vectorize(dim.name)
            variant = variant.apply(step) if variant.check(step) is None else variant
    if data.draw(st.booleans()) and variant.check(Contract()) is None:
        variant = variant.apply(Contract())
    program = laid(variant.program, data.draw(orders(variant.program)))
    if data.draw(st.booleans()):
        program = swapped(program)
    same_as_reference(variant.root.program, program, data.draw(st.sampled_from(many)))


STEPS: list[list[Transform]] = [
    [],
    [Vectorize("b")],
    [Vectorize("b"), Vectorize("k"), Contract()],
    [Vectorize("b"), Tile("b", 2), Contract(), Donate()],
    [Persist("b", 2), Contract(), Donate()],
    [Persist("k", 3), Swap("state")],
]


@settings(max_examples=12)
@given(st.permutations(["b", "t", "..."]), st.sampled_from(STEPS), st.integers(0, 4))
def test_any_order_between_other_steps(order: list[str], steps: list[Transform], at: int) -> None:
    variant, step = root(), Layout("state", tuple(order))
    for n, other in enumerate([*steps, None]):
        if n == min(at, len(steps)):
            assume(variant.check(step) is None)
            variant = variant.apply(step)
        if other is not None and variant.check(other) is None:
            variant = variant.apply(other)
    assert_both_compute_the_same(variant)


@pytest.mark.parametrize("order", [("t", "...", "b"), ("...", "b", "t"), ("b", "...", "t")])
def test_an_order_of_the_state_of_ppo_computes_the_same(order: tuple[str, ...]) -> None:
    variant = wb.variant(small_ppo()).apply(Persist("b", 2)).apply(Persist("k", 2))
    variant = variant.apply(Contract()).apply(Donate())
    assert_both_compute_the_same(variant.apply(Layout("state", ("i", *order))))


@wb.program
def in_one_piece(I: int = 3, K: int = 4) -> dict[str, Any]:
    """Calls that write all elements of a result one after the other."""
    i, k = wb.dims(i=I, k=K)
    order = wb.permutation(5, over=i)
    matrix = apply("orthogonalize", wb.normal(shape=(3, 2), over=(i, k)))
    return {"order": order[k], "matrix": matrix, "sum": matrix.sum()}


@pytest.mark.parametrize("inner", [0, 1])
def test_what_is_written_in_one_piece_lies_in_any_order(inner: int) -> None:
    variant = wb.variant(in_one_piece())
    for array in variant.program.arrays:
        order = [*array.dims]
        order.insert(inner, INNER)
        step = Layout(array.name, tuple(order))
        if array.shape and variant.check(step) is None:
            variant = variant.apply(step)
    assert len(variant.steps) > 1
    assert_both_compute_the_same(variant)


def test_calls_of_an_environment_write_in_any_order() -> None:
    variant = before = wb.variant(restarting(Gymnasium("CartPole-v1"), choice(2)))
    for array in before.program.arrays:
        if array.shape and array.dims:
            variant = variant.apply(Layout(array.name, (INNER, *array.dims)))
    assert len(variant.steps) > 3
    for backend in ("numpy", "native"):
        one, other = (wb.run(v, seed=7, progress=False, backend=backend) for v in (before, variant))
        for name in one:
            np.testing.assert_array_equal(one[name], other[name])


def test_a_window_keeps_its_order() -> None:
    variant = root().apply(Vectorize("b"))
    hidden = wb.variant(rolled_inside()).apply(Vectorize("b"))
    found = hidden.apply(Contract("state", "t")).apply(Layout("state", ("...", "t", "b")))
    assert "state over b (B), t (2 of T + 1), in memory as ..., t, b\n" in found.storage
    assert_both_compute_the_same(found)
    assert variant.check(Layout("state", ("...", "t", "b"))) is None


@wb.program
def rolled_inside(B: int = 3, T: int = 5) -> dict[str, Any]:
    b, t = wb.dims(b=B, t=T)
    state = wb.recurrent("state", 2, over=(b, t))
    state[b, 0] = wb.uniform(shape=2, over=b)
    state[b, t + 1] = wb.sin(state) + state[..., ::-1]
    return {"last": state[b, T]}


def test_a_block_of_persist_lays_out_what_is_private_to_it() -> None:
    """Its lanes lie innermost, whatever was said before; the rest keeps the order."""
    found = wb.variant(rolled_inside()).apply(Layout("state", ("b", "...", "t")))
    found = found.apply(Persist("b", 2))
    shape = launches(found.program).stored["state"].buffer.shape
    assert [str(n) for n in shape] == ["T + 1", "2", "2"]
    assert_both_compute_the_same(found)


# -- with arrays that share memory -----------------------------------------------------------------


@wb.program
def handed_on(B: int = 3, T: int = 3) -> dict[str, Any]:
    """Square arrays, one after the other in one piece of memory."""
    b, t = wb.dims(b=B, t=T)
    x = wb.normal(over=(b, t))
    y = wb.exp(x)
    return {"total": (y * 2.0).sum(over=(b, t))}


def test_an_operand_is_not_overwritten_in_another_order() -> None:
    axes = wb.variant(handed_on()).apply(Vectorize("b")).apply(Vectorize("t"))
    donated = axes.apply(Donate("x", "y"))
    found = refusal(donated, Layout("x", ("t", "b")))
    assert found.sentence == (
        "Layout('x', ('t', 'b')) would take from y the memory that Donate('x', 'y') gave it: "
        "y[b=0, t=0] reads x[0, 0] in the operation that writes y[0, 0], and not element by "
        "element, in the same place (smallest case: B=1, T=1)"
    )
    turned = axes.apply(Layout("x", ("t", "b")))
    assert turned.check(Donate("x", "y")) is not None
    both = turned.apply(Layout("y", ("t", "b")))
    assert_both_compute_the_same(both.apply(Donate("x", "y")))


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        (("t", "b"), "the order lacks '...'"),
        (("t", "t", "..."), "the order has 't' more than once"),
        (("t", "...", "k", "b"), "the order has 'k', which state has not"),
        ((), "the order lacks 'b', 't', '...'"),
    ],
)
def test_layout_refused_when_the_order_is_not_that_of_its_axes(
    order: tuple[str, ...], reason: str
) -> None:
    found = refusal(root(), Layout("state", order))
    assert (found.kind, found.argument) == ("input", "order")
    assert found.sentence == (
        f"Layout('state', {order!r}): {reason}; expected of state: each of 'b', 't', '...' once "
        "('...' stands for its inner axes)"
    )


def test_layout_refused_when_inner_axes_are_named_where_there_are_none() -> None:
    found = refusal(wb.variant(handed_on()), Layout("x", ("t", "...", "b")))
    assert found.sentence == (
        "Layout('x', ('t', '...', 'b')): the order has '...', which x has not; expected of x: each "
        "of 'b', 't' once"
    )
    found = refusal(wb.variant(handed_on()), Layout("total", ("t",)))
    assert found.sentence == (
        "Layout('total', ('t',)): the order has 't', which total has not; expected of total: "
        "nothing: it is one element"
    )


def test_layout_refused_when_no_array_has_such_a_dim() -> None:
    found = refusal(wb.variant(handed_on()), Layout("x", ("t", "c")))
    assert found.sentence == "Layout('x', ('t', 'c')): unknown dim c: the dims are b, t, ..."


def test_layout_refused_when_the_array_lies_so_already() -> None:
    found = refusal(root(), Layout("state", ("b", "t", "...")))
    assert found.kind == "no effect"
    assert found.sentence == (
        "Layout('state', ('b', 't', '...')): state lies in memory as b, t, ... already"
    )


def test_layout_refused_when_one_axis_is_all_there_is() -> None:
    folded = wb.variant(handed_on()).apply(Contract())
    found = refusal(folded, Layout("x", ("t", "b")))
    assert found.kind == "no effect"
    assert found.sentence == (
        "Layout('x', ('t', 'b')): x has no order in memory: it keeps one element"
    )


def test_layout_refused_when_the_array_is_added_up() -> None:
    root = wb.variant(handed_on())
    step = next(s for s in Accumulate.candidates(root.program) if root.check(s) is None)
    added = root.apply(step)
    (points,) = added.program.storage.added
    found = refusal(added, Layout(points, ("t", "b")))
    assert found.kind == "capability"
    assert found.sentence == (
        f"Layout({points!r}, ('t', 'b')): {points} is added up as it is computed (Accumulate), and "
        "is never stored"
    )


def test_layout_refused_when_the_array_is_private_to_a_block() -> None:
    found = refusal(
        wb.variant(rolled_inside()).apply(Persist("b", 2)), Layout("state", ("t", "...", "b"))
    )
    assert found.kind == "capability"
    assert found.sentence == (
        "Layout('state', ('t', '...', 'b')): state is private to a block of b (Persist): one block "
        "of it is there, and its lanes lie innermost"
    )


def test_an_order_goes_with_its_array() -> None:
    variant = wb.variant(handed_on()).apply(Layout("y", ("t", "b")))
    gone = variant.apply(Recompute("y"))
    assert gone.program.storage.layouts == ()
