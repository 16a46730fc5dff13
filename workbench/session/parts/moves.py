"""Moves: what can be done next, with its price, or why not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.session.parts.step import RefusalView, StepView


@dataclass(frozen=True)
class EffectView:
    """Predicted numbers of the program after a step (seconds, bytes by memory space)."""

    seconds: float
    peak_bytes: Mapping[str, int]


@dataclass(frozen=True)
class MoveView:
    """A step that could come next; `refusal` says why not, null where it can.

    `effect` is null where the step is refused, or while it is not predicted yet: then the same move
    comes again with it.
    """

    step: StepView
    refusal: RefusalView | None
    notes: tuple[str, ...]
    effect: EffectView | None


@dataclass(frozen=True)
class TransformView:
    """A kind of step: what its documentation says, and the JSON Schema of its arguments."""

    name: str
    summary: str
    documentation: str
    schema: Mapping[str, Any]


@dataclass(frozen=True)
class MovesView:
    """A batch of moves. `before` is the variant's own prediction; `transforms` come with the first
    batch.
    """

    before: EffectView | None
    transforms: tuple[TransformView, ...]
    moves: tuple[MoveView, ...]
