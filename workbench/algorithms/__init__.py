"""Algorithms, one file each, written as their papers do."""

from workbench.algorithms.a2c import a2c
from workbench.algorithms.ppo import ppo
from workbench.algorithms.reinforce import reinforce

ALGORITHMS = {template.name: template for template in (reinforce, a2c, ppo)}

__all__ = ["ALGORITHMS", "a2c", "ppo", "reinforce"]
