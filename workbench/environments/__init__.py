"""Environments written as equations, one file each."""

from workbench.environments.cartpole import CartPole

__all__ = ["CartPole"]
