"""The program that a step would make of a variant, and its predicted cost, before it is taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.planning.cost.prediction import Prediction, stored_bytes
from workbench.session.parts.code import CodeView, code
from workbench.session.parts.cost import predicted
from workbench.session.parts.step import RefusalView, StepView, refusal_view, step_view
from workbench.session.picture.snapshot import Snapshot, snapshot
from workbench.transforms.step.refusal import Refused
from workbench.transforms.step.step_json import from_json
from workbench.variants.variant import Variant


@dataclass(frozen=True)
class PreviewView:
    """The program after the step, or the refusal (then everything but `refusal` is null). Its cost
    is another part, `price`.
    """

    step: StepView
    refusal: RefusalView | None
    notes: tuple[str, ...]
    snapshot: Snapshot | None
    code: CodeView | None


def preview(variant: Variant, arguments: Mapping[str, Any]) -> PreviewView:
    """Return the variant after `step`, with its code on `backend`.

    Raises WorkbenchError where `step` is not a step, ArgumentError where arguments are the reason.
    """
    step = from_json(arguments["step"])
    shown = step_view(step, variant.program)
    try:
        after = variant.apply(step)
    except Refused as refused:
        refusal = refusal_view(refused.refusal, variant.program)
        return PreviewView(shown, refusal, (), None, None)
    return PreviewView(
        step=shown,
        refusal=None,
        notes=after.notes,
        snapshot=snapshot(after.program),
        code=code(after, arguments),
    )


@dataclass(frozen=True)
class EffectView:
    """Predicted numbers of the program after a step (seconds, bytes by memory space)."""

    seconds: float
    peak_bytes: Mapping[str, int]


@dataclass(frozen=True)
class PriceView(EffectView):
    """The same for a step in a list, the bytes of those arrays that it makes smaller or larger (0
    where an array is no more; one that moves to the host stays as large), the memory space to which
    it moves arrays, and what the seconds come of: arithmetic operations, bytes moved, launches, and
    `parts`, the seconds of statements that take a noticeable part of them.
    """

    arrays: Mapping[str, int]
    moved: Mapping[str, str]
    operations: int
    bytes: int
    launches: int
    parts: Mapping[str, float]


NOTICEABLE = 1e-3
"""The part of a run's seconds from which on a statement's are told."""


def price(variant: Variant, arguments: Mapping[str, Any]) -> PriceView:
    """Predict the cost of the variant after `step` at `sizes` on `backend` in `dtype`.

    Raises Refused where the step cannot be taken, WorkbenchError where it is not a step, SizeError
    for sizes that the program does not take, UnavailableError where nothing can be predicted.
    """
    said = predicted(variant.apply(from_json(arguments["step"])), arguments)
    return PriceView(
        said.seconds,
        said.peak_bytes,
        _changed(variant, said),
        _moved(variant, said),
        said.operations,
        said.bytes,
        said.launches,
        _parts(said),
    )


def _parts(said: Prediction) -> dict[str, float]:
    """Return the seconds of each statement that takes a noticeable part of all."""
    least = NOTICEABLE * said.seconds
    return {n: share.seconds for n, share in said.by_statement.items() if share.seconds > least}


def _changed(before: Variant, after: Prediction) -> dict[str, int]:
    """Return the bytes of arrays that take others than before."""
    copies = before.copies_on(after.backend, after.sizes, after.threads)
    stored = after.loops.stored
    changed = {}
    for name, where in before.loops_on(after.backend).stored.items():
        one = stored_bytes(where, copies, after.sizes, after.dtype)
        now = after.array_bytes(name) if name in stored else 0
        if now != one:
            changed[name] = now
    return changed


def _moved(before: Variant, after: Prediction) -> dict[str, str]:
    """Return the memory space of arrays that live in another than before."""
    stored = after.loops.stored
    return {
        name: stored[name].buffer.space
        for name, where in before.loops_on(after.backend).stored.items()
        if name in stored and stored[name].buffer.space != where.buffer.space
    }
