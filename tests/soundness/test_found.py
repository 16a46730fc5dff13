"""Steps that were wrong once, as walks found them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.soundness.programs import program_called
from tests.soundness.walks import Meaning
from workbench.transforms import (
    Contract,
    Distribute,
    Donate,
    Fuse,
    Incrementalize,
    Persist,
    Place,
    Recompute,
    Simplify,
    Swap,
    Tile,
    Vectorize,
)
from workbench.transforms.step.transform import Transform

FOUND: list[tuple[str, dict[str, int], tuple[Transform, ...]]] = [
    (
        "n_step",
        {"B": 1, "T": 2},
        (
            Incrementalize("discounted_sum", "t"),
            Place("discounted_sum.to_end[3*t_block3+2]", "t", at="first"),
            Simplify(),
        ),
    ),
    (
        "repeated",
        {},
        (
            Vectorize("n"),
            Place("gradient_product", "n", at="first"),
            Recompute("gradient_product"),
        ),
    ),
    ("leaky_sum", {"B": 1, "T": 3}, (Swap("s"), Swap("x"))),
    (
        "tables",
        {"W": 3, "I": 3},
        (Persist("w", 2, chunks=4), Recompute("error")),
    ),
    ("delayed", {}, (Swap("x"), Swap("y"))),
    ("small_ppo", {"B": 3, "T": 3, "M": 3}, (Vectorize("b"), Tile("b", 2))),
    (
        "returns",
        {},
        (
            Tile("b", 64),
            Incrementalize("to_go", "t_1", block=4),
            Recompute("to_go.partial"),
            Vectorize("t"),
            Tile("b", 3, statements=("done", "to_go")),
            Recompute("to_go.partial.again"),
        ),
    ),
    (
        "ranges",
        {"T": 2},
        (
            Incrementalize("prefix_mean_sum", "t_3", block=2),
            Incrementalize("prefix_mean_sum.partial", "t_3", block=4),
            Contract(),
        ),
    ),
    (
        "statistics",
        {"T": 1},
        (
            Tile("t", 64),
            Incrementalize("std_sum", "t", block=64),
            Fuse(("std_sum.partial", "highest")),
            Vectorize("t_block64"),
        ),
    ),
    (  # what is beyond the last block was checked too
        "kept",
        {"B": 2, "T": 4, "H": 3},
        (Incrementalize("most", "t", block=3), Recompute("most.partial")),
    ),
    (  # isl looked for its lifetimes without end
        "staggered",
        {"B": 2, "T": 7},
        (
            Distribute(("y[t+5]",)),
            Recompute("x"),
            Contract(),
            Tile("t", 64),
            Donate("y", "y"),
            Swap("halves"),
            Distribute(("x.again_3",)),
        ),
    ),
]


@pytest.mark.parametrize(("name", "sizes", "steps"), FOUND)
def test_steps_compute_the_same(
    name: str, sizes: dict[str, int], steps: tuple[Transform, ...]
) -> None:
    meaning = Meaning(name, program_called(name), sizes)
    variant = meaning.root
    for step in steps:
        variant = variant.apply(step)
    with np.errstate(all="ignore"):
        assert meaning.difference(variant) is None
        assert meaning.difference_when_resumed(variant) is None
