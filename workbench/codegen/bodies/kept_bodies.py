"""The choice of the bodies that are computed once and kept, and what they are kept in.

It looks at bodies only. It does not know how they are computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from workbench.codegen.emitter import UNROLLED, total
from workbench.codegen.kernel_records import Value
from workbench.identity import remembered
from workbench.lowering.values.numbering import Numbering
from workbench.lowering.values.stored import symbolic
from workbench.polyhedral.expression import Expression
from workbench.program.bodies import Body, Call, Read
from workbench.program.operations.table import COMBINES, OPERATIONS

LOCALS = UNROLLED
"""The most elements of a kept value that are locals. A visit of so few is written out: a local has
a name, so its position has to be a number.
"""

SHORT = 2
"""The most products of a short sum. It is written out wherever one of its many positions is needed:
keeping them takes longer than to sum each.
"""

CHECKS = frozenset(("within", "possible", "positive", "existing"))
"""Operations that return their first operand, and check it."""

_MOVEMENTS = frozenset(("slice", "reshape", "transpose", "broadcast", "cast"))
_LOOPS = frozenset(
    (
        *(*COMBINES, "argmax", "argmin"),
        *("stack", "concatenate", "pad", "cumsum", "orthogonalize", "solve", "cholesky"),
    )
)


@dataclass(frozen=True)
class Kept:
    """A value that was computed before: in locals by position, or in a buffer."""

    shape: tuple[Expression, ...]
    dtype: str
    locals: Mapping[tuple[int, ...], Value] = field(default_factory=dict)
    buffer: str = ""


def fits_in_locals(elements: Expression) -> bool:
    """Tell whether so many elements can be kept in locals."""
    return not elements.terms and elements.constant <= LOCALS


@remembered(4096)
def worth_keeping(numbering: Numbering) -> frozenset[int]:
    """Return the numbers of the bodies that are computed once and kept."""
    wanted: set[int] = set()
    bodies, children = numbering.bodies, numbering.children
    for number, body in enumerate(bodies):
        if isinstance(body, Read):
            wanted.update(children[number])  # its indices
        if not isinstance(body, Call):
            continue
        if heavy(body) or (numbering.uses[number] > 1 and not free(numbering, number)):
            wanted.add(number)
        for child, argument in zip(children[number], body.arguments, strict=True):
            if not free(numbering, child) and _repeats(body, argument):
                wanted.add(child)
        if body.operation == "take" or body.operation in CHECKS:
            wanted.update(children[number])
        if OPERATIONS[body.operation].updates:
            wanted.update(children[number][1:])  # the value and the entry
        if body.operation in CHECKS:
            wanted.add(number)
    wanted -= asked_once(numbering)
    return frozenset(n for n in wanted if isinstance(bodies[n], Call))


def asked_once(numbering: Numbering) -> frozenset[int]:
    """Return the numbers of the sums that run of which one position along their axis is needed."""
    return frozenset(_asked_once(numbering))


def _asked_once(numbering: Numbering) -> Iterator[int]:
    for number, body in enumerate(numbering.bodies):
        if isinstance(body, Call) and body.operation == "take" and not body.arguments[1].shape:
            child = numbering.children[number][0]
            table = numbering.bodies[child]
            if not isinstance(table, Call) or table.operation != "cumsum":
                continue
            if table.options["axis"] == 0 and numbering.uses[child] == 1:
                yield child


def factors_read(numbering: Numbering) -> Iterator[int]:
    """Yield the numbers of the reads whose elements are factors of contractions."""
    for number, body in enumerate(numbering.bodies):
        if isinstance(body, Call) and body.operation == "contract":
            yield from _reads_below(numbering, number)


def _reads_below(numbering: Numbering, number: int) -> Iterator[int]:
    for child in numbering.children[number]:
        if isinstance(numbering.bodies[child], Read):
            yield child
        elif free(numbering, child):
            yield from _reads_below(numbering, child)


def free(numbering: Numbering, number: int) -> bool:
    """Tell whether a body costs nothing wherever it is asked for."""
    body = numbering.bodies[number]
    if not isinstance(body, Call):
        return True
    return body.operation in _MOVEMENTS and all(
        free(numbering, child) for child in numbering.children[number]
    )


def heavy(body: Call) -> bool:
    """Tell whether one position of a body takes a loop, or more than one operation."""
    if body.operation == "contract":
        return bool(summed_letters(body)) and not is_short(body)
    return body.operation in _LOOPS or OPERATIONS[body.operation].random


def summed_letters(body: Call) -> tuple[str, ...]:
    """Return the letters that a contraction sums over, in order."""
    inputs, output = body.options["spec"].split("->")
    return tuple(dict.fromkeys(c for c in inputs if c != "," and c not in output))


def letter_lengths(body: Call) -> dict[str, Expression]:
    """Return the length of each letter of a contraction."""
    inputs = body.options["spec"].split("->")[0].split(",")
    return {
        c: n
        for letters, argument in zip(inputs, body.arguments, strict=True)
        for c, n in zip(letters, symbolic(argument.shape), strict=True)
    }


def is_short(body: Call) -> bool:
    """Tell whether a contraction has many positions, and the sum at each of them few products."""
    lengths = letter_lengths(body)
    products = total([lengths[c] for c in summed_letters(body)])
    many = not fits_in_locals(total(symbolic(body.shape)))
    return many and not products.terms and products.constant <= SHORT


def _repeats(body: Call, argument: Body) -> bool:
    """Tell whether an operand's position is needed at several positions of the result."""
    if body.operation == "contract":
        return True
    if OPERATIONS[body.operation].elementwise or body.operation == "broadcast":
        return total(symbolic(argument.shape)) != total(symbolic(body.shape))
    return False
