"""isl's loop tree read into records: a loop that ran over a negated variable is turned back, a loop
of one iteration is replaced by its value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import islpy as isl

from workbench.names import free
from workbench.polyhedral.conditions import AffineComparison, Compound, Condition, negated, selected
from workbench.polyhedral.expression import Expression, expression, maximum, minimum, size, variable
from workbench.polyhedral.expressions.atoms import Extremum, FloorDivision
from workbench.polyhedral.loops.nodes import Guard, Instance, LoopNode, Node
from workbench.polyhedral.sets.isl_names import user_name
from workbench.polyhedral.tree import Loop

_Environment = Mapping[str, Expression]
"""The expressions that isl's iterators stand for."""


class Scheduled(Protocol):
    """A statement in isl's loops."""

    @property
    def name(self) -> str:
        """The statement's name."""
        ...

    @property
    def dims(self) -> Sequence[str]:
        """The names of the arguments of the call that isl generates for it."""
        ...

    def loop(self, depth: int) -> Loop:
        """Return the loop whose values stand at `depth`."""
        ...


def read(root: isl.AstNode, groups: Sequence[Sequence[Scheduled]]) -> tuple[Node, ...]:
    """Return isl's loop tree as records. A call of statement n stands for all of group n."""
    return _Reader(groups).read(root, {})


class _Reader:
    def __init__(self, groups: Sequence[Sequence[Scheduled]]) -> None:
        self.groups = groups

    def read(self, node: isl.AstNode, known: _Environment) -> tuple[Node, ...]:
        kind = _kind(node)
        if kind == "block":
            children = node.block_get_children()
            parts = (self.read(children.get_at(k), known) for k in range(children.n_ast_node()))
            return tuple(n for part in parts for n in part)
        if kind == "if":
            condition = _condition(node.if_get_cond(), known)
            result: tuple[Node, ...] = (
                Guard(condition, self.read(node.if_get_then_node(), known)),
            )
            if node.if_has_else_node():
                otherwise = self.read(node.if_get_else_node(), known)
                result = (*result, Guard(negated(condition), otherwise))
            return result
        if kind == "for":
            return self._for(node, known)
        assert kind == "user", kind
        return self._instances(node, known)

    def _instances(self, node: isl.AstNode, known: _Environment) -> tuple[Node, ...]:
        call = node.user_get_expr()
        group = self.groups[_statement(node)]
        dims = group[0].dims
        values = [_value(call.get_op_arg(k + 1), known) for k in range(len(dims))]
        return tuple(Instance(s.name, tuple(zip(dims, values, strict=True))) for s in group)

    def _for(self, node: isl.AstNode, known: _Environment) -> tuple[Node, ...]:
        iterator = node.for_get_iterator().get_id().get_name()
        first = _value(node.for_get_init(), known)
        if node.for_is_degenerate():
            return self.read(node.for_get_body(), {**known, iterator: first})
        last = _last(node.for_get_cond(), known)
        step = int(node.for_get_inc().get_val().to_python())
        # isl's iterators are named by depth, and all statements below share the loop there.
        loop = self.groups[_statement(node)][0].loop(int(iterator[1:]))
        taken = {variable for e in known.values() for variable in e.variables}
        name = free(loop.name, taken, mark="")
        value = variable(name)
        lower, upper = first, _behind(last)
        if step > 1:
            lower, upper = expression(0), (last - first) // step + 1
            value = first + value * step
        elif loop.backwards:
            lower, upper, value = _negative(last), _behind(_negative(first)), -value
        body = self.read(node.for_get_body(), {**known, iterator: value})
        backwards = loop.backwards and step == 1
        return (LoopNode(name, lower, upper, backwards, loop.name, body, loop.apart),)


def _statement(node: isl.AstNode) -> int:
    """Return the position of the first statement at or below a node."""
    kind = _kind(node)
    while kind != "user":
        if kind == "block":
            node = node.block_get_children().get_at(0)
        elif kind == "if":
            node = node.if_get_then_node()
        else:
            node = node.for_get_body()
        kind = _kind(node)
    return int(node.user_get_expr().get_op_arg(0).get_id().get_name()[1:])


def _behind(last: Expression) -> Expression:
    """Return `last + 1`, kept short.

    `(T - 1) // 64` gives `(T + 63) // 64`, `min(T - 1, n)` gives `min(T, n + 1)`.
    """
    (a, factor), *more = last.terms or ((None, 0),)
    if more or factor != 1 or last.constant:
        return last + 1
    if isinstance(a, Extremum):
        return (minimum if a.kind == "min" else maximum)(_behind(a.left), _behind(a.right))
    if isinstance(a, FloorDivision) and not a.divisor.terms:
        return (a.dividend + a.divisor) // a.divisor
    return last + 1


def _negative(e: Expression) -> Expression:
    """Return `-e`; of `max(1 - T, n)` it is `min(T - 1, -n)`."""
    (a, factor), *more = e.terms or ((None, 0),)
    if isinstance(a, Extremum) and not more and factor == 1:
        rest = e.constant
        return (maximum if a.kind == "min" else minimum)(-a.left - rest, -a.right - rest)
    return -e


def _last(condition: isl.AstExpr, known: _Environment) -> Expression:
    bound = _value(condition.get_op_arg(1), known)
    return bound - 1 if _operation(condition) == "lt" else bound


_COMBINE: Mapping[str, Callable[[Expression, Expression], Expression]] = {
    "add": lambda left, right: left + right,
    "sub": lambda left, right: left - right,
    "mul": lambda left, right: left * right,
    "min": minimum,
    "max": maximum,
    "div": lambda left, right: left // right,
    "pdiv_q": lambda left, right: left // right,
    "fdiv_q": lambda left, right: left // right,
    "pdiv_r": lambda left, right: left % right,
    "zdiv_r": lambda left, right: left % right,
}


def _value(e: isl.AstExpr, known: _Environment) -> Expression:
    kind = isl.ast_expr_type(e.get_type()).name
    if kind == "int":
        return expression(int(e.get_val().to_python()))
    if kind == "id":
        name = e.get_id().get_name()
        return known[name] if name in known else size(user_name(name))
    operation, arguments = _operation(e), _arguments(e)
    if operation in ("select", "cond"):
        then, otherwise = (_value(a, known) for a in arguments[1:])
        return selected(_condition(arguments[0], known), then, otherwise)
    first, *rest = (_value(a, known) for a in arguments)
    if operation == "minus":
        return -first
    for other in rest:
        first = _COMBINE[operation](first, other)
    return first


def _condition(e: isl.AstExpr, known: _Environment) -> Condition:
    if isl.ast_expr_type(e.get_type()).name == "int":
        return AffineComparison(expression(0), "<", _value(e, known))
    operation, arguments = _operation(e), _arguments(e)
    if operation in ("and", "and_then", "or", "or_else"):
        parts = tuple(_condition(a, known) for a in arguments)
        return Compound("and" if operation.startswith("and") else "or", parts)
    left, right = (_value(a, known) for a in arguments)
    if operation in ("ge", "gt"):
        left, right = right, left
    sign = {"eq": "==", "le": "<=", "ge": "<=", "lt": "<", "gt": "<"}[operation]
    return AffineComparison(left, sign, right)


def _operation(e: isl.AstExpr) -> str:
    return isl.ast_expr_op_type(e.get_op_type()).name.rstrip("_")


def _arguments(e: isl.AstExpr) -> list[isl.AstExpr]:
    return [e.get_op_arg(k) for k in range(e.get_op_n_arg())]


def _kind(node: isl.AstNode) -> str:
    return isl.ast_node_type(node.get_type()).name.rstrip("_")
