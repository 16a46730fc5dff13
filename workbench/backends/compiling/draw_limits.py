"""The coordinates of a program's draws: compiled kernels do not check each against its bits."""

from __future__ import annotations

import math
from collections.abc import Mapping

from workbench.backends import philox
from workbench.errors import ProgramError
from workbench.polyhedral.expression import expression
from workbench.polyhedral.sets.relations import hull
from workbench.program.operations.table import OPERATIONS
from workbench.program.values import Equations, Statement


def check_draws(equations: Equations, sizes: Mapping[str, int]) -> None:
    """Require that every draw's coordinates fit their bits, at these sizes. Raises RunError."""
    for statement in equations.statements:
        for call in statement.calls:
            if OPERATIONS[call.operation].random:
                _check(statement, dict(call.options.get("shift", ())), call.shape, sizes)


def _check(
    statement: Statement, shift: Mapping[str, int], shape: object, sizes: Mapping[str, int]
) -> None:
    try:
        extent = hull(statement.domain)
    except ProgramError:  # no instance at any sizes
        return
    ends = []
    for d, (lower, upper) in zip(statement.dims, extent, strict=True):
        low, high = lower.evaluate(sizes), upper.evaluate(sizes) - 1
        if high < low:
            return
        ends.append((low + shift.get(d, 0), high + shift.get(d, 0)))
    assert isinstance(shape, tuple)
    philox.check_counter(ends, math.prod(expression(n).evaluate(sizes) for n in shape))
