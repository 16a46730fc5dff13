"""Functions and attributes of tensors in the manner of NumPy and PyTorch: computed as there, or
refused with the spelling to use instead.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING

from workbench.errors import ProgramError, nearest
from workbench.language.tracing import quoting
from workbench.language.tracing.trace import user_line

if TYPE_CHECKING:
    from workbench.language.tracing.tensor import Tensor

_INSTEAD = {
    "T": "wb.transpose(x)",
    "abs": "wb.absolute(x)",
    "argmin": "(-x).argmax(…)",
    "at": "wb.put(x, index, value), or wb.add_at",
    "astype": "wb.cast(x, dtype)",
    "bool": "wb.cast(x, bool)",
    "cat": "wb.concatenate([…])",
    "clamp": "wb.clip(x, low, high)",
    "detach": "wb.stop_gradient(x)",
    "dim": "len(x.shape)",
    "dot": "x @ y",
    "double": "wb.cast(x, float)",
    "einsum": 'wb.contract("ij,j->i", x, y)',
    "flatten": "wb.reshape(x, -1)",
    "float": "wb.cast(x, float)",
    "int": "wb.cast(x, int)",
    "isnan": "~wb.isfinite(x)",
    "long": 'wb.cast(x, "int64")',
    "matmul": "x @ y",
    "ndim": "len(x.shape)",
    "ones": "1.0, which takes any shape",
    "permute": "wb.transpose(x, axes)",
    "pow": "x ** y",
    "power": "x ** y",
    "rand": "wb.uniform(over=…)",
    "randint": "wb.cast(wb.uniform(over=…) * n, int)",
    "randn": "wb.normal(over=…)",
    "random": "wb.uniform(over=…)",
    "ravel": "wb.reshape(x, -1)",
    "scan": "a wb.recurrent: s[t + 1] = …",
    "size": "x.shape",
    "square": "x * x",
    "squeeze": "x[..., 0]",
    "to": "wb.cast(x, dtype)",
    "type": "wb.cast(x, dtype)",
    "unsqueeze": "x[..., None]",
    "var": "x.std(…) ** 2",
    "view": "wb.reshape(x, shape)",
    "zeros": "0.0, which takes any shape",
}
_VALUES = frozenset({"item", "numpy", "tolist", "cpu", "backward", "grad"})


class UnknownAttribute(ProgramError, AttributeError):
    """An error for an attribute that a tensor lacks, as `hasattr` expects it."""


def unknown_attribute(x: Tensor, name: str) -> UnknownAttribute:
    """Return the error for `x.name`."""
    from workbench.language.tracing import functions

    if name.startswith("__") or name in type(x).__slots__:  # libraries ask whether it is there
        return UnknownAttribute(name)
    if name in _INSTEAD:
        said = f"write {_INSTEAD[name]}"
    elif name in ("backward", "grad"):
        said = "write wb.gradient(loss, x)"
    elif name in _VALUES:
        said = "it has no value before the program runs; wb.value(program, name) shows one"
    elif name in functions.__dict__ and callable(functions.__dict__[name]):
        said = f"write wb.{name}(x)"
    else:
        known = [n for n in dir(type(x)) if not n.startswith("_") and n != "substitute"]
        said = nearest(name, known, "attributes of a tensor")
    return UnknownAttribute(
        f"{quoting.element_text(x)} has no attribute {name}; {said}", user_line()
    )


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
"""NumPy's functions for Python's operators of two operands."""
_METHODS = ("sum", "mean", "std", "max", "min", "argmax", "all", "any")
_OF_MATRICES = ("solve", "cholesky")
_SAID_OTHERWISE = {"abs": "absolute", "amax": "max", "amin": "min", "square": "x * x"}


def unknown_function(name: str, known: Iterable[str]) -> str:
    """Explain that the package has no such function, which may be one of NumPy's or PyTorch's."""
    if name in _METHODS:
        return f"workbench has no {name}; write x.{name}(…)"
    if name in _INSTEAD:
        return f"workbench has no {name}; write {_INSTEAD[name]}"
    return f"workbench has no {name}; {nearest(name, known)}"


def refused(name: str, package: str = "np") -> ProgramError:
    """Return the refusal of `np.exp(x)`, or of a function in a package of NumPy's, with the
    spelling to use instead, if there is one.
    """
    from workbench.language.tracing import functions

    ours = _SAID_OTHERWISE.get(name, name)
    if ours in _METHODS:
        instead = f"use x.{ours}(…)"
    elif hasattr(functions, ours) or ours in _OF_MATRICES:
        instead = f"use wb.{ours}"
    else:
        instead = f"use {ours}" if ours != name else "it is not part of a program"
    return ProgramError(f"{package}.{name} of a tensor; {instead}", user_line())
