"""What a step would make of a variant, before it is taken."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.session.parts.code import CodeView
from workbench.session.parts.moves import EffectView
from workbench.session.parts.step import RefusalView, StepView
from workbench.session.snapshot import Snapshot


@dataclass(frozen=True)
class PreviewView:
    """The program after the step, or why there is none (then everything but `refusal` is null)."""

    step: StepView
    refusal: RefusalView | None
    notes: tuple[str, ...]
    snapshot: Snapshot | None
    code: CodeView | None
    before: EffectView | None
    after: EffectView | None
