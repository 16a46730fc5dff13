"""Incrementalize: whole-axis work becomes a running update, or blocks."""

from workbench.transforms.incrementalize.step import Incrementalize

__all__ = ["Incrementalize"]
