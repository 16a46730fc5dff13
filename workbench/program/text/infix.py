"""Bodies and equations for a person to read: infix, few parentheses, the user's names.

Nothing parses this text. `listing.py` lays out a whole program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.polyhedral.expression import Expression
from workbench.polyhedral.expressions.atoms import FloorDivision, Named
from workbench.program.bodies import Body, Call, IndexValue, Literal, Read
from workbench.program.operations.operation import Level
from workbench.program.operations.shapes import shape_text
from workbench.program.operations.table import OPERATIONS
from workbench.program.sizes import numbers
from workbench.program.text.ranges import domain_text, reduction_text
from workbench.program.values import Equations, Statement

_SHOWN_ENTRIES = 8


def equation(statement: Statement, equations: Equations | None = None) -> str:
    """Return one statement as a line: `to_go[b, t] = sum(k in t..T-1) 0.9 ** (k - t) * gain[b, k]`.

    With all of a program's, ranges that are a dimension's whole range are left out.
    """
    left = element_text(statement.array, statement.write)
    return f"{left} = {right_side(statement, equations)}{domain_text(statement, equations)}"


def right_side(statement: Statement, equations: Equations | None = None) -> str:
    """Return what a statement's instance computes: combiner, range and body."""
    text, level = _rendered(statement.body)
    if statement.combiner is None:
        return text
    if level < Level.PRODUCT:
        text = f"({text})"
    return f"{statement.combiner}({reduction_text(statement, equations)}) {text}"


def body_text(body: Body) -> str:
    """Return a body in the user's notation."""
    return _rendered(body)[0]


def element_text(array: str, index: Sequence[Expression | Body]) -> str:
    """Return `value[b, i, t + 1]`; an array without dimensions is its name."""
    if not index:
        return array
    parts = (index_text(e) if isinstance(e, Expression) else body_text(e) for e in index)
    return f"{array}[{', '.join(parts)}]"


def index_text(e: Expression) -> str:
    """Return an index expression, `t - 2 * (t // 2)` written as `t % 2`."""
    for a, coefficient in e.terms:
        if not isinstance(a, FloorDivision) or a.divisor.terms:
            continue
        times, rest = divmod(-coefficient, a.divisor.constant)
        others = e - (a.dividend % a.divisor) * times
        if rest or times != 1 or len(others.terms) + 1 >= len(e.terms):
            continue
        inner = str(a.dividend)
        modulo = f"{inner if len(a.dividend.terms) == 1 and inner.isalnum() else f'({inner})'}"
        modulo += f" % {a.divisor.constant}"
        return modulo if others == 0 else f"{others} + {modulo}"
    return str(e)


def point_text(dims: Sequence[str], point: Sequence[int]) -> str:
    """Return a point by names: `b=0, i=0, t=3`."""
    return numbers(dict(zip(dims, point, strict=True)))


def at_text(dims: Sequence[str], point: Sequence[int], sizes: Mapping[str, int]) -> str:
    """Return `b=0, t=3 (B=2, T=4)` for messages; without dimensions only the sizes."""
    where = point_text(dims, point) or "the only instance"
    return f"{where} ({numbers(sizes)})" if sizes else where


# -- bodies -------------------------------------------------------------------------------------


def _rendered(body: Body, loose: bool = True) -> tuple[str, int]:
    """Return the text and the binding strength of its outermost operator.

    `loose`: the surroundings broadcast anyway, so a broadcast and a reshape by axes of size 1 are
    not shown.
    """
    if isinstance(body, Literal):
        return _literal(body)
    if isinstance(body, IndexValue):
        return index_text(body.expression), _expression_level(body.expression)
    if isinstance(body, Read):
        return element_text(body.array, body.index), Level.ATOM
    row = OPERATIONS[body.operation]
    if row.level < Level.ATOM:
        return _infix(body), row.level
    if body.operation == "cast" or (loose and _only_broadcasts(body)):
        return _rendered(body.arguments[0], loose)
    in_order = _matrix_factors(body) if body.operation == "contract" else None
    if in_order is not None:
        left, right = in_order
        factors = _within(left, Level.PRODUCT, False), _within(right, Level.PRODUCT + 1, False)
        return " @ ".join(factors), Level.PRODUCT
    return _function(body), Level.ATOM


def _within(body: Body, least: int, loose: bool = True) -> str:
    text, level = _rendered(body, loose)
    return text if level >= least else f"({text})"


def _infix(call: Call) -> str:
    row = OPERATIONS[call.operation]
    level, template = row.level, row.text
    assert template is not None
    if len(call.arguments) == 1:
        return template.format(_within(call.arguments[0], level))
    left, right = call.arguments
    if level == Level.POWER:
        return template.format(_within(left, Level.ATOM), _within(right, Level.NEGATIVE))
    left_least = level + 1 if level == Level.COMPARISON else level
    same = isinstance(right, Call) and right.operation == call.operation
    right_least = level if same and row.associative else level + 1
    return template.format(_within(left, left_least), _within(right, right_least))


