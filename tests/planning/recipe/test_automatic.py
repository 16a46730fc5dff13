"""The automatic recipe's search: what it finds at which sizes, what it keeps to, what it says."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import pytest

import workbench as wb
from tests.programs import PROGRAMS, leaky_sum, small_reinforce
from workbench import nn, optim
from workbench.algorithms import a2c, ppo, reinforce
from workbench.environments import CartPole, Trivial
from workbench.errors import WorkbenchError
from workbench.measure.checking.check import check
from workbench.planning.recipe import plan_files
from workbench.program.values import Program
from workbench.transforms import (
    Accumulate,
    Contract,
    Donate,
    Incrementalize,
    Recompute,
    Reschedule,
    Simplify,
    Swap,
    Tile,
    Vectorize,
)

pytestmark = pytest.mark.usefixtures("server")  # what is found depends on the machine

SMALL = {"B": 2, "I": 2, "T": 4, "hidden": (3,), "environment": CartPole(time_limit=3)}
LARGE = 100_000
"""Environments so many that blocks are of two time steps."""

CASES = {name: PROGRAMS[name][0] for name in PROGRAMS if name != "small_ppo"} | {
    "reinforce": lambda: reinforce(**SMALL),
    "reinforce, n steps": lambda: reinforce(**SMALL, estimator="n_step", n=2),
    "reinforce, lambda": lambda: reinforce(**SMALL, estimator="td_lambda"),
    "a2c": lambda: a2c(**SMALL),
}


def large(program: Program) -> dict[str, int]:
    """Sizes at which memory is far and much is held."""
    free = [p for p in program.parameters if p.definition is None]
    return {p.name: LARGE if p.name == "B" else 64 for p in free if p.default > 1}


SEARCHED_LONG = {
    *((name, "memory") for name in ("reinforce", "reinforce, n steps", "reinforce, lambda", "a2c")),
    *((name, "time") for name in ("reinforce, n steps", "reinforce, lambda", "a2c")),
}
"""What takes 3 to 30 seconds to find, and to check."""
AIMS = [
    pytest.param(
        *(name, objective),
        marks=[pytest.mark.soundness] if (name, objective) in SEARCHED_LONG else [],
    )
    for name in CASES
    for objective in ("time", "memory")
]


@wb.program
def learning(B: int = 256, I: int = 2, T: int = 1000) -> dict[str, Any]:
    """REINFORCE with no more than takes memory: a small environment, one layer, plain descent."""
    b, i, t = wb.dims(b=B, i=I, t=T)
    env = Trivial((4,))
    network = nn.mlp("policy", env.observation_size, (64,), env.action_count)
    theta = nn.parameters(network, over=i)
    state = wb.recurrent("state", env.state_size, over=(b, i, t))
    policy = wb.Categorical(logits=network(theta, env.observe(state)))
    action = policy.sample()
    following, reward, _, _ = env.step(state, action)
    state[b, i, 0] = env.reset(over=(b, i))
    state[b, i, t + 1] = following
    to_go = wb.discounted_sum(reward[b, i, t:T], 0.99)
    surrogate = policy.log_probability(action) * wb.stop_gradient(to_go)
    theta.update(optim.sgd(wb.gradient(-surrogate.sum(over=t).mean(over=b), theta), 0.01))
    return {"return": reward.sum(over=t).mean(over=b)}


@pytest.mark.parametrize(("name", "objective"), AIMS)
def test_what_is_found_for_large_sizes_computes_what_the_equations_mean(
    name: str, objective: str
) -> None:
    root = wb.variant(CASES[name]())
    found = wb.optimize(root, objective, sizes=large(root.program), backend="numpy")
    agreed = check(found, "numpy", "float64")
    assert agreed.passed, agreed
    assert root.replay(found.to_json()).program == found.program


@pytest.mark.soundness
def test_ppo_found_for_memory_computes_what_the_equations_mean() -> None:
    root = wb.variant(ppo(**SMALL, E=2, M=2))
    found = wb.optimize(root, "memory", sizes={"B": 2048, "T": 64}, backend="numpy")
    assert any(isinstance(step, Tile) and step.dim == "k" for step in found.steps)
    agreed = check(found, "numpy", "float64")
    assert agreed.passed, agreed


def test_episodes_are_learned_from_in_blocks_where_memory_is_far() -> None:
    root = wb.variant(reinforce(B=256, T=1000, I=2))
    found = wb.optimize(root, backend="numpy")
    kinds = [type(step) for step in found.steps]
    assert Incrementalize("worth", "t") in found.steps
    assert Tile in kinds and Recompute not in kinds
    before = root.replay([Vectorize("b"), Vectorize("t"), Contract(), Donate()]).predict(
        backend="numpy"
    )
    after = found.predict(backend="numpy")
    assert after.seconds < 0.9 * before.seconds
    assert after.peak_bytes["device"] < 0.5 * before.peak_bytes["device"]


@cache
def least(name: str) -> wb.Variant:
    """What holds least of learning from long episodes of many environments."""
    if name == "learning":
        return wb.optimize(learning(), "memory", backend="numpy")
    return wb.optimize(reinforce(B=256, T=1000, I=2, estimator=name), "memory", backend="numpy")


LEAST = pytest.mark.parametrize(
    ("name", "most"),
    [
        pytest.param("learning", 7e6, marks=pytest.mark.xdist_group("learning")),
        pytest.param("monte_carlo", 16e6, marks=pytest.mark.soundness),
    ],
)


def device(variant: wb.Variant) -> int:
    """The device's predicted peak in bytes."""
    return variant.predict(backend="numpy").peak_bytes["device"]


