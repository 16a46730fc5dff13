"""The transforms, one file each. A step is a transform with its arguments."""

from workbench.transforms.equations.accumulate import Accumulate
from workbench.transforms.equations.recompute import Recompute
from workbench.transforms.equations.simplify import Simplify
from workbench.transforms.incrementalize import Incrementalize
from workbench.transforms.order.distribute import Distribute
from workbench.transforms.order.fuse import Fuse
from workbench.transforms.order.interchange import Interchange
from workbench.transforms.order.persist import Persist
from workbench.transforms.order.place import Place
from workbench.transforms.order.reschedule import Reschedule
from workbench.transforms.order.tile import Tile
from workbench.transforms.order.vectorize import Vectorize
from workbench.transforms.storage.contract import Contract
from workbench.transforms.storage.donate import Donate
from workbench.transforms.storage.layout import Layout
from workbench.transforms.storage.swap import Swap

__all__ = [
    "Accumulate",
    "Contract",
    "Distribute",
    "Donate",
    "Fuse",
    "Incrementalize",
    "Interchange",
    "Layout",
    "Persist",
    "Place",
    "Recompute",
    "Reschedule",
    "Simplify",
    "Swap",
    "Tile",
    "Vectorize",
]
