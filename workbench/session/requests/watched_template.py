"""A watched template: its arguments can be changed, and the new program replaces the shown one.

The worker process traces it; of several changes in a row only the last is traced.
"""

from __future__ import annotations

import inspect
import linecache
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, get_type_hints

from workbench.errors import WorkbenchError, cell_of, nearest
from workbench.language.template.template import Template
from workbench.session.processes.orders import Grown, TemplateSource
from workbench.session.processes.workers import Workers
from workbench.session.protocol.failures import untraced
from workbench.session.protocol.state import ArgumentView, ErrorView
from workbench.session.state.session import Session
from workbench.type_hints import read_hint
from workbench.variants.variant import Data, Variant

Arguments = Mapping[str, Any]


class Watched:
    """A template and the arguments with which it is traced; `listeners` hear of those. `data` are
    the sources of its data sets.
    """

    def __init__(
        self,
        template: Template,
        arguments: Arguments,
        session: Session,
        work: Workers,
        data: Data = None,
    ) -> None:
        self.template = template
        self.arguments = bound(template, arguments)
        self._session, self._work, self._data = session, work, data
        self._order = 0
        self.listeners: list[Callable[[Arguments], None]] = []
        session.on_change = self.change
        self._show()

    def change(self, arguments: Arguments) -> None:
        """Trace with other values of some arguments; the others stay."""
        self.arguments = bound(self.template, {**self.arguments, **arguments})
        self._show()
        self._trace()

    def redefined(self, template: Template) -> None:
        """Take the template as written anew; arguments that it no longer has are left out."""
        known = template.signature.parameters
        self.template = template
        self.arguments = bound(template, {k: v for k, v in self.arguments.items() if k in known})
        self._show()
        self._trace()

    def _show(self) -> None:
        views = argument_views(self.template, self.arguments)
        self._session.change(lambda values: replace(values, arguments=views))
        for listener in self.listeners:
            listener(self.arguments)

    def _trace(self) -> None:
        made: list[Variant] = []

        def came(value: Grown) -> None:
            made.extend(value.variants)

        def ended(error: ErrorView | None) -> None:
            if error is not None:
                self._session.fail(untraced(self.template, error))
            elif made:
                self._session.redefine(made[0])

        self._work.drop(self._order)
        lines = _lines()
        cells = {file: cell for file in lines if (cell := cell_of(file)) is not None}
        source = TemplateSource(self.template, self.arguments, lines, cells, self._data)
        self._order = self._work.order("trace", source, came=came, ended=ended)


def bound(template: Template, given: Arguments) -> dict[str, Any]:
    """Return all arguments of a template: given ones, in the form of the default (JSON knows no
    tuples), and the defaults of the others. Raises WorkbenchError for one that the template has
    not.
    """
    known = template.signature.parameters
    arguments = {}
    for name in given:
        if name not in known:
            said = nearest(name, known, "arguments")
            raise WorkbenchError(f"{template.name} has no argument {name!r}: {said}")
    for name, parameter in known.items():
        if name in given:
            arguments[name] = _like(given[name], parameter.default)
        elif parameter.default is not inspect.Parameter.empty:
            arguments[name] = parameter.default
    return arguments


def argument_views(template: Template, arguments: Arguments) -> tuple[ArgumentView, ...]:
    """Describe the arguments; a value that JSON cannot hold is given as text."""
    return tuple(
        ArgumentView(
            name,
            _kind(name, value),
            _shown(value),
            _shown(template.signature.parameters[name].default),
            tuple(map(_shown, choices(template, name))),
        )
        for name, value in arguments.items()
    )


def choices(template: Template, name: str) -> tuple[Any, ...]:
    """Return the values that an argument annotated as `Literal` allows; none for any other
    argument.
    """
    return read_hint(get_type_hints(template.function).get(name)).choices


def _kind(name: str, value: Any) -> Any:
    if name[:1].isupper():
        return "size"
    for kind, python in (("boolean", bool), ("integer", int), ("number", float), ("text", str)):
        if isinstance(value, python):
            return kind
    return "other"


def _shown(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_shown(item) for item in value]
    return None if value is inspect.Parameter.empty else repr(value)


def _like(value: Any, default: Any) -> Any:
    if isinstance(value, list) and isinstance(default, tuple):
        return tuple(value)
    if isinstance(value, int) and isinstance(default, float) and not isinstance(value, bool):
        return float(value)
    return value


def _lines() -> dict[str, list[str]]:
    """Return the lines of all code outside of files: errors in another process show them too."""
    return {
        file: entry[2]
        for file, entry in list(linecache.cache.items())
        if len(entry) == 4 and not os.path.exists(file)
    }
