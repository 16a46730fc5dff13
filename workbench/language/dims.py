"""Dimensions and derived sizes: `wb.dims`, `wb.dim`, `wb.size`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from workbench.errors import ProgramError, SizeError
from workbench.language.tracing.given_shapes import index_of
from workbench.language.tracing.trace import Range, current, user_line
from workbench.names import lengthened
from workbench.polyhedral.expression import Expression, ExpressionLike, expression, variable
from workbench.polyhedral.expression import size as size_expression
from workbench.program.sizes import numbers
from workbench.program.values import Parameter


def dims(**sizes: ExpressionLike) -> tuple[Expression, ...]:
    """Declare dimensions with their sizes, outermost first: `b, i, t = wb.dims(b=B, i=I, t=T)`."""
    return tuple(_declare(name, upper) for name, upper in sizes.items())


def dim(**sizes: ExpressionLike) -> Expression:
    """Declare a single dimension: `k = wb.dim(k=K)`."""
    if len(sizes) != 1:
        raise ProgramError(
            f"wb.dim declares one dim, found {', '.join(sizes) or 'none'}; use wb.dims", user_line()
        )
    return dims(**sizes)[0]


def size(definition: ExpressionLike) -> Expression:
    """Declare a size defined by others, products and quotients allowed: `K = wb.size(B * T // M)`.

    It is a parameter of its own, named like the variable it is assigned to. Its defining expression
    is evaluated when the program is run; a quotient that is not exact is an error naming the
    numbers.
    """
    line = user_line()
    if not _is_size(definition):
        raise ProgramError(
            f"the definition of a size is {definition!r}; expected an expression over sizes", line
        )
    definition = expression(definition)
    if definition.variables:
        raise ProgramError(
            f"a size cannot depend on the dim {', '.join(sorted(definition.variables))}: "
            f"{definition}",
            line,
        )
    assigned = re.match(r"\s*([A-Za-z_]\w*)\s*=", line.text if line else "")
    return size_called(assigned.group(1) if assigned else "N", definition)


def size_called(base: str, definition: Expression) -> Expression:
    """Declare a size by an expression over others, with a name that is free."""
    trace = current()
    name = lengthened(base, trace.sizes)
    default = _default(name, definition, {p.name: p.default for p in trace.sizes.values()})
    trace.sizes[name] = Parameter(name, default, definition, line=user_line())
    return size_expression(name)


def _default(name: str, definition: Expression, sizes: Mapping[str, int]) -> int:
    try:
        return definition.evaluate(sizes)
    except ZeroDivisionError:
        used = {size: sizes[size] for size in sizes if size in definition.sizes}
        raise SizeError(
            f"{name} = {definition} divides by 0 ({numbers(used)})", user_line()
        ) from None


def _is_size(value: object) -> bool:
    return index_of(value) is not None


def _declare(name: str, upper: ExpressionLike) -> Expression:
    trace, line = current(), user_line()
    if not _is_size(upper):
        raise ProgramError(f"the size of dim {name} is {upper!r}; expected a size or an int", line)
    if name in trace.dims:
        raise ProgramError(f"dim {name} is declared twice", line)
    if name in trace.sizes:
        raise ProgramError(f"dim {name} has the name of a size", line)
    upper = expression(upper)
    if upper.variables or not upper.is_affine:
        raise ProgramError(
            f"the size of dim {name} is {upper}; name it first: N = wb.size({upper})", line
        )
    if not upper.terms and upper.constant <= 0:
        raise ProgramError(f"the size of dim {name} is {upper}; expected at least 1", line)
    trace.dims[name] = Range(name, expression(0), upper, line=line, declared=True)
    return variable(name)
