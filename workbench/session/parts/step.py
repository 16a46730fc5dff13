"""A step, a witness and a refusal as the browser sees them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from workbench.polyhedral.dependences.witness import Witness
from workbench.program.values import Program
from workbench.session.picture.snapshot import LineView, line_view
from workbench.transforms.step.refusal import Refusal, element_text, instance_text
from workbench.transforms.step.transform import Transform


@dataclass(frozen=True)
class StepView:
    """A step. `json` is read by `transforms.from_json`, `text` is for reading (`Vectorize('b')`),
    `source` is Python. `statements`, `arrays` and `dims` are those of the program that the step is
    about; moves are found by them for a selection. `equation_step`: it changes equations, not the
    order or the storage.
    """

    transform: str
    text: str
    source: str
    json: Mapping[str, Any]
    statements: tuple[str, ...]
    arrays: tuple[str, ...]
    dims: tuple[str, ...]
    equation_step: bool


@dataclass(frozen=True)
class InstanceView:
    """An instance of a statement: `state[t+1] at b=0, t=1`."""

    statement: str
    coordinates: Mapping[str, int]
    text: str


@dataclass(frozen=True)
class WitnessView:
    """Two concrete instances that show a violated dependence, the element they share, and the least
    sizes at which they exist. `source` writes the element, `sink` reads it.
    """

    source: InstanceView
    sink: InstanceView
    array: str
    element: tuple[int, ...]
    element_text: str
    sizes: Mapping[str, int]


@dataclass(frozen=True)
class RefusalView:
    """The reason why a step is not legal. `repairs` make it legal, `instead` do what it wanted.
    `argument` names the argument that bad input is about.
    """

    kind: Literal["dependence", "capability", "no effect", "cost", "input"]
    sentence: str
    line: LineView | None
    witness: WitnessView | None
    argument: str | None
    repairs: tuple[StepView, ...]
    instead: tuple[StepView, ...]


def step_view(step: Transform, program: Program) -> StepView:
    """Describe a step on a program."""
    named = step.named(program)
    return StepView(
        transform=type(step).__name__,
        text=str(step),
        source=repr(step),
        json=step.to_json(),
        statements=named.statements,
        arrays=named.arrays,
        dims=named.dims,
        equation_step=type(step).equation_step,
    )


def refusal_view(refusal: Refusal, program: Program) -> RefusalView:
    """Describe a refusal on a program."""
    return RefusalView(
        kind=refusal.kind,
        sentence=refusal.sentence,
        line=line_view(refusal.line),
        witness=None if refusal.witness is None else witness_view(refusal.witness),
        argument=refusal.argument,
        repairs=tuple(step_view(step, program) for step in refusal.repairs),
        instead=tuple(step_view(step, program) for step in refusal.instead),
    )


def witness_view(witness: Witness) -> WitnessView:
    """Describe a witness."""
    source, sink = (
        InstanceView(name, dict(instance), instance_text(name, instance))
        for name, instance in zip(witness.statements, witness.instances, strict=True)
    )
    return WitnessView(
        source=source,
        sink=sink,
        array=witness.array,
        element=witness.element,
        element_text=element_text(witness),
        sizes=dict(witness.sizes),
    )
