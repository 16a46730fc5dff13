from __future__ import annotations

import numpy as np
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
    literal,
    m,
    n,
    read,
    statement,
    t,
    value,
)
from workbench.backends import philox
from workbench.backends.reference.evaluator import Reference
from workbench.errors import ProgramError
from workbench.polyhedral.expression import choice, maximum, minimum
from workbench.program.values import Alias, Equations, Parameter

SQUARE = statement("x", [t], call("multiply", value(t), value(t)), {"t": (0, T)})


def counted() -> Equations:
    """s[0] = 1; s[t + 1] = s[t] * 2 + t."""
    step = call("add", call("multiply", read("s", t), 2.0), value(t))
    return equations(
        statement("s", [t + 1], step, {"t": (0, T)}),
        statement("s", [0], 1.0, {}),
        sizes={"T": 4},
    )


def refusal(p: Equations, name: str = "x", *at: int, **sizes: int) -> str:
    with pytest.raises(ProgramError) as error:
        reference = Reference(p, sizes)
        if at:
            reference.element(name, at)
        else:
            reference.array(name)
    return str(error.value)


def test_recurrence_forwards() -> None:
    assert Reference(counted()).array("s").tolist() == [1, 2, 5, 12, 27]
    assert Reference(counted(), {"T": 1}).outputs()["s"].tolist() == [1, 2]


def test_recurrence_of_ten_thousand_steps_backwards() -> None:
    step = call("add", 1.0, call("multiply", 0.9, read("g", t + 1)))
    p = equations(
        statement("g", [t], step, {"t": (0, T)}),
        statement("g", [T], 0.0, {}),
        sizes={"T": 10_000},
    )
    g = Reference(p).array("g")
    left = 10_000 - np.arange(10_001)
    np.testing.assert_allclose(g, (1 - 0.9**left) / (1 - 0.9), rtol=1e-12)


def test_reductions_over_a_range_and_over_nothing() -> None:
    weight = call("power", 0.5, value(k - t))
    p = equations(
        SQUARE,
        statement("g", [t], call("multiply", weight, read("x", k)), {"t": (0, T)}, {"k": (t, T)}),
        statement("h", [t], read("x", k, dtype="int32"), {"t": (0, T)}, {"k": (t + 1, T)}),
        sizes={"T": 300},
    )
    x = np.arange(300) ** 2
    g = [sum(0.5 ** (k - t) * x[k] for k in range(t, 300)) for t in range(300)]
    np.testing.assert_allclose(Reference(p).array("g"), g, rtol=1e-13)
    h = Reference(p).array("h")
    assert h.dtype == np.int32 and h.tolist() == [x[t + 1 :].sum() for t in range(300)]


@pytest.mark.parametrize(("combiner", "expected"), [("max", 7), ("min", -2), ("argmax", 3)])
def test_other_combiners(combiner: str, expected: int) -> None:
    body = call("subtract", 7, call("absolute", call("subtract", value(k), 3)))
    p = equations(statement("x", [], body, {}, {"k": (0, T)}, combiner), sizes={"T": 13})
    assert Reference(p).element("x", ()) == expected


def test_argmax_takes_the_first_of_equals_across_blocks() -> None:
    body = call("remainder", value(k), 600)
    p = equations(statement("x", [], body, {}, {"k": (0, T)}, "argmax"), sizes={"T": 2000})
    assert Reference(p).element("x", ()) == 599


def test_two_dimensional_recurrence_and_range_reads() -> None:
    window = statement(
        "w", [b, t], read("y", b, k), {"b": (0, B), "t": (0, T)}, {"k": (t, minimum(t + 2, T))}
    )
    p = equations(
        statement("y", [b, t], call("add", value(b), value(2 * t)), {"b": (0, B), "t": (0, T)}),
        window,
        statement("z", [b + 1, t], call("add", read("z", b, t), read("w", b, t)),
                  {"b": (0, B), "t": (0, T)}),
        statement("z", [0, t], 0, {"t": (0, T)}),
        sizes={"B": 3, "T": 5},
    )  # fmt: skip
    y = np.arange(3)[:, None] + 2 * np.arange(5)
    w = y + np.pad(y[:, 1:], ((0, 0), (0, 1)))
    z = np.concatenate([np.zeros((1, 5)), np.cumsum(w, axis=0)])
    assert (Reference(p).array("z") == z).all()


