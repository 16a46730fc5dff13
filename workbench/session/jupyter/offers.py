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
    """Return the `name` of each program, variant and template, at most 8, the last first, and the
    source of a `cell` that shows it. Left out are names with an underscore before them, templates
    that cannot be traced without arguments, and what a later name holds too.
    """
    package = sys.modules["workbench"]
    module = next((name for name, value in variables.items() if value is package), None)
    found: dict[int, dict[str, str]] = {}
    for name, value in reversed(list(variables.items())):
        way = _way(value)
        if way is not None and not name.startswith("_") and len(found) < MOST:
            shown = f"{module or 'wb'}.{way}({name})\n"
            cell = shown if module else f"import workbench as wb\n\n{shown}"
            found.setdefault(id(value), {"name": name, "cell": cell})
    return JSON(list(found.values()))


def _way(value: object) -> str | None:
    """Return the function that shows a value, None for one that is no program."""
    if isinstance(value, Program | Variant):
        return "Workbench"
    if isinstance(value, Template) and all(
        one.default is not Parameter.empty for one in value.signature.parameters.values()
    ):
        return "watch"
    return None
