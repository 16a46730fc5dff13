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
from workbench.session.processes.orders import Grown, Misfit, Picture, ReplayOrder, TemplateSource
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
    built = PARTS[name](variant, arguments)
    values = built if isinstance(built, Iterator) else iter([built])
    yield from (Plain(plain(one)) for one in values)


def apply(variant: Variant, step: Json) -> Iterator[Grown | Picture]:
    """One step on a variant."""
    yield from _grown(variant, variant.apply(from_json(step)))


def replay(onto: Variant, other: Variant, only_last: bool) -> Iterator[Grown | Picture]:
    """The steps by which another variant differs, on this one: all or none."""
    if only_last and other.step is None:
        raise WorkbenchError("the program as written has no step that could be taken elsewhere")
    yield from _grown(onto, onto.replay(other.steps[-1:] if only_last else other))


def automatic(
    variant: Variant, objective: Any, capacity: int | None, sizes: Mapping[str, int]
) -> Iterator[Grown | Picture]:
    """The steps of the automatic recipe on a variant."""
    yield from _grown(variant, optimize(variant, objective, capacity, sizes=sizes))


def anew(root: Variant, written: str, entries: Sequence[ReplayOrder]) -> Iterator[Grown | Misfit]:
    """The steps of a whole tree, whose root was `written`, on this root. What came from a step that
    does not fit is left out.
    """
    stands = {written: root}
    for entry in entries:
        if entry.parent not in stands:
            continue
        try:
            after = stands[entry.parent].apply(from_json(entry.step))
        except WorkbenchError as error:
            yield Misfit(entry.key, step_text(entry.step), error.message)
            continue
        stands[entry.key] = after
        yield Grown((after,), entry.key)


def trace(source: TemplateSource) -> Iterator[Grown]:
    """The program of a template."""
    for file, lines in source.lines.items():
        linecache.cache[file] = (sum(map(len, lines)), None, list(lines), file)
    CELLS.update(source.cells)
    yield Grown((Variant(source.template(**source.arguments)),))


def recorded(root: Variant, store: Store) -> Iterator[Any]:
    """Views of the measurements in a file that are of this program."""
    yield measurement_views(belonging(root, store.read()))


TASKS: dict[str, Callable[..., Iterator[Any]]] = {
    task.__name__: task for task in (part, apply, replay, automatic, anew, trace, recorded)
}


def _grown(start: Variant, end: Variant) -> Iterator[Grown | Picture]:
    """The variants behind `start` up to `end`, then what is drawn of that: whoever looks waits for
    it, and as work of its own it would wait for other work first.
    """
    made = end.lineage[len(start.lineage) :]
    if made:
        yield Grown(made)
        yield Picture(Plain(plain(snapshot(end.program))))
