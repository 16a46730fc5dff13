"""Reads requests: JSON that came from a view becomes a record of `messages`, or a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args, get_type_hints

from workbench.errors import WorkbenchError, nearest
from workbench.session.protocol.messages import Request
from workbench.session.protocol.reading import record, shown

RECORDS: Mapping[str, type[Request]] = {
    get_args(get_type_hints(one)["type"])[0]: one for one in get_args(Request)
}
"""Every request by its type."""


def read(value: Any) -> Request:
    """The request that JSON holds. Raises WorkbenchError: unknown, incomplete or of wrong types."""
    if not isinstance(value, Mapping):
        raise WorkbenchError(f"a request is an object; found {shown(value)}")
    kind = value.get("type")
    if not isinstance(kind, str) or kind not in RECORDS:
        known = nearest(str(kind), RECORDS, "requests")
        raise WorkbenchError(f"unknown request {shown(kind)}: {known}")
    return record(kind, value, RECORDS[kind])


def number_of(value: Any) -> int | None:
    """The id of a request that may be broken otherwise."""
    found = value.get("id") if isinstance(value, Mapping) else None
    return found if isinstance(found, int) and not isinstance(found, bool) else None
