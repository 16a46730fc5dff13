"""Controls for the arguments of a watched template: ipywidgets, one for each argument."""

from __future__ import annotations

import ast
from collections.abc import Callable
from html import escape
from typing import Any

import ipywidgets as widgets

from workbench.errors import WorkbenchError
from workbench.session.watching import Watched, choices


def controls(watched: Watched) -> Any:
    """A box with a control for each argument; what is wrong with a value is said below."""
    said = widgets.HTML()
    rows = [_row(watched, name, value, said) for name, value in watched.arguments.items()]
    return widgets.VBox([*rows, said])


def _row(watched: Watched, name: str, value: Any, said: Any) -> Any:
    control, read = _control(name, value, choices(watched.template, name))
    if read is None:
        return control

    def observed(change: Any) -> None:
        said.value = ""
        try:
            watched.change({name: read(change["new"])})
        except WorkbenchError as error:
            said.value = escape(error.message)

    control.observe(observed, "value")
    return control


def _control(
    name: str, value: Any, choices: tuple[Any, ...]
) -> tuple[Any, Callable[[Any], Any] | None]:
    """The control that suits a value, and how its value is read; nothing where it cannot be set."""
    common: dict[str, Any] = {
        "description": name,
        "style": {"description_width": "10em"},
        "layout": widgets.Layout(width="28em"),
    }
    slow = {**common, "continuous_update": False}
    if choices:
        return widgets.Dropdown(options=list(choices), value=value, **common), _itself
    if isinstance(value, bool):
        return widgets.Checkbox(value=value, **common), _itself
    if isinstance(value, int):
        least = 1 if name[:1].isupper() else min(0, 2 * value)
        return widgets.IntSlider(value, least, max(16, 4 * abs(value)), **slow), _itself
    if isinstance(value, float) and 0 < value < 0.1:
        return widgets.FloatLogSlider(value, min=-6, max=0, readout_format=".2g", **slow), _itself
    if isinstance(value, float) and 0 <= value <= 1:
        return widgets.FloatSlider(
            value, min=0, max=1, step=0.005, readout_format=".3f", **slow
        ), _itself
    if isinstance(value, float):
        return widgets.FloatText(value, **slow), _itself
    if isinstance(value, str):
        return widgets.Text(value, **slow), _itself
    if isinstance(value, list | tuple):
        return widgets.Text(repr(value), **slow), _literal
    return widgets.Label(f"{name} = {value!r}"), None


def _itself(value: Any) -> Any:
    return value


def _literal(text: str) -> Any:
    """A value written as Python."""
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        raise WorkbenchError(f"{text!r} is no Python value") from None
