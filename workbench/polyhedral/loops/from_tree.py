"""Loops from a schedule tree: plain records with the user's names, to print and to lower.

isl generates loops from a flattened schedule map; this file only translates. Axis dimensions are
projected out before (isl would invent loops for them); an axis in blocks leaves the number of its
block. A backwards loop is generated over the negated variable and turned back. A loop of one
iteration is replaced by its value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby

import islpy as isl

from workbench.names import free
from workbench.polyhedral.accesses import Instances
from workbench.polyhedral.conditions import AffineComparison, Compound, Condition, negated, selected
from workbench.polyhedral.expression import Expression, expression, maximum, minimum, size, variable
from workbench.polyhedral.expressions.atoms import Extremum, FloorDivision
from workbench.polyhedral.loops.axis_blocks import axis_blocks, with_blocks
from workbench.polyhedral.sets.as_text import (
    context,
    limited,
    parse_map,
    parse_set,
    project_out,
    sizes_in,
)
from workbench.polyhedral.sets.isl_names import dim_name, statement_tuple, user_name
from workbench.polyhedral.sets.isl_text import dims_text
from workbench.polyhedral.tree import (
    Block,
    Loop,
    Path,
    Tree,
    has_loop,
    loops_above,
    paths,
    standing,
    statements,
    with_child,
)

__all__ = [
    "AffineComparison",
    "Compound",
    "Condition",
    "Guard",
    "Instance",
    "LoopNode",
    "Node",
    "loops",
]

OPERATIONS = 20_000_000
"""The limit of isl operations for the loops of a whole program (tens of seconds)."""


@dataclass(frozen=True)
class LoopNode:
    """A loop `lower <= variable < upper`, or backwards from the last value.

    `dim` is the name of the tree's loop; `apart`: its iterations may run in any order.
    """

    variable: str
    lower: Expression
    upper: Expression
    backwards: bool
    dim: str
    body: tuple[Node, ...]
    apart: bool = False


@dataclass(frozen=True)
class Guard:
    """A condition around `body`."""

    condition: Condition
    body: tuple[Node, ...]


@dataclass(frozen=True)
class Instance:
    """One statement at given loop dimensions.

    Axis dimensions have no value here; the blocks in which they run have one
    (`axis_blocks.Block.number`).
    """

    statement: str
    values: tuple[tuple[str, Expression], ...]


Node = LoopNode | Guard | Instance


def loops(tree: Tree, instances: Mapping[str, Instances]) -> tuple[Node, ...]:
    """Return the loops that execute a tree. Every size is taken to be at least 1.

    A statement may occur several times (an iteration that differs is peeled). It is absent only
    where its domain is empty. Variables have the names of loops, numbered where nested.
    """
    return _by_parts((), tree, instances)


def _by_parts(
    around: tuple[Loop, ...], tree: Tree, instances: Mapping[str, Instances]
) -> tuple[Node, ...]:
    """Return the loops of a tree with the loops `around` it, generated part by part where the parts
    have the same loops around them: a step changes few of them, and isl takes longer for all.
    """
    if isinstance(tree, Loop) and tree.kind == "loop" and isinstance(tree.child, Block):
        return _by_parts((*around, tree), tree.child, instances)
    parts = list(_parts(tree)) if isinstance(tree, Block) else []
    if len(parts) > 1:
        joined = _joined([_by_parts(around, p, instances) for p in parts], len(around))
        if joined is not None:
            return joined
    for loop in reversed(around):
        tree = with_child(loop, tree)
    return _loops(tree, tuple(_Domain.of(instances[name]) for name in statements(tree)))


def _parts(tree: Block) -> Iterator[Tree]:
    """Yield the parts of a sequence: what has loops, and neighbours that have none together."""
    for looped, group in groupby(tree.children, key=has_loop):
        together = tuple(group)
        if looped:
            yield from together
        else:
            yield together[0] if len(together) == 1 else Block(together)


def _joined(parts: Sequence[tuple[Node, ...]], depth: int) -> tuple[Node, ...] | None:
    """Return parts one behind the other inside the loops around all, which are so many; None where
    they have not the same.
    """
    if depth == 0:
        return tuple(node for part in parts for node in part)
    first, *_ = heads = [part[0] for part in parts]
    if any(len(part) != 1 for part in parts) or not isinstance(first, LoopNode):
        return None
    same = replace(first, body=())
    bodies = []
    for head in heads:
        if not isinstance(head, LoopNode) or replace(head, body=()) != same:
            return None
        bodies.append(head.body)
    body = _joined(bodies, depth - 1)
    return None if body is None else (replace(first, body=body),)


@dataclass(frozen=True)
class _Domain:
    """The part of a statement that its loops depend on."""

    name: str
    dims: tuple[str, ...]
    text: str

    @staticmethod
    def of(statement: Instances) -> _Domain:
        return _Domain(statement.name, statement.dims, statement.domain)


@lru_cache(maxsize=1024)
def _loops(tree: Tree, domains: tuple[_Domain, ...]) -> tuple[Node, ...]:
    at = paths(tree)
    groups = _grouped([_Schedule(domain, at[domain.name]) for domain in domains])
    depth = max(len(group[0].path) for group in groups)
    whole = isl.UnionMap("{ }")
    names: list[str] = []
    for position, (first, *_) in enumerate(groups):
        own = first.relation(statement_tuple(position), depth)
        names += sizes_in(own)
        whole = whole.union(own.to_union_map())
    isl.DEFAULT_CONTEXT.set_ast_build_detect_min_max(1)
    with limited("generating loops", OPERATIONS):
        build = isl.AstBuild.from_context(context(names))
        root = build.node_from_schedule_map(whole)
        return _Reader(groups).read(root, {})


class _Schedule:
    """A statement's path as a vector of times: sequence positions and loop values."""

    def __init__(self, domain: _Domain, path: Path) -> None:
        self.name = domain.name
        self.path = path
        axes = {axis.dim for axis in loops_above(path, "axis")}
        blocks = axis_blocks(domain.name, domain.dims, path)
        self.whole = domain.dims
        self.blocks = {block.loop: block.number for block in blocks}
        self.dims = (*(d for d in domain.dims if d not in axes), *self.blocks.values())
        counted = with_blocks(domain.text, blocks)
        self.domain = project_out(counted, [d for d in domain.dims if d in axes])

    def loop(self, depth: int) -> Loop:
        """Return the loop whose values stand at `depth`."""
        node, _ = self.path[depth]
        assert isinstance(node, Loop), f"{self.name} has no loop at depth {depth}"
        return node

    def relation(self, name: str, depth: int) -> isl.Map:
        """Return { instance -> times }, padded to `depth`."""
        times = [self._time(node, at) for node, at in self.path]
        times += ["0"] * (depth - len(times))
        order = parse_map(f"{{ {name}[{dims_text(self.dims)}] -> [{', '.join(times)}] }}")
        return order.intersect_domain(parse_set(self.domain).set_tuple_name(name))

    def follows(self, other: _Schedule) -> bool:
        """Tell whether this runs right behind the other, wherever that runs and nowhere else."""
        if (self.dims, self.domain, len(self.path)) != (other.dims, other.domain, len(other.path)):
            return False
        *above, (last, at) = self.path or [(None, 0)]
        *others, (end, to) = other.path or [(None, 0)]
        if not isinstance(last, Block) or last is not end or at != to + 1:
            return False
        return all(
            node is same
            and p == q
            and (not isinstance(node, Loop) or node.offset(self.name) == node.offset(other.name))
            for (node, p), (same, q) in zip(above, others, strict=True)
        )

    def _time(self, node: Loop | Block, at: int) -> str:
        if not isinstance(node, Loop):
            return str(at)
        if node.kind == "axis":
            return "0"
        if node.name in self.blocks:
            value = dim_name(self.blocks[node.name])
        else:
            stands = standing(node, self.name, self.whole)
            value = f"{dim_name(self.whole[stands.position])} + {stands.shift}"
            value = value if stands.divisor == 1 else f"floor(({value})/{stands.divisor})"
        return f"-({value})" if node.backwards else value


def _grouped(schedules: Sequence[_Schedule]) -> list[list[_Schedule]]:
    """Group neighbours of one sequence that run at the same points: isl sees each group as one."""
    groups: list[list[_Schedule]] = []
    for s in schedules:
        if groups and s.follows(groups[-1][-1]):
            groups[-1].append(s)
        else:
            groups.append([s])
    return groups


_Environment = Mapping[str, Expression]
"""The expressions that isl's iterators stand for."""


class _Reader:
    """A reader of isl's loop tree into records."""

    def __init__(self, groups: Sequence[Sequence[_Schedule]]) -> None:
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