@LEAST
def test_least_memory_holds_no_hidden_layer_of_an_episode(name: str, most: float) -> None:
    small, fast = least(name), wb.optimize(least(name).root, backend="numpy")
    assert device(small) <= most
    assert small.predict(backend="numpy").seconds <= 2 * fast.predict(backend="numpy").seconds
    again = {step.array for step in small.steps if isinstance(step, Recompute)}
    hidden = {a.name for a in small.root.program.arrays if a.name.startswith("policy.hidden_")}
    assert hidden and hidden <= again
    assert f"{max(hidden)} is computed again where it is read" in small.explain()
    assert " become " in small.explain()


@pytest.mark.soundness
def test_sums_of_blocks_are_carried_where_their_parts_are_most_of_what_is_held() -> None:
    small = least("monte_carlo")
    carried = [step for step in small.steps if isinstance(step, Accumulate)]
    assert carried and carried[0].dim.startswith("t_block")
    assert "gradient.policy.weight_2" in (carried[0].statements or ())
    assert "each value is added when it is there" in small.explain()


@wb.program
def there_and_back(B: int = 64, T: int = 200) -> dict[str, Any]:
    """A recurrence forwards, all of which one backwards reads: a host relieves the device."""
    b, t = wb.dims(b=B, t=T)
    x = wb.recurrent("x", (8,), over=(b, t))
    x[b, 0] = wb.normal(shape=8, over=b)
    x[b, t + 1] = wb.tanh(x) + wb.normal(shape=8, over=(b, t))
    s = wb.recurrent("s", (8,), over=(b, t))
    s[b, T] = 0.0
    s[b, t] = 0.5 * s[b, t + 1] + x
    return {"first": s[b, 0]}


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_nothing_moves_to_the_host_where_that_is_the_same_memory(backend: str) -> None:
    small = wb.optimize(there_and_back(), "memory", backend=backend)
    assert not any(isinstance(step, Swap) for step in small.steps)
    assert small.predict(backend=backend).peak_bytes["host"] == 0


def test_what_waits_for_its_use_moves_to_the_host_for_the_sake_of_a_capacity() -> None:
    small = wb.optimize(there_and_back(), "memory", 100_000, backend="native")
    assert small.predict(backend="native").peak_bytes["device"] <= 100_000
    kinds = [type(step) for step in small.steps]
    assert Swap("x") in small.steps
    assert kinds.index(Contract) < kinds.index(Swap) and kinds[-1] is Donate
    assert "x waits in the host's memory for its use" in small.explain()


@pytest.mark.soundness
def test_what_blocks_compute_again_is_not_held_for_what_was_computed_from_it_before() -> None:
    small = least("td_lambda")
    assert device(small) <= 16e6
    again = {step.array for step in small.steps if isinstance(step, Recompute)}
    assert {"critic.hidden_1", "critic.hidden_2"} <= again


