"""The promise that data-dependent indices lie in a range, which the program's dependences know."""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import Any, overload

from workbench.errors import ProgramError
from workbench.language.tracing.given_shapes import index_of
from workbench.language.tracing.nodes import apply, as_tensor, index
from workbench.language.tracing.tensor import Tensor
from workbench.language.tracing.trace import inline, user_line
from workbench.polyhedral.expression import Expression


@overload
def within(index: tuple[Any, ...], lower: Any, upper: Any, /) -> tuple[Tensor, ...]: ...
@overload
def within(index: Any, lower: Any, upper: Any) -> Tensor: ...
def within(index: Any, lower: Any, upper: Any) -> Tensor | tuple[Tensor, ...]:
    """Promise that `lower <= index < upper` for an integer tensor: `wb.gather(replay,
    t=wb.within(drawn, wb.maximum(t - H + 1, 0), t + 1))`.

    The bounds are index expressions. A gather then depends on that range alone, so that elements
    outside it need not be kept: `Contract` makes a ring buffer of it. The promise is checked
    whenever the program runs; RunError names the instance and the value.

    Of a tuple the order is lexicographic: `row, step = wb.within((row, step), (0, 0), (i, t + 1))`
    are steps up to the present one, those of earlier rows included. One gather must take all.
    """
    if isinstance(index, tuple):
        return _in_order(index, lower, upper)
    return apply("within", _integer(index), _bound(lower), _bound(upper))


def _in_order(indices: tuple[Any, ...], after: Any, until: Any) -> tuple[Tensor, ...]:
    """Promise the range of a tuple in lexicographic order.

    The first index lies from the first bound to the last. A further one is bounded where those
    before it are all at a bound; an index is never negative.
    """
    for bound in (after, until):
        if not isinstance(bound, tuple) or len(bound) != len(indices):
            raise ProgramError(
                f"within of {len(indices)} indices has the bound {bound!r}; expected a tuple of "
                "as many index expressions",
                user_line(),
            )
    lower, upper = ([_affine(e) for e in bound] for bound in (after, until))
    promised: list[Tensor] = []
    for place, x in enumerate(map(_integer, indices)):
        reached = upper[place] if _are_zero(upper[place + 1 :]) else upper[place] + 1
        least, beyond = index(lower[place]), index(reached)
        if place:
            free = _are_zero(lower[place:]), _are_zero(upper[place:])
            if all(free):
                promised.append(x)
                continue
            with inline():  # the bounds are read in the gather itself
                none = index(0)
                least = none if free[0] else apply("where", _equal(promised, lower), least, none)
                above = apply("maximum", least, x) + 1
                beyond = (
                    above if free[1] else apply("where", _equal(promised, upper), beyond, above)
                )
        promised.append(apply("within", x, least, beyond))
    return tuple(promised)


def _integer(value: Any) -> Tensor:
    x = as_tensor(value)
    if x.shape or x.dtype not in ("int32", "int64"):
        raise ProgramError(f"within needs a scalar integer tensor, found {x!r}", user_line())
    return x


def _bound(bound: Any) -> Tensor:
    return index(_affine(bound))


def _affine(bound: Any) -> Expression:
    expressed = index_of(bound)
    if expressed is None or not expressed.is_affine:
        raise ProgramError(
            f"the bound {bound!r} of within is not an affine expression of dims", user_line()
        )
    return expressed


def _are_zero(bounds: list[Expression]) -> bool:
    return all(e == 0 for e in bounds)


def _equal(indices: list[Tensor], bounds: list[Expression]) -> Tensor:
    """Tell whether indices are all at their bounds."""
    pairs = zip(indices, bounds, strict=False)
    return reduce(and_, (apply("equal", x, index(e)) for x, e in pairs))
