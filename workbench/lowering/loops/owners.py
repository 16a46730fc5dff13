"""The statement that each record of a loop program serves, shown to readers beside its line."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.lowering.loops.records import (
    Allocate,
    Apply,
    AtOnce,
    Constant,
    Count,
    Enter,
    For,
    If,
    Launch,
    Record,
    RuntimeCheck,
    View,
)


def owners(body: tuple[Record, ...]) -> list[str | None]:
    """Return the statement of each record in text order (that of `records.walk`).

    From a statement's `Enter` to its `Check` that is the statement itself, as for its `Launch`. A
    record outside belongs to the first statement that uses it. None for loops, conditions, and the
    frees behind them.
    """
    entered = list(_entered(body))
    source = {record.name: record.source for record, _ in entered if isinstance(record, View)}
    first: dict[str, str] = {}

    def use(record: Record, statement: str) -> None:
        for name in _used(record):
            while name not in first:
                first[name] = statement
                name = source.get(name, name)

    for record, statement in entered:
        if statement is not None:
            use(record, statement)
    statements: list[str | None] = []
    for record, statement in reversed(entered):
        made = _made(record)
        owner = statement or (first.get(made) if made else None)
        if statement is None and owner is not None:
            use(record, owner)
        statements.append(owner)
    return statements[::-1]


def _entered(body: tuple[Record, ...]) -> Iterator[tuple[Record, str | None]]:
    """Yield every record in text order with the statement whose instance it is part of."""
    statement = None
    for record in body:
        if isinstance(record, (For, If, AtOnce)):
            yield record, None
            yield from _entered(record.body)
            continue
        if isinstance(record, Launch):
            yield record, record.statement
            continue
        if isinstance(record, Enter):
            statement = record.statement
        yield record, statement
        if isinstance(record, RuntimeCheck):
            statement = None


def _made(record: Record) -> str | None:
    """Return the name that a record gives, None where it gives none."""
    if isinstance(record, (Allocate, Constant, Count)):
        return record.buffer.name
    if isinstance(record, View):
        return record.name
    return record.out or None if isinstance(record, Apply) else None


def _used(record: Record) -> tuple[str, ...]:
    """Return the names that a record mentions."""
    if isinstance(record, View):
        return (record.name, record.source)
    if isinstance(record, Apply):
        written = (record.out,) if record.out else ()  # a check writes nothing
        return (*read_by(record), *written)
    if isinstance(record, Launch):
        return (*read_by(record), *record.writes)
    return (record.name,) if isinstance(record, RuntimeCheck) else ()


def read_by(record: Record) -> tuple[str, ...]:
    """Return the names whose elements an operation or a launch reads."""
    if isinstance(record, Apply):
        places = record.option.get("coordinates", ())
        return (*record.inputs, *(name for name in places if isinstance(name, str)))
    return record.reads if isinstance(record, Launch) else ()
