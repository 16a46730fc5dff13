"""Programs whose episodes end, as backends run them.

A lane whose episode has ended runs on beside others that are open: whatever it computes is read by
nothing. So it must not fail. Each index, number of choices, divisor or matrix to solve with that it
computes is replaced, where the episode has ended, by one that is as good as any. Sums of products
take it in: there the factors are 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from workbench.identity import remembered
from workbench.polyhedral.expression import Expression, variable
from workbench.program.bodies import Body, Call, IndexValue, Literal, Read, walk
from workbench.program.episodes.held import Held, chooses, condition, opens_of
from workbench.program.operations.table import first_index
from workbench.program.values import End, Equations, Statement

_FAILING = {
    "within": 0,
    "possible": 0,
    "positive": 0,
    "existing": 1,
    "floor_divide": 1,
    "remainder": 1,
    "one_hot": 0,
    "solve": 0,
    "cholesky": 0,
}
"""Operations that fail on some operands, with the position of that operand."""

_INDEXED = ("take", "put", "add_at")
"""Operations that fail on indices outside a table, which come last."""


@remembered(64)
def harmless(equations: Equations, summands: tuple[str, ...]) -> Equations:
    """Return the equations in which an instance that is not executed cannot fail: the same object
    where that is so already. `summands` are the statements whose instances are added up.
    """
    opens = opens_of(equations)
    zeros: dict[str, None] = {}
    changed: list[Statement] = []
    for s in equations.statements:
        plain = _product(s, s.name in summands, equations, opens, zeros)
        body = _harmless(plain.body, plain.guards, equations, opens)
        changed.append(plain if body == plain.body else replace(plain, body=body))
    statements = [_zero_elsewhere(s) if s.array in zeros else s for s in changed]
    if all(new is s for new, s in zip(statements, equations.statements, strict=True)):
        return equations
    return replace(equations, statements=tuple(statements))


def sums_of_products(
    equations: Equations, summands: tuple[str, ...]
) -> Mapping[str, tuple[str, ...]]:
    """Return the sums of products that have each array as a factor, by its name. They may take
    elements of instances that are not executed, which then have to be 0.
    """
    found: dict[str, dict[str, None]] = {}
    for s in equations.statements:
        adds = s.name in summands or s.combiner == "sum"
        if adds and isinstance(s.body, Call) and s.body.operation == "contract":
            for factor in s.body.arguments:
                if isinstance(factor, Read):
                    found.setdefault(factor.array, {})[s.name] = None
    return {array: tuple(names) for array, names in found.items()}


def may_fail(body: Body) -> bool:
    """Tell whether a body may fail, whatever is open."""
    return any(
        isinstance(part, Call) and (part.operation in _FAILING or part.operation in _INDEXED)
        for part in walk(body)
    )


# -- products --------------------------------------------------------------------------------------


def _product(
    s: Statement,
    adds: bool,
    equations: Equations,
    opens: Mapping[str, End],
    zeros: dict[str, None],
) -> Statement:
    """Return a sum of products of steps as such: where an episode has ended, its factors are 0.

    Arrays that have to be 0 there for that go into `zeros`; other factors are made so where they
    are read. An instance that adds nothing gets a guard.
    """
    held = chooses(s.body, opens)
    if not (adds or s.combiner == "sum") or held is None or len(held) != 1:
        return s
    assert isinstance(s.body, Call)
    (opened,), (_, product, otherwise) = held, s.body.arguments
    if not isinstance(product, Call) or product.operation != "contract" or not _is_zero(otherwise):
        return s
    factors: list[Body] = []
    for factor in product.arguments:
        if isinstance(factor, Read) and _exists_with(factor, opened, equations):
            zeros[factor.array] = None
        else:
            factor = _where((opened,), factor)
        factors.append(factor)
    own = {v for e in opened.index if isinstance(e, Expression) for v in e.variables}
    guards = tuple(dict.fromkeys((opened, *s.guards))) if adds and own <= set(s.dims) else s.guards
    return replace(s, body=replace(product, arguments=tuple(factors)), guards=guards)


def _exists_with(read: Read, opened: Read, equations: Equations) -> bool:
    """Tell whether an element is written just where what is open is true, in one piece."""
    writers = equations.writers[read.array]
    if len(writers) != 1 or not all(isinstance(e, Expression) for e in read.index):
        return False
    (writer,) = writers
    own = tuple(variable(d) for d in writer.dims)
    if len(writer.guards) != 1 or writer.write != own or writer.combiner not in (None, "sum"):
        return False
    (guard,) = writer.guards
    at = {d: e for d, e in zip(writer.dims, read.index, strict=True) if isinstance(e, Expression)}
    there = tuple(e.substitute(at) for e in guard.index if isinstance(e, Expression))
    return guard.array == opened.array and there == opened.index


def _zero_elsewhere(s: Statement) -> Statement:
    """Return the statement with 0 in the lanes that are not open."""
    body = _where(s.guards, s.body)
    return s if body == s.body else replace(s, body=body)


def _where(held: Held, body: Body) -> Body:
    zero = Literal(0.0 if body.dtype == "float" else 0, body.dtype)
    return _or(body, held, zero)


def _is_zero(body: Body) -> bool:
    return isinstance(body, Literal) and not body.shape and body.value == 0


# -- operands on which operations fail ------------------------------------------------------------


def _harmless(body: Body, held: Held, equations: Equations, opens: Mapping[str, End]) -> Body:
    if isinstance(body, Read):
        index = tuple(
            e
            if isinstance(e, Expression)
            else _or(_harmless(e, held, equations, opens), held, IndexValue(lower, e.dtype))
            for e, (lower, _) in zip(body.index, equations.array[body.array].extent, strict=True)
        )
        return replace(body, index=index)
    if not isinstance(body, Call):
        return body
    chosen = chooses(body, opens)
    arguments = [
        _harmless(a, (*held, *chosen) if chosen and k == 1 else held, equations, opens)
        for k, a in enumerate(body.arguments)
    ]
    for position in _positions(body):
        risky = arguments[position]
        arguments[position] = _or(risky, held, _safe(body, risky, arguments))
    return replace(body, arguments=tuple(arguments))


def _positions(call: Call) -> Sequence[int]:
    """Return the positions of the operands on which a call may fail."""
    if call.operation in _INDEXED:
        return range(first_index(call.operation), len(call.arguments))
    return [_FAILING[call.operation]] if call.operation in _FAILING else []


def _safe(call: Call, risky: Body, arguments: list[Body]) -> Body:
    """Return an operand on which an operation cannot fail."""
    if call.operation == "within":
        return arguments[1]
    if call.operation == "existing":
        return Literal(True, risky.dtype)
    if call.operation in ("solve", "cholesky"):
        return _identity(call.shape[-2])
    number = 1 if call.operation in ("floor_divide", "remainder") else 0
    return Literal(float(number) if risky.dtype == "float" else number, risky.dtype)


def _identity(n: int | Expression) -> Body:
    assert isinstance(n, int), "a matrix to solve with has numbers as sides"
    rows = tuple(tuple(float(i == j) for j in range(n)) for i in range(n))
    return Literal(rows, "float", (n, n))


def _or(body: Body, held: Held, otherwise: Body) -> Body:
    """Return `body` where all of what is open is, else `otherwise`."""
    if not held or isinstance(body, (Literal, IndexValue)):
        return body
    opened = condition(held)
    if isinstance(body, Call) and body.operation == "where" and body.arguments[0] == opened:
        return body
    return Call("where", (opened, body, otherwise), body.dtype, body.shape)
