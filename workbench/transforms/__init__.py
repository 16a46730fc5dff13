"""The transforms, one file each; a step is a transform with its arguments."""

from workbench.transforms.accumulate import Accumulate
from workbench.transforms.contract import Contract
from workbench.transforms.distribute import Distribute
from workbench.transforms.donate import Donate
from workbench.transforms.fuse import Fuse
from workbench.transforms.incrementalize import Incrementalize
from workbench.transforms.interchange import Interchange
from workbench.transforms.place import Place
from workbench.transforms.recompute import Recompute
from workbench.transforms.reschedule import Reschedule
from workbench.transforms.simplify import Simplify
from workbench.transforms.swap import Swap
from workbench.transforms.tile import Tile
from workbench.transforms.vectorize import Vectorize

__all__ = [
    "Accumulate",
    "Contract",
    "Distribute",
    "Donate",
    "Fuse",
    "Incrementalize",
    "Interchange",
    "Place",
    "Recompute",
    "Reschedule",
    "Simplify",
    "Swap",
    "Tile",
    "Vectorize",
]
