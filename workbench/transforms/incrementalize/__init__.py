"""Incrementalize: whole-axis work becomes a running update, or blocks."""

from workbench.transforms.incrementalize.incrementalize import Incrementalize

__all__ = ["Incrementalize"]
