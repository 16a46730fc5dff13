"""The summand of a reduction as factors: powers that move with the instance, the instance's own
factors, and the rest, equal for every instance.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workbench.polyhedral.expression import Expression, ExpressionLike, expression, variable
from workbench.program.bodies import Body, Call, IndexValue, Literal, Read, walk
from workbench.program.operations.table import OPERATIONS
from workbench.program.text.infix import body_text
from workbench.program.values import Program, Statement

Bindings = Mapping[str, ExpressionLike]


class NotAWeight(Exception):
    """An error: `text` depends on the instance and on the range in a way that no recurrence has."""

    def __init__(self, body: Body) -> None:
        self.text = body_text(body)
        super().__init__(self.text)


@dataclass(frozen=True)
class Power:
    """A power `base ** exponent`, the base the same for all instances and points."""

    base: Body
    exponent: Expression


@dataclass(frozen=True)
class Outer:
    """The instance's own factor, divisor, or condition (else 0)."""

    operation: str
    body: Body

    def around(self, inner: Body) -> Body:
        """Return the value with the factor."""
        if self.operation == "where":
            zero = Literal(0.0 if inner.dtype == "float" else 0, inner.dtype)
            return call("where", self.body, inner, zero)
        if self.operation == "divide":
            return call("divide", inner, self.body)
        return call("multiply", self.body, inner)


@dataclass(frozen=True)
class Summand:
    """A summand `outer * powers * rest`: only powers depend on both the instance and the point."""

    rest: Body
    powers: tuple[Power, ...] = ()
    outer: tuple[Outer, ...] = ()

    def at(self, values: Bindings) -> Body:
        """Return powers times the rest, at an instance and a point that are given by dimension."""
        moved = substituted(self.rest, values)
        return scaled(self._product([p.exponent.substitute(values) for p in self.powers]), moved)

    def ratio(self, here: Bindings, there: Bindings) -> Body | None:
        """Return the ratio of one instance's value of any point to another's; None for 1."""
        return self._product(
            [p.exponent.substitute(here) - p.exponent.substitute(there) for p in self.powers]
        )

    def _product(self, exponents: list[Expression]) -> Body | None:
        number, factors = 1.0, list[Body]()
        for power, exponent in zip(self.powers, exponents, strict=True):
            if isinstance(power.base, Literal) and not exponent.terms:
                with np.errstate(over="ignore"):
                    number *= float(np.float64(power.base.value) ** exponent.constant)
            elif exponent != 0:
                factors.append(_power(power.base, exponent))
        if number != 1.0:
            factors.insert(0, Literal(number, "float"))
        product: Body | None = None
        for factor in factors:
            product = factor if product is None else call("multiply", product, factor)
        return product


def _power(base: Body, exponent: Expression) -> Body:
    if exponent == 1:
        return base
    if not exponent.terms:
        return call("power", base, Literal(float(exponent.constant), "float"))
    return call("power", base, call("cast", IndexValue(exponent), dtype="float"))


# -- small bodies ----------------------------------------------------------------------------------


def call(operation: str, *arguments: Body, **options: Any) -> Call:
    """Make an operation with dtype and shape by its row's rules."""
    row = OPERATIONS[operation]
    dtype = row.dtype([a.dtype for a in arguments], options)
    shape = row.shape([a.shape for a in arguments], options)
    return Call(operation, arguments, dtype, shape, tuple(options.items()))


def scaled(factor: Body | None, body: Body) -> Body:
    """Return the product; the body where there is no factor."""
    return body if factor is None else call("multiply", factor, body)


def substituted(body: Body, values: Bindings) -> Body:
    """Return the body with dimensions replaced by expressions."""
    if isinstance(body, IndexValue):
        return replace(body, expression=body.expression.substitute(values))
    if isinstance(body, Read):
        index = tuple(
            e.substitute(values) if isinstance(e, Expression) else substituted(e, values)
            for e in body.index
        )
        return replace(body, index=index)
    if isinstance(body, Call):
        return replace(body, arguments=tuple(substituted(a, values) for a in body.arguments))
    return body


def used(body: Body) -> frozenset[str]:
    """Return the dimensions on which the body's value depends."""
    dims: set[str] = set()
    for part in walk(body):
        if isinstance(part, IndexValue):
            dims |= part.expression.variables
        elif isinstance(part, Read):
            dims |= {v for e in part.index if isinstance(e, Expression) for v in e.variables}
    return frozenset(dims)


def inlined(program: Program, body: Body, dim: str, over: Collection[str]) -> Body:
    """Inline arrays read at both the instance and the point that each hold only a formula."""
    if isinstance(body, Call):
        arguments = tuple(inlined(program, a, dim, over) for a in body.arguments)
        return replace(body, arguments=arguments)
    if not isinstance(body, Read) or not _on_both(body, dim, over):
        return body
    writers = program.writers[body.array]
    if len(writers) != 1 or not _is_formula(writers[0]):
        return body
    values: dict[str, Expression] = {}
    for written, e in zip(writers[0].write, body.index, strict=True):
        if not isinstance(e, Expression):
            return body
        values[str(written)] = e
    return inlined(program, substituted(writers[0].body, values), dim, over)


def _is_formula(statement: Statement) -> bool:
    """Tell whether the body can stand for the statement's elements: one instance each, by name."""
    calls = (b for b in walk(statement.body) if isinstance(b, Call))
    return (
        statement.combiner is None
        and set(statement.write) == {variable(d) for d in statement.dims}
        and all(OPERATIONS[b.operation].pure for b in calls)
    )


