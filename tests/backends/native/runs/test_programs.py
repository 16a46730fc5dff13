"""Law 1 on small programs: compiled C under several schedules against the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.backends.small_programs import SIZES, cases, folded, scheduled
from tests.native_runs import compiled, run_native, shared_cache
from tests.programs import PROGRAMS, automatic
from tests.truth import truth
from workbench.algorithms import a2c, ppo, reinforce
from workbench.backends.numpy import NumPyBackend
from workbench.program.values import Program
from workbench.transforms import Contract, Donate, Tile, Vectorize

CASES = {name: (p, axes[-1]) for name, p, axes in cases()}


def agrees(program: Program, sizes: dict[str, int], dtype: str = "float64") -> None:
    """Every output is the reference's, on the elements that it defines."""
    used = {k: v for k, v in sizes.items() if k in {p.name for p in program.parameters}}
    meaning = truth(program, used, 3)
    found = run_native(program, used, 3, dtype)
    for output in program.outputs:
        defined = meaning.mask(output.array)
        wanted = meaning.array(output.array)[defined]
        values = found[output.name][defined]
        assert values.dtype == (dtype if wanted.dtype.kind == "f" else wanted.dtype)
        tolerance = 1e-9 if dtype == "float64" else 1e-4
        finite = np.abs(wanted[np.isfinite(wanted)]) if wanted.dtype.kind == "f" else wanted
        scale = np.abs(finite).max(initial=1.0)
        np.testing.assert_allclose(values, wanted, rtol=tolerance, atol=tolerance * scale)


@pytest.mark.parametrize("name", CASES)
def test_case_agrees_with_reference(name: str) -> None:
    equations, axes = CASES[name]
    for program in (scheduled(equations), folded(scheduled(equations, axes))):
        for sizes in SIZES:
            agrees(program, sizes)


@pytest.mark.parametrize("name", [n for n in PROGRAMS if not n.startswith("small")])
@pytest.mark.parametrize("way", ["as written", "automatic"])
def test_program_agrees_with_reference(name: str, way: str) -> None:
    program, many = PROGRAMS[name][0](), PROGRAMS[name][1]
    if way == "automatic":
        program = automatic(name).program
    for sizes in many:
        agrees(program, sizes)


@pytest.mark.parametrize("algorithm", [reinforce, a2c, ppo], ids=lambda a: a.name)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_algorithm_agrees_with_numpy(algorithm: Any, dtype: str) -> None:
    """In lanes that are not all used, and more than there are lanes."""
    variant = wb.variant(algorithm())
    dims = variant.program.dim
    for step in (*map(Vectorize, [d for d in "bk" if d in dims]), Contract(), Donate()):
        variant = variant.apply(step)
    made, numpy = compiled(variant.program), NumPyBackend().compile(variant.program)
    with shared_cache():
        made.prepare(dtype)
    for environments in (3, 20):
        sizes = {"B": environments, "I": 2, "T": 8}
        found, wanted = made.run(sizes, 5, dtype), numpy.run(sizes, 5, dtype)
        tolerance = 1e-11 if dtype == "float64" else 2e-5
        for name, values in wanted.outputs.items():
            np.testing.assert_allclose(
                found.outputs[name], values, rtol=tolerance, atol=tolerance, err_msg=name
            )


def test_blocks_of_an_axis_agree_with_numpy() -> None:
    variant = wb.variant(reinforce())
    for step in (Vectorize("b"), Tile("b", 4), Contract()):
        variant = variant.apply(step)
    numpy = NumPyBackend().compile(variant.program)
    for environments in (1, 4, 11):
        sizes = {"B": environments, "I": 2, "T": 5}
        wanted = numpy.run(sizes, 2, "float64").outputs
        found = run_native(variant.program, sizes, 2)
        for name, values in wanted.items():
            np.testing.assert_allclose(found[name], values, rtol=1e-11, atol=1e-11)
