"""Moves: what can be done next, with its price, or why not."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from workbench.errors import UnavailableError, WorkbenchError, nearest
from workbench.lowering.memory import bytes_of
from workbench.program.sizes import resolve
from workbench.program.values import Program, Statement
from workbench.session.describe import refusal_view, step_view
from workbench.session.parts.step import RefusalView, StepView
from workbench.session.proposals import every_step, steps_about
from workbench.transforms.base import REGISTRY, Transform, schema
from workbench.transforms.refusal import Refusal, Refused
from workbench.transforms.rules import BY_NAME
from workbench.variants.variant import Variant

OFTEN = 0.1
"""Seconds between two batches of moves that are judged."""

KINDS = {
    "dim": "dim",
    "outer": "dim",
    "inner": "dim",
    "array": "array",
    "to": "array",
    "statement": "statement",
    "statements": "statement",
    "readers": "statement",
    "shifts": "statement",
    "rules": "rule",
}
"""What the names in an argument of a step are names of."""


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
    """A kind of step: what its documentation says, and the JSON Schema of its arguments, where
    `names` says what an argument's names are names of: "dim", "array", "statement" or "rule" (then
    `known` lists them).
    """

    name: str
    summary: str
    documentation: str
    equation_step: bool
    schema: Mapping[str, Any]


@dataclass(frozen=True)
class MovesView:
    """A batch of moves. `before` is the variant's own prediction, which comes when all moves are
    judged; `transforms` come with the first batch. `remark` says why nothing can be predicted, ""
    where it can.
    """

    before: EffectView | None
    transforms: tuple[TransformView, ...]
    moves: tuple[MoveView, ...]
    remark: str


def moves(variant: Variant, arguments: Mapping[str, Any]) -> Iterator[MovesView]:
    """The moves of a variant, or those about `statements` where they are given.

    First what can be done and what cannot, batch by batch; then the legal ones again, each with
    what it is predicted to cost at `sizes` on `backend` in `dtype`, those that are about most of
    the time and memory first. Raises WorkbenchError for an unknown statement or size.
    """
    program, names = variant.program, arguments.get("statements")
    yield MovesView(None, tuple(transform_view(one) for one in REGISTRY.values()), (), "")
    steps = every_step(program) if names is None else steps_about(program, _known(program, names))
    judged: list[Judged] = []
    for batch in _batches(_judged(variant, step) for step in steps):
        judged += batch
        yield MovesView(None, (), tuple(one.view(program) for one in batch), "")
    try:
        before = effect(variant, arguments)
    except UnavailableError as error:
        yield MovesView(None, (), (), error.message)
        return
    yield MovesView(before, (), (), "")
    legal = [one for one in judged if one.refusal is None]
    for one in sorted(legal, key=_importance(variant, arguments), reverse=True):
        predicted = effect(variant.apply(one.step), arguments)
        yield MovesView(None, (), (one.view(program, predicted),), "")


def effect(variant: Variant, arguments: Mapping[str, Any]) -> EffectView:
    """What a variant is predicted to cost at `sizes` on `backend` in `dtype`."""
    found = variant.predict(arguments["sizes"], arguments["backend"], arguments["dtype"])
    return EffectView(found.seconds, found.peak_bytes)


def transform_view(transform: type[Transform]) -> TransformView:
    """What is known of a kind of step."""
    documentation = inspect.getdoc(transform) or ""
    described = schema(transform)
    for name, kind in KINDS.items():
        if name in described["properties"]:
            described["properties"][name]["names"] = kind
            if kind == "rule":
                described["properties"][name]["known"] = list(BY_NAME)
    return TransformView(
        name=transform.__name__,
        summary=documentation.split("\n\n")[0].replace("\n", " "),
        documentation=documentation,
        equation_step=transform.equation_step,
        schema=described,
    )


class Judged(NamedTuple):
    """A step that could come next, or why it cannot."""

    step: Transform
    refusal: Refusal | None
    notes: tuple[str, ...]

    def view(self, program: Program, predicted: EffectView | None = None) -> MoveView:
        """The move as views read it."""
        return MoveView(
            step_view(self.step, program),
            None if self.refusal is None else refusal_view(self.refusal, program),
            self.notes,
            predicted,
        )


def _judged(variant: Variant, step: Transform) -> Judged:
    try:
        return Judged(step, None, variant.apply(step).notes)
    except Refused as refused:
        return Judged(step, replace(refused.refusal, attempted=None), ())


def _batches(found: Iterator[Judged]) -> Iterator[list[Judged]]:
    """What is found, as often as somebody who watches can follow."""
    batch: list[Judged] = []
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


def _importance(variant: Variant, arguments: Mapping[str, Any]) -> Callable[[Judged], float]:
    """How much of a run's time or memory a step is about: all of it where it names nothing."""
    program, dtype = variant.program, str(arguments["dtype"])
    predicted = variant.predict(arguments["sizes"], arguments["backend"], dtype)
    sizes = resolve(program, arguments["sizes"])
    stored = variant.loop_program.stored
    held = {name: bytes_of(found.buffer, sizes, dtype) for name, found in stored.items()}
    most = max(held.values(), default=1) or 1

    def of(judged: Judged) -> float:
        named = step_view(judged.step, program)
        if not named.statements and not named.arrays:
            return math.inf
        spent = sum(
            predicted.by_statement[name].seconds
            for name in named.statements
            if name in predicted.by_statement
        )
        return spent / predicted.seconds + sum(held[name] for name in named.arrays) / most

    return of
