"""Why not: the small iteration space in which a refused step's two instances stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.session.parts.domain import DomainView
from workbench.session.parts.step import RefusalView, StepView


@dataclass(frozen=True)
class WhyView:
    """A refused step explained. `space` shows the instances of the two statements at `sizes`
    (small; at least the witness's), with the order in which the step would run them; null where the
    refusal has no witness, or where the sizes are too small for it, which `remark` then says.
    """

    step: StepView
    refusal: RefusalView
    sizes: Mapping[str, int]
    space: DomainView | None
    remark: str
