"""The memory of slices in a loop program of launches: allocated before their first use, and freed
behind their last.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from workbench.lowering.loops.records import (
    Allocate,
    Apply,
    Buffer,
    Enter,
    For,
    Free,
    If,
    Launch,
    Record,
    View,
    walk,
)


def allocated(
    records: Sequence[Record], buffers: Mapping[str, Buffer], rings: Collection[str]
) -> tuple[Record, ...]:
    """Return the records with memory for `buffers`: each in the innermost body that has all of its
    uses, but for those of an innermost loop's body, and rings, which are there all the time that
    their loop runs.
    """
    here: dict[int, list[Record]] = {}
    behind: dict[int, list[Record]] = {}
    inside: dict[int, dict[str, Buffer]] = {}
    used = [_used(record) for record in records]
    for name, buffer in buffers.items():
        places = [k for k, names in enumerate(used) if name in names]
        only = records[places[0]] if len(places) == 1 else None
        if isinstance(only, For) and not _innermost(only) and not _turns(only, name, rings):
            inside.setdefault(places[0], {})[name] = buffer
        elif places:
            here.setdefault(places[0], []).append(Allocate(buffer))
            behind.setdefault(places[-1], []).append(Free(name, (name,)))
    done: list[Record] = []
    for k, record in enumerate(records):
        done += here.get(k, ())
        if k in inside:
            assert isinstance(record, For)
            record = replace(record, body=allocated(record.body, inside[k], rings))
        done.append(record)
        done += behind.get(k, ())
    return tuple(done)


def with_copies(records: Sequence[Record]) -> tuple[Record, ...]:
    """Return the records without headings of copies that come elsewhere."""
    kept: list[Record] = []
    for record in reversed(records):
        if isinstance(record, Enter) and not _heads(list(reversed(kept))):
            continue
        if isinstance(record, (For, If)):
            record = replace(record, body=with_copies(record.body))
        kept.append(record)
    return tuple(reversed(kept))


def _heads(behind: Sequence[Record]) -> bool:
    """Tell whether what stands behind a heading is a copy, its views before it."""
    first = next((record for record in behind if not isinstance(record, View)), None)
    return isinstance(first, (Apply, If))


def _innermost(loop: For) -> bool:
    return not any(isinstance(record, For) for record in walk(loop.body))


def _turns(loop: For, name: str, rings: Collection[str]) -> bool:
    """Tell whether the iterations of a loop have the slices of a ring in turn."""
    return name in rings and any(view.source == name for view in _views(loop.body))


def _views(records: Sequence[Record]) -> Iterator[View]:
    """Yield the views in a body, without those of inner loops."""
    for record in records:
        if isinstance(record, View):
            yield record
        elif isinstance(record, If):
            yield from _views(record.body)


def _used(record: Record) -> set[str]:
    """Return the buffers that a record uses, and those inside it."""
    return {name for one in walk((record,)) for name in _names(one)}


def _names(record: Record) -> Iterator[str]:
    if isinstance(record, Launch):
        yield from (*record.reads, *record.writes)
    elif isinstance(record, View):
        yield record.source
    elif isinstance(record, Apply):
        yield from (*record.inputs, record.out)