def _on_both(body: Body, dim: str, over: Collection[str]) -> bool:
    varying = used(body)
    return dim in varying and not varying.isdisjoint(over)


# -- splitting a body ------------------------------------------------------------------------------


def factored(body: Body, dim: str, over: Collection[str]) -> Summand:
    """Split the body into a summand along `dim` and `over`. Raises NotAWeight."""
    factoring = _Factoring(dim, frozenset(over))
    rest = factoring.visit(body, elementwise=True)
    summand = Summand(_or_one(rest, body), tuple(factoring.powers), tuple(factoring.outer))
    whole = scaled(None, summand.rest)
    for outer in summand.outer:
        whole = outer.around(whole)
    if whole.shape != body.shape or (summand.powers and summand.rest.dtype != "float"):
        raise NotAWeight(body)
    return summand


def _or_one(body: Body | None, like: Body) -> Body:
    if body is not None:
        return body
    return Literal(1.0 if like.dtype == "float" else 1, like.dtype)


class _Factoring:
    def __init__(self, dim: str, over: frozenset[str]) -> None:
        self.dim = dim
        self.over = over
        self.powers: list[Power] = []
        self.outer: list[Outer] = []

    def visit(self, body: Body, elementwise: bool) -> Body | None:
        """Take factors out and return the rest; None for 1. `elementwise`: only products and
        conditions are around it, so a factor of any shape can be taken out.
        """
        power = self._power(body)
        if power is not None:
            self.powers.append(power)
            return None
        if self.dim not in used(body):
            return body
        if self.over.isdisjoint(used(body)):
            self._take(Outer("multiply", body), elementwise, body)
            return None
        if not isinstance(body, Call):
            raise NotAWeight(body)
        if body.operation == "multiply":
            kept = [x for a in body.arguments if (x := self.visit(a, elementwise)) is not None]
            return call("multiply", *kept) if len(kept) == 2 else kept[0] if kept else None
        if body.operation == "negative":
            (argument,) = body.arguments
            return call("negative", _or_one(self.visit(argument, elementwise), argument))
        if body.operation == "divide":
            return self._quotient(body, elementwise)
        if body.operation == "where":
            return self._chosen(body, elementwise)
        if OPERATIONS[body.operation].linear:
            (argument,) = body.arguments
            inner = _or_one(self.visit(argument, elementwise=False), argument)
            if inner.shape != argument.shape:
                inner = call("broadcast", inner, shape=argument.shape)
            return replace(body, arguments=(inner,))
        if body.operation == "contract":
            inside = [_or_one(self.visit(a, False), a) for a in body.arguments]
            return replace(body, arguments=tuple(inside))
        raise NotAWeight(body)

    def _take(self, outer: Outer, elementwise: bool, whole: Body) -> None:
        if not elementwise and outer.body.shape:
            raise NotAWeight(whole)
        self.outer.append(outer)

    def _quotient(self, body: Call, elementwise: bool) -> Body | None:
        numerator, divisor = body.arguments
        inner = self.visit(numerator, elementwise)
        power = self._power(divisor)
        if power is not None:
            self.powers.append(Power(power.base, -power.exponent))
            return inner
        if self.dim not in used(divisor):
            return call("divide", _or_one(inner, numerator), divisor)
        if not self.over.isdisjoint(used(divisor)):
            raise NotAWeight(body)
        self._take(Outer("divide", divisor), elementwise, body)
        return inner

    def _chosen(self, body: Call, elementwise: bool) -> Body | None:
        condition, chosen, other = body.arguments
        turned = _is_zero(chosen)
        if not (turned or _is_zero(other)) or (chosen if turned else other).shape:
            raise NotAWeight(body)
        value = other if turned else chosen
        inner = self.visit(value, elementwise)
        if self.dim not in used(condition):
            inner = _or_one(inner, value)
            return call("where", condition, *((chosen, inner) if turned else (inner, other)))
        if not self.over.isdisjoint(used(condition)):
            raise NotAWeight(body)
        where = call("logical_not", condition) if turned else condition
        self._take(Outer("where", where), elementwise, body)
        return inner

    def _power(self, body: Body) -> Power | None:
        """Return a scalar power, its exponent moving with instance or point, linear in the
        instance.
        """
        if not isinstance(body, Call) or body.operation != "power" or body.shape:
            return None
        base, raised = body.arguments
        moving = {self.dim, *self.over}
        exponent = _expression(raised)
        if exponent is None or exponent.variables.isdisjoint(moving):
            return None
        if not used(base).isdisjoint(moving) or base.dtype != "float" or _is_zero(base):
            return None
        rest = exponent - variable(self.dim) * exponent.coefficient(self.dim)
        return None if self.dim in rest.variables else Power(base, exponent)


def _is_zero(body: Body) -> bool:
    return isinstance(body, Literal) and not np.asarray(body.value).any()


def _expression(body: Body) -> Expression | None:
    """Return the integer expression of a body's value."""
    if isinstance(body, IndexValue):
        return body.expression
    if isinstance(body, Literal):
        whole = np.asarray(body.value)
        return expression(int(whole)) if whole.ndim == 0 and whole == np.round(whole) else None
    if not isinstance(body, Call):
        return None
    parts = [_expression(a) for a in body.arguments]
    known = [p for p in parts if p is not None]
    if len(known) != len(parts):
        return None
    if body.operation == "cast" and body.dtype != "bool":
        return known[0]
    if body.operation == "negative":
        return -known[0]
    if body.operation == "add":
        return known[0] + known[1]
    if body.operation == "subtract":
        return known[0] - known[1]
    if body.operation == "multiply" and not (known[0].terms and known[1].terms):
        return known[0] * known[1]
    return None
