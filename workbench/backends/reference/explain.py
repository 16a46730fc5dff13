"""One element's value by the reference, with its equation and the direct inputs it came from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from workbench.backends.reference.evaluator import Input as ReferenceInput
from workbench.backends.reference.evaluator import Reference
from workbench.backends.reference.user_names import meaning, point_of
from workbench.datasets.rows import Rows, rows_of
from workbench.errors import SourceLine
from workbench.program.sizes import numbers, resolve
from workbench.program.text.infix import equation
from workbench.program.values import Program, Statement

SHOWN_FIRST, SHOWN_LAST = 4, 2
"""The numbers of first and last inputs of a long reduction that are written out."""
SHOWN_ENTRIES = 12
"""Entries of a tensor that are written out; a larger one is summarized."""


@dataclass(frozen=True)
class ExplainedInput:
    """An element that was read: the array, its coordinates by dimension, its value."""

    array: str
    coordinates: Mapping[str, int]
    value: npt.NDArray[Any]

    def __str__(self) -> str:
        return f"{_named(self.array, self.coordinates)} = {number_text(self.value)}"


@dataclass(frozen=True, repr=False)
class Value:
    """An element's value, with its equation and inputs.

    `array` and `coordinates` are as asked for; `element` are the coordinates in the array that
    holds it, which differ where the user's name is of a value that is written elsewhere.
    `statement` and `line` are those that define the element; `equation` is the statement as text;
    `inputs` are the elements that this instance read, in the order of its reduction points.
    """

    array: str
    coordinates: Mapping[str, int]
    element: Mapping[str, int]
    value: npt.NDArray[Any]
    statement: Statement | None
    line: SourceLine | None
    equation: str
    inputs: tuple[ExplainedInput, ...]
    note: str = ""
    """A sentence on the rows of data sets, where they were drawn; else ""."""

    def __repr__(self) -> str:
        lines = [f"{_named(self.array, self.coordinates)} = {number_text(self.value)}"]
        if self.equation:
            lines.append(f"  {self.equation}")
        if self.line is not None:
            lines.append(f"  at: {self.line}")
        inputs = [f"  {given}" for given in self.inputs]
        hidden = len(inputs) - SHOWN_FIRST - SHOWN_LAST
        if hidden > 1:
            inputs[SHOWN_FIRST:-SHOWN_LAST] = [f"  … {hidden} more"]
        note = [self.note] if self.note else []
        return "\n".join([*lines, *(["from"] if inputs else []), *inputs, *note])


class Varied(Protocol):
    """A variant of a program."""

    @property
    def program(self) -> Program:
        """The program as transformed."""

    @property
    def rows(self) -> Rows:
        """The rows of its data sets."""


def value(
    program: Program | Varied,
    name: str,
    at: Mapping[str, int] | None = None,
    /,
    *,
    seed: int = 0,
    sizes: Mapping[str, int] | None = None,
    data: Mapping[str, Any] | None = None,
    **coordinates: int,
) -> Value:
    """Return the element of `name` at `coordinates`, one for each dimension, by the reference.

    Coordinates may also be given as a mapping `at`: a dimension called `seed`, `sizes` or `data`
    must be. `data` are the sources of data sets, as `wb.run` takes them; without them rows are
    drawn within their bounds, and the value's `note` says so.

    Evaluates only the elements that it needs. Raises ProgramError for an unknown name, an unknown
    or missing coordinate, and an element that nothing defines.
    """
    own = None if isinstance(program, Program) else program.rows
    program = program if isinstance(program, Program) else program.program
    rows = rows_of(program.equations, data) if own is None or data is not None else own
    sizes = rows.sizes(sizes)
    given = rows.tables(resolve(program.equations, sizes), "float64")
    reference = Reference(program.equations, sizes, seed, data=given)
    found = explain(reference, name, {**(at or {}), **coordinates})
    return replace(found, note=rows.note())


def explain(reference: Reference, name: str, coordinates: Mapping[str, int]) -> Value:
    """Return the same from an existing reference, whose elements are reused."""
    equations = reference.equations
    alias = meaning(equations, name)
    array, at = alias.array, dict(zip(alias.dims, point_of(alias, coordinates), strict=True))
    element = tuple(e.evaluate({**reference.sizes, **at}) for e in alias.index)
    found_value = reference.element(array, element)
    defining = reference.defining(array, element)
    statement = None if defining is None else defining[0].statement
    inputs = tuple(
        ExplainedInput(
            given.read.array,
            dict(zip(equations.array[given.read.array].dims, given.element, strict=True)),
            given.value,
        )
        for given in _distinct(reference.inputs(array, element))
    )
    return Value(
        array=name,
        coordinates=at,
        element=dict(zip(equations.array[array].dims, element, strict=True)),
        value=found_value,
        statement=statement,
        line=None if statement is None else statement.line,
        equation="" if statement is None else equation(statement, equations),
        inputs=inputs,
    )


def number_text(x: npt.NDArray[Any]) -> str:
    """Return a value on one line: four significant digits, or a large tensor's shape and range."""
    if x.size > SHOWN_ENTRIES and x.dtype != np.bool_:
        with np.errstate(all="ignore"):
            least, mean, greatest = (_short(v) for v in (x.min(), x.mean(), x.max()))
        shape = "x".join(str(n) for n in x.shape)
        return f"{shape} entries from {least} to {greatest}, mean {mean}"
    if x.ndim == 0:
        return _short(x[()])
    shown = np.array2string(
        x, separator=", ", threshold=SHOWN_ENTRIES, formatter={"all": _short}, max_line_width=10**6
    )
    return shown.replace("\n", "")


def _short(x: Any) -> str:
    return f"{float(x):.4g}" if isinstance(x, np.floating) else str(x)


def _named(array: str, coordinates: Mapping[str, int]) -> str:
    return f"{array}[{numbers(coordinates)}]" if coordinates else array


def _distinct(inputs: Iterable[ReferenceInput]) -> list[ReferenceInput]:
    """Return each element once, however often the equation mentions it."""
    return list({(given.read.array, given.element): given for given in inputs}.values())
