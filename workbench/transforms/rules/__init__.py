"""The identities of `Simplify`, a row each: body before and after, and whether it rounds."""

from __future__ import annotations

from workbench.transforms.rules import algebra as a
from workbench.transforms.rules import movement as m
from workbench.transforms.rules import sharing, sums
from workbench.transforms.rules.row import RuleRow

_BOTH = ("add", "subtract")

ROWS: tuple[RuleRow, ...] = (
    RuleRow("constants", "2.0 * 3.0", "6.0", a.constants),
    RuleRow("times_one", "x * 1", "x", a.times_one, ("multiply",)),
    RuleRow("times_minus_one", "x * -1", "-x", a.times_minus_one, ("multiply",)),
    RuleRow("times_zero", "n * 0", "0", a.times_zero, ("multiply",)),
    RuleRow("over_one", "x / 1", "x", a.over_one, ("divide",)),
    RuleRow("minus_zero", "x - 0", "x", a.minus_zero, _BOTH),
    RuleRow("plus_zero", "x + 0.0", "x", a.plus_zero, _BOTH, rounds=True),
    RuleRow("minus_itself", "n - n", "0", a.minus_itself, ("subtract",)),
    RuleRow("double_negation", "-(-x)", "x", a.double_negation, ("negative", "logical_not")),
    RuleRow("added_negation", "x + -y", "x - y", a.added_negation, _BOTH),
    RuleRow("negated_factors", "-x * -y", "x * y", a.negated_factors, ("multiply", "divide")),
    RuleRow("negated_sum", "sum(-x)", "-sum(x)", a.negated_sum, ("sum",), rounds=True),
    RuleRow("power_one", "x ** 1", "x", a.power_one, ("power",)),
    RuleRow("square", "x ** 2", "x * x", a.square, ("power",), rounds=True),
    RuleRow("over_power_of_two", "x / 4", "x * 0.25", a.over_power_of_two, ("divide",)),
    RuleRow("reciprocal", "x / 3", "x * (1 / 3)", a.reciprocal, ("divide",), rounds=True),
    RuleRow(
        "constants_together", "2 * x * 3", "6 * x", a.constants_together, ("multiply",), rounds=True
    ),
    RuleRow("log_of_exp", "log(exp(x))", "x", a.log_of_exp, ("log",), rounds=True, finite=True),
    RuleRow("exp_of_log", "exp(log(x))", "x", a.exp_of_log, ("exp",), rounds=True, finite=True),
    RuleRow("same_branches", "where(c, x, x)", "x", a.same_branches, ("where",)),
    RuleRow("known_condition", "where(True, x, y)", "x", a.known_condition, ("where",)),
    RuleRow(
        "negated_condition", "where(not c, x, y)", "where(c, y, x)", a.negated_condition, ("where",)
    ),
    RuleRow(
        "nested_condition",
        "where(c, where(c, x, y), z)",
        "where(c, x, z)",
        a.nested_condition,
        ("where",),
    ),
    RuleRow(
        "same_operands",
        "maximum(x, x)",
        "x",
        a.same_operands,
        ("maximum", "minimum", "logical_and", "logical_or"),
    ),
    RuleRow(
        "nested_extremes",
        "maximum(maximum(x, 1), 2)",
        "maximum(x, 2)",
        a.nested_extremes,
        ("maximum", "minimum"),
    ),
    RuleRow("known_logic", "p and True", "p", a.known_logic, ("logical_and", "logical_or")),
    RuleRow(
        "compared_to_itself",
        "n == n",
        "True",
        a.compared_to_itself,
        ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
    ),
    RuleRow("same_cast", "float(x)", "x", m.same_cast, ("cast",)),
    RuleRow("cast_of_cast", "float(int(p))", "float(p)", m.cast_of_cast, ("cast",)),
    RuleRow("same_shape", "reshape(x, its shape)", "x", m.same_shape, ("reshape", "broadcast")),
    RuleRow(
        "reshape_of_reshape",
        "reshape(reshape(x))",
        "reshape(x)",
        m.reshape_of_reshape,
        ("reshape",),
    ),
    RuleRow(
        "broadcast_of_broadcast",
        "broadcast(broadcast(x))",
        "broadcast(x)",
        m.broadcast_of_broadcast,
        ("broadcast",),
    ),
    RuleRow("repeated_operand", "broadcast(x) + y", "x + y", m.repeated_operand),
    RuleRow("same_order", "transpose(x, (0, 1))", "x", m.same_order, ("transpose",)),
    RuleRow("transpose_of_transpose", "x.T.T", "x", m.transpose_of_transpose, ("transpose",)),
    RuleRow("whole_slice", "x[:]", "x", m.whole_slice, ("slice",)),
    RuleRow("slice_of_slice", "x[2:][1:2]", "x[3:4]", m.slice_of_slice, ("slice",)),
    RuleRow("slice_of_stack", "stack(x, y)[1:2]", "y", m.slice_of_stack, ("slice",)),
    RuleRow(
        "slice_of_concatenation",
        "concatenate(x, y)[:1]",
        "x[:1]",
        m.slice_of_concatenation,
        ("slice",),
    ),
    RuleRow("slice_of_broadcast", "broadcast(x)[:1]", "x", m.slice_of_broadcast, ("slice",)),
    RuleRow("entry_of_table", "take(x, 2)", "x[2]", m.entry_of_table, ("take",)),
    RuleRow("no_padding", "pad(x, 0, 0)", "x", m.no_padding, ("pad",)),
    RuleRow(
        "reduced_single", "max(x), x of one entry", "x", m.reduced_single, ("sum", "max", "min")
    ),
    RuleRow("summed_single", "sum(x), x of one entry", "x", m.summed_single, ("sum",), rounds=True),
    RuleRow(
        "repeated_sum", "sum(broadcast(x, n))", "x * n", sums.repeated_sum, ("sum",), rounds=True
    ),
    RuleRow(
        "constant_factor_of_sum",
        "sum(2 * x)",
        "2 * sum(x)",
        sums.constant_factor_of_sum,
        ("sum",),
        rounds=True,
    ),
    RuleRow("one_hot_sum", "sum(x * one_hot(k))", "x[k]", sums.one_hot_sum, ("sum",), finite=True),
    RuleRow(
        "sum_of_products",
        "sum(x * y)",
        "x @ y",
        sums.sum_of_products,
        ("sum",),
        rounds=True,
    ),
    RuleRow(
        "sum_of_contraction",
        "sum(a @ b)",
        "one contraction",
        sums.sum_of_contraction,
        ("sum",),
        rounds=True,
    ),
    RuleRow(
        "contraction_of_broadcast",
        "broadcast(x) @ y",
        "x * sum(y)",
        sums.contraction_of_broadcast,
        ("contract",),
        rounds=True,
    ),
    RuleRow(
        "factored_sums",
        "sum(k) y * x[k]",
        "y * sum(k) x[k]",
        whole=sums.factored_sums,
        rounds=True,
        finite=True,
    ),
    RuleRow("equal_statements", "y = f(x), z = f(x)", "y = f(x)", whole=sharing.equal_statements),
    RuleRow(
        "common_bodies",
        "y = g(f(x)), z = h(f(x))",
        "c = f(x), y = g(c), z = h(c)",
        whole=sharing.common_bodies,
    ),
    RuleRow(
        "invariant_bodies",
        "y[t] = f(x) * z[t]",
        "c = f(x), y[t] = c * z[t]",
        whole=sharing.invariant_bodies,
    ),
    RuleRow("dead_statements", "y = f(x), not needed", "", whole=sharing.dead_statements),
)
"""The table, in the order in which rows are tried."""

BY_NAME: dict[str, RuleRow] = {row.name: row for row in ROWS}

__all__ = ["BY_NAME", "ROWS"]
