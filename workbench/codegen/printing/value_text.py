"""The values of kernel records as C.

A value that depends on the variable of a loop of lanes is a vector, every other one a scalar. A
kind is a letter (`vectors.h`), floats being "f" or "d" by the dtype of the run.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from workbench.codegen.kernel_records import Compute, Holds, Load, Local, Number, Position, Value
from workbench.codegen.printing.c_expressions import condition_text, expression_text
from workbench.polyhedral.conditions import names_in
from workbench.polyhedral.expression import Expression, atom, expression
from workbench.polyhedral.expressions.atoms import Atom, Product, Variable

REALS = {"float32": "f", "float64": "d"}
"""The kind of a float, by the dtype of a run."""
KINDS = {"int32": "i", "int64": "l", "bool": "b", "word": "u", "double": "d"}
SCALARS = {
    "f": "float",
    "d": "double",
    "i": "int32_t",
    "l": "int64_t",
    "b": "int",
    "u": "uint32_t",
}
STORED = {**SCALARS, "b": "uint8_t"}
"""The types of numbers in memory."""


@dataclass(frozen=True)
class Text:
    """A value as C: its text, its kind, and whether it is a vector."""

    text: str
    kind: str
    vector: bool = False

    @property
    def suffix(self) -> str:
        """The suffix of functions of this kind."""
        return f"v{self.kind}" if self.vector else self.kind

    @property
    def type(self) -> str:
        """The C type."""
        return f"v{self.kind}" if self.vector else SCALARS[self.kind]

    @property
    def wide(self) -> Text:
        """The value in all lanes."""
        if self.vector:
            return self
        return Text(f"all_v{self.kind}({self.text})", self.kind, True)


@dataclass
class ValueText:
    """The C text of values at one place in a kernel. `name` gives everything its C name.

    `kinds` are the kinds of the buffers in memory, `private` those of scratch memory with an
    element a lane. `lane` is the variable of the loop of lanes around, "" outside of any; `varying`
    are the locals that are vectors.
    """

    name: Callable[[str], str]
    real: str
    kinds: dict[str, str]
    private: dict[str, str] = field(default_factory=dict)
    lane: str = ""
    varying: set[str] = field(default_factory=set)

    def kind(self, dtype: str) -> str:
        """Return the letter of a dtype."""
        return KINDS.get(dtype, self.real)

    def value(self, value: Value) -> Text:
        """Return a value as C."""
        if isinstance(value, Number):
            kind = self.kind(value.dtype)
            return Text(number_text(value.value, kind), kind)
        if isinstance(value, Position):
            return self._position(value)
        if isinstance(value, Holds):
            return self._holds(value)
        if isinstance(value, Local):
            kind = self.kind(value.dtype)
            return Text(self.name(value.name), kind, value.name in self.varying)
        if isinstance(value, Load):
            return self.load(value.buffer, value.at, self.kind(value.dtype))
        return self._compute(value)

    def _compute(self, value: Compute) -> Text:
        arguments = [self.value(a) for a in value.arguments]
        vector = any(a.vector for a in arguments)
        if vector:
            arguments = [a.wide for a in arguments]
        kind, last = self.kind(value.dtype), arguments[-1]
        texts = ", ".join(a.text for a in arguments)
        if value.operation == "copy" or (value.operation == "cast" and last.kind == kind):
            return Text(texts, kind, vector)
        result = Text("", kind, vector).suffix
        if value.operation == "cast":
            return Text(f"cast_{result}_{last.suffix}({texts})", kind, vector)
        if value.operation in ("uniform", "normal"):
            return Text(f"{value.operation}_{result}({texts})", kind, vector)
        if value.operation == "fma":
            if kind in "fd":
                return Text(f"fused_{result}({texts})", kind, vector)
            a, b, c = (argument.text for argument in arguments)
            return Text(f"add_{result}(multiply_{result}({a}, {b}), {c})", kind, vector)
        return Text(f"{value.operation}_{last.suffix}({texts})", kind, vector)

    # -- positions ---------------------------------------------------------------------------------

    def _holds(self, value: Holds) -> Text:
        if not any(self._is_varying(name) for name in names_in(value.condition)):
            return Text(f"({condition_text(value.condition, self.name)})", "b")
        text = condition_text(value.condition, self._in_lane)
        return Text(f"({{ vb r; EACH_LANE r[lane] = -({text}); r; }})", "b", True)

    def _position(self, value: Position) -> Text:
        kind, e = self.kind(value.dtype), value.expression
        if not self.varies(e):
            return Text(f"({SCALARS[kind]}){self.expression(e)}", kind)
        step = self.step(e)
        if step is not None and not step.terms and kind == "i":
            lanes = "lanes_vi()" if step == 1 else f"lanes_vi() * {step.constant}"
            return Text(f"(all_vi((int32_t){self.expression(e)}) + {lanes})", kind, True)
        text = self.in_lane(e)
        return Text(_by_lane(kind, f"({SCALARS[kind]}){text}"), kind, True)

    def word(self, e: Expression, vector: bool) -> str:
        """Return an expression as a 32-bit word, in all lanes where that is asked for."""
        text = self.value(Position(e, "int32"))
        return f"(vu){text.wide.text}" if vector else f"(uint32_t){text.text}"

    def expression(self, e: Expression) -> str:
        """Return an expression as C; of lanes, in the first."""
        return expression_text(e, self.name)

    def in_lane(self, e: Expression) -> str:
        """Return an expression in the lane `lane` as C."""
        return expression_text(e, self._in_lane)

    def varies(self, e: Expression) -> bool:
        """Tell whether an expression differs from lane to lane."""
        return any(self._is_varying(name) for name in e.variables)

    def _is_varying(self, name: str) -> bool:
        return bool(self.lane) and (name == self.lane or name in self.varying)

    def _in_lane(self, name: str) -> str:
        """Return a name's value in the lane `lane`. Lanes beyond the end are like the last."""
        if name == self.lane:
            return f"({self.name(name)} + minimum_l(lane, lanes - 1))"
        return f"{self.name(name)}[lane]" if name in self.varying else self.name(name)

    def step(self, e: Expression) -> Expression | None:
        """Return how far neighbouring lanes are apart; None where that differs."""
        step = expression(0)
        for part, factor in e.terms:
            of_part = self._step_of(part)
            if of_part is None:
                return None
            step = step + of_part * factor
        return step

    def _step_of(self, part: Atom) -> Expression | None:
        if not self.varies(atom(part)):
            return expression(0)
        if isinstance(part, Variable):
            return expression(1) if part.name == self.lane else None
        if isinstance(part, Product):
            for one, other in ((part.left, part.right), (part.right, part.left)):
                if not self.varies(one):
                    step = self.step(other)
                    return None if step is None else one * step
        return None

    # -- memory ------------------------------------------------------------------------------------

    def load(self, buffer: str, at: Expression, kind: str) -> Text:
        """Return the element of a buffer as C."""
        base = self.name(buffer)
        if buffer in self.private:
            if not self.varies(at):
                return Text(f"{base}[{self.expression(at)}]", kind, True)
            place = self.in_lane(at)
            return Text(_by_lane(kind, f"{base}[{place}][lane]"), kind, True)
        if not self.varies(at):
            return Text(f"{base}[{self.expression(at)}]", kind)
        step = self.step(at)
        if step is not None and step == 1:
            return Text(f"load_v{kind}({base} + {self.expression(at)})", kind, True)
        sign = "-(int32_t)" if kind == "b" else ""
        if step is None:
            place = self.in_lane(at)
            return Text(_by_lane(kind, f"{sign}{base}[{place}]"), kind, True)
        # Lanes beyond the end are like the last: their own places may lie outside of all memory.
        begin = (
            f"const {STORED[kind]} *at = {base} + {self.expression(at)}; "
            f"const int64_t step = {self.expression(step)}; "
        )
        each = f"{sign}at[minimum_l(lane, lanes - 1) * step]"
        return Text(_by_lane(kind, each, begin), kind, True)


def _by_lane(kind: str, each: str, begin: str = "") -> str:
    """Return a vector whose lanes are computed one by one."""
    return f"({{ {begin}v{kind} r; EACH_LANE r[lane] = {each}; r; }})"


def number_text(x: Any, kind: str) -> str:
    """Return a number as C: floats in hexadecimal, so that no digit is lost."""
    if kind in "fd":
        if math.isnan(x):
            return f"({SCALARS[kind]})NAN_F"
        if math.isinf(x):
            text = f"INFINITE_{kind.upper()}"
            return text if x > 0 else f"(-{text})"
        text = f"({SCALARS[kind]}){float(x).hex()}"
        return text if math.copysign(1, x) > 0 else f"({text})"
    if kind == "b":
        return str(int(bool(x)))
    if int(x) == -(2**31):
        return "INT32_MIN"
    return str(int(x)) if x >= 0 else f"({int(x)})"
