"""Quotations of a tensor in errors: as the user wrote it, under the variable that holds it.

Looks at the frame that is being traced; makes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import FrameType
from typing import TYPE_CHECKING

from workbench.language.tracing.trace import user_frame, user_line
from workbench.polyhedral.expression import Expression, variable
from workbench.program.bodies import Literal
from workbench.program.operations.shapes import shape_text
from workbench.program.operations.table import OPERATIONS
from workbench.program.text.infix import body_text

if TYPE_CHECKING:
    from workbench.language.tracing.tensor import Index, Tensor
    from workbench.language.tracing.trace import Trace


def tensor_text(x: Tensor) -> str:
    """Quote a number, or an element with its dtype and inner shape: `x[b, t:T]: float(3,)`."""
    from workbench.language.tracing.tensor import Node  # the circle tensor <-> quoting

    source = x.source
    if isinstance(source, Node) and source.operation == "literal":
        return body_text(Literal(source.options["value"], source.dtype, source.shape))
    if isinstance(source, Node) and source.operation == "index":
        pairs = zip(source.dims, x.index, strict=True)
        moves = {d: e for d, e in pairs if isinstance(e, Expression)}
        if len(moves) == len(source.dims):
            return f"wb.index({source.options['expression'].substitute(moves)})"
    written = _in_parentheses(element_text(x))
    return f"{written}: {x.dtype}{shape_text(x.shape)}"


def call_text(name: str, operands: Iterable[Tensor]) -> str:
    """Quote an operation on tensors, with its operator where it has one."""
    texts = [tensor_text(x) for x in operands]
    template = OPERATIONS[name].text
    return template.format(*texts) if template else f"{name}({', '.join(texts)})"


def is_held(x: Tensor, frame: FrameType) -> bool:
    """Tell whether a variable of the frame holds the tensor, or its array has a name."""
    from workbench.language.tracing.recurrent import Recurrent  # the circle recurrent <-> quoting

    if isinstance(x.source, Recurrent):
        return True
    return any(type(v) is type(x) and v.source is x.source for v in frame.f_locals.values())


def shape_text_with_line(x: Tensor) -> str:
    """Quote the inner shape, and the user's line that made it where that is another one."""
    return shape_text(x.shape) + made_by(x)


def made_by(x: Tensor) -> str:
    """Quote the user's line that made an inner shape, where there is one and it is another one."""
    from workbench.language.tracing.tensor import Node  # the circle tensor <-> quoting

    source = x.source
    while isinstance(source, Node):
        before = [y.source for y in source.operands if y.shape == x.shape]
        if not before:
            break
        source = next((s for s in before if isinstance(s, Node)), before[0])
    line = source.line
    return "" if line is None or line == user_line() or not x.shape else f", made by {line}"


LONG = 60
"""The characters from which on an operation is quoted by its name alone."""


def element_text(x: Tensor) -> str:
    """Quote `x[b, t:T]`, under the user's variable that holds the tensor or its source; where none
    does, the operation with its operator, as in `x[b, t] > 0.5`.
    """
    name, whole = _variable(x)
    written = _operation_text(x) if not name else ""
    if 0 < len(written) <= LONG:
        return written
    name = name or _operation(x)
    index: Sequence[Index] = tuple(variable(d) for d in x.dims) if whole else x.index
    return f"{name}[{', '.join(_index_text(e, x.source.trace) for e in index)}]"


def _variable(x: Tensor) -> tuple[str, bool]:
    """Return the user's name, and whether it is the tensor's own rather than its source's."""
    from workbench.language.tracing.tensor import Tensor  # the circle tensor <-> quoting

    frame = user_frame()
    held = [] if frame is None else [(n, v) for n, v in frame.f_locals.items() if type(v) is Tensor]
    for name, value in held:
        if value is x and not x.is_plain:
            return name, True
    for name, value in held:
        if value.source is x.source and value.is_plain:
            return name, False
    return x.source.name or "", False


def name_text(x: Tensor) -> str:
    """Quote the user's variable that holds the tensor; where none does, the operation's name."""
    return _variable(x)[0] or _operation(x)


def _operation(x: Tensor) -> str:
    return str(getattr(x.source, "kind", None) or getattr(x.source, "operation", "tensor"))


def _operation_text(x: Tensor) -> str:
    """Quote an operation that has an operator, or converts; "" for any other, and for one at
    elements that depend on data.
    """
    from workbench.language.tracing.tensor import Node  # the circle tensor <-> quoting

    source = x.source
    if not isinstance(source, Node) or source.kind or source.operation not in OPERATIONS:
        return ""
    template = OPERATIONS[source.operation].text
    if source.operation == "cast":
        template = f"cast({{0}}, {source.dtype})"
    read = (x, *source.operands)
    if not template or any(not isinstance(e, Expression) for y in read for e in y.index):
        return ""
    moves = {d: e for d, e in zip(source.dims, x.index, strict=True) if isinstance(e, Expression)}
    operands = [tensor_text(y.substitute(moves)).partition(": ")[0] for y in source.operands]
    return template.format(*operands)


def _in_parentheses(text: str) -> str:
    """Put an operation with an operator in parentheses: what stands around it has operators too."""
    depth = 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == " " and not depth:
            return f"({text})"
    return text


def _index_text(e: Index, trace: Trace) -> str:
    """Quote an index, a range as it is written."""
    if not isinstance(e, Expression):
        return tensor_text(e).partition(": ")[0]
    for d in e.variables:
        own = trace.dims.get(d)
        if own is not None and own.axis is not None and e.coefficient(d) == 1:
            return f"{e.substitute({d: own.lower})}:{e.substitute({d: own.upper})}"
    return str(e)
