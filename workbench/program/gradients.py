"""The arrays that hold gradients, found by what they are derivatives with respect to."""

from __future__ import annotations

import re
from collections.abc import Collection

from workbench.errors import WorkbenchError, nearest
from workbench.program.values import Array, Program

GRADIENT, TOTAL, PARAMETERS = "gradient", "total_gradient", "parameters"
"""The scopes of all that `wb.gradient` makes, of direct and of total derivatives, and of the
parameters of networks.
"""


def gradients(program: Program, of: str) -> tuple[str, ...]:
    """Return the arrays that hold derivatives with respect to an array, or to those whose names
    begin with `of` and a dot, in the program's order. Of parameters the names are those that the
    network has given them.

    Raises WorkbenchError where there are none.
    """
    named = {_behind(array, PARAMETERS) or array.name for array in program.arrays}
    known = {a.name: wrt for a in program.arrays if (wrt := _with_respect_to(a, named))}
    found = tuple(n for n, wrt in known.items() if wrt == of or wrt.startswith(f"{of}."))
    if not found:
        networks = (wrt.rpartition(".")[0] for wrt in known.values())
        names = [*filter(None, networks), *known.values()]
        hint = nearest(str(of), names) if names else "the program has no gradients"
        raise WorkbenchError(f"no gradients of {of!r}: {hint}")
    return found


def _with_respect_to(array: Array, named: Collection[str]) -> str | None:
    """Return the array with respect to which another is a derivative: its name stands behind that
    of the scope. A second gradient's has a number behind it.
    """
    rest = _behind(array, GRADIENT) or _behind(array, TOTAL)
    return next((n for n in (rest, re.sub(r"_\d+$", "", rest)) if n in named), None)


def _behind(array: Array, scope: str) -> str:
    """Return what stands behind a scope in an array's name; "" where it is in none of that name."""
    if scope not in array.scope:
        return ""
    prefix = "".join(f"{part}." for part in array.scope[: array.scope.index(scope) + 1])
    return array.name.removeprefix(prefix) if array.name.startswith(prefix) else ""
