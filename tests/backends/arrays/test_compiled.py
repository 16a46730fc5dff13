"""Law 1 on small programs: NumPy under several schedules against the reference."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.backends.small_programs import SIZES, cases, folded, scheduled
from tests.programs import PROGRAMS, automatic
from workbench.backends.arrays.compiled import CompiledArrays
from workbench.backends.numpy import NumPyBackend
from workbench.backends.reference.evaluator import Reference
from workbench.program.sizes import resolve
from workbench.program.values import Equations, Program

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


@lru_cache(maxsize=8)
def meaning(p: Equations, sizes: tuple[tuple[str, int], ...]) -> dict[str, tuple[Any, Any]]:
    """Every output array by the reference, with where it is defined."""
    reference = Reference(p, dict(sizes), seed=3)
    arrays = {o.array for o in p.outputs}
    return {a: (reference.array(a), reference.mask(a)) for a in arrays}


@lru_cache(maxsize=8)
def compiled_once(p: Program) -> CompiledArrays:
    """One program for all sizes and dtypes."""
    return NumPyBackend().compile(p)


def check(p: Program, sizes: dict[str, int], dtype: str = "float64") -> None:
    """Run and compare every output; the tracked peak is the computed one."""
    used = {k: v for k, v in sizes.items() if k in {x.name for x in p.parameters}}
    compiled = compiled_once(p)
    run = compiled.run(used, seed=3, dtype=dtype)
    assert run.completed == run.total
    for output in p.outputs:
        wanted, defined = meaning(p.equations, tuple(used.items()))[output.array]
        agrees(run.outputs[output.name], wanted, defined, dtype)
    assert run.peak_bytes == compiled.loop_program.peak(resolve(p.equations, used), dtype)


@pytest.mark.parametrize(
    ("name", "axes"), RUNS, ids=lambda v: v if isinstance(v, str) else "+".join(v)
)
@pytest.mark.parametrize("sizes", SIZES, ids=lambda s: "-".join(map(str, s.values())))
def test_program_agrees_with_reference(
    name: str, axes: tuple[str, ...], sizes: dict[str, int]
) -> None:
    program = scheduled(CASES[name][0], axes)
    check(program, sizes)
    check(folded(program), sizes)


@pytest.mark.parametrize(
    ("name", "recipe"),
    [
        pytest.param(
            name,
            recipe,
            marks=pytest.mark.soundness if (name, recipe) == ("small_ppo", "automatic") else (),
        )
        for name in PROGRAMS
        for recipe in ("as written", "automatic")
    ],
)
def test_program_of_the_language_agrees_with_reference(name: str, recipe: str) -> None:
    template, all_sizes = PROGRAMS[name]
    variant = automatic(name) if recipe == "automatic" else wb.variant(template())
    for sizes in all_sizes:
        for dtype in ("float64", "float32"):
            check(variant.program, sizes, dtype)


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n != "small_ppo"])
def test_each_vectorized_dim_agrees_with_reference(name: str) -> None:
    template, all_sizes = PROGRAMS[name]
    variant = wb.variant(template())
    for dim in variant.program.dims:
        step = wb.transforms.Vectorize(dim.name)
        if variant.check(step) is None:
            check(variant.apply(step).program, all_sizes[0])
