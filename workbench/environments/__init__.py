"""Environments written as equations, one file each."""

from typing import Any

from workbench.environments.acrobot import Acrobot
from workbench.environments.cartpole import CartPole
from workbench.environments.mountain_car import MountainCar
from workbench.environments.mountain_car_continuous import MountainCarContinuous
from workbench.environments.pendulum import Pendulum
from workbench.environments.synthetic import Noisy, Trivial
from workbench.errors import ProgramError, nearest
from workbench.language.trace import user_line

__all__ = [
    "ENVIRONMENTS",
    "Acrobot",
    "CartPole",
    "MountainCar",
    "MountainCarContinuous",
    "Noisy",
    "Pendulum",
    "Trivial",
    "named",
]

ENVIRONMENTS: dict[str, type[Any]] = {
    cls.__name__: cls
    for cls in (Acrobot, CartPole, MountainCar, MountainCarContinuous, Noisy, Pendulum, Trivial)
}


def named(environment: Any) -> Any:
    """An environment from its name (`"CartPole"`), or the environment that is given."""
    if not isinstance(environment, str):
        return environment
    if environment not in ENVIRONMENTS:
        raise ProgramError(
            f"unknown environment {environment!r}; "
            f"{nearest(environment, ENVIRONMENTS, 'environments')}",
            user_line(),
        )
    return ENVIRONMENTS[environment]()
