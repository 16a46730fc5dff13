"""A step, a witness and a refusal as the browser sees them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from workbench.session.picture.snapshot import LineView


@dataclass(frozen=True)
class StepView:
    """A step: `json` is what `transforms.from_json` reads, `text` is for reading
    (`Vectorize('b')`), `source` is Python. `statements`, `arrays` and `dims` are those of the
    program it is about, by which moves are found for a selection. `equation_step`: it changes
    equations, not the order or the storage.
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
    """Why a step is not legal. `repairs` make it legal, `instead` do what it wanted."""

    kind: Literal["dependence", "capability", "no effect", "cost", "input"]
    sentence: str
    line: LineView | None
    witness: WitnessView | None
    repairs: tuple[StepView, ...]
    instead: tuple[StepView, ...]
