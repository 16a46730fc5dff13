"""The cost of recomputing, and the memory it saves, as formulas in the sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from workbench.polyhedral.expression import Expression, expression
from workbench.polyhedral.sets.relations import bounds, hull, is_box
from workbench.program.bodies import Body, Call, walk
from workbench.program.operations.matrices import OF_MATRICES
from workbench.program.operations.shapes import is_static
from workbench.program.operations.table import OPERATIONS
from workbench.program.values import Array, Statement

BYTES = 4
"""The bytes of an element in float32, for the notes."""


def added(clones: Sequence[Statement]) -> str:
    """Return the note `… is computed at B * I * T more instances, 580 operations each`."""
    parts = []
    for s in clones:
        instances = _instances(s.domain, s.dims)
        each = operations(s.body)
        over = "" if s.combiner is None else " for every point of its range"
        parts.append(f"{s.name} at {instances} more instances, {each} operations each{over}")
    return f"computed again: {'; '.join(parts)}"


def _instances(domain: str, dims: Sequence[str]) -> str:
    box = is_box(domain, dims)
    lengths = [upper - lower for lower, upper in (bounds(domain, dims) if box else hull(domain))]
    return _product(lengths) if box else f"at most {_product(lengths)}"


def _product(factors: Sequence[Expression | int]) -> str:
    """Print `B * (T + 1) * 256`, numbers last and as one."""
    factors_written = [expression(f) for f in factors]
    texts = [
        str(f) if len(f.terms) == 1 and not f.constant else f"({f})"
        for f in factors_written
        if f.terms
    ]
    number = math.prod(f.constant for f in factors_written if not f.terms)
    return " * ".join([*texts, str(number)] if number != 1 or not texts else texts)


def operations(body: Body) -> int:
    """Count the elementary operations of one evaluation; symbolic axes count as one."""
    total = 0
    for b in dict.fromkeys(walk(body)):
        if not isinstance(b, Call) or OPERATIONS[b.operation].free:
            continue
        if b.operation == "contract":
            letters = b.options["spec"].split("->")[0].split(",")
            sizes = {
                c: n
                for part, a in zip(letters, b.arguments, strict=True)
                for c, n in zip(part, a.shape, strict=True)
            }
            total += 2 * _entries(tuple(sizes.values()))
        elif b.operation in OF_MATRICES:
            *many, n, columns = b.shape
            total += _entries(tuple(many)) * OF_MATRICES[b.operation](int(n), int(columns))
        else:
            shapes = [b.shape, *(a.shape for a in b.arguments)]
            total += max(_entries(shape) for shape in shapes)
    return total


def _entries(shape: Sequence[int | Expression]) -> int:
    return math.prod(int(n) if is_static((n,)) else 1 for n in shape)


def freed(record: Array, left: Sequence[str]) -> str:
    """Return the note on an array that need not be kept any more, but for the readers `left`."""
    lengths = [upper - lower for lower, upper in record.extent]
    total = _product([*lengths, _entries(record.shape) * BYTES])
    if not left:
        return f"{record.name} has no reader left and is not computed: {total} bytes in float32"
    listed_readers = ", ".join(left)
    return (
        f"{record.name} is read by {listed_readers} only: what Contract need not keep of its "
        f"{total} bytes in float32 is free"
    )
