"""The programs in a notebook's variables, with the cells that show them.

A panel asks for them while the notebook has no workbench.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from inspect import Parameter
from typing import Any

from IPython.display import JSON

from workbench.language.template.template import Template
from workbench.program.values import Program
from workbench.variants.variant import Variant

MOST = 8


def offers(variables: Mapping[str, Any]) -> JSON:
    """Return the `name` of each program, variant and template, at most 8, the last first, the
    source of a `cell` that shows it, and the arguments that are `missing` there: those of a
    template that have no default. Left out are names with an underscore before them, and what a
    later name holds too.
    """
    package = sys.modules["workbench"]
    module = next((name for name, value in variables.items() if value is package), None)
    found: dict[int, dict[str, Any]] = {}
    for name, value in reversed(list(variables.items())):
        way = _way(value)
        if way is not None and not name.startswith("_") and len(found) < MOST:
            missing = _missing(value) if isinstance(value, Template) else []
            arguments = ", ".join([name, *(f"{one}=" for one in missing)])
            shown = f"{module or 'wb'}.{way}({arguments})\n"
            cell = shown if module else f"import workbench as wb\n\n{shown}"
            found.setdefault(id(value), {"name": name, "cell": cell, "missing": missing})
    return JSON(list(found.values()))


def _way(value: object) -> str | None:
    """Return the function that shows a value, None for one that is no program."""
    if isinstance(value, Program | Variant):
        return "Workbench"
    return "watch" if isinstance(value, Template) else None


def _missing(template: Template) -> list[str]:
    """Return the arguments without which a template cannot be traced."""
    collecting = {Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD}
    return [
        name
        for name, one in template.signature.parameters.items()
        if one.default is Parameter.empty and one.kind not in collecting
    ]
