"""The place of an array's element in its buffer."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.codegen.writing.emitter import total
from workbench.lowering.values.stored import Stored, symbolic
from workbench.polyhedral.expression import Expression, expression


def address(stored: Stored, index: Sequence[Expression], inner: Expression) -> Expression:
    """Return the place of the element at `index`, at the position `inner` of its inner shape.

    It is counted in elements from the buffer's beginning.
    """
    place = expression(0)
    for position in stored.order:
        place = place * stored.count(position) + stored.slot(position, index[position])
    return place * total(symbolic(stored.array.shape)) + inner
