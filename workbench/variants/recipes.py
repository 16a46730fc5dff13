"""Recipes: steps applied anew, on another branch or from a file. An error names the step that no
longer fits and says why; it holds the variant reached until then.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import dropwhile, zip_longest
from pathlib import Path
from typing import Any

from workbench.errors import WorkbenchError
from workbench.program.values import Program
from workbench.transforms.step.step_json import from_json
from workbench.transforms.step.transform import Transform
from workbench.variants.variant import Variant, variant

StepLike = Transform | Mapping[str, Any]

KEYS = ("program", "root", "steps")


class RecipeError(WorkbenchError):
    """An error for a step that does not fit; `applied` is the variant after the steps before it."""

    def __init__(self, message: str, applied: Variant, cause: WorkbenchError) -> None:
        super().__init__(message, cause.line)
        self.applied = applied
        self.cause = cause


def replay(start: Variant, steps: Variant | Sequence[StepLike]) -> Variant:
    """Apply the steps to `start`, each checked as if it were new. Of another variant, these are the
    steps since it and `start` parted.

    Raises RecipeError at the first step that does not fit.
    """
    listed = _since_parting(start, steps) if isinstance(steps, Variant) else steps
    if isinstance(listed, str | Mapping) or not isinstance(listed, Sequence):
        raise WorkbenchError(f"expected a list of steps, found {listed!r}")
    variant = start
    for number, given in enumerate(listed, 1):
        try:
            variant = variant.apply(from_json(given) if isinstance(given, Mapping) else given)
        except WorkbenchError as error:
            own = variant.steps[len(start.steps) :]
            done = ", ".join(map(str, own)) or "nothing"
            text = f"step {number} of {len(listed)} does not fit: {error.message}"
            raise RecipeError(f"{text} (applied until then: {done})", variant, error) from None
    return variant


def _since_parting(start: Variant, other: Variant) -> tuple[Transform, ...]:
    """Return the steps of `other` behind those that both have taken."""
    if start.root.key != other.root.key:
        return other.steps
    taken = zip_longest(other.steps, start.steps)
    return tuple(step for step, own in dropwhile(lambda pair: pair[0] == pair[1], taken) if step)


def save(chosen: Variant, path: str | Path) -> None:
    """Write the steps, and the program they belong to, as a JSON file."""
    record = {
        "program": chosen.root.program.name,
        "root": chosen.root.key,
        "steps": chosen.to_json(),
    }
    try:
        Path(path).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise WorkbenchError(f"{path} cannot be written: {error.strerror}") from None


def load_recipe(path: str | Path, program: Program | Variant) -> Variant:
    """Return the variant that `Variant.save` wrote, from its program. Every step is checked anew.

    Raises WorkbenchError where the file holds no recipe or one of another program, RecipeError at
    the first step that no longer fits.
    """
    start = variant(program)
    record = _record(path)
    name = start.root.program.name
    if record["program"] != name:
        raise WorkbenchError(f"{path} is a recipe of {record['program']}, not of {name}")
    try:
        return replay(start, record["steps"])
    except RecipeError as error:
        same = record["root"] == start.root.key
        since = "" if same else f"; {name} has other equations or arguments than it was written for"
        raise RecipeError(f"{path}: {error.message}{since}", error.applied, error.cause) from None


def _record(path: str | Path) -> dict[str, Any]:
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise WorkbenchError(f"there is no file {path}") from None
    except OSError as error:
        raise WorkbenchError(f"{path} cannot be read: {error.strerror}") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise WorkbenchError(f"{path} is no recipe: it is not JSON ({error})") from None
    if not isinstance(record, dict) or any(key not in record for key in KEYS):
        raise WorkbenchError(f"{path} is no recipe: it lacks {', '.join(KEYS)}")
    steps = record["steps"]
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        raise WorkbenchError(f"{path} is no recipe: its steps are no list of objects")
    return record
