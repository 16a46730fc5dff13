"""Loops over rows of a tile in which several rows share a vector, where few lanes are used.

Elementwise functions of many instructions take as long for one lane as for all. It knows which
loops gain by that, and what their values are as C; `packed_rows.h` puts rows together.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from workbench.codegen.kernel_records import (
    LANES,
    Compute,
    Holds,
    Let,
    Load,
    Local,
    Loop,
    Position,
    Serves,
    Store,
    Value,
    loads,
    parts,
    values,
)
from workbench.codegen.printing.value_text import SCALARS, Text, ValueText
from workbench.polyhedral.conditions import names_in
from workbench.polyhedral.expression import Expression, variable

FUNCTIONS = frozenset(
    ("exp", "log", "log1p", "tanh", "sin", "cos", "power", "lgamma", "digamma", "trigamma")
)
"""Operations of many instructions: they take longer than putting rows together."""

PACKED = "fdil"
"""The kinds of numbers whose rows are put together."""


@dataclass
class PackedText(ValueText):
    """The C text of values where the variables of a loop of lanes and of one over rows, `row`, are
    those of a vector's first lane.

    `around` are the vectors from outside of the loop over rows: a lane is the same in each row.
    """

    row: str = ""
    around: frozenset[str] = field(default_factory=frozenset)

    @classmethod
    def of(cls, loop: Loop, here: ValueText) -> PackedText:
        """Return the text of values in a loop over rows."""
        varying = set(here.varying)
        return cls(
            here.name, here.real, here.kinds, here.private, here.lane, varying, loop.variable,
            frozenset(varying),
        )  # fmt: skip

    def value(self, value: Value) -> Text:
        """Return a value as C."""
        text = super().value(value)
        if isinstance(value, Local) and value.name in self.around:
            kind = "i" if text.kind == "b" else text.kind
            return Text(f"repeated_v{kind}({text.text}, width)", text.kind, True)
        return text

    def _is_varying(self, name: str) -> bool:
        return name == self.row or super()._is_varying(name)

    def load(self, buffer: str, at: Expression, kind: str) -> Text:
        """Return the elements of a buffer as C: of all rows."""
        by_lane, by_row = self.steps(buffer, at)
        if not by_lane and not by_row:
            return super().load(buffer, at, kind)
        function = "rows" if by_lane else "spread"
        return Text(f"{function}_v{kind}({self.rows(buffer, at)})", kind, True)

    def rows(self, buffer: str, at: Expression) -> str:
        """Return where the first of a buffer's elements is, how far rows are apart, and how many
        lanes each has, as C.
        """
        begin, (_, by_row) = f"{self.name(buffer)} + {self.expression(at)}", self.steps(buffer, at)
        if buffer in self.private:
            number = SCALARS[self.private[buffer]]
            return f"({number} *)({begin}), {by_row} * LANES, width"
        return f"{begin}, {by_row}, width"

    def steps(self, buffer: str, at: Expression) -> tuple[int, int]:
        """Return how far neighbouring lanes and rows are apart, in elements of the buffer."""
        by_lane, by_row = at.coefficient(self.lane), at.coefficient(self.row)
        return (1 if buffer in self.private else by_lane), by_row

    def are_rows(self, buffer: str, at: Expression) -> bool:
        """Tell whether elements are neighbours from lane to lane, or the same in all lanes."""
        by_lane, by_row = at.coefficient(self.lane), at.coefficient(self.row)
        rest = at - variable(self.lane) * by_lane - variable(self.row) * by_row
        if self.varies(rest) or by_lane not in (0, 1):
            return False
        kind = self.private.get(buffer) or self.kinds.get(buffer, "")
        return kind in PACKED and not (buffer in self.private and by_lane)


def packs(loop: Loop, here: ValueText, padded: frozenset[str]) -> bool:
    """Tell whether rows of a loop are put together: whether that pays, and no row needs another's.

    `padded` buffers have room for all lanes of a row.
    """
    plain = all(isinstance(record, (Let, Store, Serves)) for record in loop.body)
    if not here.lane or not plain or loop.backwards or any(map(here.varies, loop.range)):
        return False
    text = PackedText.of(loop, here)
    text.varying |= {record.name for record in loop.body if isinstance(record, Let)}
    computed = [part for record in loop.body for value in values(record) for part in parts(value)]
    if not any(isinstance(part, Compute) and part.operation in FUNCTIONS for part in computed):
        return False
    stored = [record for record in loop.body if isinstance(record, Store)]
    places = {record.buffer: record.at for record in stored}
    if len(places) < len(stored):
        return False
    read = (load for record in loop.body for load in loads(record))
    return (
        all(places.get(load.buffer, load.at) == load.at for load in read)
        and all(_has_rows(part, text) for part in computed)
        and all(_stores_rows(record, text, padded) for record in stored)
    )


def _has_rows(part: Value, text: PackedText) -> bool:
    """Tell whether a value is known for rows that are put together, if what it is made of is."""
    if isinstance(part, Load):
        return not text.varies(part.at) or text.are_rows(part.buffer, part.at)
    if isinstance(part, Position):
        return not text.varies(part.expression)
    if isinstance(part, Holds):
        return not any(text.varies(variable(name)) for name in names_in(part.condition))
    if isinstance(part, Local):
        return part.name not in text.around or text.kind(part.dtype) in PACKED + "b"
    return True


def _stores_rows(record: Store, text: PackedText, padded: frozenset[str]) -> bool:
    """Tell whether a store is of whole rows, each with memory of its own."""
    if record.operation or not text.are_rows(record.buffer, record.at):
        return False
    by_lane, by_row = text.steps(record.buffer, record.at)
    if record.buffer in text.private:
        return by_row != 0
    return record.buffer in padded and by_lane == 1 and by_row != 0 and by_row % LANES == 0
