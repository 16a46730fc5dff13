from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.by_hand import (
    B,
    M,
    N,
    T,
    b,
    call,
    equations,
    i,
    k,
    m,
    read,
    statement,
    t,
    value,
)
from workbench.errors import ProgramError
from workbench.polyhedral.expression import choice, expression, minimum, variable
from workbench.program.bodies import Call, Literal
from workbench.program.values import Dim, Equations, External, Output, Statement
from workbench.program.wellformed.rules import check

OVER_T = {"t": (0, T)}
X = statement("x", [t], 1.0, OVER_T)


def refusal(*statements: Statement, **changes: Any) -> str:
    """The sentence (without the line) with which a program is refused."""
    p = equations(*statements, sizes={"B": 2, "T": 4, "M": 3, "N": 2}, dims={"t": T, "b": B})
    with pytest.raises(ProgramError) as error:
        check(replace(p, **changes))
    return error.value.message


def accepted(*statements: Statement, **more: Any) -> Equations:
    p = equations(
        *statements, sizes={"B": 2, "T": 4, "M": 3, "N": 2}, dims={"t": T, "b": B}, **more
    )
    check(p)
    return p


# -- what is a program --------------------------------------------------------------------------


def test_recurrence_in_pieces() -> None:
    accepted(
        statement("s", [b, 0], 0.0, {"b": (0, B)}),
        statement("s", [b, t + 1], call("add", read("s", b, t), 1.0), {"b": (0, B), **OVER_T}),
        statement("l", [], read("s", b, T), {}, {"b": (0, B)}),
    )


def test_lexicographic_successor() -> None:
    successor = [choice((m - M + 1,), i + 1, i), choice((m - M + 1,), 0, m + 1)]
    accepted(
        statement("w", successor, read("w", i, m), {"i": (0, N), "m": (0, M)}),
        statement("w", [0, 0], 0.0, {}),
        statement("y", [i], read("w", i, 0), {"i": (0, N + 1)}),
        names={"w": ("i", "m")},
    )


def test_gather_and_draws() -> None:
    accepted(
        X,
        statement("o", [b], call("permutation", shape=(B * T,)), {"b": (0, B)}),
        statement("u", [t], call("uniform", shape=()), OVER_T),
        statement("j", [t], call("remainder", value(t), 2), OVER_T),
        statement("y", [t], read("x", read("j", t, dtype="int32")), OVER_T),
    )


# -- names and indices --------------------------------------------------------------------------


def test_program_refused_when_names_repeat() -> None:
    assert refusal(X, X) == "two of the program's statements are called x(t)"
    message = "two of the program's dimensions and sizes are called T"
    assert refusal(X, dims=(Dim("T", T),)) == message


def test_program_refused_when_an_array_is_unknown() -> None:
    y = statement("y", [t], read("X", t), OVER_T)
    assert refusal(X, y) == "unknown array 'X': did you mean x? (arrays: x, y)"
    message = "output loss: unknown array 'l': the only one is x"
    assert refusal(X, outputs=(Output("loss", "l"),)) == message


def test_program_refused_when_nothing_defines_an_array() -> None:
    p = accepted(X)
    assert refusal(X, arrays=(*p.arrays, replace(p.arrays[0], name="z"))) == "nothing defines z"


def test_program_refused_when_an_index_is_missing() -> None:
    y = statement("y", [t], read("x"), OVER_T)
    assert refusal(X, y) == "x has 0 indices, but x has the dimensions t"
    y = statement("y", [t], read("x", t, 0), OVER_T)
    assert refusal(X, y) == "x[t, 0] has 2 indices, but x has the dimensions t"


def test_program_refused_when_a_dimension_is_unknown() -> None:
    y = statement("y", [t], read("x", k), OVER_T)
    assert refusal(X, y) == (
        "x[k] needs the dimension k, which the equation lacks: y[t] = x[k] has the dimensions t"
    )


