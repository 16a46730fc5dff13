"""The explanation of a legal step: its pairs with what orders them, and their instances drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from workbench.session.parts.domain import ArrowView, DomainView, space
from workbench.session.parts.step import StepView, step_view
from workbench.transforms.reasons.reason import Ordered, Reason
from workbench.transforms.step.step_json import from_json
from workbench.variants.variant import Variant


@dataclass(frozen=True)
class OrderedView:
    """Two statements of which instances have to come one after the other. `by` says what orders
    them, outermost first; it is empty where there is no pair. `text` says it all.
    """

    source: str
    sink: str
    array: str
    kind: Literal["reads", "overwrites"]
    by: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class ConditionView:
    """A condition of a step on equations, and what meets it, said of a statement."""

    text: str
    met: str
    statement: str


@dataclass(frozen=True)
class ReasonView:
    """The reason why a step is legal. `dependences` are all pairs of statements that it moves.
    `space` shows the nearest at `sizes`, in the order after the step; null where there are none.
    `before` and `after` are the equations that it changes.
    """

    step: StepView
    sentence: str
    dependences: tuple[OrderedView, ...]
    conditions: tuple[ConditionView, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    sizes: Mapping[str, int]
    space: DomainView | None


def reason(variant: Variant, arguments: Mapping[str, Any]) -> ReasonView:
    """Explain why `step` can be taken, drawn at `sizes` (small ones where null or left out).

    Raises Refused where it cannot, SizeError for sizes that the program does not take.
    """
    step = from_json(arguments["step"])
    found = variant.why(step, arguments["sizes"])
    return ReasonView(
        step=step_view(step, variant.program),
        sentence=found.sentence,
        dependences=tuple(_ordered(one) for one in found.dependences),
        conditions=tuple(ConditionView(c.text, c.met, c.statement) for c in found.conditions),
        before=found.before,
        after=found.after,
        sizes=found.sizes,
        space=_drawn(found) if found.instances else None,
    )


def _ordered(one: Ordered) -> OrderedView:
    by = tuple(map(str, one.by))
    return OrderedView(one.source, one.sink, one.array, one.kind, by, str(one))


def _drawn(found: Reason) -> DomainView:
    """Draw the instances with all that they read of each other, and who overwrites what is used."""
    program = found.program
    chosen = [program.statement[placed.statement] for placed in found.instances]
    shown = space(program, chosen, found.sizes, program.schedule)
    at = {s.statement: (k, s.points) for k, s in enumerate(shown.statements)}
    arrows = [
        ArrowView(
            "overwrites",
            at[pair.ordered.source][0],
            at[pair.ordered.source][1].index(pair.source),
            at[pair.ordered.sink][0],
            at[pair.ordered.sink][1].index(pair.sink),
            pair.ordered.array,
            False,
        )
        for pair in found.pairs
        if pair.ordered.kind == "overwrites"
    ]
    return replace(shown, arrows=(*shown.arrows, *arrows))
