"""NumPy's functions of tensors: those behind Python's operators, and what to write for others."""

from __future__ import annotations

import operator

from workbench.errors import ProgramError
from workbench.language.tracing.trace import user_line

OPERATORS = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "power": operator.pow,
    "matmul": operator.matmul,
    "left_shift": operator.lshift,
    "right_shift": operator.rshift,
    "bitwise_xor": operator.xor,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}
"""NumPy's functions behind Python's operators of two operands."""
_METHODS = ("sum", "mean", "std", "max", "min", "argmax")
_SAID_OTHERWISE = {"abs": "absolute", "amax": "max", "amin": "min", "square": "x * x"}


def refused(name: str) -> ProgramError:
    """`np.exp(x)`: what to write instead, if there is something."""
    from workbench.language.tracing import functions

    ours = _SAID_OTHERWISE.get(name, name)
    if ours in _METHODS:
        instead = f"use x.{ours}(…)"
    elif hasattr(functions, ours):
        instead = f"use wb.{ours}"
    else:
        instead = f"use {ours}" if ours != name else "it is not part of a program"
    return ProgramError(f"np.{name} of a tensor; {instead}", user_line())
