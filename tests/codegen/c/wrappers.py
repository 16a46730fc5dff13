"""C wrappers that apply an operation to arrays: as vectors, with a tail, and number by number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

NUMBERS = {"f": "float", "d": "double", "i": "int32_t", "l": "int64_t", "b": "uint8_t"}
DTYPES = {"f": np.float32, "d": np.float64, "i": np.int32, "l": np.int64, "b": np.bool_}


@dataclass(frozen=True)
class Wrapped:
    """An operation by its C name without kind: its operands' kinds and its result's."""

    name: str
    operands: str
    result: str

    @property
    def symbol(self) -> str:
        to = f"{self.result}_" if self.name == "cast" else ""
        return f"{self.name}_{to}{self.operands}"

    def text(self) -> str:
        """Return two functions of arrays of operands, a result and a length."""
        names = [f"x{k}" for k in range(len(self.operands))]
        takes = [f"const {NUMBERS[k]} *{x}" for x, k in zip(names, self.operands, strict=True)]
        head = f"({', '.join(takes)}, {NUMBERS[self.result]} *out, int64_t n)"
        some = [
            f"load_some_v{k}({x} + i, 1, n - i)" for x, k in zip(names, self.operands, strict=True)
        ]
        whole = [f"load_v{k}({x} + i)" for x, k in zip(names, self.operands, strict=True)]
        single = [f"{x}[i]" for x in names]
        return f"""
void vector_{self.symbol}{head} {{
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        store_v{self.result}(out + i, {self._called("v", whole)});
    if (i < n) store_some_v{self.result}(out + i, 1, n - i, {self._called("v", some)});
}}
void single_{self.symbol}{head} {{
    for (int64_t i = 0; i < n; i++) out[i] = {self._called("", single)};
}}
"""

    def _called(self, vector: str, arguments: list[str]) -> str:
        return f"{self.name}{self._suffix(vector)}({', '.join(arguments)})"

    def _suffix(self, vector: str) -> str:
        if self.name == "cast":
            return f"_{vector}{self.result}_{vector}{self.operands}"
        return f"_{vector}{self.operands[-1]}"

    def empty(self, n: int) -> npt.NDArray[np.generic]:
        """Return room for so many results."""
        return np.empty(n, DTYPES[self.result])


FLOATS, WHOLE, NUMERIC, EVERY = "fd", "il", "fdil", "fdilb"
COMPARED = ("less", "less_equal", "greater", "greater_equal")
FUNCTIONS = ("exp", "log", "log1p", "tanh", "sin", "cos")
GAMMA = ("lgamma", "digamma", "trigamma")
ROWS = [
    *(Wrapped(name, k, k) for name in ("negative", "absolute", "sign") for k in NUMERIC),
    *(Wrapped(name, k, k) for name in (*FUNCTIONS, *GAMMA, "sqrt", "floor") for k in FLOATS),
    *(Wrapped("isfinite", k, "b") for k in FLOATS),
    Wrapped("logical_not", "b", "b"),
    *(Wrapped(name, k * 2, k) for name in ("add", "subtract", "multiply") for k in NUMERIC),
    *(Wrapped(name, k * 2, k) for name in ("minimum", "maximum") for k in NUMERIC),
    *(Wrapped(name, k * 2, k) for name in ("divide", "power") for k in FLOATS),
    *(Wrapped(name, k * 2, k) for name in ("floor_divide", "remainder") for k in WHOLE),
    *(Wrapped(name, k * 2, "b") for name in ("equal", "not_equal") for k in EVERY),
    *(Wrapped(name, k * 2, "b") for name in COMPARED for k in NUMERIC),
    *(Wrapped(name, "bb", "b") for name in ("logical_and", "logical_or")),
    *(Wrapped("where", f"b{k}{k}", k) for k in EVERY),
]
"""The elementwise rows of the operation table for each kind, but casts."""

CASTS = [Wrapped("cast", k, to) for k in EVERY for to in EVERY if k != to]

FUSED = [Wrapped("fused", k * 3, k) for k in FLOATS]

INCLUDES = '#include "functions.h"\n#include "doubles.h"\n'


def source(rows: list[Wrapped]) -> str:
    """Return the C text of wrappers."""
    return INCLUDES + "".join(row.text() for row in rows)
