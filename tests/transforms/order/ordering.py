"""What the tests of steps that change the order share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import workbench as wb
from tests.native_runs import check_native
from tests.truth import truth
from workbench.polyhedral.dependences.components import components
from workbench.polyhedral.dependences.legality import violation
from workbench.polyhedral.tree import only, sequence, statements
from workbench.program.dependences import dependences
from workbench.program.values import Program
from workbench.transforms.step.transform import Transform


@wb.program
def horizon(T: int = 5, n: int = 2) -> dict[str, Any]:
    """Targets that reach for a value n steps ahead, at the end for one of the last state."""
    (t,) = wb.dims(t=T)
    state = wb.recurrent("state", (), over=t)
    state[0] = 1.0
    state[t + 1] = 0.9 * state
    value = wb.recurrent("value", (), over=t)
    value[t] = wb.sin(state)
    value[T] = wb.exp(state[T])
    target = value[wb.minimum(t + n, T)] + state
    return {"target": target}


def separate(program: Program) -> wb.Variant:
    """Each recurrence and each other statement in loops of its own, in the order as written."""
    tree = program.schedule
    assert tree is not None
    found = components(list(statements(tree)), dependences(program.equations).all)
    parts = [only(tree, part) for part in found]
    apart = sequence([p for p in parts if p is not None])
    assert violation(apart, dependences(program.equations)) is None
    return wb.variant(replace(program, schedule=apart))


def assert_computes_the_same(variant: wb.Variant, sizes: dict[str, int]) -> None:
    """Every output of a run equals the reference's value of the program as written."""
    expected = truth(variant.root.program, sizes, 3)
    result = wb.run(variant, sizes=sizes, seed=3, dtype="float64", progress=False, backend="numpy")
    for name in result:
        np.testing.assert_allclose(result[name], expected.array(name), rtol=1e-9, atol=1e-9)
    check_native(variant.program, result, sizes, 3)


def refusal(variant: wb.Variant, step: Transform) -> Any:
    """Why the step is refused, which it must be."""
    found = variant.check(step)
    assert found is not None
    return found
