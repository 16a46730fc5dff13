"""Sets at given sizes as Python functions: the points after a known beginning, in order.

isl generates the loops once, and they run as fast as loops written by hand. Asking isl for each
instance would cost a hundred times that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, cast

import islpy as isl

from workbench.errors import ProgramError
from workbench.polyhedral.sets.as_text import parse_set, sizes_in
from workbench.polyhedral.sets.counting import at_sizes
from workbench.polyhedral.sets.isl_names import readable

NODE: Any = isl.ast_node_type  # islpy's type stubs lack the members that are Python keywords
EXPRESSION: Any = isl.ast_expr_type
OPERATION: Any = isl.ast_expr_op_type

Point = tuple[int, ...]
Scanner = Callable[[Point], list[Point]]


def scanner(text: str, sizes: Mapping[str, int], known: int) -> Scanner:
    """Return a function from the first `known` coordinates to all others, in order.

    With every coordinate known the answer is `[()]` where the point is in the set, else `[]`.
    """
    used = sizes_in(parse_set(text))
    return _scanner(text, tuple((name, sizes[name]) for name in used), known)


def contains(text: str, sizes: Mapping[str, int]) -> Callable[[Point], bool]:
    """Tell whether a point is in the set at the given sizes."""
    scan = scanner(text, sizes, parse_set(text).dim(isl.dim_type.set))
    return lambda point: bool(scan(point))


def pairs(related: isl.Map, sizes: Mapping[str, int]) -> list[tuple[Point, Point]]:
    """Return all pairs of a relation at the given sizes, in lexicographic order."""
    rank = related.dim(isl.dim_type.in_)
    flat = scanner(str(related.wrap().flatten()), sizes, 0)(())
    return [(point[:rank], point[rank:]) for point in flat]


@lru_cache(maxsize=4096)
def _scanner(text: str, sizes: tuple[tuple[str, int], ...], known: int) -> Scanner:
    fixed = at_sizes(parse_set(text), dict(sizes))
    rank = fixed.dim(isl.dim_type.set)
    fixed = fixed.move_dims(isl.dim_type.param, 0, isl.dim_type.set, 0, known)
    for position in range(known):
        fixed = fixed.set_dim_name(isl.dim_type.param, position, f"x{position}")
    if not fixed.is_bounded():
        raise ProgramError(f"{readable(text)} has no bound")
    lines = ["def scan(known):", "    found = []"]
    if known:
        lines.append("    (" + "".join(f"x{k}, " for k in range(known)) + ") = known")
    if not fixed.is_empty():
        lines += _statements(_loops(fixed.set_tuple_name("S"), rank - known), "    ")
    lines.append("    return found")
    scope: dict[str, object] = {}
    exec(compile("\n".join(lines), "<scan>", "exec"), scope)
    return cast(Scanner, scope["scan"])


def _loops(points: isl.Set, depth: int) -> isl.AstNode:
    names = isl.IdList.alloc(points.get_ctx(), depth)
    for position in range(depth):
        names = names.add(isl.Id(context=points.get_ctx(), name=f"c{position}"))
    build = isl.AstBuild.from_context(isl.Set.universe(points.get_space().params()))
    schedule = isl.Map.identity(points.get_space().map_from_set()).intersect_domain(points)
    return build.set_iterators(names).node_from_schedule_map(
        isl.UnionMap.from_map(schedule.reset_tuple_id(isl.dim_type.out))
    )


def _statements(node: isl.AstNode, indent: str) -> list[str]:
    kind: Any = node.get_type()
    if kind == NODE.block:
        children = node.block_get_children()
        parts = (_statements(children.get_at(k), indent) for k in range(children.n_ast_node()))
        return [line for part in parts for line in part]
    if kind == NODE.if_:
        lines = [f"{indent}if {_text(node.if_get_cond())}:"]
        lines += _statements(node.if_get_then_node(), indent + "    ")
        if node.if_has_else_node():
            lines += [f"{indent}else:", *_statements(node.if_get_else_node(), indent + "    ")]
        return lines
    if kind == NODE.for_:
        name, start = _text(node.for_get_iterator()), _text(node.for_get_init())
        if node.for_is_degenerate():
            return [f"{indent}{name} = {start}", *_statements(node.for_get_body(), indent)]
        cond = node.for_get_cond()
        inclusive = OPERATION.le == cond.get_op_type()
        stop = _text(cond.get_op_arg(1)) + (" + 1" if inclusive else "")
        header = f"{indent}for {name} in range({start}, {stop}, {_text(node.for_get_inc())}):"
        return [header, *_statements(node.for_get_body(), indent + "    ")]
    call = node.user_get_expr()
    values = "".join(f"{_text(call.get_op_arg(k))}, " for k in range(1, call.get_op_n_arg()))
    return [f"{indent}found.append(({values}))"]


_OPERATORS = {
    OPERATION.and_: "{0} and {1}",
    OPERATION.and_then: "{0} and {1}",
    OPERATION.or_: "{0} or {1}",
    OPERATION.or_else: "{0} or {1}",
    OPERATION.minus: "-{0}",
    OPERATION.add: "{0} + {1}",
    OPERATION.sub: "{0} - {1}",
    OPERATION.mul: "{0} * {1}",
    OPERATION.div: "{0} // {1}",
    OPERATION.fdiv_q: "{0} // {1}",
    OPERATION.pdiv_q: "{0} // {1}",
    OPERATION.pdiv_r: "{0} % {1}",
    OPERATION.zdiv_r: "{0} % {1}",
    OPERATION.cond: "{1} if {0} else {2}",
    OPERATION.select: "{1} if {0} else {2}",
    OPERATION.eq: "{0} == {1}",
    OPERATION.le: "{0} <= {1}",
    OPERATION.lt: "{0} < {1}",
    OPERATION.ge: "{0} >= {1}",
    OPERATION.gt: "{0} > {1}",
}


def _text(e: isl.AstExpr) -> str:
    kind: Any = e.get_type()
    if kind == EXPRESSION.id:
        return str(e.get_id().name)
    if kind == EXPRESSION.int:
        return str(int(e.get_val().to_python()))
    arguments = [_text(e.get_op_arg(k)) for k in range(e.get_op_n_arg())]
    operation: Any = e.get_op_type()
    if operation in (OPERATION.min, OPERATION.max):
        name = "min" if operation == OPERATION.min else "max"
        return f"{name}({', '.join(arguments)})"
    return "(" + _OPERATORS[operation].format(*arguments) + ")"
