"""Target networks: parameters that follow others."""

from __future__ import annotations

from numbers import Real

from workbench.errors import ProgramError
from workbench.language.nn.initializers import Initializer
from workbench.language.nn.parameters import (
    Member,
    Parameters,
    carried,
    expect_over,
    step_number,
    successor,
)
from workbench.language.tracing.functions import stop_gradient, where
from workbench.language.tracing.nodes import index
from workbench.language.tracing.tensor import Tensor
from workbench.language.tracing.trace import scope, user_line
from workbench.polyhedral.expression import expression, whole


def target(
    theta: Parameters,
    *,
    tau: float | None = None,
    every: int | None = None,
    when: Tensor | None = None,
) -> Parameters:
    """Make the parameters of target networks: they start as `theta` and follow its updates. A
    network takes them in the place of theta.

    With `tau`, after each update target' = tau * theta' + (1 - tau) * target, theta' being theta
    after it (Polyak averaging; Lillicrap et al. 2016, algorithm 1). With `every`, they become
    theta' after each `every` updates and stay in between (Mnih et al. 2015, algorithm 1). `when`, a
    boolean over the dims of the updates, tells after which of them they follow at all (Fujimoto et
    al. 2018, algorithm 1). Either is a recurrence over the dims of the updates, and constant to
    `gradient`.
    """
    _expect(theta, tau, every)
    if when is not None:
        expect_over(theta, when)
    first = dict.fromkeys(theta.over, expression(0))
    following = dict(zip(theta.over, successor(theta.over), strict=True))

    def start(name: str) -> Initializer:
        return lambda shape, layers: stop_gradient(theta.arrays[name].substitute(first))

    followers = carried(
        {
            name: Member(x.shape, start(name), theta.layers(name))
            for name, x in theta.arrays.items()
        },
        theta.over,
        "target",
    )
    with scope("target"):
        due = None if every is None else (index(step_number(theta.over)) + 1) % every == 0

        def step(new: Tensor, old: Tensor) -> Tensor:
            if due is not None:
                return where(due if when is None else due & when, new, old)
            assert tau is not None
            moved = tau * new + (1.0 - tau) * old
            return moved if when is None else where(when, moved, old)

        followers.update(
            {
                name: step(stop_gradient(x.substitute(following)), followers.arrays[name])
                for name, x in theta.arrays.items()
            }
        )
    return followers


def _expect(theta: object, tau: object, every: object) -> None:
    """Refuse what is not the parameters of updates and either a share or a number of updates."""
    if not isinstance(theta, Parameters) or not theta.over:
        raise ProgramError(
            f"nn.target of {theta!r}; expected nn.parameters over the dims that count updates",
            user_line(),
        )
    if (tau is None) == (every is None):
        found = "neither" if tau is None else f"tau={tau!r} and every={every!r}"
        raise ProgramError(
            "nn.target takes either tau=, the share of the new parameters in each update, or "
            f"every=, the number of updates between copies; found {found}",
            user_line(),
        )
    if tau is not None and not (isinstance(tau, Real) and 0.0 < float(tau) <= 1.0):
        raise ProgramError(
            f"nn.target with tau={tau!r}; expected a number from 0 to 1", user_line()
        )
    if every is not None and (whole(every) or 0) < 1:
        raise ProgramError(
            f"nn.target with every={every!r}; expected a whole number from 1 on", user_line()
        )
