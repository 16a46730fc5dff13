"""Names of locals in records: those that they make, and those that they mention."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.codegen.kernel_records import (
    Draw,
    Holds,
    Invoke,
    KernelRecord,
    Let,
    Load,
    Local,
    Loop,
    Position,
    Require,
    Store,
    Update,
    Value,
    Variable,
    Where,
    parts,
    values,
    walk,
)
from workbench.polyhedral.conditions import names_in


def made_in(records: Iterable[KernelRecord]) -> frozenset[str]:
    """Return the names that records make, or change."""
    found: set[str] = set()
    for record in walk(tuple(records)):
        if isinstance(record, (Let, Variable, Update)):
            found.add(record.name)
        elif isinstance(record, Draw):
            found.update(record.names)
        elif isinstance(record, Loop):
            found.add(record.variable)
    return frozenset(found)


def names_of(record: KernelRecord) -> set[str]:
    """Return the names of locals that a record mentions, with those inside of it."""
    found: set[str] = set()
    for one in walk((record,)):
        for value in values(one):
            found |= _in_value(value)
        if isinstance(one, Loop):
            found = found.union(*(e.variables for e in one.turns))
        elif isinstance(one, Where):
            found |= names_in(one.condition)
        elif isinstance(one, Store):
            found |= one.at.variables
        elif isinstance(one, Update):
            found.add(one.name)
        elif isinstance(one, Draw):
            found = found.union(*(e.variables for e in (*one.coordinates, one.block)))
        elif isinstance(one, Require):
            found = found.union(*(e.variables for _, e in one.instance))
        elif isinstance(one, Invoke):
            found = found.union(*(at.variables for _, at in (one.out, *one.operands)))
    return found


def _in_value(value: Value) -> set[str]:
    found: set[str] = set()
    for part in parts(value):
        if isinstance(part, Local):
            found.add(part.name)
        elif isinstance(part, Load):
            found |= part.at.variables
        elif isinstance(part, Position):
            found |= part.expression.variables
        elif isinstance(part, Holds):
            found |= names_in(part.condition)
    return found
