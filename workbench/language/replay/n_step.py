"""Targets of several rewards from sampled steps."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.errors import ProgramError
from workbench.language.replay.replay import Batch
from workbench.language.tracing.functions import where
from workbench.language.tracing.nodes import as_tensor
from workbench.language.tracing.tensor import Tensor
from workbench.language.tracing.trace import scope, user_line
from workbench.polyhedral.expression import whole

NEEDED = ("reward", "following", "terminated", "done")


def n_step_sample(
    batch: Batch, n: int, gamma: float
) -> tuple[Tensor, Tensor, Mapping[str, Tensor]]:
    """Return r[0] + … + gamma**(n-1) * r[n-1] from each sampled step on, gamma**n, and `following`
    and `terminated` of the step of the last reward (Sutton & Barto 2018, eq. 7.1).

    Neither an episode's end (`done`) nor the newest step held is passed: there it is fewer rewards,
    and the discount is gamma to the power of their number. The batch has the fields `reward`,
    `following`, `terminated` and `done`.
    """
    if (whole(n) or 0) < 1:
        raise ProgramError(f"n-step sample with n = {n!r}; expected n of at least 1", user_line())
    missing = [name for name in NEEDED if name not in tuple(batch)]
    if missing:
        raise ProgramError(
            f"n-step sample of a replay without {', '.join(missing)}; its fields: "
            f"{', '.join(batch)}",
            user_line(),
        )
    with scope("returns"):
        gain, discount = batch["reward"], as_tensor(gamma)
        end = {name: batch[name] for name in ("following", "terminated")}
        if n == 1:
            return gain, discount, end
        goes_on = ~batch["done"]
        for ahead in range(1, n):
            later, held = batch.later(ahead)
            goes_on = goes_on & held
            gain = gain + where(goes_on, gamma**ahead * later["reward"], 0.0)
            discount = where(goes_on, gamma ** (ahead + 1), discount)
            end = {name: where(goes_on, later[name], x) for name, x in end.items()}
            goes_on = goes_on & ~later["done"]
        return gain, discount, end
