from __future__ import annotations

from dataclasses import replace

import pytest

from tests.by_hand import (
    B,
    M,
    T,
    b,
    call,
    equations,
    i,
    k,
    literal,
    m,
    n,
    ranges,
    read,
    statement,
    t,
    value,
)
from tests.programs import leaky_sum
from workbench.polyhedral.expression import Expression, choice, maximum, minimum, size, variable
from workbench.polyhedral.sets.relations import box, domain_with
from workbench.program.bodies import Body, Literal
from workbench.program.text.infix import body_text, equation, index_text
from workbench.program.values import Parameter

x, y, z = (read(name, t) for name in "xyz")
flag = read("flag", dtype="bool")
vector, matrix = read("v", t, shape=(3,)), read("W", shape=(2, 3))
SECOND = call("slice", vector, axis=0, start=1, stop=2, step=1)

INFIX: list[tuple[Body, str]] = [
    (call("add", x, call("multiply", y, z)), "x[t] + y[t] * z[t]"),
    (call("multiply", call("add", x, y), z), "(x[t] + y[t]) * z[t]"),
    (call("subtract", x, call("subtract", y, z)), "x[t] - (y[t] - z[t])"),
    (call("subtract", call("subtract", x, y), z), "x[t] - y[t] - z[t]"),
    (call("add", x, call("add", y, z)), "x[t] + y[t] + z[t]"),
    (call("divide", x, call("multiply", y, z)), "x[t] / (y[t] * z[t])"),
    (call("negative", call("add", x, y)), "-(x[t] + y[t])"),
    (call("power", call("negative", x), 2.0), "(-x[t]) ** 2.0"),
    (call("negative", call("power", x, 2.0)), "-x[t] ** 2.0"),
    (call("power", 0.99, value(k - t)), "0.99 ** (k - t)"),
    (call("multiply", x, -1.5), "x[t] * -1.5"),
    (call("less", call("add", x, 1.0), y), "x[t] + 1.0 < y[t]"),
    (
        call("logical_and", flag, call("logical_not", call("less", x, y))),
        "flag and not x[t] < y[t]",
    ),
    (call("logical_and", call("logical_or", flag, flag), flag), "(flag or flag) and flag"),
    (call("absolute", call("add", x, y)), "|x[t] + y[t]|"),
    (call("cast", call("add", x, y), dtype="float"), "x[t] + y[t]"),
    (call("multiply", 2, value(t + 1)), "2 * (t + 1)"),
    (call("add", 2, value(t)), "2 + t"),
]

# fmt: off
FUNCTIONS: list[tuple[Body, str]] = [
    (call("exp", call("negative", x)), "exp(-x[t])"),
    (call("where", flag, x, 0.0), "where(flag, x[t], 0.0)"),
    (call("contract", matrix, vector, spec="fg,g->f"), "W @ v[t]"),
    (call("contract", vector, matrix, spec="g,fg->f"), "W @ v[t]"),
    (call("contract", vector, matrix, spec="g,fg->gf"), 'contract["g,fg->gf"](v[t], W)'),
    (call("contract", vector, vector, spec="f,g->fg"), 'contract["f,g->fg"](v[t], v[t])'),
    (call("contract", vector, vector, spec="f,f->"), "v[t] @ v[t]"),
    (call("sum", vector, axis=0), "sum(v[t])"),
    (call("max", matrix, axis=1), "max(W, axis=1)"),
    (call("slice", vector, axis=0, start=0, stop=2, step=1), "v[t][:2]"),
    (call("slice", vector, axis=0, start=2, stop=-1, step=-1), "v[t][::-1]"),
    (call("slice", matrix, axis=1, start=1, stop=2, step=1), "W[:, 1:2]"),
    (call("transpose", matrix, axes=(1, 0)), "W.T"),
    (call("reshape", matrix, shape=(6,)), "reshape(W, shape=(6,))"),
    (call("one_hot", value(t), size=4), "one_hot(t, size=4)"),
    (call("reshape", SECOND, shape=()), "v[t][1]"),
    (call("multiply", call("reshape", SECOND, shape=()), x), "v[t][1] * x[t]"),
    (call("subtract", vector, call("reshape", call("max", vector, axis=0), shape=(1,))),
     "v[t] - max(v[t])"),
    (call("sum", call("broadcast", x, shape=(3,)), axis=0), "sum(broadcast(x[t], shape=(3,)))"),
    (call("multiply", call("broadcast", x, shape=(3,)), vector), "x[t] * v[t]"),
    (call("uniform", shape=()), "uniform()"),
    (call("permutation", shape=(B * T,)), "permutation(B * T)"),
    (call("normal", shape=(2, 3)), "normal((2, 3))"),
    (read("r", call("remainder", read("o", k, dtype="int32"), 4), i), "r[o[k] % 4, i]"),
    (literal(True), "True"),
    (literal(1 - 0.9), "0.1"),
    (literal(100.0), "100.0"),
    (literal(-2.5e-8), "-2.5e-08"),
    (Literal((0.5, 1.0), "float", (2,)), "[0.5, 1.0]"),
    (Literal(((0.5,), (1.0,)), "float", (2, 1)), "[[0.5], [1.0]]"),
    (Literal((0.0,) * 20, "float", (20,)), "constant(20,)"),
]
# fmt: on


