"""The tasks of the worker process. Each is a generator of results, so that more urgent work may
come in between. Isl may take its time here. Knows no views and no pipes.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from workbench.errors import CELLS, WorkbenchError
from workbench.measure.rounds.measurement import step_text
from workbench.measure.store import Store
from workbench.session.parts.code import code, kernel, kernels
from workbench.session.parts.cost import cost
from workbench.session.parts.domain import domain
from workbench.session.parts.legality.reason import reason
from workbench.session.parts.legality.why import why
from workbench.session.parts.memory import memory
from workbench.session.parts.moves import moves
from workbench.session.parts.play import play
from workbench.session.parts.preview import preview, price
from workbench.session.parts.runs import runs
from workbench.session.parts.sweep import sweep
from workbench.session.parts.value import value
from workbench.session.picture.snapshot import snapshot
from workbench.session.processes.orders import Grown, Misfit, Picture, ReplayOrder, TemplateSource
from workbench.session.protocol.capsule import Plain, plain
from workbench.session.protocol.measurements import belonging, measurement_views
from workbench.session.protocol.messages import Part
from workbench.session.protocol.state import MeasurementView
from workbench.session.report.document import document, file_name
from workbench.session.report.facts import Setting, facts
from workbench.transforms.step.step_json import from_json
from workbench.variants.variant import Variant, variant

Json = Mapping[str, Any]


PARTS: Mapping[Part, Callable[[Variant, Json], Any]] = {
    "snapshot": lambda variant, arguments: snapshot(variant.program),
    "moves": moves,
    "price": price,
    "why": why,
    "reason": reason,
    "preview": preview,
    "cost": cost,
    "sweep": sweep,
    "runs": runs,
    "memory": memory,
    "code": code,
    "kernels": kernels,
    "kernel": kernel,
    "domain": domain,
    "value": value,
    "play": play,
}
"""The function that computes each part; moves come in batches."""


def part(variant: Variant, name: Part, arguments: Json) -> Iterator[Any]:
    """Compute a part of a variant as JSON-able values, in batches where its builder gives them."""
    built = PARTS[name](variant, arguments)
    values = built if isinstance(built, Iterator) else iter([built])
    yield from (Plain(plain(one)) for one in values)


def apply(variant: Variant, step: Json) -> Iterator[Grown | Picture]:
    """Take one step on a variant."""
    yield from _grown(variant, variant.apply(from_json(step)))


def replay(onto: Variant, other: Variant, only_last: bool) -> Iterator[Grown | Picture]:
    """Take the steps by which another variant differs on this one: all or none."""
    if only_last and other.step is None:
        raise WorkbenchError("the program as written has no step that could be taken elsewhere")
    yield from _grown(onto, onto.replay(other.steps[-1:] if only_last else other))


def follow(root: Variant, steps: Sequence[Json]) -> Iterator[Grown | Picture]:
    """Take the steps of a link on a program as written: all or none."""
    yield from _grown(root, root.replay(steps))


def anew(root: Variant, written: str, entries: Sequence[ReplayOrder]) -> Iterator[Grown | Misfit]:
    """Take the steps of a whole tree, with the root key `written`, on this root. The descendants of
    a step that does not fit are left out.
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


def report(
    before: Variant,
    after: Variant,
    measurements: Sequence[MeasurementView],
    names: Mapping[str, str],
    notes: str,
    asked: Setting,
) -> Iterator[tuple[str, str]]:
    """Write a report; the result is a name for its file, and its text."""
    told = facts(before, after, measurements, names, notes, asked)
    yield file_name(told), document(told)


def trace(source: TemplateSource) -> Iterator[Grown]:
    """Trace a template."""
    for file, lines in source.lines.items():
        linecache.cache[file] = (sum(map(len, lines)), None, list(lines), file)
    CELLS.update(source.cells)
    yield Grown((variant(source.template(**source.arguments), source.data),))


def recorded(root: Variant, store: Store) -> Iterator[Any]:
    """Yield views of the measurements in a file that are of this program."""
    yield measurement_views(belonging(root, store.read()))


TASKS: dict[str, Callable[..., Iterator[Any]]] = {
    task.__name__: task for task in (part, apply, replay, follow, anew, report, trace, recorded)
}


def _grown(start: Variant, end: Variant) -> Iterator[Grown | Picture]:
    """Yield the variants after `start` up to `end`, then the picture of `end`. Whoever looks waits
    for it, and as a task of its own it would wait for other work first.
    """
    made = end.lineage[len(start.lineage) :]
    if made:
        yield Grown(made)
        yield Picture(Plain(plain(snapshot(end.program))))
