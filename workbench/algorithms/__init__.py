"""Algorithms, one file each, written as their papers do."""

from workbench.algorithms.ppo import ppo
from workbench.algorithms.reinforce import reinforce

ALGORITHMS = {template.name: template for template in (reinforce, ppo)}

__all__ = ["ALGORITHMS", "ppo", "reinforce"]
