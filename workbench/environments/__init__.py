"""Environments written as equations, one file each."""

from workbench.environments.acrobot import Acrobot
from workbench.environments.cartpole import CartPole
from workbench.environments.mountain_car import MountainCar
from workbench.environments.mountain_car_continuous import MountainCarContinuous
from workbench.environments.pendulum import Pendulum
from workbench.environments.synthetic import Noisy, Trivial

__all__ = [
    "Acrobot",
    "CartPole",
    "MountainCar",
    "MountainCarContinuous",
    "Noisy",
    "Pendulum",
    "Trivial",
]