def test_inner_tensors_and_a_contraction_summed_over_points() -> None:
    shape = (3,)
    x = call("multiply", call("broadcast", value(t), shape=shape), 2.0)
    outer = call("contract", read("x", k, shape=shape), read("x", k, shape=shape), spec="f,g->fg")
    p = equations(
        statement("x", [t], x, {"t": (0, T)}),
        statement("w", [], outer, {}, {"k": (0, T)}),
        statement("v", [t], call("contract", read("w", shape=(3, 3)), read("x", t, shape=shape),
                                 spec="fg,g->f"), {"t": (0, T)}),
        statement("s", [], call("add", read("x", k, shape=shape), value(k)), {}, {"k": (0, T)}),
        sizes={"T": 4},
    )  # fmt: skip
    reference = Reference(p)
    assert (reference.array("w") == np.full((3, 3), 56.0)).all()
    assert (reference.array("v")[2] == 3 * 56 * 4).all()
    assert (reference.array("s") == 18.0).all()
    assert not reference.element("w", ()).flags.writeable


def test_dtypes_are_as_declared() -> None:
    p = equations(
        statement("x", [t], call("less", value(t), 2), {"t": (0, T)}),
        statement("y", [], read("x", k, dtype="bool"), {}, {"k": (0, T)}),
        statement("z", [t], call("add", read("x", t, dtype="bool"), read("x", t, dtype="bool")),
                  {"t": (0, T)}),
        statement("w", [t], call("cast", read("x", t, dtype="bool"), dtype="int64"), {"t": (0, T)}),
        statement("h", [t], call("divide", value(t), 2), {"t": (0, T)}),
        sizes={"T": 4},
    )  # fmt: skip
    outputs = Reference(p).outputs()
    assert [outputs[a].dtype for a in "xyzwh"] == [
        np.bool_, np.int32, np.int32, np.int64, np.float64
    ]  # fmt: skip
    assert outputs["y"] == 2 and outputs["z"].tolist() == [2, 2, 0, 0]
    assert outputs["h"].tolist() == [0, 0.5, 1, 1.5]


def test_lexicographic_successor_is_inverted() -> None:
    inner = {"i": (0, N), "m": (0, M)}
    successor = [choice((m - M + 1,), i + 1, i), choice((m - M + 1,), 0, m + 1)]
    p = equations(
        statement("theta", successor, call("add", read("theta", i, m, dtype="int32"), 1), inner),
        statement("theta", [0, 0], 0, {}),
        sizes={"N": 3, "M": 4},
        names={"theta": ("i", "m")},
    )
    reference = Reference(p)
    theta = reference.array("theta")
    assert theta[:3].ravel().tolist() == list(range(12))
    assert theta[3, 0] == 12 and theta.shape == (4, 4)
    assert reference.mask("theta")[3].tolist() == [True, False, False, False]
    assert theta[3, 1] == 0  # an integer array has no NaN


def test_elements_that_nothing_writes_are_nan() -> None:
    p = equations(
        statement("x", [2 * t], call("cast", value(t), dtype="float"), {"t": (0, T)}),
        sizes={"T": 3},
    )
    np.testing.assert_array_equal(Reference(p).array("x"), [0, np.nan, 1, np.nan, 2])


def test_gather() -> None:
    position = call("remainder", call("multiply", value(t), 3), 4)
    p = equations(
        SQUARE,
        statement("y", [t], read("x", position, dtype="int32"), {"t": (0, T)}),
        statement("z", [], read("x", call("remainder", value(k), 2), dtype="int32"), {},
                  {"k": (0, T)}),
        sizes={"T": 4},
    )  # fmt: skip
    assert Reference(p).array("y").tolist() == [0, 9, 4, 1]
    assert Reference(p).array("z") == 2


def test_random_draws_are_those_of_the_instance() -> None:
    box = {"b": (0, B), "t": (0, T)}
    p = equations(
        statement("u", [b, t], call("uniform", shape=()), box, origin="model/u"),
        statement("z", [b, t], call("normal", shape=(70,)), box, origin="model/z"),
        statement("o", [b], call("permutation", shape=(B * T,)), {"b": (0, B)}, origin="model/o"),
        sizes={"B": 2, "T": 3},
    )
    reference = Reference(p, seed=7)
    key = philox.statement_key("model/u")
    at = np.arange(2)[:, None], np.arange(3)
    assert (reference.array("u") == philox.uniform(philox.words(7, key, at, 1))[..., 0]).all()
    key = philox.statement_key("model/z")
    assert (reference.array("z") == philox.normal(philox.words(7, key, at, 70))).all()
    assert sorted(reference.element("o", (1,))) == list(range(6))
    larger = Reference(p, {"B": 5, "T": 4}, seed=7)
    assert (larger.array("u")[:2, :3] == reference.array("u")).all()
    assert (Reference(p, seed=8).array("u") != reference.array("u")).all()


def test_given_elements_override_equations() -> None:
    given = {"s": lambda at: 100.0 if at == (2,) else None}
    reference = Reference(counted(), given=given)
    assert reference.array("s").tolist() == [1, 2, 100, 202, 407]
    assert reference.inputs("s", (2,)) == []


def test_inputs_are_the_elements_read_directly() -> None:
    found = Reference(counted()).inputs("s", (3,))
    assert [(f.read.array, f.element, float(f.value)) for f in found] == [("s", (2,), 5.0)]


