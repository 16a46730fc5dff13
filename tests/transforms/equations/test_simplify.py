"""Simplify: random bodies and programs mean what they meant; notes, refusals, places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from tests import by_hand as h
from tests.by_hand import call, literal
from tests.language.test_random_programs import SIZES, Rule, rules, written
from tests.native_runs import check_native
from tests.programs import PROGRAMS, automatic
from tests.transforms.rules.test_rules import (
    AT,
    WIDE,
    N,
    P,
    Q,
    V,
    X,
    Y,
    assert_means_the_same,
    program,
)
from tests.truth import truth
from workbench.algorithms import reinforce
from workbench.errors import ProgramError
from workbench.language.template.root_schedule import scheduled
from workbench.program.bodies import Body
from workbench.program.text.infix import body_text
from workbench.program.values import Program
from workbench.transforms import Simplify, Tile, Vectorize
from workbench.transforms.equations.simplify import simplified
from workbench.transforms.rules import ROWS
from workbench.transforms.step.refusal import Refused

EXACT = tuple(row for row in ROWS if row.exact)

# -- random bodies over the operation table --------------------------------------------------------

FLOATS = (X, Y, V, WIDE)
NUMBERS = (0.0, -0.0, 1.0, -1.0, 2.0, 3.0, 0.25, 5.0)
BINARY = ("add", "subtract", "multiply", "maximum", "minimum")
UNARY = ("negative", "absolute")
ROUNDED_UNARY = ("tanh", "sin")
"""Not in bodies that are compared bit by bit: NumPy rounds them by the layout of their operand."""
JUMPING = ("divide", "floor", "sign", "sqrt")
"""Not in bodies that are compared within a tolerance: they make much of small differences."""
LONGEST = 7
"""Entries of an axis up to which NumPy adds in order, whatever the layout."""


@st.composite
def floats(draw: st.DrawFn, depth: int, exact: bool) -> Body:
    """A body of floats; `exact` ones may jump, overflow and be NaN."""
    if depth == 0:
        number = st.sampled_from(NUMBERS).map(literal)
        return draw(st.one_of(st.sampled_from(FLOATS), number))
    below = floats(depth - 1, exact)
    kind = draw(
        st.sampled_from(["leaf", "unary", "binary", "where", "shape", "part", "sum", "take"])
    )
    if kind == "leaf":
        return draw(floats(0, exact))
    if kind == "unary":
        rows = (*UNARY, *(JUMPING[1:] if exact else ROUNDED_UNARY))
        return call(draw(st.sampled_from(rows)), draw(below))
    if kind == "binary":
        left, right = draw(below), draw(below)
        if draw(st.booleans()):
            right = draw(st.sampled_from(NUMBERS).map(literal))
        rows = (*BINARY, *(JUMPING[:1] if exact else ()))
        return _fitting(draw(st.sampled_from(rows)), left, right)
    if kind == "where":
        condition = draw(booleans(depth - 1, exact))
        then = draw(below)
        return _fitting("where", condition, then, draw(st.one_of(st.just(then), below)))
    if kind == "take":
        return call("take", WIDE, draw(st.sampled_from([AT, literal(2)])))
    x = draw(below)
    if not x.shape:
        return draw(_widened(x))
    return draw(_moved(x) if kind != "sum" else _reduced(x))


def _fitting(operation: str, *operands: Body) -> Body:
    """The call, of what of the operands fits together."""
    try:
        return call(operation, *operands)
    except ProgramError:
        return call(operation, *(o if not o.shape else _scalar(o) for o in operands))


def _scalar(x: Body) -> Body:
    while x.shape:
        first = call("slice", x, axis=0, start=0, stop=1, step=1)
        x = call("reshape", first, shape=x.shape[1:])
    return x


@st.composite
def _widened(draw: st.DrawFn, x: Body) -> Body:
    return draw(
        st.sampled_from(
            [
                call("broadcast", x, shape=(4,)),
                call("reshape", x, shape=(1,)),
                call("stack", x, Y, axis=0),
            ]
        )
    )


@st.composite
def _moved(draw: st.DrawFn, x: Body) -> Body:
    axis = draw(st.integers(0, len(x.shape) - 1))
    n = int(x.shape[axis])
    kind = draw(st.sampled_from(["slice", "back", "pad", "reshape", "turn", "wide", "join"]))
    if kind == "slice":
        start = draw(st.integers(0, n - 1))
        stop = draw(st.integers(start + 1, n))
        return call("slice", x, axis=axis, start=start, stop=stop, step=1)
    if kind == "back":
        return call("slice", x, axis=axis, start=n - 1, stop=-1, step=-1)
    if kind == "pad":
        before = draw(st.integers(0, 1)) if n < LONGEST else 0
        return call("pad", x, axis=axis, before=before, after=0)
    if kind == "reshape":
        flat = int(np.prod(x.shape))
        return call("reshape", x, shape=(flat,) if flat <= LONGEST else (*x.shape[::-1],))
    if kind == "turn":
        return call("transpose", x, axes=tuple(draw(st.permutations(range(len(x.shape))))))
    if kind == "wide" and len(x.shape) < 3:
        return call("broadcast", x, shape=(2, *x.shape))
    return call("concatenate", x, x, axis=axis) if 2 * n <= LONGEST else x


@st.composite
def _reduced(draw: st.DrawFn, x: Body) -> Body:
    operation = draw(st.sampled_from(["sum", "max", "min", "cumsum"]))
    return call(operation, x, axis=draw(st.integers(0, len(x.shape) - 1)))


@st.composite
def booleans(draw: st.DrawFn, depth: int, exact: bool) -> Body:
    """A body of booleans; only inputs are compared where results may differ in rounding."""
    leaf = st.sampled_from([P, Q, literal(True), literal(False)])
    if depth <= 0:
        return draw(leaf)
    below = booleans(depth - 1, exact)
    kind = draw(st.sampled_from(["leaf", "not", "and", "compare"]))
    if kind == "leaf":
        return draw(leaf)
    if kind == "not":
        return call("logical_not", draw(below))
    if kind == "and":
        operation = draw(st.sampled_from(["logical_and", "logical_or"]))
        left = draw(below)
        return _fitting(operation, left, draw(st.one_of(st.just(left), below)))
    comparison = draw(st.sampled_from(["less", "equal", "greater_equal"]))
    one = floats(depth - 1, exact) if exact and draw(st.booleans()) else integers(depth - 1)
    left = draw(one)
    return _fitting(comparison, left, draw(st.one_of(st.just(left), one)))


@st.composite
def integers(draw: st.DrawFn, depth: int) -> Body:
    """A scalar integer body."""
    leaf = st.sampled_from([N, literal(0), literal(1), literal(-1), literal(3), h.value(h.b + h.t)])
    if depth <= 0:
        return draw(leaf)
    kind = draw(st.sampled_from(["leaf", "binary", "cast", "extremum", "where"]))
    below = integers(depth - 1)
    if kind == "leaf":
        return draw(leaf)
    if kind == "cast":
        return call("cast", draw(st.sampled_from([P, Q])), dtype="int32")
    if kind == "where":
        return call("where", draw(st.sampled_from([P, Q])), draw(below), draw(below))
    rows = ("add", "subtract", "multiply") if kind == "binary" else ("minimum", "maximum")
    return call(draw(st.sampled_from(rows)), draw(below), draw(below))


bodies = st.one_of(floats(4, True), booleans(4, True), integers(4))


@settings(max_examples=100)
@given(bodies)
def test_exact_rows_give_the_same_values_bit_by_bit(body: Body) -> None:
    before = program(body)
    after, _ = simplified(before, EXACT)
    assert_means_the_same(before, after, exact=True)


@settings(max_examples=60)
@given(floats(4, False))
def test_all_rows_give_the_same_values_within_rounding(body: Body) -> None:
    before = program(body)
    after, _ = simplified(before, ROWS)
    assert_means_the_same(before, after, exact=False)


@settings(max_examples=25)
@given(st.lists(floats(3, True), min_size=2, max_size=3), st.booleans())
def test_statements_that_share_parts_give_the_same_values(found: list[Body], fixed: bool) -> None:
    before = sharing(found, fixed)
    after, _ = simplified(before, EXACT)
    assert_means_the_same(before, after, exact=True)


def sharing(found: Sequence[Body], fixed: bool) -> Program:
    """Statements that have the bodies and pairs of them; `fixed` ones sum over them as well."""
    base = program(X)
    box = {"b": (0, h.B), "t": (0, h.T)}
    more = []
    for k, body in enumerate((*found, *found[:1])):
        pair = call("sqrt", _scalar(found[0])) if fixed else literal(1.0)
        whole = call("add", _scalar(body), pair)
        more.append(h.statement(f"z{k}", [h.b, h.t], whole, box))
    kept = [s for s in base.statements if s.array != "z"]
    return scheduled(
        h.equations(
            *kept,
            *more,
            sizes={"B": 3, "T": 4},
            dims={"b": h.B, "t": h.T},
            outputs=[f"z{k}" for k in range(len(more))],
        )
    )


# -- programs --------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(rules(causal=True), SIZES)
def test_random_program_simplified_computes_what_the_equations_mean(
    found: list[Rule], sizes: dict[str, int]
) -> None:
    root = wb.variant(written(found))
    try:
        after = root.apply(Simplify())
    except Refused as refused:
        assert refused.refusal.kind == "no effect"
        return
    assert_runs(root, after, sizes)


@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_program_simplified_computes_what_the_equations_mean(name: str, optimized: bool) -> None:
    template, many = PROGRAMS[name]
    root = wb.variant(template())
    before = automatic(name) if optimized else root
    try:
        after = before.apply(Simplify())
    except Refused as refused:
        assert refused.refusal.kind == "no effect"
        return
    for sizes in many[:1] if optimized else many:
        assert_runs(root, after, sizes)


def assert_runs(root: Any, after: Any, sizes: dict[str, int]) -> None:
    expected = truth(root.program, sizes, 3)
    result = wb.run(after, sizes=sizes, seed=3, dtype="float64", progress=False, backend="numpy")
    assert set(result) == {o.name for o in root.program.outputs}
    for name in result:
        np.testing.assert_allclose(result[name], expected.array(name), rtol=1e-9, atol=1e-9)
    check_native(after.program, result, sizes, 3)


def test_reinforce_counts_updates_once_for_all_moments() -> None:
    root = wb.variant(reinforce(B=4, I=2, T=5, hidden=(3,)))
    found = root.apply(Simplify("common_bodies"))
    new = {s.name: body_text(s.body) for s in found.program.statements if "common" in s.name}
    assert sorted(new.values()) == ["1.0 - 0.9 ** (i + 1)", "1.0 - 0.999 ** (i + 1)"]
    assert found.notes == (
        "common_bodies: y = g(f(x)), z = h(f(x)) → c = f(x), y = g(c), z = h(c), 2 times "
        f"({', '.join(new)})",
    )
    assert_runs(root, found, {})


def test_invariant_of_a_loop_is_none_of_an_axis() -> None:
    @wb.program
    def waves(T: int = 4) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.uniform(over=t)
        return {"y": x * wb.sqrt(1.0 * wb.index(T))}

    root = wb.variant(waves())
    assert root.check(Simplify("invariant_bodies")) is None
    assert root.apply(Simplify("invariant_bodies")).schedule == (
        "y.invariant\nfor t:\n    x\n    y\n"
    )
    assert root.apply(Vectorize("t")).check(Simplify("invariant_bodies")) is not None


def test_what_varies_over_a_dim_varies_over_its_blocks() -> None:
    @wb.program
    def steps(T: int = 5) -> dict[str, Any]:
        t = wb.dim(t=T)
        return {"y": wb.exp(wb.normal(over=t))}

    tiled = wb.variant(steps()).apply(Tile("t", 2))
    assert tiled.check(Simplify("invariant_bodies")).kind == "no effect"


def test_array_that_is_returned_stays_under_its_name() -> None:
    @wb.program
    def twice(T: int = 4) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.uniform(over=t)
        first = wb.recurrent("first", (), over=t)
        second = wb.recurrent("second", (), over=t)
        for array in (first, second):
            array[0] = 0.0
            array[t + 1] = 0.5 * array + x
        return {"second": second, "sum": (first * second).sum(over=t)}

    found = wb.variant(twice()).apply(Simplify("equal_statements"))
    assert "second" in found.program.array and "first" not in found.program.array
    assert wb.value(found, "first", t=1).value == wb.value(twice(), "first", t=1).value


# -- refusals --------------------------------------------------------------------------------------


@wb.program
def plain(T: int = 4) -> dict[str, Any]:
    t = wb.dim(t=T)
    x = wb.uniform(over=t)
    return {"y": (x * x) ** 2.0}


def refused(step: Simplify, found: Any = None) -> Any:
    refusal = wb.variant(plain() if found is None else found).check(step)
    assert refusal is not None
    return refusal


def test_unknown_rule_refused_with_the_nearest() -> None:
    found = refused(Simplify(("time_one",)))
    assert found.kind == "input"
    assert found.sentence.startswith(
        "Simplify(rules=('time_one',)): unknown rule time_one: did you mean times_one"
    )


def test_no_rule_refused() -> None:
    found = refused(Simplify(()))
    assert found.kind == "input"
    assert found.sentence == "Simplify(rules=()): rules is empty; name some, or leave it out"


def test_no_effect_refused_with_what_would_have_one() -> None:
    found = refused(Simplify("times_one"))
    assert found.kind == "no effect"
    assert found.sentence == (
        "Simplify(rules=('times_one',)): no equation has the form of times_one (x * 1 → x); "
        "others apply: square"
    )
    assert found.instead == (Simplify(("square",)),)
    assert wb.variant(plain()).check(found.instead[0]) is None


def test_no_effect_refused_where_nothing_applies() -> None:
    simplest = wb.variant(plain()).apply(Simplify()).program
    found = refused(Simplify(), simplest)
    assert found.kind == "no effect"
    assert found.sentence == f"Simplify(): none of the {len(ROWS)} rules applies"
    found = refused(Simplify("times_one"), simplest)
    assert found.sentence.endswith("(x * 1 → x); no other rule applies either")
    assert found.instead == ()


def test_an_index_whose_range_is_promised_stays_where_it_is_read_by() -> None:
    """Two arrays are read at it; as an array of its own it would promise nothing, and no steps are
    there of the last update.
    """

    @wb.program
    def example(I: int = 4, T: int = 3) -> dict[str, Any]:
        i, t = wb.dims(i=I, t=T)
        x, y = wb.uniform(over=(i, t)), wb.recurrent("y", (), over=(i, t))
        y[0, 0] = 2.0
        y[i + 1, 0] = 1.0
        y[i, t + 1] = 0.5 * y + x
        oldest = wb.maximum(i - 2, 0)
        held = wb.cast(wb.index(i + 1 - oldest), float)
        at = wb.index(oldest) + wb.cast(wb.uniform(over=i) * held, int)
        step = wb.cast(wb.uniform(over=i) * wb.cast(wb.index(T), float), int)
        seen = wb.gather(x, i=wb.within(at, oldest, i + 1), t=step)
        other = wb.gather(y, i=wb.within(at, oldest, i + 1), t=step)
        return {"seen": 2.0 * seen, "other": wb.sin(other)}

    variant = wb.variant(example())
    expected = truth(variant.program).outputs()
    simplified = variant.apply(Simplify()) if variant.check(Simplify()) is None else variant
    found = wb.run(simplified, "numpy", dtype="float64", progress=False)
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-12)
