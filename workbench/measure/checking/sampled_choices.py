"""Sampled choices that come out otherwise in fewer digits. They are allowed where the draw lay
within tolerance of the threshold; everything after is then judged with the choice that was made.

A run in float32 that takes another action than the reference goes on in another state, so its
outputs cannot be compared as they are. Here the reference evaluates the same program once more with
every sampled choice taken from the run. Each choice by itself must then be the reference's own, or
one that the threshold's rounding decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.backends.reference.evaluator import Reference
from workbench.measure.checking.agreement import TOLERANCE
from workbench.program.bodies import Body, Call, Read, walk
from workbench.program.operations.table import OPERATIONS
from workbench.program.storage import AS_WRITTEN
from workbench.program.text.infix import point_text
from workbench.program.values import Output, Program, Statement

CHOICE = "choice."
"""Prefix of the outputs that hold sampled choices."""

Point = tuple[int, ...]


@dataclass(frozen=True)
class JudgedSamples:
    """The reference's outputs with a run's choices; a sentence for each choice that was not the
    reference's own; the first that no rounding explains, or ""."""

    outputs: Mapping[str, npt.NDArray[Any]]
    differing: tuple[str, ...]
    unexplained: str


def sampled(program: Program) -> tuple[str, ...]:
    """Return the arrays of integers or booleans that compare a draw with a threshold."""
    return tuple(
        array.name
        for array in program.arrays
        if array.dtype != "float"
        and any(_comparisons(s, program) for s in program.writers[array.name])
    )


def choosing(program: Program, arrays: Sequence[str]) -> Program:
    """Return the program with those of the arrays that it has as further outputs, `choice.NAME`.
    Outputs may be neither folded nor handed on, so everything is stored whole: no value depends on
    that.
    """
    added = tuple(Output(CHOICE + name, name) for name in arrays if name in program.array)
    equations = replace(program.equations, outputs=(*program.outputs, *added))
    return replace(program, equations=equations, storage=AS_WRITTEN)


def judged(
    program: Program,
    sizes: Mapping[str, int],
    seed: int,
    found: Mapping[str, Any],
    dtype: str,
    data: Mapping[str, npt.NDArray[Any]],
) -> JudgedSamples:
    """Evaluate the reference with the sampled choices that a run made; `found` are the run's
    outputs, `data` the values from outside.
    """
    made = {
        name.removeprefix(CHOICE): np.asarray(values)
        for name, values in found.items()
        if name.startswith(CHOICE)
    }
    plain = Reference(program.equations, sizes, seed, data=data)
    draws = _Draws({id(call): side for call, side in _all_comparisons(program)}, dtype)
    given = {name: _override(plain, name, values) for name, values in made.items()}
    reference = Reference(program.equations, sizes, seed, given, draws, data)
    outputs = reference.outputs()
    differing, unexplained = [], ""
    for name in made:
        for element in _defined(plain, name):
            draws.forget()
            own = reference.computed(name, element)
            taken = reference.element(name, element)
            if np.array_equal(own, taken):
                continue
            where = f"{name} at {point_text(program.array[name].dims, element)}"
            text = f"{where} is {taken} where the reference has {own}: {draws.closest}"
            if draws.within:
                differing.append(text)
            else:
                unexplained = unexplained or text
    return JudgedSamples(outputs, tuple(differing), unexplained)


@dataclass
class _Draws:
    """A watcher of comparisons of draws with thresholds; keeps the closest since it last forgot."""

    sides: Mapping[int, int]
    dtype: str
    closest: str = ""
    within: bool = False
    _least: float = field(default=np.inf)

    def forget(self) -> None:
        """Forget, before another instance is evaluated."""
        self.closest, self.within, self._least = "", False, np.inf

    def __call__(self, statement: Statement, call: Call, operands: Sequence[Any]) -> None:
        """Note one operation evaluated on these operands."""
        side = self.sides.get(id(call))
        if side is None:
            return
        drawn, threshold = np.broadcast_arrays(operands[side], operands[1 - side])
        off = np.abs(drawn - threshold)
        place = np.unravel_index(int(np.argmin(off)), off.shape)
        if off[place] >= self._least:
            return
        self._least = float(off[place])
        size = abs(float(threshold[place])) + float(np.abs(threshold).max())
        self.within = self._least <= TOLERANCE[self.dtype] * size
        self.closest = (
            f"it drew {float(drawn[place]):.9g} against a threshold of "
            f"{float(threshold[place]):.9g}"
        )


def _override(reference: Reference, name: str, values: npt.NDArray[Any]) -> Callable[[Point], Any]:
    """Return a function that gives the run's element for each that the program defines."""
    mask, lower = reference.mask(name), _lower(reference, name)

    def override(element: Point) -> Any:
        place = tuple(e - low for e, low in zip(element, lower, strict=True))
        return values[place] if mask[place] else None

    return override


def _defined(reference: Reference, name: str) -> Iterator[Point]:
    lower = _lower(reference, name)
    for place in np.argwhere(reference.mask(name)):
        yield tuple(int(k) + low for k, low in zip(place, lower, strict=True))


def _lower(reference: Reference, name: str) -> Point:
    extent = reference.equations.array[name].extent
    return tuple(low.evaluate(reference.sizes) for low, _ in extent)


def _all_comparisons(program: Program) -> Iterator[tuple[Call, int]]:
    for name in sampled(program):
        for statement in program.writers[name]:
            yield from _comparisons(statement, program)


def _comparisons(statement: Statement, program: Program) -> list[tuple[Call, int]]:
    """Return the comparisons of a draw with something else, and the side on which the draw
    stands.
    """
    return [
        (body, side)
        for body in walk(statement.body)
        if isinstance(body, Call) and OPERATIONS[body.operation].compares == "order"
        for side in (0, 1)
        if _is_draw(body.arguments[side], program)
        and not _is_draw(body.arguments[1 - side], program)
    ]


def _is_draw(body: Body, program: Program) -> bool:
    """Tell whether a body is a draw, or reads an array in which draws are written."""
    if isinstance(body, Call):
        return OPERATIONS[body.operation].random
    if isinstance(body, Read):
        return any(
            isinstance(s.body, Call) and OPERATIONS[s.body.operation].random
            for s in program.writers[body.array]
        )
    return False