def test_program_refused_when_a_size_is_unknown() -> None:
    y = statement("y", [t], value(t + T), OVER_T)
    p = equations(X, y, sizes={"TT": 2})
    with pytest.raises(ProgramError, match="unknown size 'T': the only one is TT"):
        check(p)


def test_program_refused_when_a_domain_is_over_other_dimensions() -> None:
    message = refusal(replace(X, dims=("b",), write=(b,)))
    assert message == "x[b] = 1.0: its domain is over t, its dimensions are b"


def test_program_refused_when_a_range_has_no_combiner() -> None:
    y = statement("y", [], read("x", t), {}, OVER_T)
    assert "a range needs one of sum, max, min, argmax" in refusal(X, replace(y, combiner="mean"))
    over = {"b": (0, B), **OVER_T}
    y = statement("y", [], read("x", t), {}, over, "argmax")
    assert "argmax runs over one dimension" in refusal(X, y)


def test_program_refused_when_a_range_goes_beyond_its_domain() -> None:
    y = statement("y", [t], read("x", k), OVER_T, {"k": (t, T)})
    wide = statement("y", [t], read("x", k), {"t": (0, T + 1)}, {"k": (0, T)})
    message = refusal(X, replace(y, reduction=wide.reduction))
    assert message.endswith("its range goes beyond its domain")


# -- types --------------------------------------------------------------------------------------


def test_program_refused_when_a_noted_type_is_wrong() -> None:
    wrong = Call("exp", (read("x", t),), "int32")
    assert "exp(x[t]) is float, but noted as int32" in refusal(
        X, statement("y", [t], wrong, OVER_T)
    )
    y = statement("y", [t], read("x", t, shape=(2,)), OVER_T)
    assert refusal(X, y) == "x[t] is float, but noted as float(2,)"
    y = statement("y", [t], Literal((1.0, 2.0), "float", (3,)), OVER_T)
    assert refusal(X, y) == "[1.0, 2.0] is float(2,), but noted as float(3,)"


def test_program_refused_when_shapes_do_not_fit() -> None:
    two, three = (Literal((1.0,) * n, "float", (n,)) for n in (2, 3))
    y = statement("y", [t], Call("add", (two, three), "float", (3,)), OVER_T)
    message = "[1.0, 1.0] + [1.0, 1.0, 1.0]: shapes (2,) and (3,) do not fit together"
    assert refusal(y) == message


def test_program_refused_when_dtypes_do_not_fit() -> None:
    y = statement("y", [t], Call("logical_not", (read("x", t),), "bool"), OVER_T)
    assert refusal(X, y) == "not x[t]: expected booleans, found float"


def test_program_refused_when_an_operation_is_unknown() -> None:
    y = statement("y", [t], Call("tan", (read("x", t),), "float"), OVER_T)
    assert refusal(X, y).startswith("unknown operation 'tan': did you mean ")
    y = statement("y", [t], Call("exp", (), "float"), OVER_T)
    assert refusal(X, y) == "exp takes 1 arguments, found 0"


def test_program_refused_when_an_index_is_not_an_integer() -> None:
    y = statement("y", [t], read("x", read("x", t)), OVER_T)
    assert refusal(X, y) == "x[x[t]]: an index is an integer scalar, found float"


def test_program_refused_when_a_piece_has_another_type() -> None:
    pieces = statement("s", [t + 1], 1.0, OVER_T), statement("s", [0], 0, {})
    assert refusal(*pieces) == "s[0] = 0 gives int32, but s is float"


# -- draws --------------------------------------------------------------------------------------


def draw(name: str, origin: str) -> Statement:
    return statement(name, [t], call("uniform", shape=()), OVER_T, origin=origin)


def test_program_refused_when_random_hashes_collide() -> None:
    # The first two numbered origins that hash to the same 32 bits.
    message = refusal(draw("u", "model/draw 34858"), draw("v", "model/draw 105062"))
    assert message == (
        "u(t) and v(t) would draw the same numbers: the origins 'model/draw 34858' and "
        "'model/draw 105062' have one 32-bit hash; name one differently"
    )
    accepted(draw("u", "model/draw 34858"), draw("v", "model/draw 105063"))


