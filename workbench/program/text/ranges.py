"""The ranges of an equation and its reduction, as text: `for 1 <= t < T`, `k in t..T-1`.

Boxes are found again from the sets; any other set is shown as its own condition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.errors import ProgramError
from workbench.polyhedral.accesses import Extent
from workbench.polyhedral.expression import Expression, variable
from workbench.polyhedral.sets.isl_names import readable
from workbench.polyhedral.sets.relations import (
    bounds,
    domain_with,
    is_box,
    is_equal,
    pieces,
    with_dims,
)
from workbench.program.values import Equations, Statement

Ranges = Mapping[str, tuple[Expression, Expression]]
"""The lower (inclusive) and upper (exclusive) bounds by dimension."""


def domain_text(statement: Statement, equations: Equations | None = None) -> str:
    """Return ` for 1 <= t < T`, or nothing where the domain is the dimensions' whole range."""
    shown = []
    bounds = _bounds(statement.domain, statement.dims)
    if bounds is None:
        return f"  for {condition(statement.domain)}" if statement.dims else ""
    for dim, (lower, upper) in zip(statement.dims, bounds, strict=True):
        if _is_whole(dim, lower, upper, equations):
            continue
        if upper == lower + 1:
            shown.append(f"{dim} = {lower}")
        else:
            shown.append(f"{lower} <= {dim} < {upper}")
    return f"  for {', '.join(shown)}" if shown else ""


def reduction_text(statement: Statement, equations: Equations | None = None) -> str:
    """Return the range of the reduction: `k in t..T-1`, `b, t` for whole ranges."""
    dims = statement.reduction_dims
    bounds = _bounds(statement.reduction, dims)
    if bounds is None or not _is_exact(statement, bounds):
        return f"{', '.join(dims)} with {condition(statement.reduction)}"
    shown = []
    for dim, (lower, upper) in zip(dims, bounds, strict=True):
        whole = _is_whole(dim, lower, upper, equations)
        shown.append(dim if whole else f"{dim} in {_bound(lower)}..{_bound(upper - 1)}")
    return ", ".join(shown)


def unnamed_ranges(statement: Statement, equations: Equations) -> Ranges:
    """Return the bounds of the statement's dimensions that the user wrote as ranges (`t:t + 3`)."""
    parts = ((statement.domain, statement.dims), (statement.reduction, statement.reduction_dims))
    return {
        dim: between
        for text, dims in parts
        for dim, between in zip(dims, _bounds(text, dims) or (), strict=False)
        if dim not in equations.dim
    }


def extent_text(dims: Sequence[str], extent: Extent) -> str:
    """Return the text of an array's elements: `t=0..T`."""
    return ", ".join(
        f"{d}={_bound(lower)}..{_bound(upper - 1)}"
        for d, (lower, upper) in zip(dims, extent, strict=True)
    )


def condition(text: str) -> str:
    """Return the condition of a set in the user's names; a set in pieces reads `... or ...`."""
    return " or ".join(_piece(piece) for piece in pieces(text)) or "never"


def _piece(text: str) -> str:
    entries, _, where = readable(text).partition("{")[2].rpartition("}")[0].partition(":")
    fixed = [e.strip() for e in entries.strip(" []").split(",") if " = " in e]
    return " and ".join([*fixed, where.strip()] if where.strip() else fixed) or "every point"


def _bounds(text: str, dims: Sequence[str]) -> Extent | None:
    if not dims:
        return ()
    try:
        return tuple(bounds(text, dims)) if is_box(text, dims) else None
    except ProgramError:
        return None


def _is_exact(statement: Statement, found: Extent) -> bool:
    """Tell whether the bounds say all: a reduction may also be empty for some instances."""
    dims = statement.reduction_dims
    least = [(variable(d), lower) for d, (lower, _) in zip(dims, found, strict=True)]
    least += [(upper - 1, variable(d)) for d, (_, upper) in zip(dims, found, strict=True)]
    everything = with_dims(statement.domain, statement.dims + dims)
    return is_equal(domain_with(everything, at_least=least), statement.reduction)


def _is_whole(dim: str, lower: Expression, upper: Expression, equations: Equations | None) -> bool:
    if equations is None or dim not in equations.dim:
        return False
    return lower == 0 and upper == equations.dim[dim].size


def _bound(e: Expression) -> str:
    """Return `T-1` and `t+1` without spaces, so that `t+1..T-1` reads as one thing."""
    text = str(e)
    tight = text.replace(" ", "")
    return tight if tight.replace("-", "").replace("+", "").isalnum() else text