def test_aliases_and_outputs_name_arrays() -> None:
    state, following = Alias("state", "s", ("t",), (t,)), Alias("following", "s", ("t",), (t + 1,))
    p = equations(*counted().statements, sizes={"T": 4}, aliases=(state, following))
    assert Reference(p).element("state", (1,)) == 2
    with pytest.raises(ProgramError, match=r"^following is s\[t \+ 1\]: ask for s$"):
        Reference(p).element("following", (1,))


def test_derived_sizes_count() -> None:
    p = equations(
        statement("x", [k], value(k), {"k": (0, M)}),
        sizes={"B": 4, "T": 3},
        parameters=[Parameter("M", 0, B * T)],
    )
    assert len(Reference(p, {"T": 5}).array("x")) == 20


def test_reference_refused_when_a_read_is_outside() -> None:
    p = equations(
        SQUARE,
        statement("y", [t], read("x", t + 1, dtype="int32"), {"t": (0, T)}),
        sizes={"T": 4},
    )
    message = refusal(p, "y")
    assert message.startswith("x[t + 1] is read at t=3 (T=4), but x has elements t=0..3 only")
    assert message.endswith("at: y[t] = ...    (model.py, line 1)")


def test_reference_refused_when_a_gathered_position_is_outside() -> None:
    position = call("multiply", value(t), 2)
    p = equations(
        SQUARE,
        statement("y", [t], read("x", position, dtype="int32"), {"t": (0, T)}),
        sizes={"T": 4},
    )
    expected = "x[t * 2] is read at t=2 (T=4) with t=4, but x has elements t=0..3 only"
    assert expected in refusal(p, "y")


def test_reference_refused_when_nothing_defines_an_element() -> None:
    p = equations(
        statement("x", [t + 1], read("x", t), {"t": (1, T)}),
        statement("x", [0], 1.0, {}),
        sizes={"T": 4},
    )
    assert "x[t] is read at t=1 (T=4), but nothing defines x at t=1" in refusal(p, "x", 3)
    assert "nothing defines x at t=1 (T=4)" in refusal(p, "x", 1)
    assert "x has elements t=0..4 only, asked for t=5 (T=4)" in refusal(p, "x", 5)
    assert "x has the dimensions t, asked for 2 coordinates" in refusal(p, "x", 5, 1)


def test_reference_refused_when_an_instance_needs_itself() -> None:
    p = equations(
        statement("x", [t], read("y", maximum(t - 1, 0)), {"t": (0, T)}),
        statement("y", [t], read("x", t), {"t": (0, T)}),
        sizes={"T": 4},
        dims={"t": T},
    )
    message = refusal(p, "x", 3)
    assert "y[0] needs itself (T=4): y[0] → x[0] → y[0]\n" in message
    assert "  y[t] = x[t]\n  x[t] = y[max(t - 1, 0)]\n" in message


def test_reference_refused_when_a_maximum_has_no_points() -> None:
    p = equations(
        SQUARE,
        statement("h", [t], read("x", k, dtype="int32"), {"t": (0, T)}, {"k": (t + 1, T)}, "max"),
        sizes={"T": 4},
        dims={"t": T},
    )
    message = refusal(p, "h")
    assert message.startswith("max over no points at t=3 (T=4): h[t] = max(k in t+1..T-1) x[k]\n")


def test_reference_refused_when_the_array_is_unknown() -> None:
    message = "unknown array 'S': did you mean s? (arrays: s)"
    assert message in refusal(counted(), "S", 0)


def test_reference_evaluates_only_what_is_asked() -> None:
    p = equations(
        statement("x", [t], read("nowhere", t), {"t": (1, T)}),
        statement("x", [0], literal(2.0), {}),
        statement("nowhere", [n], read("nowhere", n), {"n": (0, T)}),
        sizes={"T": 4},
    )
    assert Reference(p).element("x", (0,)) == 2


def test_watch_is_told_of_every_operation_with_its_operands() -> None:
    seen: list[tuple[str, str, float]] = []
    reference = Reference(
        counted(), watch=lambda s, c, xs: seen.append((s.array, c.operation, float(xs[0])))
    )
    reference.element("s", [2])
    assert seen == [
        ("s", "multiply", 1.0),
        ("s", "add", 2.0),
        ("s", "multiply", 2.0),
        ("s", "add", 4.0),
    ]


def test_computed_says_what_the_equation_gives_where_another_value_is_given() -> None:
    reference = Reference(counted(), given={"s": lambda at: 100.0 if at == (2,) else None})
    assert reference.element("s", [3]) == 202.0
    assert reference.computed("s", [2]) == 5.0
    with pytest.raises(ProgramError, match="nothing defines s at t=9"):
        reference.computed("s", [9])
