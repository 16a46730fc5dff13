"""How long a run will take, before it is started: predicted, and set right by a run at small sizes.

A prediction knows how time grows with the sizes; how fast this machine is right now, with what else
runs on it, a short run tells best.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.backends.protocol import Compiled
from workbench.errors import UnavailableError
from workbench.measure.check import Check, ran
from workbench.measure.measurement import Predicted, seconds_text
from workbench.program.sizes import numbers
from workbench.variants.variant import Variant

LIMIT = 60.0
"""Seconds of all runs of a variant after which it is asked whether they are wanted."""


def predicted(
    variant: Variant, sizes: Mapping[str, int] | None, backend: str, dtype: str
) -> Predicted | None:
    """What is said of a run; None for a backend of which nothing is known."""
    try:
        found = variant.predict(sizes, backend, dtype)
    except UnavailableError:
        return None
    return Predicted(found.seconds, dict(found.peak_bytes), found.note)


def too_slow(
    variant: Variant, compiled: Compiled, check: Check, said: Predicted | None, runs: int
) -> str:
    """Why so many runs would take too long; "" where they do not."""
    if said is None or not check.sizes:
        return ""
    free = {p.name for p in variant.program.parameters if p.definition is None}
    small = {name: n for name, n in check.sizes.items() if name in free}
    at_small = predicted(variant, small, check.backend, check.dtype)
    assert at_small is not None, "a prediction at some sizes is one at all"
    taken = min(
        ran(compiled, variant.program, check.sizes, check.seed, check.dtype).seconds
        for _ in range(2)
    )
    seconds = said.seconds * taken / at_small.seconds
    if seconds * runs <= LIMIT:
        return ""
    return (
        f"not measured, since a run would take about {seconds_text(seconds)}, {runs} of them "
        f"{seconds_text(seconds * runs)} (predicted from one of {seconds_text(taken)} at "
        f"{numbers(check.sizes)}); force=True measures it all the same, smaller sizes take less"
    )
