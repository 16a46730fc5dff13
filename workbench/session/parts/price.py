"""Price: what a program is predicted to cost after a step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.transforms.step.transform import from_json
from workbench.variants.variant import Variant


@dataclass(frozen=True)
class EffectView:
    """Predicted numbers of the program after a step (seconds, bytes by memory space)."""

    seconds: float
    peak_bytes: Mapping[str, int]


def price(variant: Variant, arguments: Mapping[str, Any]) -> EffectView:
    """What the variant after `step` is predicted to cost at `sizes` on `backend` in `dtype`.

    Raises Refused where the step cannot be taken, WorkbenchError for what is no step, SizeError for
    sizes that the program does not take, UnavailableError where nothing can be predicted.
    """
    after = variant.apply(from_json(arguments["step"]))
    found = after.predict(arguments["sizes"], arguments["backend"], arguments["dtype"])
    return EffectView(found.seconds, found.peak_bytes)