def test_program_refused_when_a_draw_shares_its_equation() -> None:
    twice = call("add", call("uniform", shape=()), call("uniform", shape=()))
    y = statement("y", [t], twice, OVER_T)
    assert refusal(y).endswith("a random draw needs an equation of its own, without a range")
    y = statement("y", [], call("uniform", shape=()), {}, OVER_T)
    assert refusal(y).endswith("a random draw needs an equation of its own, without a range")


def test_program_refused_when_a_draw_has_too_many_dimensions() -> None:
    dims = "abcdef"
    u = statement(
        "u", [variable(d) for d in dims], call("uniform", shape=()), dict.fromkeys(dims, (0, 2))
    )
    assert refusal(u).endswith(
        "a random draw over 6 dimensions (a, b, c, d, e, f), at most 5 are supported"
    )


# -- elements and instances ---------------------------------------------------------------------


def test_program_refused_when_a_write_is_outside() -> None:
    p = accepted(X)
    short = replace(p.arrays[0], extent=((expression(0), T - 1),))
    assert refusal(X, arrays=(short,)) == "x[t] is written beyond the elements of x, t=0..T-2"


def test_program_refused_when_pieces_overlap() -> None:
    message = refusal(X, statement("x", [T - 1], 0.0, {}))
    assert message == (
        "x[0] is defined twice (T=1): by x[t] = 1.0 at t=0 "
        "and by x[T - 1] = 0.0 at the only instance"
    )


