"""Errors for what an index expression cannot do, with the remedy: be a number before the program
runs, and leave the whole numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.errors import ProgramError
from workbench.polyhedral.expressions.expression_text import wrapped

if TYPE_CHECKING:
    from workbench.polyhedral.expression import Expression


def no_value(e: Expression) -> ProgramError:
    """Return the error for a use as a number."""
    return ProgramError(
        f"{e} has no value before the program runs: instead of a loop over range({e}), "
        f"declare a dim, k = wb.dim(k={e}); instead of an array of so many numbers, wb.index(k) or "
        f"wb.normal(over=k); as a number of the program, wb.index({e})"
    )


def no_order(e: Expression, other: object) -> ProgramError:
    """Return the error for a comparison by size."""
    return ProgramError(
        f"{e} has no order with {other} before the program runs; compare wb.index({e})"
    )


def no_bits(e: Expression) -> ProgramError:
    """Return the error for an operation on bits."""
    return ProgramError(f"an index expression has no &, |, ^ or ~; as a number wb.index({e})")


def no_places(e: Expression, sign: str, other: object) -> ProgramError:
    """Return the error for a shift by what is no number of binary places."""
    return ProgramError(
        f"{wrapped(e)} {sign} {other!r}: an index is shifted by a number of places, 0 or more"
    )


def no_operand(e: Expression, sign: str, other: object) -> ProgramError:
    """Return the error for a number on the right that is not whole."""
    return _no_index(f"{wrapped(e)} {sign} {other}", f"wb.index({e}) {sign} {other}")


def no_base(base: object, e: Expression) -> ProgramError:
    """Return the error for a power whose exponent is an expression."""
    return _no_index(f"{base} ** {wrapped(e)}", f"{base} ** wb.index({e})")


def no_quotient(left: Expression | float, right: Expression | float) -> ProgramError:
    """Return the error for a division by `/`. By 1, `np.arange(T)` divides its length."""
    if not isinstance(left, (int, float)) and type(right) is int and right == 1:
        return no_value(left)
    written, indexed = (
        [str(e) if isinstance(e, (int, float)) else as_text(e) for e in (left, right)]
        for as_text in (wrapped, lambda e: f"wb.index({e})")
    )
    floored = ""
    if not isinstance(left, float) and not isinstance(right, float):
        floored = f": an index is divided by //, as in {written[0]} // {written[1]}"
    return ProgramError(
        f"{' / '.join(written)} is no whole number{floored}; as a number of the program, "
        f"{' / '.join(indexed)}"
    )


def _no_index(written: str, instead: str) -> ProgramError:
    return ProgramError(
        f"{written} is no index, which is made of whole numbers; as a number of the program, "
        f"{instead}"
    )