@pytest.mark.parametrize(("body", "text"), INFIX + FUNCTIONS)
def test_body(body: Body, text: str) -> None:
    assert body_text(body) == text


@pytest.mark.parametrize(
    ("index", "text"),
    [
        (t % 2, "t % 2"),
        ((t + 1) % 3, "(t + 1) % 3"),
        (b + t % 2, "b + t % 2"),
        (2 * (t // 2), "2 * (t // 2)"),
        (t // 2, "t // 2"),
        (k - t, "k - t"),
        (k - b + 1, "k - b + 1"),
        (1 - t, "1 - t"),
        (-b - t, "-b - t"),
        (minimum(t + 1, T), "min(t + 1, T)"),
    ],
)
def test_index(index: Expression, text: str) -> None:
    assert index_text(index) == text


BOX = {"b": (0, B), "t": (0, T)}
P = equations(sizes={"B": 2, "T": 3}, dims={"b": B, "t": T})
r = read("r", b, k)


def test_suffix_sum() -> None:
    body = call("multiply", call("power", 0.99, value(k - t)), r)
    s = statement("g", [b, t], body, BOX, {"k": (t, T)})
    assert equation(s, P) == "g[b, t] = sum(k in t..T-1) 0.99 ** (k - t) * r[b, k]"


def test_sum_over_whole_dimensions_and_of_a_sum() -> None:
    body = call("add", read("r", b, t), 1.0)
    s = statement("l", [], body, {}, {"b": (0, B), "t": (0, T)})
    assert equation(s, P) == "l = sum(b, t) (r[b, t] + 1.0)"
    assert equation(s) == "l = sum(b in 0..B-1, t in 0..T-1) (r[b, t] + 1.0)"


def test_window_and_strict_range() -> None:
    s = statement("g", [b, t], r, BOX, {"k": (t, minimum(t + 3, T))}, "max")
    assert equation(s, P) == "g[b, t] = max(k in t..min(T - 1, t + 2)) r[b, k]"
    s = statement("g", [b, t], r, BOX, {"k": (t + 1, T)})
    assert equation(s, P) == "g[b, t] = sum(k in t+1..T-1) r[b, k]"


def test_reduction_that_is_empty_for_some_instances_shows_when() -> None:
    s = statement("g", [t], read("r", k), {"t": (0, T)}, {"k": (0, T)})
    only = domain_with(s.reduction, equal=[(t, Expression(0))])
    s = statement("g", [t], read("r", k), {"t": (0, T)}, {"k": (0, T)}, reduction=only)
    assert equation(s, P) == "g[t] = sum(k with t = 0 and 0 <= k < T) r[k]"


def test_domains_that_are_not_whole_are_shown() -> None:
    one = read("r", b, t)
    assert equation(statement("x", [b, t + 1], one, BOX), P) == "x[b, t + 1] = r[b, t]"
    s = statement("x", [b, t], one, {"b": (0, B), "t": (1, T)})
    assert equation(s, P) == "x[b, t] = r[b, t]  for 1 <= t < T"
    s = statement("x", [b, t], one, {"b": (1, 2), "t": (0, T)})
    assert equation(s, P) == "x[b, t] = r[b, t]  for b = 1"
    s = statement("x", [b, t], one, {"b": (0, B), "t": (b, T)})
    assert equation(s, P) == "x[b, t] = r[b, t]  for 0 <= b < B and b <= t < T"
    apart = domain_with(box(ranges(BOX)), equal=[(t % 2, Expression(0))])
    s = replace(statement("x", [b, t], one, BOX), domain=apart)
    assert equation(s, P) == "x[b, t] = r[b, t]  for (t) mod 2 = 0 and 0 <= b < B and 0 <= t < T"


def test_program() -> None:
    shape = (2,)
    logits = call("broadcast", read("s", b, t), shape=shape)
    p = equations(
        statement("s", [b, 0], 0.0, {"b": (0, B)}),
        statement("s", [b, t + 1], call("add", read("s", b, t), 1.0), BOX),
        statement("logits", [b, t], logits, BOX, scope=("policy", "head")),
        statement("a", [b, t], call("argmax", read("logits", b, t, shape=shape), axis=0), BOX,
                  scope=("policy", "head")),
        statement("loss", [], read("s", b, T), {}, {"b": (0, B)}),
        sizes={"B": 2, "T": 3},
        parameters=[Parameter("K", 0, B * T // 2)],
        dims={"b": B, "t": T},
        outputs=["loss"],
        description="Counts.\n\nMore.",
    )  # fmt: skip
    assert str(p) == (
        "model(B=2, T=3, K=B * T // 2)\n"
        "  Counts.\n"
        "  for b < B, t < T\n"
        "\n"
        "    s[b, 0] = 0.0\n"
        "    s[b, t + 1] = s[b, t] + 1.0\n"
        "\n"
        "  policy / head:\n"
        "    logits[b, t]: float(2,) = s[b, t]\n"
        "    a[b, t]: int32 = argmax(logits[b, t])\n"
        "\n"
        "    loss = sum(b) s[b, T]\n"
        "\n"
        "  return loss"
    )


def test_scopes_that_take_turns_have_one_heading_each() -> None:
    def scoped(name: str, scope: str, body: object) -> object:
        return statement(name, [b], body, {"b": (0, B)}, scope=(scope,) if scope else ())

    p = equations(
        scoped("g", "", 1.0),
        scoped("m_1", "optimizer", read("g", b)),
        scoped("w_1", "parameters", read("m_1", b)),
        scoped("m_2", "optimizer", read("g", b)),
        scoped("w_2", "parameters", read("m_2", b)),
        scoped("n", "optimizer", read("w_2", b)),
        scoped("loss", "", read("n", b)),
        scoped("last", "optimizer", read("g", b)),
        sizes={"B": 2},
        dims={"b": B},
        outputs=["loss"],
    )
    assert str(p).split("\n\n")[1:] == [
        "    g[b] = 1.0",
        "  optimizer:\n    m_1[b] = g[b]\n    m_2[b] = g[b]",
        "  parameters:\n    w_1[b] = m_1[b]\n    w_2[b] = m_2[b]",
        "  optimizer:\n    n[b] = w_2[b]",
        "    loss[b] = n[b]",
        "  optimizer:\n    last[b] = g[b]",
        "  return loss",
    ]


def test_greek_names_are_kept() -> None:
    γ, Λ = variable("γ"), size("Λ")
    s = statement("δ", [γ], read("x", γ), {"γ": (1, Λ)})
    assert equation(s) == "δ[γ] = x[γ]  for 1 <= γ < Λ"


def test_choice_is_an_expression() -> None:
    s = statement("w", [choice((m - M + 1,), i + 1, i)], value(n), {"i": (0, T), "m": (0, M)})
    assert equation(s).startswith("w[(i + 1 if m - M + 1 == 0 else i)] = n")
    assert body_text(value(maximum(t, 0))) == "max(t, 0)"


def test_a_program_is_one_line_in_an_error_and_all_of_it_as_text() -> None:
    found = leaky_sum()
    assert repr(found) == f"<program leaky_sum: {len(found.statements)} statements>"
    assert "0.5 * s[b, t]" in str(found)