def test_program_refused_when_a_write_is_not_injective() -> None:
    message = refusal(statement("x", [t // 2], 1.0, OVER_T))
    assert message == "x[0] is defined twice (T=2): by x[t // 2] = 1.0 at t=0 and at t=1"


def test_program_refused_when_a_read_is_outside() -> None:
    y = statement("y", [t], read("x", t + 1), OVER_T)
    assert refusal(X, y) == "x[t + 1] is read at t=0 (T=1), but x has elements t=0..0 only"
    y = statement("y", [t], read("x", k), OVER_T, {"k": (t, t + 3)})
    assert refusal(X, y) == "x[t:t + 3] is read at t=0 (T=1), but x has elements t=0..0 only"
    y = statement("y", [t], read("x", k), OVER_T, {"k": (t, minimum(t + 3, T))})
    accepted(X, y)


def test_program_refused_when_nothing_defines_an_element() -> None:
    s = statement("s", [t + 1], read("s", t), {"t": (1, T)}), statement("s", [0], 0.0, {})
    message = refusal(*s)
    assert message == "s[t] is read at t=1 (T=2), but nothing defines s at t=1"
    gathered = statement("y", [t], read("s", call("remainder", value(t), 2)), OVER_T)
    rows = statement("s", [2 * t], 1.0, OVER_T)
    message = refusal(rows, gathered)
    assert message == "s[t % 2] is read at t=0 (T=2), but nothing defines s at t=1"


def test_program_refused_when_a_maximum_is_empty() -> None:
    h = statement("h", [t], read("x", k), OVER_T, {"k": (t + 1, T)}, "max")
    message = refusal(X, h)
    assert message == "max over no points at t=0 (T=1): h[t] = max(k in t+1..T-1) x[k]"
    accepted(X, statement("h", [t], read("x", k), OVER_T, {"k": (t, T)}, "max"))


def test_refusals_carry_the_users_line() -> None:
    p = equations(X, statement("y", [t], read("x", t + 1), OVER_T), sizes={"T": 4})
    with pytest.raises(ProgramError, match=r"at: y\[t\] = \.\.\.    \(model\.py, line 1\)"):
        check(p)


# -- calls and what they are given --------------------------------------------------------------

ANSWER = {"name": "clock", "method": "step", "shape": (3,), "dtype": "float"}
CLOCK = External("clock", None, expression(1))


def test_a_call_of_an_external_object() -> None:
    accepted(statement("x", [t], call("external", **ANSWER), OVER_T), externals=(CLOCK,))


def test_a_call_refused_when_nobody_is_there() -> None:
    asked = statement("x", [t], call("external", **ANSWER), OVER_T)
    other = replace(CLOCK, name="cloak")
    assert refusal(asked, externals=(other,)) == (
        "unknown external object 'clock': did you mean cloak? (external objects: cloak)"
    )


def test_a_call_refused_when_it_is_part_of_a_body() -> None:
    asked = statement("x", [t], call("negative", call("external", **ANSWER)), OVER_T)
    assert "clock.step() needs an equation of its own, without a range" in refusal(
        asked, externals=(CLOCK,)
    )


def test_external_objects_refused_when_two_have_one_name() -> None:
    asked = statement("x", [t], call("external", **ANSWER), OVER_T)
    assert refusal(asked, externals=(CLOCK, CLOCK)) == (
        "two of the program's external objects are called clock"
    )


def test_collecting_refused_when_the_axis_is_not_filled() -> None:
    over = {"k": (1, B)}
    rows = statement("rows", [t], read("x", t), OVER_T, over, "collect")
    p = equations(X, rows, sizes={"B": 2, "T": 4}, dims={"t": T, "b": B})
    wide = tuple(replace(a, shape=(B,)) if a.name == "rows" else a for a in p.arrays)
    with pytest.raises(ProgramError, match="what is collected does not fill the leading axis"):
        check(replace(p, arrays=wide))


# -- after a step ---------------------------------------------------------------------------------


def test_every_rule_is_asked_of_what_a_step_changed() -> None:
    y = statement("y", [t], call("add", read("x", t), read("x", T - 1)), OVER_T)
    before = accepted(X, y)
    index = statement("y", [t], read("x", t + k), OVER_T)
    for changed, sentence in (
        (replace(before, statements=(X, index)), "needs the dimension k"),
        (replace(before, statements=(X, replace(y, body=read("x", t + 1)))), "x[t + 1]"),
        (replace(before, statements=(replace(X, body=value(expression(1))), y)), "gives int32"),
        (
            replace(before, statements=(statement("x", [t], 1.0, {"t": (1, T)}), y)),
            "nothing defines x at t=0",
        ),
        (replace(before, statements=(X, y, replace(y, name="z"))), "y[0] is defined twice"),
        (replace(before, statements=(X, y, replace(X, array="y"))), "two of the program's"),
        (replace(before, parameters=()), "unknown size 'T'"),
    ):
        with pytest.raises(ProgramError) as alone:
            check(changed)
        with pytest.raises(ProgramError) as after:
            check(changed, before)
        assert sentence in after.value.message
        assert after.value.message == alone.value.message


def test_an_array_that_changed_is_checked_where_it_is_read() -> None:
    y = statement("y", [t], call("add", read("x", t), 1.0), OVER_T)
    before = accepted(X, y)
    arrays = tuple(replace(a, dtype="int32") if a.name == "x" else a for a in before.arrays)
    statements = (replace(X, body=value(expression(1))), y)
    with pytest.raises(ProgramError, match=r"x\[t\] is int32, but noted as float"):
        check(replace(before, arrays=arrays, statements=statements), before)


def test_readers_of_what_a_step_took_away_are_checked() -> None:
    first = statement("x", [0], 0.0, {})
    later = statement("x", [t + 1], 1.0, OVER_T)
    y = statement("y", [t], read("x", t), OVER_T)
    before = accepted(first, later, y)
    with pytest.raises(ProgramError, match="nothing defines x at t=0"):
        check(replace(before, statements=(later, y)), before)


def test_draws_that_a_step_brought_are_checked_with_those_that_it_left() -> None:
    draw = statement("u", [t], call("uniform", shape=()), OVER_T)
    before = accepted(X, draw)
    again = replace(draw, name="u2", array="u2", body=call("normal", shape=()))
    arrays = (*before.arrays, replace(before.array["u"], name="u2"))
    with pytest.raises(ProgramError, match="would draw the same numbers"):
        check(replace(before, arrays=arrays, statements=(X, draw, again)), before)
