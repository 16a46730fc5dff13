"""What a step's arguments name: arrays and dimensions that are not there are refused, with the
nearest.
"""

from __future__ import annotations

from workbench.errors import nearest
from workbench.program.values import Program
from workbench.transforms.step.refusal import Refusal
from workbench.transforms.step.transform import Transform


def array_called(program: Program, name: str) -> str:
    """The array that a name stands for: itself, or a value that is written straight into it."""
    return dict(program.aliases).get(name, name)


def unknown_statement(step: object, program: Program, name: str) -> Refusal:
    """The refusal of a name that stands for no statement, neither its own nor its array's."""
    known = (*program.statement, *program.array)
    return Refusal(
        "input", f"{step}: unknown statement {name}: {nearest(name, known, 'statements')}"
    )


def unknown_array(step: Transform, program: Program, name: str | None) -> Refusal | None:
    """The refusal of a name that no array has; None where one has it, or none is named."""
    if name is None or array_called(program, name) in program.array:
        return None
    return Refusal(
        "input", f"{step}: unknown array {name}: {nearest(name, program.array, 'arrays')}"
    )


def unknown_dim(
    step: Transform, program: Program, name: str | None, array: str | None
) -> Refusal | None:
    """The refusal of a dimension that the array (no array, where none is named) lacks."""
    if array is not None:
        own = array_called(program, array)
        known, kind = list(program.array[own].dims), f"dims of {own}"
    else:
        known, kind = list(dict.fromkeys(d for a in program.arrays for d in a.dims)), "dims"
    if name is None or name in known:
        return None
    return Refusal("input", f"{step}: unknown dim {name}: {nearest(name, known, kind)}")
