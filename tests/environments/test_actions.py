"""Actions that are numbers, and numbers that are no actions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench import environments
from workbench.backends.reference.evaluator import Reference
from workbench.errors import ProgramError

ALWAYS: list[tuple[Any, Any, Any]] = [
    (environments.CartPole(), 1, np.int64(1)),
    (environments.MountainCar(), 2, np.int32(2)),
    (environments.Acrobot(), 0, np.array(0)),
    (environments.Pendulum(), [0.5], np.array([0.5])),
    (environments.MountainCarContinuous(), [0.5], (0.5,)),
    (environments.Trivial(), 1, np.int64(1)),
]


@pytest.mark.parametrize(("env", "action", "same"), ALWAYS, ids=lambda x: type(x).__name__)
def test_an_action_may_be_a_number(env: Any, action: Any, same: Any) -> None:
    """The same one at all steps, as of a policy that is compared with."""

    @wb.program
    def constant(B: int = 2, T: int = 3) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        results = {}
        kind = float if isinstance(action, list) else int
        actions = {"number": action, "same": same, "tensor": wb.cast(action, kind)}
        for name, taken in actions.items():
            start = env.reset(over=b)
            state = wb.recurrent(f"state_{name}", start.shape, over=(b, t))
            state[b, 0] = start * 0.0
            following, reward, _, _ = env.step(state, taken)
            state[b, t + 1] = following
            results[name] = reward + following[..., 0]
        return results

    found = Reference(constant().equations, seed=0).outputs()
    np.testing.assert_array_equal(found["number"], found["tensor"])
    np.testing.assert_array_equal(found["same"], found["tensor"])


@pytest.mark.parametrize("action", [2, -1, 0.5, True])
def test_a_number_that_is_no_action_is_refused(action: Any) -> None:
    @wb.program
    def constant(B: int = 2) -> dict[str, Any]:
        b = wb.dim(b=B)
        env = environments.CartPole()
        return {"state": env.step(env.reset(over=b), action)[0]}

    with pytest.raises(ProgramError) as error:
        constant()
    assert error.value.message == (
        "CartPole takes one of 2 discrete actions (an int scalar), but the action is "
        f"{action}; use wb.Categorical(logits=…).sample()"
    )
    assert error.value.line is not None and "env.step(" in error.value.line.text
