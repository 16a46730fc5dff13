"""Runs in parts, which keep what they carry over updates and go on from a file: bit by bit they
return what one whole run returns, but where updates are an axis of NumPy's arrays. Its functions
add in an order that depends on lengths, of which a part has others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import workbench as wb
from tests.soundness.lines import traced
from tests.soundness.random_programs.author import Source
from tests.soundness.random_programs.variants import changed
from tests.soundness.walks import SEED
from workbench.measure.run import holding_past
from workbench.transforms import Vectorize
from workbench.variants.variant import Variant

CUTS = ((1, 1), (1, 2), (2, 1), (2, 3), (3, 1), (1, 4), (1, 1, 2))
"""The updates of each part."""
BACKENDS = ("numpy", "native")


def unlike_the_whole(source: Source, dice: Random) -> str | None:
    """The first output that is other in parts of a variant's run; None where all are alike."""
    sizes, cuts, backend = source.sizes(dice), dice.choice(CUTS), dice.choice(BACKENDS)
    variant = holding_past(changed(wb.variant(traced(source.text)), dice))
    whole = wb.run(variant, backend, sizes={**sizes, "I": sum(cuts)}, seed=SEED, progress=False)
    parts = in_parts(variant, backend, sizes, cuts)
    as_an_axis = backend == "numpy" and Vectorize("i") in variant.steps
    same = partial(np.allclose, rtol=1e-5, atol=1e-6) if as_an_axis else np.array_equal
    for name, values in whole.items():
        if "i" in whole.dims[name]:
            axis = whole.dims[name].index("i")
            beyond = values.shape[axis] - sum(cuts)
            found = joined([part[name] for part in parts], cuts, axis, beyond)
            wanted = np.take(values, range(sum(cuts)), axis)
            if not same(found, wanted, equal_nan=values.dtype.kind == "f"):
                return f"{sizes} {backend} {cuts}: {name}\n{variant.recipe()}"
    return None


def in_parts(
    variant: Variant, backend: str, sizes: Mapping[str, int], cuts: Sequence[int]
) -> list[Mapping[str, Any]]:
    """The results of runs of so many updates, each from the file of the one before."""
    results: list[Mapping[str, Any]] = []
    before: dict[str, Any] = {}
    with TemporaryDirectory() as folder:
        for number, updates in enumerate(cuts):
            result = wb.run(
                variant,
                backend,
                sizes={**sizes, "I": updates},
                seed=SEED,
                progress=False,
                keep=True,
                **before,
            )
            before = {"parameters": Path(folder) / f"{number}.safetensors"}
            result.save(before["parameters"])
            results.append(result)
    return results


def joined(parts: Sequence[Any], cuts: Sequence[int], axis: int, beyond: int) -> Any:
    """The slices of the updates of each part, of which each has some `beyond`: what it starts from.
    Those of updates that a part needs of the one before are at its front.
    """
    own = []
    for values, updates in zip(parts, cuts, strict=True):
        end = values.shape[axis] - beyond
        own.append(np.take(values, range(end - updates, end), axis))
    return np.concatenate(own, axis)
