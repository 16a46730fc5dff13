"""What a step would make of a variant, before it is taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.errors import UnavailableError
from workbench.session.describe import refusal_view, step_view
from workbench.session.parts.code import CodeView, code
from workbench.session.parts.moves import EffectView, effect
from workbench.session.parts.step import RefusalView, StepView
from workbench.session.snapshot import Snapshot, snapshot
from workbench.transforms.base import from_json
from workbench.transforms.refusal import Refused
from workbench.variants.variant import Variant


@dataclass(frozen=True)
class PreviewView:
    """The program after the step, or why there is none (then everything but `refusal` is null).
    `remark` says why no cost is predicted, "" where it is.
    """

    step: StepView
    refusal: RefusalView | None
    notes: tuple[str, ...]
    snapshot: Snapshot | None
    code: CodeView | None
    before: EffectView | None
    after: EffectView | None
    remark: str


def preview(variant: Variant, arguments: Mapping[str, Any]) -> PreviewView:
    """The variant after `step`, and both predictions at `sizes` on `backend` in `dtype`.

    Raises WorkbenchError for what is no step, SizeError for sizes that the program does not take.
    """
    step = from_json(arguments["step"])
    shown = step_view(step, variant.program)
    try:
        after = variant.apply(step)
    except Refused as refused:
        refusal = refusal_view(refused.refusal, variant.program)
        return PreviewView(shown, refusal, (), None, None, None, None, "")
    effects: tuple[EffectView | None, EffectView | None] = (None, None)
    remark = ""
    try:
        effects = effect(variant, arguments), effect(after, arguments)
    except UnavailableError as error:
        remark = error.message
    return PreviewView(
        step=shown,
        refusal=None,
        notes=after.notes,
        snapshot=snapshot(after.program),
        code=code(after, arguments),
        before=effects[0],
        after=effects[1],
        remark=remark,
    )
