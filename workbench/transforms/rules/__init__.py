"""The identities of `Simplify`, a row each: body before and after, and whether it rounds."""

from __future__ import annotations

from workbench.transforms.rules import algebra as a
from workbench.transforms.rules import movement as m
from workbench.transforms.rules import sharing, sums
from workbench.transforms.rules.row import Row

_BOTH = ("add", "subtract")

ROWS: tuple[Row, ...] = (
    Row("constants", "2.0 * 3.0", "6.0", a.constants),
    Row("times_one", "x * 1", "x", a.times_one, ("multiply",)),
    Row("times_minus_one", "x * -1", "-x", a.times_minus_one, ("multiply",)),
    Row("times_zero", "n * 0", "0", a.times_zero, ("multiply",)),
    Row("over_one", "x / 1", "x", a.over_one, ("divide",)),
    Row("minus_zero", "x - 0", "x", a.minus_zero, _BOTH),
    Row("plus_zero", "x + 0.0", "x", a.plus_zero, _BOTH, rounds=True),
    Row("minus_itself", "n - n", "0", a.minus_itself, ("subtract",)),
    Row("double_negation", "-(-x)", "x", a.double_negation, ("negative", "logical_not")),
    Row("added_negation", "x + -y", "x - y", a.added_negation, _BOTH),
    Row("negated_factors", "-x * -y", "x * y", a.negated_factors, ("multiply", "divide")),
    Row("negated_sum", "sum(-x)", "-sum(x)", a.negated_sum, ("sum",), rounds=True),
    Row("power_one", "x ** 1", "x", a.power_one, ("power",)),
    Row("square", "x ** 2", "x * x", a.square, ("power",), rounds=True),
    Row("over_power_of_two", "x / 4", "x * 0.25", a.over_power_of_two, ("divide",)),
    Row("reciprocal", "x / 3", "x * (1 / 3)", a.reciprocal, ("divide",), rounds=True),
    Row(
        "constants_together", "2 * x * 3", "6 * x", a.constants_together, ("multiply",), rounds=True
    ),
    Row("log_of_exp", "log(exp(x))", "x", a.log_of_exp, ("log",), rounds=True, finite=True),
    Row("exp_of_log", "exp(log(x))", "x", a.exp_of_log, ("exp",), rounds=True, finite=True),
    Row("same_branches", "where(c, x, x)", "x", a.same_branches, ("where",)),
    Row("known_condition", "where(True, x, y)", "x", a.known_condition, ("where",)),
    Row(
        "negated_condition", "where(not c, x, y)", "where(c, y, x)", a.negated_condition, ("where",)
    ),
    Row(
        "nested_condition",
        "where(c, where(c, x, y), z)",
        "where(c, x, z)",
        a.nested_condition,
        ("where",),
    ),
    Row(
        "same_operands",
        "maximum(x, x)",
        "x",
        a.same_operands,
        ("maximum", "minimum", "logical_and", "logical_or"),
    ),
    Row(
        "nested_extremes",
        "maximum(maximum(x, 1), 2)",
        "maximum(x, 2)",
        a.nested_extremes,
        ("maximum", "minimum"),
    ),
    Row("known_logic", "p and True", "p", a.known_logic, ("logical_and", "logical_or")),
    Row(
        "compared_to_itself",
        "n == n",
        "True",
        a.compared_to_itself,
        ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
    ),
    Row("same_cast", "float(x)", "x", m.same_cast, ("cast",)),
    Row("cast_of_cast", "float(int(p))", "float(p)", m.cast_of_cast, ("cast",)),
    Row("same_shape", "reshape(x, its shape)", "x", m.same_shape, ("reshape", "broadcast")),
    Row(
        "reshape_of_reshape",
        "reshape(reshape(x))",
        "reshape(x)",
        m.reshape_of_reshape,
        ("reshape",),
    ),
    Row(
        "broadcast_of_broadcast",
        "broadcast(broadcast(x))",
        "broadcast(x)",
        m.broadcast_of_broadcast,
        ("broadcast",),
    ),
    Row("repeated_operand", "broadcast(x) + y", "x + y", m.repeated_operand),
    Row("same_order", "transpose(x, (0, 1))", "x", m.same_order, ("transpose",)),
    Row("transpose_of_transpose", "x.T.T", "x", m.transpose_of_transpose, ("transpose",)),
    Row("whole_slice", "x[:]", "x", m.whole_slice, ("slice",)),
    Row("slice_of_slice", "x[2:][1:2]", "x[3:4]", m.slice_of_slice, ("slice",)),
    Row("slice_of_stack", "stack(x, y)[1:2]", "y", m.slice_of_stack, ("slice",)),
    Row(
        "slice_of_concatenation",
        "concatenate(x, y)[:1]",
        "x[:1]",
        m.slice_of_concatenation,
        ("slice",),
    ),
    Row("slice_of_broadcast", "broadcast(x)[:1]", "x", m.slice_of_broadcast, ("slice",)),
    Row("entry_of_table", "take(x, 2)", "x[2]", m.entry_of_table, ("take",)),
    Row("no_padding", "pad(x, 0, 0)", "x", m.no_padding, ("pad",)),
    Row("reduced_single", "max(x), x of one entry", "x", m.reduced_single, ("sum", "max", "min")),
    Row("summed_single", "sum(x), x of one entry", "x", m.summed_single, ("sum",), rounds=True),
    Row("repeated_sum", "sum(broadcast(x, n))", "x * n", sums.repeated_sum, ("sum",), rounds=True),
    Row(
        "constant_factor_of_sum",
        "sum(2 * x)",
        "2 * sum(x)",
        sums.constant_factor_of_sum,
        ("sum",),
        rounds=True,
    ),
    Row("one_hot_sum", "sum(x * one_hot(k))", "x[k]", sums.one_hot_sum, ("sum",), finite=True),
    Row(
        "sum_of_products",
        "sum(x * y)",
        "x @ y",
        sums.sum_of_products,
        ("sum",),
        rounds=True,
    ),
    Row(
        "sum_of_contraction",
        "sum(a @ b)",
        "one contraction",
        sums.sum_of_contraction,
        ("sum",),
        rounds=True,
    ),
    Row(
        "contraction_of_broadcast",
        "broadcast(x) @ y",
        "x * sum(y)",
        sums.contraction_of_broadcast,
        ("contract",),
        rounds=True,
    ),
    Row(
        "factored_sums",
        "sum(k) y * x[k]",
        "y * sum(k) x[k]",
        whole=sums.factored_sums,
        rounds=True,
        finite=True,
    ),
    Row("equal_statements", "y = f(x), z = f(x)", "y = f(x)", whole=sharing.equal_statements),
    Row(
        "common_bodies",
        "y = g(f(x)), z = h(f(x))",
        "c = f(x), y = g(c), z = h(c)",
        whole=sharing.common_bodies,
    ),
    Row(
        "invariant_bodies",
        "y[t] = f(x) * z[t]",
        "c = f(x), y[t] = c * z[t]",
        whole=sharing.invariant_bodies,
    ),
    Row("dead_statements", "y = f(x), not needed", "", whole=sharing.dead_statements),
)
"""The table, in the order in which rows are tried."""

BY_NAME: dict[str, Row] = {row.name: row for row in ROWS}

__all__ = ["BY_NAME", "ROWS", "Row"]