@pytest.mark.soundness
def test_learning_follows_acting_where_it_needs_a_few_steps_of_it_only() -> None:
    small = least("n_step")
    kinds = {type(step) for step in small.steps}
    assert Accumulate("t") in small.steps and Reschedule in kinds
    assert Vectorize("t") not in small.steps
    assert device(small) <= 8e6


@pytest.mark.soundness
def test_least_memory_of_short_episodes_is_less_than_by_the_recipe_by_hand() -> None:
    root = wb.variant(reinforce(B=32, T=100, I=1))
    fast, small = wb.optimize(root, backend="numpy"), wb.optimize(root, "memory", backend="numpy")
    assert device(small) <= 1.47e6
    assert small.predict(backend="numpy").seconds <= 2 * fast.predict(backend="numpy").seconds


def test_equations_are_simplified_where_that_is_predicted_to_pay() -> None:
    root = wb.variant(a2c())
    found = wb.optimize(root, backend="numpy")
    assert Simplify() in found.steps
    without = root.replay([step for step in found.steps if step != Simplify()])
    assert found.predict(backend="numpy").seconds <= 0.98 * without.predict(backend="numpy").seconds


@pytest.mark.parametrize(
    ("template", "capacity"),
    [
        (learning, 20_000_000),
        pytest.param(partial(reinforce, B=256, T=1000), 100_000_000, marks=pytest.mark.soundness),
    ],
)
def test_capacity_is_kept_and_what_fits_is_not_made_smaller(
    template: Callable[..., Program], capacity: int
) -> None:
    root = wb.variant(template(I=2))
    fast, tight = (
        wb.optimize(root, backend="numpy"),
        wb.optimize(root, capacity=capacity, backend="numpy"),
    )
    assert device(fast) > capacity >= device(tight)
    assert tight.predict(backend="numpy").seconds <= 1.2 * fast.predict(backend="numpy").seconds
    assert wb.optimize(root, capacity=10**9, backend="numpy").key == fast.key


@pytest.mark.soundness
def test_capacity_that_only_the_host_relieves_is_kept() -> None:
    root = wb.variant(reinforce(B=256, T=1000, I=2))
    tight = wb.optimize(root, capacity=6_000_000, backend="numpy")
    assert device(tight) <= 6_000_000
    assert any(isinstance(step, Swap) for step in tight.steps)


def test_capacity_that_nothing_fits_under_is_refused_with_the_least_that_was_found() -> None:
    root = wb.variant(leaky_sum())
    with pytest.raises(WorkbenchError, match=r"does not fit into 10 B: the least that was found"):
        wb.optimize(root, capacity=10, backend="numpy")


@pytest.mark.parametrize(
    ("objective", "capacity", "message"),
    [
        ("memroy", None, "unknown objective 'memroy': did you mean memory"),
        (None, None, "unknown objective None"),
        ("time", 0, "capacity 0; expected a positive number of bytes"),
        ("time", -5, "capacity -5; expected a positive number of bytes"),
        ("time", True, "capacity True; expected a positive number of bytes"),
        ("memory", 1e9, "capacity 1000000000.0; expected a positive number of bytes"),
    ],
)
def test_aim_is_refused_where_it_is_none(objective: str, capacity: int, message: str) -> None:
    with pytest.raises(WorkbenchError, match=message):
        wb.optimize(wb.variant(small_reinforce()), objective, capacity, backend="numpy")  # type: ignore[arg-type]


SEARCHES = {"recurrent_network": "time", "returns": "memory", "staggered": "memory"}
KEYS = f"""
import workbench as wb
from tests.programs import PROGRAMS
for name, objective in {SEARCHES}.items():
    chosen = wb.optimize(PROGRAMS[name][0](), objective, sizes={{"B": {LARGE}}}, backend="numpy")
    print(chosen.key)
"""


def test_recipe_is_the_same_in_every_process() -> None:
    here = [
        wb.optimize(PROGRAMS[name][0](), objective, sizes={"B": LARGE}, backend="numpy").key
        for name, objective in SEARCHES.items()
    ]
    for seed in ("1", "2"):
        plan_files.clear()
        done = subprocess.run(
            [sys.executable, "-c", KEYS],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.split() == here
