"""What the worker process does: each kind of work is a generator of what comes out of it, so that
more urgent work may come in between. Runs where isl may take its time; knows no views and no pipes.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from workbench.errors import WorkbenchError
from workbench.language.tracing.trace import CELLS
from workbench.measure.rounds.measurement import step_text
from workbench.measure.store import Store
from workbench.session.parts.code import code
from workbench.session.parts.cost import cost
from workbench.session.parts.domain import domain
from workbench.session.parts.memory import memory
from workbench.session.parts.moves import moves
from workbench.session.parts.preview import preview, price
from workbench.session.parts.runs import runs
from workbench.session.parts.sweep import sweep
from workbench.session.parts.value import value
from workbench.session.parts.why import why
from workbench.session.picture.snapshot import snapshot
from workbench.session.processes.orders import Misfit, NewVariant, Picture, Replay, TemplateSource
from workbench.session.protocol.capsule import Plain, plain
from workbench.session.protocol.measurements import belonging, measurement_views
from workbench.session.protocol.messages import Part
from workbench.transforms.step.step_json import from_json
from workbench.variants.variant import Variant, optimize

Json = Mapping[str, Any]


PARTS: Mapping[Part, Callable[[Variant, Json], Any]] = {
    "snapshot": lambda variant, arguments: snapshot(variant.program),
    "moves": moves,
    "price": price,
    "why": why,
    "preview": preview,
    "cost": cost,
    "sweep": sweep,
    "runs": runs,
    "memory": memory,
    "code": code,
    "domain": domain,
    "value": value,
}
"""What computes each part; moves come in batches."""


def part(variant: Variant, name: Part, arguments: Json) -> Iterator[Any]:
    """A part of a variant, in batches where its builder gives them, each as JSON-able values."""
    found = PARTS[name](variant, arguments)
    values = found if isinstance(found, Iterator) else iter([found])
    yield from (Plain(plain(one)) for one in values)


def apply(variant: Variant, key: str, step: Json) -> Iterator[NewVariant | Picture]:
    """One step on the variant known as `key`."""
    yield from _chain(variant, key, variant.apply(from_json(step)))


def replay(
    onto: Variant, key: str, other: Variant, only_last: bool
) -> Iterator[NewVariant | Picture]:
    """The steps by which another differs, on the variant known as `key`: all or none."""
    if only_last and other.step is None:
        raise WorkbenchError("the program as written has no step that could be taken elsewhere")
    yield from _chain(onto, key, onto.replay(other.steps[-1:] if only_last else other))


def automatic(
    variant: Variant, key: str, objective: Any, capacity: int | None, sizes: Mapping[str, int]
) -> Iterator[NewVariant | Picture]:
    """The steps of the automatic recipe on the variant known as `key`."""
    yield from _chain(variant, key, optimize(variant, objective, capacity, sizes=sizes))


def anew(
    root: Variant, key: str, written: str, entries: Sequence[Replay]
) -> Iterator[NewVariant | Misfit]:
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
        yield NewVariant(base, after.program, step, after.notes, after.why, entry.key)


def trace(source: TemplateSource) -> Iterator[NewVariant]:
    """The program of a template."""
    for file, lines in source.lines.items():
        linecache.cache[file] = (sum(map(len, lines)), None, list(lines), file)
    CELLS.update(source.cells)
    yield NewVariant(None, source.template(**source.arguments), None, (), "")


def recorded(root: Variant, store: Store) -> Iterator[Any]:
    """Views of the measurements in a file that are of this program."""
    yield measurement_views(belonging(root, store.read()))


TASKS: dict[str, Callable[..., Iterator[Any]]] = {
    task.__name__: task for task in (part, apply, replay, automatic, anew, trace, recorded)
}


def _chain(start: Variant, key: str, end: Variant) -> Iterator[NewVariant | Picture]:
    """The variants behind `start` up to `end`, then what is drawn of that: whoever looks waits for
    it, and as work of its own it would wait for other work first.
    """
    made = []
    last = end
    while last is not start:
        assert last.parent is not None
        made.append(last)
        last = last.parent
    for position, variant in enumerate(reversed(made)):
        yield NewVariant(
            key if position == 0 else position - 1,
            variant.program,
            variant.step,
            variant.notes,
            variant.why,
            more=variant is not end,
        )
    if made:
        yield Picture(Plain(plain(snapshot(end.program))))