def _matrix_factors(call: Call) -> tuple[Body, Body] | None:
    """Return the operands in the order in which a contraction is a matrix product, if it is one."""
    inputs, output = call.options["spec"].split("->")
    a, b = inputs.split(",")
    left, right = call.arguments
    for first, second, factors in ((a, b, (left, right)), (b, a, (right, left))):
        ranks = {len(first), len(second)} <= {1, 2}
        if not ranks or len(set(a + b)) != len(a + b) - 1 or first[-1] != second[0]:
            continue
        if output == first[:-1] + second[1:]:
            return factors
    return None


def _function(call: Call) -> str:
    row = OPERATIONS[call.operation]
    arguments = [_rendered(a, row.elementwise)[0] for a in call.arguments]
    options = dict(call.options)
    if call.operation == "slice":
        return _slice_text(call, options)
    entry = _entry(call)
    if entry is not None:
        return entry
    if call.operation == "contract":
        return f'contract["{options["spec"]}"]({", ".join(arguments)})'
    if call.operation == "transpose" and options["axes"] == (1, 0):
        return f"{_within(call.arguments[0], Level.ATOM, False)}.T"
    if row.text is not None:
        return row.text.format(*arguments)
    if row.given:
        return f'given("{options["name"]}")'
    if row.external:
        return f"{options['name']}.{options['method']}({', '.join(arguments)})"
    if row.random:
        shape = options.pop("shape")
        arguments = [str(shape[0]) if len(shape) == 1 else shape_text(shape)] if shape else []
        arguments += [f"at={d} + {n}" for d, n in options.pop("shift", ())]
    if "axis" in options and len(call.arguments) == 1 and len(call.arguments[0].shape) == 1:
        del options["axis"]
    arguments += [f"{name}={_option(value)}" for name, value in options.items()]
    return f"{call.operation}({', '.join(arguments)})"


def _slice_text(call: Call, options: Mapping[str, Any]) -> str:
    start, stop, step = options["start"], options["stop"], options["step"]
    width = call.arguments[0].shape[options["axis"]]
    if step == 1 and stop == start + 1:
        chosen = f"{start}:{stop}"
    else:
        first = "" if start == (0 if step > 0 else width - 1) else str(start)
        last = "" if stop == (width if step > 0 else -1) else str(stop)
        chosen = f"{first}:{last}" + (f":{step}" if step != 1 else "")
    before = ":, " * options["axis"]
    return f"{_within(call.arguments[0], Level.ATOM, False)}[{before}{chosen}]"


def _entry(call: Call) -> str | None:
    """Return `state[b, t][2]`: a slice of one entry, reshaped to drop that axis."""
    inner = call.arguments[0] if call.arguments else None
    if call.operation != "reshape" or not isinstance(inner, Call) or inner.operation != "slice":
        return None
    options, shape = inner.options, inner.shape
    axis, start = options["axis"], options["start"]
    if shape[axis] != 1 or call.shape != (*shape[:axis], *shape[axis + 1 :]):
        return None
    before = ":, " * axis
    return f"{_within(inner.arguments[0], Level.ATOM, False)}[{before}{start}]"


def _only_broadcasts(call: Call) -> bool:
    if call.operation == "broadcast":
        return True
    if call.operation != "reshape" or _entry(call) is not None:
        return False
    old, new = call.arguments[0].shape, call.shape
    return [n for n in old if n != 1] == [n for n in new if n != 1]


def _option(value: Any) -> str:
    return shape_text(value) if isinstance(value, tuple) else str(value)


def _literal(literal: Literal) -> tuple[str, int]:
    value = literal.value
    if isinstance(value, tuple):
        if np.size(value) > _SHOWN_ENTRIES:
            return f"constant{shape_text(literal.shape)}", Level.ATOM
        return str(value).replace("(", "[").replace(",)", ")").replace(")", "]"), Level.ATOM
    if literal.dtype == "float":
        value = float(value)
        text = f"{value:.12g}"  # 1 - 0.9 reads as 0.1
        return text if not text.lstrip("-").isdigit() else f"{text}.0", _sign_level(value)
    return str(value), _sign_level(value)


def _sign_level(value: float) -> int:
    return Level.NEGATIVE if value < 0 else Level.ATOM


def _expression_level(e: Expression) -> int:
    if not e.terms:
        return Level.ATOM if e.constant >= 0 else Level.NEGATIVE
    if len(e.terms) > 1 or e.constant:
        return Level.PRODUCT if "%" in index_text(e) and "+" not in index_text(e) else Level.SUM
    a, coefficient = e.terms[0]
    if coefficient < 0:
        return Level.SUM
    return Level.ATOM if coefficient == 1 and isinstance(a, Named) else Level.PRODUCT
