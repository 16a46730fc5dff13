"""Algorithms, one file each, written as their papers do."""

from workbench.algorithms.reinforce import reinforce

ALGORITHMS = {template.name: template for template in (reinforce,)}

__all__ = ["ALGORITHMS", "reinforce"]
