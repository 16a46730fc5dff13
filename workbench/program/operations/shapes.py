"""Inner shapes: their text, and each operation's rule for its result's shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.errors import ProgramError
from workbench.polyhedral.expression import Expression

Shape = tuple[Any, ...]
Options = dict[str, Any]


def shape_text(shape: Shape) -> str:
    """Return a shape as text for the user."""
    return "(" + ", ".join(str(n) for n in shape) + ("," if len(shape) == 1 else "") + ")"


def broadcast_shapes(shapes: Sequence[Shape]) -> Shape:
    """Broadcast inner shapes, whose entries may be symbolic, as NumPy does."""
    rank = max((len(s) for s in shapes), default=0)
    result: list[Any] = []
    for position in range(rank):
        sizes = [s[position - rank + len(s)] for s in shapes if position - rank + len(s) >= 0]
        wide = [n for n in sizes if n != 1]
        if any(n != wide[0] for n in wide):
            listed = " and ".join(shape_text(s) for s in shapes)
            raise ProgramError(f"shapes {listed} do not fit together")
        result.append(wide[0] if wide else 1)
    return tuple(result)


def broadcast(shapes: Sequence[Shape], options: Options) -> Shape:
    return broadcast_shapes(shapes)


def same(shapes: Sequence[Shape], options: Options) -> Shape:
    return tuple(shapes[0])


def from_option(shapes: Sequence[Shape], options: Options) -> Shape:
    return tuple(options["shape"])


def reduced(shapes: Sequence[Shape], options: Options) -> Shape:
    axis = options["axis"]
    return tuple(n for k, n in enumerate(shapes[0]) if k != axis)


def contracted(shapes: Sequence[Shape], options: Options) -> Shape:
    inputs, output = options["spec"].split("->")
    sizes: dict[str, Any] = {}
    for letters, shape in zip(inputs.split(","), shapes, strict=True):
        if len(letters) != len(shape):
            raise ProgramError(f"contraction {options['spec']} of shape {shape_text(shape)}")
        for letter, n in zip(letters, shape, strict=True):
            if sizes.setdefault(letter, n) != n:
                left, right = (shape_text(s) for s in shapes)
                raise ProgramError(
                    f"shapes {left} and {right} do not contract: {sizes[letter]} against {n}"
                )
    unknown = [letter for letter in output if letter not in sizes]
    if unknown:
        raise ProgramError(f"contraction {options['spec']}: no operand has the axis {unknown[0]}")
    return tuple(sizes[letter] for letter in output)


def sliced(shapes: Sequence[Shape], options: Options) -> Shape:
    axis, start, stop, step = (options[k] for k in ("axis", "start", "stop", "step"))
    return (*shapes[0][:axis], len(range(start, stop, step)), *shapes[0][axis + 1 :])


def stacked(shapes: Sequence[Shape], options: Options) -> Shape:
    if any(s != shapes[0] for s in shapes):
        raise ProgramError("stack of shapes " + ", ".join(shape_text(s) for s in shapes))
    axis = options["axis"]
    return (*shapes[0][:axis], len(shapes), *shapes[0][axis:])


def concatenated(shapes: Sequence[Shape], options: Options) -> Shape:
    axis = options["axis"]
    rest = {(*s[:axis], *s[axis + 1 :]) for s in shapes}
    if len(rest) != 1:
        raise ProgramError("concatenation of shapes " + ", ".join(shape_text(s) for s in shapes))
    return (*shapes[0][:axis], sum(s[axis] for s in shapes), *shapes[0][axis + 1 :])


def padded(shapes: Sequence[Shape], options: Options) -> Shape:
    axis = options["axis"]
    n = options["before"] + shapes[0][axis] + options["after"]
    return (*shapes[0][:axis], n, *shapes[0][axis + 1 :])


def reshaped(shapes: Sequence[Shape], options: Options) -> Shape:
    if _product(shapes[0]) != _product(options["shape"]):
        raise ProgramError(
            f"reshape of {shape_text(shapes[0])} to {shape_text(options['shape'])}: "
            "other number of elements"
        )
    return tuple(options["shape"])


def _product(shape: Shape) -> Any:
    total: Any = 1
    for n in shape:
        total = total * n
    return total


def transposed(shapes: Sequence[Shape], options: Options) -> Shape:
    return tuple(shapes[0][a] for a in options["axes"])


def taken(shapes: Sequence[Shape], options: Options) -> Shape:
    table, *indices = shapes
    if len(indices) > len(table) or any(s != indices[0] for s in indices):
        raise ProgramError("take of shapes " + ", ".join(shape_text(s) for s in shapes))
    return (*indices[0], *table[len(indices) :])


def updated(shapes: Sequence[Shape], options: Options) -> Shape:
    table, value, *indices = shapes
    if not indices or len(indices) > len(table) or any(indices):
        raise ProgramError("an update of shapes " + ", ".join(shape_text(s) for s in shapes))
    if value != table[len(indices) :]:
        raise ProgramError(
            f"a value of shape {shape_text(value)} for an entry of shape "
            f"{shape_text(table[len(indices) :])}"
        )
    return tuple(table)


def of_square(shapes: Sequence[Shape], options: Options) -> Shape:
    matrix = shapes[0]
    if len(matrix) < 2 or matrix[-1] != matrix[-2]:
        raise ProgramError(f"a matrix of shape {shape_text(matrix)}; expected a square one")
    return tuple(matrix)


def solved(shapes: Sequence[Shape], options: Options) -> Shape:
    matrix, right = of_square(shapes, options), shapes[1]
    if len(right) != len(matrix) or right[:-1] != matrix[:-1]:
        raise ProgramError(
            f"a matrix of shape {shape_text(matrix)} for right sides of {shape_text(right)}"
        )
    return tuple(right)


def one_hot(shapes: Sequence[Shape], options: Options) -> Shape:
    return (*shapes[0], options["size"])


def is_static(shape: Shape) -> bool:
    """Tell whether no entry is symbolic."""
    return not any(isinstance(n, Expression) for n in shape)
