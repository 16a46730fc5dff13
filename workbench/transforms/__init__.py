"""The transforms, one file each; a step is a transform with its arguments."""

from workbench.transforms.contract import Contract
from workbench.transforms.vectorize import Vectorize

__all__ = ["Contract", "Vectorize"]
