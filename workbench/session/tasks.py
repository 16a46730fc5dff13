"""What the worker process does: each kind of work is a generator of what comes out of it, so that
more urgent work may come in between. Runs where isl may take its time; knows no views and no pipes.
"""

from __future__ import annotations

import importlib
import linecache
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.errors import WorkbenchError
from workbench.measure.measurement import step_text
from workbench.measure.store import Store
from workbench.program.values import Program
from workbench.session.capsule import Plain, plain
from workbench.session.measured import belonging, measurement_views
from workbench.session.snapshot import snapshot
from workbench.transforms.base import Transform, from_json
from workbench.variants.variant import Variant, optimize

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Known:
    """A variant that the worker knows by its key."""

    key: str


@dataclass(frozen=True)
class Made:
    """A variant that came out of work: the step that was taken on `base`, and what it made. `base`
    is a key, the position of an earlier one of the same work, or null for a root. `entry` is the
    key of what it stands for, where steps were taken anew.
    """

    base: str | int | None
    program: Program
    step: Transform | None
    notes: tuple[str, ...]
    why: str
    entry: str = ""


@dataclass(frozen=True)
class Entry:
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
class Source:
    """A template and what its errors show: the lines of the cells by file."""

    template: Callable[..., Program]
    arguments: Mapping[str, Any]
    lines: Mapping[str, Sequence[str]]


def part(variant: Variant, name: str, arguments: Json) -> Iterator[Any]:
    """A part of a variant, in batches where its builder gives them, each as JSON-able values."""
    if name == "snapshot":
        yield Plain(plain(snapshot(variant.program)))
        return
    builder = getattr(importlib.import_module(f"workbench.session.parts.{name}"), name, None)
    if builder is None:
        raise WorkbenchError(f"this version does not compute {name}")
    found = builder(variant, arguments)
    if not isinstance(found, Iterator):
        found = iter([found])
    yield from (Plain(plain(value)) for value in found)


def apply(variant: Variant, key: str, step: Json) -> Iterator[Made]:
    """One step on the variant known as `key`."""
    yield _made(variant.apply(from_json(step)), key)


def replay(onto: Variant, key: str, other: Variant, only_last: bool) -> Iterator[Made]:
    """The steps by which another differs, on the variant known as `key`: all or none."""
    if only_last and other.step is None:
        raise WorkbenchError("the program as written has no step that could be taken elsewhere")
    yield from _chain(onto, key, onto.replay(other.steps[-1:] if only_last else other))


def automatic(
    variant: Variant, key: str, objective: Any, capacity: int | None, sizes: Mapping[str, int]
) -> Iterator[Made]:
    """The steps of the automatic recipe on the variant known as `key`."""
    yield from _chain(variant, key, optimize(variant, objective, capacity, sizes=sizes))


def anew(
    root: Variant, key: str, written: str, entries: Sequence[Entry]
) -> Iterator[Made | Misfit]:
    """The steps of a whole tree, whose root was `written`, on a root known as `key`. What came from
    a step that does not fit is left out.
    """
    found: dict[str, tuple[Variant, str | int]] = {written: (root, key)}
    for entry in entries:
        if entry.parent not in found:
            continue
        variant, base = found[entry.parent]
        try:
            step = from_json(entry.step)
            after = variant.apply(step)
        except WorkbenchError as error:
            yield Misfit(entry.key, step_text(entry.step), error.message)
            continue
        found[entry.key] = (after, len(found) - 1)
        yield Made(base, after.program, step, after.notes, after.why, entry.key)


def trace(source: Source) -> Iterator[Made]:
    """The program of a template."""
    for file, lines in source.lines.items():
        linecache.cache[file] = (sum(map(len, lines)), None, list(lines), file)
    yield Made(None, source.template(**source.arguments), None, (), "")


def recorded(root: Variant, store: Store) -> Iterator[Any]:
    """Views of the measurements in a file that are of this program."""
    yield measurement_views(belonging(root, store.read()))


TASKS: dict[str, Callable[..., Iterator[Any]]] = {
    task.__name__: task for task in (part, apply, replay, automatic, anew, trace, recorded)
}


def _chain(start: Variant, key: str, end: Variant) -> Iterator[Made]:
    made = []
    while end is not start:
        assert end.parent is not None
        made.append(end)
        end = end.parent
    for position, variant in enumerate(reversed(made)):
        yield _made(variant, key if position == 0 else position - 1)


def _made(variant: Variant, base: str | int) -> Made:
    return Made(base, variant.program, variant.step, variant.notes, variant.why)
