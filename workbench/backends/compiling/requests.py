"""Requests for runs of compiled kernels: checked before, or done by NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.backends import philox
from workbench.backends.compiling.draw_limits import check_draws
from workbench.backends.protocol import Execution, Progress
from workbench.backends.tracker import Capacity
from workbench.program.sizes import resolve
from workbench.program.values import Equations, Program
from workbench.program.wellformed.index_ranges import check_indices


def checked_request(
    equations: Equations, sizes: Mapping[str, int] | None, seed: int
) -> tuple[dict[str, int], int]:
    """Return all sizes and the seed of a run. Raises SizeError and RunError for what kernels do not
    check: indices out of range whatever is drawn, draws beyond their counters, no seed.
    """
    known = resolve(equations, sizes)
    check_indices(equations, known)
    check_draws(equations, known)
    return known, philox.checked_seed(seed)


def run_finite(
    program: Program,
    sizes: Mapping[str, int] | None,
    seed: int,
    dtype: str,
    on_progress: Progress | None,
    capacity: Capacity,
    given: Mapping[str, Any] | None,
) -> Execution:
    """Run with `check_finite`, by the array operations of NumPy: only they can be looked at one by
    one.
    """
    from workbench.backends.numpy import NumPyBackend

    looking = NumPyBackend().compile(program)
    return looking.run(sizes, seed, dtype, on_progress, True, capacity, given)
