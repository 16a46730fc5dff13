"""The table of `Simplify`: each row does what it says, alone, and gives what the equations mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests import by_hand as h
from tests.by_hand import call, literal
from workbench.backends.reference.evaluator import Reference
from workbench.language.template.root_schedule import scheduled
from workbench.polyhedral.tree import statements
from workbench.program.bodies import Body, Literal
from workbench.program.storage import Storage
from workbench.program.text.infix import body_text
from workbench.program.values import Program
from workbench.transforms import Simplify
from workbench.transforms.rules import BY_NAME, ROWS

X = h.read("x", h.b, h.t)
Y = h.read("y", h.b, h.t)
V = h.read("v", h.b, h.t, shape=(4,))
N = h.read("n", h.b, h.t, dtype="int32")
P = h.read("p", h.b, h.t, dtype="bool")
Q = h.read("q", h.b, h.t, dtype="bool")
WIDE = h.read("w", h.b, h.t, shape=(6,))
AT = call("remainder", N, 6)
BOX = {"b": (0, h.B), "t": (0, h.T)}


def program(body: Any, **more: Any) -> Program:
    """`z` is the body; floats of both signs, integers around 0, booleans and vectors to read."""
    normal, uniform = (lambda s=(), o=op: call(o, shape=s) for op in ("normal", "uniform"))
    found = h.equations(
        h.statement("x", [h.b, h.t], normal(), BOX),
        h.statement("y", [h.b, h.t], normal(), BOX),
        h.statement("v", [h.b, h.t], normal((4,)), BOX),
        h.statement("w", [h.b, h.t], normal((6,)), BOX),
        h.statement("u", [h.b, h.t], uniform(), BOX),
        h.statement("n", [h.b, h.t], integer(h.read("u", h.b, h.t)), BOX),
        h.statement("p", [h.b, h.t], call("less", X, 0.0), BOX),
        h.statement("q", [h.b, h.t], call("less", Y, 0.0), BOX),
        h.statement("z", [h.b, h.t], body, BOX, **more),
        sizes={"B": 3, "T": 4},
        dims={"b": h.B, "t": h.T},
        outputs=["z"],
    )
    return scheduled(found)


def integer(u: Body) -> Body:
    """-3 to 2, by a uniform."""
    return call("subtract", call("cast", call("multiply", u, 6.0), dtype="int32"), 3)


def cast(x: Body, dtype: str) -> Body:
    return call("cast", x, dtype=dtype)


def where(*arguments: Any) -> Body:
    return call("where", *arguments)


def broadcast(x: Body, *shape: int) -> Body:
    return call("broadcast", x, shape=shape)


def reshape(x: Body, *shape: int) -> Body:
    return call("reshape", x, shape=shape)


def part(x: Body, start: int, stop: int, step: int = 1, axis: int = 0) -> Body:
    return call("slice", x, axis=axis, start=start, stop=stop, step=step)


def total(x: Body) -> Body:
    return call("sum", x, axis=0)


def outer() -> Body:
    return call("contract", V, WIDE, spec="i,j->ij")


LOCAL: dict[str, list[tuple[Callable[[], Body], str]]] = {
    "constants": [
        (lambda: call("multiply", X, call("add", 0.5, 0.25)), "x[b, t] * 0.75"),
        (lambda: call("multiply", N, call("subtract", 2, h.value(h.n - h.n + 5))), "n[b, t] * -3"),
        (
            lambda: call("add", call("stack", literal(1.0), literal(2.0), axis=0), X),
            "[1.0, 2.0] + x[b, t]",
        ),
    ],
    "times_one": [
        (lambda: call("multiply", X, 1.0), "x[b, t]"),
        (lambda: call("multiply", Literal((1.0, 1.0), "float", (2,)), X), "x[b, t]"),
        (lambda: call("multiply", P, 1), "p[b, t]"),
    ],
    "times_minus_one": [(lambda: call("multiply", -1.0, X), "-x[b, t]")],
    "times_zero": [(lambda: call("multiply", N, 0), "0")],
    "over_one": [
        (lambda: call("divide", X, 1.0), "x[b, t]"),
        (lambda: call("divide", N, 1), "n[b, t]"),
    ],
    "minus_zero": [
        (lambda: call("subtract", X, 0.0), "x[b, t]"),
        (lambda: call("add", -0.0, X), "x[b, t]"),
        (lambda: call("add", N, 0), "n[b, t]"),
    ],
    "plus_zero": [(lambda: call("add", X, 0.0), "x[b, t]")],
    "minus_itself": [(lambda: call("subtract", N, N), "0")],
    "double_negation": [
        (lambda: call("negative", call("negative", X)), "x[b, t]"),
        (lambda: call("logical_not", call("logical_not", P)), "p[b, t]"),
    ],
    "added_negation": [
        (lambda: call("add", X, call("negative", Y)), "x[b, t] - y[b, t]"),
        (lambda: call("add", call("negative", X), Y), "y[b, t] - x[b, t]"),
        (lambda: call("subtract", X, call("negative", Y)), "x[b, t] + y[b, t]"),
    ],
    "negated_factors": [
        (lambda: call("multiply", call("negative", X), call("negative", Y)), "x[b, t] * y[b, t]"),
        (lambda: call("divide", call("negative", X), call("negative", Y)), "x[b, t] / y[b, t]"),
    ],
    "negated_sum": [(lambda: total(call("negative", V)), "-sum(v[b, t])")],
    "power_one": [(lambda: call("power", X, 1.0), "x[b, t]")],
    "square": [(lambda: call("power", X, 2.0), "x[b, t] * x[b, t]")],
    "over_power_of_two": [(lambda: call("divide", X, 4.0), "x[b, t] * 0.25")],
    "reciprocal": [(lambda: call("divide", X, 5.0), "x[b, t] * 0.2")],
    "constants_together": [
        (lambda: call("multiply", call("multiply", 2.0, X), 3.0), "6.0 * x[b, t]"),
        (
            lambda: call("multiply", call("multiply", 2.0, V), call("multiply", X, 3.0)),
            "6.0 * x[b, t] * v[b, t]",
        ),
    ],
    "log_of_exp": [(lambda: call("log", call("exp", X)), "x[b, t]")],
    "exp_of_log": [(lambda: call("exp", call("log", call("exp", X))), "exp(x[b, t])")],
    "same_branches": [(lambda: where(P, X, X), "x[b, t]")],
    "known_condition": [
        (lambda: where(literal(True), X, Y), "x[b, t]"),
        (lambda: where(literal(False), X, Y), "y[b, t]"),
    ],
    "negated_condition": [
        (lambda: where(call("logical_not", P), X, Y), "where(p[b, t], y[b, t], x[b, t])")
    ],
    "nested_condition": [
        (lambda: where(P, where(P, X, Y), 1.0), "where(p[b, t], x[b, t], 1.0)"),
        (lambda: where(P, 1.0, where(P, X, Y)), "where(p[b, t], 1.0, y[b, t])"),
    ],
    "same_operands": [
        (lambda: call("maximum", X, X), "x[b, t]"),
        (lambda: call("logical_and", P, P), "p[b, t]"),
    ],
    "nested_extremes": [
        (lambda: call("maximum", call("maximum", X, 0.25), 0.5), "maximum(x[b, t], 0.5)"),
        (lambda: call("minimum", 2, call("minimum", 1, N)), "minimum(n[b, t], 1)"),
    ],
    "known_logic": [
        (lambda: call("logical_and", P, True), "p[b, t]"),
        (lambda: call("logical_or", True, P), "True"),
    ],
    "compared_to_itself": [
        (lambda: call("less_equal", N, N), "True"),
        (lambda: call("not_equal", P, P), "False"),
    ],
    "same_cast": [(lambda: cast(X, "float"), "x[b, t]")],
    "cast_of_cast": [(lambda: cast(cast(P, "int32"), "float"), "p[b, t]")],
    "same_shape": [(lambda: reshape(V, 4), "v[b, t]"), (lambda: broadcast(V, 4), "v[b, t]")],
    "reshape_of_reshape": [(lambda: reshape(reshape(V, 2, 2), 4, 1), "v[b, t]")],
    "broadcast_of_broadcast": [(lambda: broadcast(broadcast(X, 4), 2, 4), "x[b, t]")],
    "repeated_operand": [(lambda: call("add", broadcast(X, 4), V), "x[b, t] + v[b, t]")],
    "same_order": [(lambda: call("transpose", outer(), axes=(0, 1)), body_text(outer()))],
    "transpose_of_transpose": [
        (
            lambda: call("transpose", call("transpose", outer(), axes=(1, 0)), axes=(1, 0)),
            "transpose(" + body_text(outer()) + ", axes=(0, 1))",
        )
    ],
    "whole_slice": [(lambda: part(V, 0, 4), "v[b, t]")],
    "slice_of_slice": [
        (lambda: part(part(WIDE, 1, 6), 2, 4), "w[b, t][3:5]"),
        (lambda: part(part(WIDE, 5, -1, -1), 1, 3), "w[b, t][4:2:-1]"),
    ],
    "slice_of_stack": [(lambda: part(call("stack", X, Y, axis=0), 1, 2), "y[b, t]")],
    "slice_of_concatenation": [
        (lambda: part(call("concatenate", V, WIDE, axis=0), 5, 7), "w[b, t][1:3]"),
        (lambda: part(call("concatenate", V, WIDE, axis=0), 3, -1, -2), "v[b, t][::-2]"),
    ],
    "slice_of_broadcast": [(lambda: part(broadcast(X, 4), 1, 3), "x[b, t]")],
    "entry_of_table": [(lambda: call("take", V, 2), "v[b, t][2]")],
    "no_padding": [(lambda: call("pad", V, axis=0, before=0, after=0), "v[b, t]")],
    "reduced_single": [
        (lambda: call("max", reshape(X, 1), axis=0), "x[b, t]"),
        (lambda: total(reshape(P, 1)), "p[b, t]"),
    ],
    "summed_single": [(lambda: total(reshape(X, 1)), "x[b, t]")],
    "repeated_sum": [(lambda: total(broadcast(X, 4)), "x[b, t] * 4.0")],
    "constant_factor_of_sum": [(lambda: total(call("multiply", V, 3.0)), "3.0 * sum(v[b, t])")],
    "sum_of_products": [
        (lambda: total(call("multiply", WIDE, WIDE)), "w[b, t] @ w[b, t]"),
        (
            lambda: call("sum", call("multiply", reshape(WIDE, 1, 6), outer()), axis=1),
            body_text(outer()) + " @ reshape(reshape(w[b, t], shape=(1, 6)), shape=(6,))",
        ),
    ],
    "contraction_of_broadcast": [
        (
            lambda: call("contract", broadcast(X, 4), outer(), spec="k,kj->j"),
            f'contract[",j->j"](x[b, t], sum({body_text(outer())}, axis=0))',
        ),
        (
            lambda: call("contract", outer(), broadcast(V, 6, 4), spec="ij,ji->i"),
            f'contract["i,i->i"](sum({body_text(outer())}, axis=1), v[b, t])',
        ),
    ],
    "sum_of_contraction": [
        (lambda: total(outer()), 'contract["i,j->j"](v[b, t], w[b, t])'),
    ],
    "one_hot_sum": [
        (
            lambda: total(call("multiply", WIDE, call("one_hot", AT, size=6))),
            "take(w[b, t], n[b, t] % 6)",
        )
    ],
}

UNCHANGED: dict[str, list[Callable[[], Body]]] = {
    "constants": [
        lambda: call("add", call("log", literal(0.0)), X),  # infinite
        lambda: call("add", broadcast(literal(1.0), 4), V),  # larger than what it is made of
    ],
    "times_zero": [lambda: call("multiply", X, 0.0)],
    "minus_zero": [lambda: call("add", X, 0.0), lambda: call("subtract", X, -0.0)],
    "minus_itself": [lambda: call("subtract", X, X)],
    "reduced_single": [lambda: total(reshape(X, 1))],
    "over_power_of_two": [lambda: call("divide", X, 5.0), lambda: call("divide", X, 0.0)],
    "reciprocal": [lambda: call("divide", X, 0.0), lambda: call("divide", X, 1e-300)],
    "constants_together": [lambda: call("multiply", 2.0, X)],
    "same_branches": [lambda: where(P, 0.0, -0.0)],
    "nested_condition": [lambda: where(P, where(Q, X, Y), 1.0)],
    "compared_to_itself": [lambda: call("equal", X, X)],
    "cast_of_cast": [
        lambda: cast(cast(X, "int32"), "float"),
        lambda: cast(cast(N, "bool"), "int32"),
    ],
    "repeated_operand": [lambda: call("add", broadcast(X, 4), Y)],
    "slice_of_slice": [lambda: part(part(outer(), 0, 2), 0, 3, axis=1)],
    "slice_of_stack": [lambda: part(call("stack", X, Y, axis=0), 0, 2)],
    "slice_of_concatenation": [lambda: part(call("concatenate", V, WIDE, axis=0), 3, 5)],
    "slice_of_broadcast": [lambda: part(broadcast(V, 2, 4), 0, 2, axis=1)],
    "entry_of_table": [lambda: call("take", V, 4)],
    "repeated_sum": [lambda: total(broadcast(V, 4))],
    "contraction_of_broadcast": [
        lambda: call("contract", broadcast(X, 4), WIDE, spec="k,j->kj"),
        lambda: call("contract", V, outer(), spec="k,kj->j"),
    ],
    "sum_of_products": [
        lambda: total(call("multiply", V, V)),  # unrolled
        lambda: call("sum", call("multiply", reshape(V, 4, 1), outer()), axis=1),
    ],
    "one_hot_sum": [
        lambda: total(call("multiply", WIDE, call("one_hot", N, size=6))),  # perhaps no entry
        lambda: total(call("multiply", V, call("one_hot", call("remainder", N, 4), size=4))),
    ],
}


def assert_means_the_same(before: Program, after: Program, exact: bool) -> None:
    for seed in (0, 1):
        expected, found = (Reference(p.equations, seed=seed).outputs() for p in (before, after))
        assert set(expected) == set(found)
        for name, values in expected.items():
            if exact:
                np.testing.assert_array_equal(found[name], values)
                zeros = values == 0
                assert (np.signbit(found[name]) == np.signbit(values))[zeros].all()
            else:
                np.testing.assert_allclose(found[name], values, rtol=1e-12, atol=1e-12)


def test_every_row_of_the_table_is_tested_here() -> None:
    assert set(LOCAL) | set(WHOLE) == set(BY_NAME)
    assert len(BY_NAME) == len(ROWS)
    assert set(UNCHANGED) <= set(LOCAL)


@pytest.mark.parametrize(
    ("name", "number"), [(n, k) for n, cases in LOCAL.items() for k in range(len(cases))]
)
def test_row_alone(name: str, number: int) -> None:
    make, expected = LOCAL[name][number]
    before = program(make())
    found = wb.variant(before).apply(Simplify((name,)))
    assert body_text(found.program.statement["z(b, t)"].body) == expected
    assert len(found.notes) == 1 and found.notes[0].startswith(f"{name}: {BY_NAME[name].before} → ")
    assert ("rounds" in found.notes[0]) == BY_NAME[name].rounds
    assert_means_the_same(before, found.program, exact=not BY_NAME[name].rounds)


@pytest.mark.parametrize(
    ("name", "number"), [(n, k) for n, cases in UNCHANGED.items() for k in range(len(cases))]
)
def test_row_does_not_apply(name: str, number: int) -> None:
    found = wb.variant(program(UNCHANGED[name][number]())).check(Simplify((name,)))
    assert found is not None and found.kind == "no effect"


# -- rows over the whole program -------------------------------------------------------------------


def several(**bodies: Any) -> Program:
    """The program of `program`, with more statements before `z`; all of them are returned."""
    base = program(X)
    more = tuple(h.statement(name, [h.b, h.t], body, BOX) for name, body in bodies.items())
    kept = tuple(s for s in base.statements if s.array != "z")
    return scheduled(
        h.equations(
            *kept,
            *more,
            sizes={"B": 3, "T": 4},
            dims={"b": h.B, "t": h.T},
            outputs=list(bodies),
        )
    )


def summed(body: Body, over: dict[str, Any], domain: dict[str, Any], write: list[Any]) -> Program:
    base = program(X)
    kept = tuple(s for s in base.statements if s.array != "z")
    return scheduled(
        h.equations(
            *kept,
            h.statement("z", write, body, domain, over, "sum"),
            sizes={"B": 3, "T": 4},
            dims={"b": h.B, "t": h.T},
            outputs=["z"],
        )
    )


def equal_statements() -> Program:
    body = call("tanh", call("multiply", X, 2.0))
    return several(first=body, second=body, third=call("add", h.read("second", h.b, h.t), 1.0))


def common_bodies() -> Program:
    body = call("tanh", X)
    return several(first=call("add", body, Y), second=call("multiply", body, Y))


def invariant_bodies() -> Program:
    return several(first=call("add", call("exp", cast(h.value(h.b), "float")), Y))


def factored_sums() -> Program:
    body = call("multiply", h.read("x", h.b, 0), h.read("y", h.b, h.k))
    return summed(body, {"k": (0, h.T)}, {"b": (0, h.B)}, [h.b])


def dead_statements() -> Program:
    return several(first=X)  # y, v, w, … are read by nothing


WHOLE: dict[str, tuple[Callable[[], Program], dict[str, str], set[str]]] = {
    "equal_statements": (equal_statements, {"third": "first[b, t] + 1.0"}, {"second"}),
    "common_bodies": (
        common_bodies,
        {
            "first.common": "tanh(x[b, t])",
            "first": "first.common[b, t] + y[b, t]",
            "second": "first.common[b, t] * y[b, t]",
        },
        set(),
    ),
    "invariant_bodies": (
        invariant_bodies,
        {"first.invariant": "exp(b)", "first": "first.invariant[b] + y[b, t]"},
        set(),
    ),
    "factored_sums": (factored_sums, {"z.sum": "y[b, k]", "z": "x[b, 0] * z.sum[b]"}, set()),
    "dead_statements": (dead_statements, {"first": "x[b, t]"}, {"y", "v", "w", "u", "n", "p", "q"}),
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_row_alone(name: str) -> None:
    make, bodies, gone = WHOLE[name]
    before = make()
    found = wb.variant(before).apply(Simplify((name,)))
    written = {s.array: s for s in found.program.statements}
    assert {a: body_text(written[a].body) for a in bodies} == bodies
    assert set(before.array) - set(found.program.array) == gone
    assert_means_the_same(before, found.program, exact=not BY_NAME[name].rounds)


def test_invariant_stays_where_its_operand_is_computed_in_the_loop() -> None:
    before = several(first=call("add", call("exp", h.read("x", h.b, 0)), Y))
    assert "x(b, t)" in set(statements(before.schedule))
    found = wb.variant(before).check(Simplify(("invariant_bodies",)))
    assert found is not None and found.kind == "no effect"


def test_sum_of_one_value_is_that_times_the_number_of_points() -> None:
    value = call("tanh", h.read("x", h.b, 0))
    before = summed(value, {"k": (2, h.T)}, {"b": (0, h.B)}, [h.b])
    found = wb.variant(before).check(Simplify(("factored_sums",)))
    assert found is not None  # at T = 1 the range is empty, and T - 2 is not 0
    before = summed(value, {"k": (0, h.T + 1)}, {"b": (0, h.B)}, [h.b])
    after = wb.variant(before).apply(Simplify(("factored_sums",))).program
    assert body_text(after.statement["z(b)"].body) == "tanh(x[b, 0]) * (T + 1)"
    assert_means_the_same(before, after, exact=False)


def test_quotients_and_contractions_are_factored_too() -> None:
    k = {"k": (0, h.T)}
    moving, still = h.read("v", h.b, h.k, shape=(4,)), h.read("w", h.b, 0, shape=(6,))
    for body in (call("contract", moving, still, spec="i,j->ij"), call("divide", moving, 3.0)):
        before = summed(body, k, {"b": (0, h.B)}, [h.b])
        after = wb.variant(before).apply(Simplify(("factored_sums",))).program
        assert body_text(after.statement["z.sum"].body) == "v[b, k]"
        assert_means_the_same(before, after, exact=False)


def test_factor_stays_in_a_sum_that_may_be_empty() -> None:
    body = call("multiply", h.read("x", h.b, 0), h.read("y", h.b, h.k))
    before = summed(body, {"k": (1, h.T)}, {"b": (0, h.B)}, [h.b])
    found = wb.variant(before).check(Simplify(("factored_sums",)))
    assert found is not None  # at T = 1 the sum is 0, were x[b, 0] infinite


def test_two_draws_are_not_equal_statements_but_clones_of_one_are() -> None:
    before = several(first=X, second=Y)
    assert wb.variant(before).check(Simplify(("equal_statements",))) is not None
    x, y = before.statement["x(b, t)"], before.statement["y(b, t)"]
    clone = replace(y, origin=x.origin)
    merged = tuple(clone if s is y else s for s in before.statements)
    same = replace(before, equations=replace(before.equations, statements=merged))
    found = wb.variant(same).apply(Simplify("equal_statements"))
    assert set(same.array) - set(found.program.array) == {"y", "q", "second"}
    assert_means_the_same(same, found.program, exact=True)


def test_equal_recurrences_are_one() -> None:
    @wb.program
    def twice(T: int = 4) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.uniform(over=t)
        a, b = wb.recurrent("a", (), over=t), wb.recurrent("b", (), over=t)
        c = wb.recurrent("c", (), over=t)
        for array, start in ((a, 0.0), (b, 0.0), (c, 1.0)):
            array[0] = start
            array[t + 1] = 0.5 * array + x
        return {"a": a, "b": b, "c": c}

    before = twice()
    found = wb.variant(before).apply(Simplify("equal_statements"))
    assert set(before.array) - set(found.program.array) == {"b"}
    assert {o.name: o.array for o in found.program.outputs} == {"a": "a", "b": "a", "c": "c"}
    assert wb.value(found, "b", t=3).value == wb.value(before, "b", t=3).value
    assert_means_the_same(before, found.program, exact=True)


def test_what_is_said_of_the_storage_of_a_dropped_array_goes_with_it() -> None:
    said = Storage(
        (("first", "t"), ("second", "t")),
        (("second", "first"),),
        (("second", 0),),
        layouts=(("second", ("t",)),),
    )
    before = replace(equal_statements(), storage=said)
    rewritten = Simplify(("equal_statements",)).rewrite(before).program
    assert rewritten.storage == Storage((("first", "t"),))
