"""A call of an array function as a line of Python, by the text of its row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any

from workbench.lowering.functions import row_of
from workbench.lowering.loops.records import Apply
from workbench.polyhedral.expression import Expression
from workbench.program.keys import statement_key

Show = Callable[[Expression], str]
"""A function that writes an expression as Python."""

ASSIGN = "assign"
"""The function that is called in place of an assignment where infinities are followed."""


def call_text(
    record: Apply, function: Callable[[str], str], show: Show = str, followed: bool = False
) -> str:
    """Return the line of a call.

    `function` gives the local name of a function. Where infinities are followed an assignment is a
    call like any other.
    """
    row = row_of(record)
    written = _Filled(record, function, show).vformat(row.source, record.inputs, record.option)
    if not row.assigns:
        return written
    if followed:
        return f"{function(ASSIGN)}({record.out}, {written})"
    return f"{record.out}[...] = {written}"


def pairs(named: Sequence[tuple[str, Any]], show: Show) -> str:
    """Return names with values, as a list of pairs."""
    return "[" + ", ".join(f'("{name}", {_shown(e, show)})' for name, e in named) + "]"


def _shown(value: Any, show: Show) -> str:
    return show(value) if isinstance(value, Expression) else str(value)


@dataclass
class _Filled(Formatter):
    """A formatter that fills in the names in braces of a row's text; see `ArrayFunction.source`."""

    record: Apply
    function: Callable[[str], str]
    expression: Show

    def get_value(self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Return the value of a name in braces."""
        match key:
            case int():
                return args[key]
            case "f":
                return self.function(self.record.function)
            case "out":
                return self.record.out
            case "inputs":
                return args
            case "rest":
                return args[1:]
            case "masked":
                return args[:-1]
            case "mask":
                return args[-1]
        return kwargs[key]

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return a value's text."""
        match format_spec:
            case "":
                return self.show(value)
            case "list":
                return ", ".join(map(self.show, value))
            case "more":
                return "".join(f", {self.show(one)}" for one in value)
            case "tuple":
                inside = ", ".join(map(self.show, value))
                return f"({inside},)" if len(value) == 1 else f"({inside})"
            case "pairs":
                return pairs(value, self.expression)
            case "key":
                return f"{statement_key(value):#010x}"
        raise AssertionError(format_spec)

    def show(self, value: Any) -> str:
        """Return one value: an expression as Python, the rest as it is."""
        return _shown(value, self.expression)
