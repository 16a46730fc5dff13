"""V-trace and OpenAI-ES against the reference evaluator in several orders, and what they refuse."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.codegen.cuda.fibres import SEED, differences
from tests.native_runs import run_native
from tests.truth import truth
from workbench import environments
from workbench.algorithms import DISTRIBUTED, openai_es, vtrace
from workbench.errors import WorkbenchError
from workbench.program.values import Program
from workbench.transforms import Contract, Donate, Persist, Vectorize

SMALL = {"B": 4, "I": 3, "T": 4, "hidden": (3,)}
BRIEF = environments.CartPole(time_limit=3)
CASES: dict[str, list[dict[str, Any]]] = {
    "vtrace": [
        {"environment": BRIEF, "lag": 2, "learning_rate": 0.1, "clip_rho": 1.1, "clip_c": 0.9},
        {"environment": "Pendulum", "anneal": True, "value_weight": 2.0, "lam": 0.5, "gamma": 0.5},
        {"environment": BRIEF, "bootstrap_at_time_limit": True, "largest_norm": 0.01, "lag": 0},
        {"layers": "dim", "hidden": (3, 3), "entropy_weight": 0.2},
    ],
    "openai_es": [
        {"environment": BRIEF, "sigma": 1.0, "learning_rate": 0.3},
        {"environment": "Pendulum", "optimizer": "sgd", "momentum": 0.5, "weight_decay": 0.1},
        {"environment": "Acrobot", "optimizer": "sgd", "momentum": 0.0, "hidden": ()},
    ],
}
RUNS = [(name, number) for name, cases in CASES.items() for number in range(len(cases))]
ORDERS = {
    "as written": (),
    "as axes": (Vectorize("b"), Contract(), Donate()),
    "in blocks": (Persist("b", 3), Contract(), Donate()),
}
ORDERED = [
    pytest.param(*run, order, marks=[] if often else [pytest.mark.soundness])
    for run in RUNS
    for order in ORDERS
    for often in [run[1] == 0 or order == "in blocks"]
]


@cache
def traced(name: str, number: int) -> Program:
    """An algorithm with the arguments of a case."""
    return DISTRIBUTED[name](**SMALL | CASES[name][number])


def agree(variant: wb.Variant, backend: str = "numpy") -> None:
    """All outputs, exactly where they are integers, at 1e-9 of their size where they are floats."""
    found = wb.run(variant, backend, seed=4, dtype="float64", progress=False)
    for name, values in truth(variant.root.program, seed=4).outputs().items():
        if values.dtype.kind != "f":
            np.testing.assert_array_equal(found[name], values)
            continue
        largest = np.nanmax(np.abs(values)) if np.isfinite(values).any() else 0.0
        np.testing.assert_allclose(found[name], values, rtol=1e-9, atol=1e-9 * largest)


@pytest.mark.parametrize(("name", "number", "order"), ORDERED)
def test_algorithm_agrees_with_reference(name: str, number: int, order: str) -> None:
    variant = wb.variant(traced(name, number))
    for step in ORDERS[order]:
        variant = variant.apply(step)
    agree(variant)


@pytest.mark.parametrize("name", DISTRIBUTED)
@pytest.mark.parametrize("backend", ["numpy", pytest.param("native", marks=pytest.mark.soundness)])
def test_algorithm_under_the_automatic_recipe_agrees_with_reference(
    name: str, backend: str
) -> None:
    agree(wb.optimize(wb.variant(traced(name, 0)), backend=backend), backend)


@pytest.mark.soundness
@pytest.mark.parametrize("name", DISTRIBUTED)
def test_algorithm_on_a_gpu_has_the_bits_of_compiled_c(name: str) -> None:
    best = wb.optimize(wb.variant(traced(name, 0)), backend="native").program
    wanted = run_native(best, {}, seed=SEED, dtype="float32")
    assert differences(best, {}, wanted) == []


@pytest.mark.parametrize("name", DISTRIBUTED)
def test_every_argument_is_exercised(name: str) -> None:
    arguments = set(inspect.signature(DISTRIBUTED[name].function).parameters)
    exercised = {key for case in CASES[name] for key in case} | set(SMALL)
    assert arguments <= exercised, arguments - exercised


@pytest.mark.parametrize("lag", [0, 2])
def test_as_many_parameters_of_the_actor_are_kept_as_actors_are_behind(lag: int) -> None:
    variant = wb.variant(vtrace(**SMALL, lag=lag)).apply(Vectorize("b")).apply(Contract())
    storage = variant.storage.splitlines()
    (actor,) = (x for x in storage if x.startswith("parameters.actor.weight_1 "))
    (critic,) = (x for x in storage if x.startswith("parameters.critic.weight_1 "))
    assert "(2 of I + 1)" in critic
    assert ("(2 of I + 1)" in actor) == (lag == 0)


@pytest.mark.parametrize("name", DISTRIBUTED)
def test_blocks_of_environments_are_kernels_of_the_automatic_recipe(name: str) -> None:
    steps = wb.optimize(wb.variant(DISTRIBUTED[name](hidden=(8,))), backend="native").steps
    assert any(isinstance(step, Persist) and step.dim == "b" for step in steps)


def sentence(body: Any) -> str:
    with pytest.raises(WorkbenchError) as error:
        body()
    return error.value.message


def test_optimizer_refused_when_it_is_unknown() -> None:
    assert sentence(lambda: openai_es(optimizer="adan")) == (
        "unknown optimizer 'adan': did you mean adam? (optimizers: adam, sgd)"
    )


def test_members_refused_that_are_no_pairs() -> None:
    program = openai_es(**SMALL)
    assert sentence(lambda: wb.run(program, "numpy", sizes={"B": 5}, progress=False)) == (
        "P = B // 2: 5 does not divide by 2 (B=5)"
    )


@pytest.mark.parametrize("cut", [0.0, -1.0, float("nan"), "high"])
def test_cut_of_importance_weights_refused_that_is_not_positive(cut: Any) -> None:
    for name in ("clip_rho", "clip_c"):
        assert sentence(lambda name=name: vtrace(**{name: cut})) == (
            f"{name} = {cut!r}; expected a number above 0"
        )


def test_cut_of_traces_refused_above_that_of_residuals() -> None:
    """Theorem 1 of the paper has the fixed point of V-trace for clip_rho >= clip_c alone."""
    assert sentence(lambda: vtrace(clip_rho=0.5)) == (
        "clip_rho = 0.5 and clip_c = 1.0; expected clip_rho of at least clip_c"
    )


@pytest.mark.parametrize("lag", [-1, 1.5, "one"])
def test_lag_refused_that_is_no_number_of_updates(lag: Any) -> None:
    assert sentence(lambda: vtrace(lag=lag)) == (
        f"lag={lag!r}; expected a whole number of updates, from 0 on"
    )
