"""Bodies that read other elements of an array than the one in whose memory a result is written.

An array operation has read all of its operands before it writes. A kernel computes one element
after the other, so it would read what it has written: then it computes all of them first.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from workbench.codegen.bodies.kept_bodies import CHECKS
from workbench.codegen.emitter import total
from workbench.lowering.values.stored import symbolic
from workbench.program.bodies import Body, Call, Read
from workbench.program.operations.table import OPERATIONS

if TYPE_CHECKING:
    from workbench.codegen.bodies.body_values import Bodies

_ELEMENT_BY_ELEMENT = frozenset(("cast", "stop_gradient", *CHECKS))


def reads_overwritten(bodies: Bodies, body: Body, arrays: Collection[str]) -> bool:
    """Tell whether elements of a body need others of arrays, in whose memory they are written, than
    those at their own position. What is kept was read before.
    """
    return bool(arrays) and total(symbolic(body.shape)) != 1 and _reads(bodies, body, arrays, True)


def _reads(bodies: Bodies, body: Body, arrays: Collection[str], own: bool) -> bool:
    """Tell the same of a part of a body, of which elements need those at their `own` position or
    any.
    """
    if bodies.numbering[body] in bodies.kept or body in bodies.in_block:
        return False
    if isinstance(body, Read):
        return body.array in arrays and not own
    if not isinstance(body, Call):
        return False
    operation = body.operation
    if operation == "reshape":
        return _reads(bodies, body.arguments[0], arrays, own)
    by_element = OPERATIONS[operation].elementwise or operation in _ELEMENT_BY_ELEMENT
    return any(
        _reads(bodies, a, arrays, own and by_element and a.shape == body.shape)
        for a in body.arguments
    )
