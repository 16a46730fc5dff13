"""The example in a transform's docstring."""

from __future__ import annotations

import inspect
import re
import textwrap

import workbench as wb
from workbench.transforms.step.transform import REGISTRY


def section(name: str, title: str) -> str:
    """The indented block below `title::` in the docstring of the transform `name`."""
    block = re.search(rf"^{title}::\n\n((?:    .*\n|\n)+)", _docstring(name), re.MULTILINE)
    assert block, f"{name} has no section {title}::"
    return textwrap.dedent(block.group(1)).strip("\n") + "\n"


def documented(name: str) -> tuple[wb.Variant, str, wb.Variant]:
    """The example as written, the source of its step, and the variant after the step."""
    space: dict[str, object] = {"wb": wb}
    exec(compile(section(name, "Example"), "<string>", "exec"), space)
    before = wb.variant(space["example"]())  # type: ignore[operator]
    title = re.search(r"^After (.*)::", _docstring(name), re.MULTILINE)
    assert title is not None
    return before, title.group(1), before.apply(eval(title.group(1), {name: REGISTRY[name]}))


def _docstring(name: str) -> str:
    return inspect.getdoc(REGISTRY[name]) or ""
