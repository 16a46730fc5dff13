"""Moves: the steps that can come next, and the reasons against those that cannot."""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.errors import WorkbenchError, nearest
from workbench.program.values import Program, Statement
from workbench.session.parts.step import StepView, step_view
from workbench.transforms.step.refusal import Refused
from workbench.transforms.step.step_json import known_names, schema
from workbench.transforms.step.transform import REGISTRY, Transform
from workbench.variants.proposals import every_step, steps_about
from workbench.variants.variant import Variant

OFTEN = 0.2
"""Seconds between two batches of judged moves."""

NAMING = next(reversed(REGISTRY))
"""The kind of step whose first batch brings the program's names: of all kinds the first to be
judged, as the order that was given last.
"""


@dataclass(frozen=True)
class MoveView:
    """A step that could come next. `refused` is the reason against it in a sentence, null where it
    is legal. Its effect is computed only when somebody looks (`preview`).
    """

    step: StepView
    refused: str | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class TransformView:
    """A kind of step: its documentation and the JSON Schema of its arguments. In the schema,
    `names` says what an argument names ("dim", "loop", "array", "statement" or "rule") and `known`
    which list of `MovesView.names` has those of the program.
    """

    name: str
    summary: str
    documentation: str
    equation_step: bool
    schema: Mapping[str, Any]


@dataclass(frozen=True)
class MovesView:
    """A batch of moves. The first of those that kinds of steps propose has these kinds too. With
    all kinds, or with `NAMING`, come lists of the program's names, to which their schemas refer.
    """

    transforms: tuple[TransformView, ...]
    names: Mapping[str, tuple[str, ...]]
    moves: tuple[MoveView, ...]


def moves(variant: Variant, arguments: Mapping[str, Any]) -> Iterator[MovesView]:
    """Yield the moves of a variant in batches, legal and refused; with `statements`, only moves
    about those; with `transform`, only what that kind of step proposes. Their prices are another
    part (`price`), asked for one by one. Raises WorkbenchError for an unknown statement.
    """
    program, about = variant.program, arguments.get("statements")
    if about is None:
        kind = arguments.get("transform")
        kinds = [transform_view(REGISTRY[name]) for name in REGISTRY if kind in (None, name)]
        names = known_names(program) if kind in (None, NAMING) else {}
        yield MovesView(tuple(kinds), names, ())
        steps = every_step(program, kind)
    else:
        yield MovesView((), {}, ())
        steps = steps_about(program, _known(program, about))
    for batch in _batches(_judged(variant, step) for step in steps):
        yield MovesView((), {}, tuple(batch))


def transform_view(transform: type[Transform]) -> TransformView:
    """Describe a kind of step."""
    documentation = inspect.getdoc(transform) or ""
    return TransformView(
        name=transform.__name__,
        summary=documentation.split("\n\n")[0].replace("\n", " "),
        documentation=documentation,
        equation_step=transform.equation_step,
        schema=schema(transform),
    )


def _judged(variant: Variant, step: Transform) -> MoveView:
    shown = step_view(step, variant.program)
    try:
        return MoveView(shown, None, variant.apply(step).notes)
    except Refused as refused:
        return MoveView(shown, refused.refusal.sentence, ())


def _batches(found: Iterator[MoveView]) -> Iterator[list[MoveView]]:
    """Yield moves in batches, often enough for somebody who watches."""
    batch: list[MoveView] = []
    said = time.monotonic()
    for one in found:
        batch.append(one)
        if time.monotonic() - said >= OFTEN:
            yield batch
            batch, said = [], time.monotonic()
    if batch:
        yield batch


def _known(program: Program, names: Sequence[str]) -> list[Statement]:
    for name in names:
        if name not in program.statement:
            hint = nearest(str(name), program.statement, "statements")
            raise WorkbenchError(f"unknown statement {name!r}: {hint}")
    return [program.statement[name] for name in dict.fromkeys(names)]
