"""Controls for the arguments of a watched template: an ipywidget for each."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from html import escape
from typing import Any

import ipywidgets as widgets

from workbench.errors import WorkbenchError
from workbench.session.requests.watched_template import Arguments, Watched, choices


def controls(watched: Watched) -> Any:
    """Return a box with a control for each argument. The controls follow changes made elsewhere; an
    error is shown below them.
    """
    said = widgets.HTML()
    rows = {name: _row(watched, name, value, said) for name, value in watched.arguments.items()}

    def follow(arguments: Arguments) -> None:
        for name, control in rows.items():
            if name in arguments:
                _show(control, name, arguments[name])

    watched.listeners.append(follow)
    return widgets.VBox([*rows.values(), said])


def _row(watched: Watched, name: str, value: Any, said: Any) -> Any:
    control, read = _control(name, value, choices(watched.template, name))
    if read is None:
        return control

    def observed(change: Any) -> None:
        said.value = ""
        try:
            value = read(change["new"])
            if value != watched.arguments.get(name):  # else the change came from elsewhere
                watched.change({name: value})
        except WorkbenchError as error:
            said.value = escape(error.message)

    control.observe(observed, "value")
    return control


def _control(
    name: str, value: Any, choices: tuple[Any, ...]
) -> tuple[Any, Callable[[Any], Any] | None]:
    """Return the control that suits a value and the function that reads it; None where the value
    cannot be set.
    """
    common: dict[str, Any] = {
        "description": name,
        "style": {"description_width": "10em"},
        "layout": widgets.Layout(width="auto", max_width="28em"),
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


def _show(control: Any, name: str, value: Any) -> None:
    """Show a value in its control; widen the control's range where the value lies outside."""
    with control.hold_trait_notifications():
        if isinstance(control, widgets.Label):
            control.value = f"{name} = {value!r}"
        elif isinstance(control, widgets.Text) and not isinstance(value, str):
            control.value = repr(value)
        elif isinstance(control, widgets.FloatLogSlider):
            power = math.log10(value) if value > 0 else control.min
            control.min = min(control.min, math.floor(power))
            control.max = max(control.max, math.ceil(power))
            control.value = value
        elif isinstance(control, widgets.IntSlider | widgets.FloatSlider):
            control.min, control.max = min(control.min, value), max(control.max, value)
            control.value = value
        elif not isinstance(control, widgets.Dropdown) or value in control.options:
            control.value = value


def _itself(value: Any) -> Any:
    return value


def _literal(text: str) -> Any:
    """Read a value written as Python."""
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        raise WorkbenchError(f"{text!r} is no Python value") from None
