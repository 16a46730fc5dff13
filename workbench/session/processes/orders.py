"""What the worker process is asked about and what comes out, beside parts: variants and steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.program.values import Program
from workbench.session.protocol.capsule import Plain
from workbench.transforms.step.transform import Transform

Json = Mapping[str, Any]


@dataclass(frozen=True)
class VariantRef:
    """A variant that the worker knows by its key."""

    key: str


@dataclass(frozen=True)
class NewVariant:
    """A variant that came out of work: the step that was taken on `base`, and what it made. `base`
    is a key, the position of an earlier one of the same work, or null for a root. `entry` is the
    key of what it stands for, where steps were taken anew. `more`: others follow, and they count
    only together.
    """

    base: str | int | None
    program: Program
    step: Transform | None
    notes: tuple[str, ...]
    why: str
    entry: str = ""
    more: bool = False


@dataclass(frozen=True)
class Picture:
    """What is drawn of the variant that was made last, as JSON-able values."""

    value: Plain


@dataclass(frozen=True)
class Replay:
    """A step to take anew: on what stands for `parent`; what comes out stands for `key`."""

    key: str
    parent: str
    step: Json


@dataclass(frozen=True)
class Misfit:
    """An entry that does not fit any more, and why."""

    entry: str
    step: str
    sentence: str


@dataclass(frozen=True)
class TemplateSource:
    """A template and what its errors show: the lines of the cells by file, and their numbers."""

    template: Callable[..., Program]
    arguments: Mapping[str, Any]
    lines: Mapping[str, Sequence[str]]
    cells: Mapping[str, int]
