"""Law 1 on small programs: NumPy under several schedules against the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.backends.small_programs import SIZES, cases, scheduled
from workbench.backends.numpy import NumPyBackend
from workbench.backends.reference import Reference
from workbench.program.values import Program

CASES = {name: (p, axes) for name, p, axes in cases()}
RUNS = [(name, axes) for name, (_, all_axes) in CASES.items() for axes in all_axes]


def agrees(found: Any, wanted: Any, defined: Any, dtype: str) -> None:
    """Law 1's tolerances, on the defined elements."""
    assert found.shape == wanted.shape
    found, wanted = found[defined], wanted[defined]
    if wanted.dtype.kind != "f":
        np.testing.assert_array_equal(found, wanted)
        return
    scale = np.abs(wanted).max(initial=0.0)
    tolerance = (1e-9 if dtype == "float64" else 1e-4) * (np.abs(wanted) + scale)
    assert (np.abs(found - wanted) <= tolerance).all(), np.abs(found - wanted).max()


def check(p: Program, sizes: dict[str, int], dtype: str = "float64") -> None:
    """Run and compare every output; the tracked peak is the computed one."""
    used = {k: v for k, v in sizes.items() if k in {x.name for x in p.parameters}}
    compiled = NumPyBackend().compile(p)
    run = compiled.run(used, seed=3, dtype=dtype)
    assert run.completed == run.total
    reference = Reference(p, used, seed=3)
    for output in p.outputs:
        wanted, defined = reference.array(output.array), reference.mask(output.array)
        agrees(run.outputs[output.name], wanted, defined, dtype)
    full = {x.name: x.default for x in p.parameters} | used
    assert run.peak_bytes == compiled.loop_program.peak(full, dtype)


@pytest.mark.parametrize(("name", "axes"), RUNS, ids=lambda v: v if isinstance(v, str) else "+".join(v))
@pytest.mark.parametrize("sizes", SIZES, ids=lambda s: "-".join(map(str, s.values())))
def test_program_agrees_with_reference(name: str, axes: tuple[str, ...], sizes: dict[str, int]) -> None:
    check(scheduled(CASES[name][0], axes), sizes)
