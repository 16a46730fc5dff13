"""Environments written as equations, one file each."""

from typing import Any

from workbench.environments.acrobot import Acrobot
from workbench.environments.cartpole import CartPole
from workbench.environments.external import Gymnasium
from workbench.environments.mountain_car import MountainCar
from workbench.environments.mountain_car_continuous import MountainCarContinuous
from workbench.environments.pendulum import Pendulum
from workbench.environments.synthetic import Noisy, Trivial
from workbench.environments.tabular import Tabular
from workbench.errors import ProgramError, nearest
from workbench.language.tracing.trace import user_line

__all__ = [
    "ENVIRONMENTS",
    "Acrobot",
    "CartPole",
    "Gymnasium",
    "MountainCar",
    "MountainCarContinuous",
    "Noisy",
    "Pendulum",
    "Tabular",
    "Trivial",
    "named",
    "tabular",
]

ENVIRONMENTS: dict[str, type[Any]] = {
    cls.__name__: cls
    for cls in (
        Acrobot,
        CartPole,
        Gymnasium,
        MountainCar,
        MountainCarContinuous,
        Noisy,
        Pendulum,
        Trivial,
    )
}


def named(environment: Any) -> Any:
    """Return the environment of a name (`"CartPole"`, `"Gymnasium:CartPole-v1"`), or the one that
    is given.
    """
    if not isinstance(environment, str):
        return environment
    name, _, which = environment.partition(":")
    if name not in ENVIRONMENTS:
        raise ProgramError(
            f"unknown environment {name!r}; {nearest(name, ENVIRONMENTS, 'environments')}",
            user_line(),
        )
    if name == Gymnasium.__name__ and not which:
        raise ProgramError(f"{name}: which one? For example {name}:CartPole-v1", user_line())
    return ENVIRONMENTS[name](*[which] if which else [])


def tabular(environment: Any) -> Tabular:
    """Return Gymnasium's environment of a name as a table (`"FrozenLake-v1"`), or the one that is
    given.
    """
    if isinstance(environment, str):
        return Tabular(environment)
    if not isinstance(environment, Tabular):
        raise ProgramError(
            f"{environment!r} is no table of transitions; expected environments.Tabular(name), or "
            'the name: "FrozenLake-v1"',
            user_line(),
        )
    return environment
