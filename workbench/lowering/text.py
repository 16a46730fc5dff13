"""A loop program as Python-like text with the user's names: order, work and memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from workbench.lowering.loops.owners import owners
from workbench.lowering.loops.records import (
    HOST,
    NEW,
    REVERSED,
    WHOLE,
    Allocate,
    Apply,
    AtOnce,
    Buffer,
    Constant,
    Count,
    Enter,
    Entry,
    For,
    Free,
    If,
    Index,
    Launch,
    Range,
    Record,
    Reshape,
    RuntimeCheck,
    Transpose,
    View,
    walk,
)
from workbench.polyhedral.expression import Expression

if TYPE_CHECKING:
    from workbench.lowering.loop_program import LoopProgram


class Line(NamedTuple):
    """A line, the statement that it serves, and its record's place in text order.

    Places count from 1, as `bytes.Point.position` does. It also says whether an instance of the
    statement begins here.
    """

    text: str
    statement: str | None
    position: int
    begins: bool = False


def text(program: LoopProgram) -> str:
    """Return the loop program, one record a line."""
    return "".join(f"{line.text}\n" for line in lines(program.body))


def lines(body: tuple[Record, ...]) -> Iterator[Line]:
    """Yield the lines of a loop program's body."""
    return _lines(body, owners(body), "", 1)


def _lines(
    body: tuple[Record, ...], owner: Sequence[str | None], indent: str, position: int
) -> Iterator[Line]:
    """Yield the lines of a body whose first record stands at `position`."""
    for record in body:
        if isinstance(record, (For, If, AtOnce)):
            yield Line(indent + heading(record), None, position)
            yield from _lines(record.body, owner, indent + "    ", position + 1)
            position += sum(1 for _ in walk(record.body))
        elif not isinstance(record, RuntimeCheck):
            begins = isinstance(record, Enter)
            yield Line(indent + line(record), owner[position - 1], position, begins)
        position += 1


def heading(record: For | If | AtOnce) -> str:
    """Return the line that a record with others inside begins with."""
    if isinstance(record, AtOnce):
        return "at once:"
    if isinstance(record, If):
        return f"if {record.condition.text}:"
    way = ", in any order" if record.apart else " reversed" if record.backwards else ""
    return f"for {record.variable} in {record.lower}:{record.upper}{way}:"


def line(record: Record) -> str:
    """Return one record that is not a loop."""
    if isinstance(record, Enter):
        return f"# {record.statement}: {record.text}"
    if isinstance(record, Constant):
        return f"{record.buffer.name} = constant {record.value}"
    if isinstance(record, Count):
        start, n = record.start, record.buffer.shape[0]
        return f"{record.buffer.name} = {start}, {start + record.step}, … ({n} numbers)"
    if isinstance(record, Allocate):
        taken = f" in the memory of {record.source}" if record.source else ""
        b = record.buffer
        where = " on the host" if b.space == HOST else ""
        return f"allocate {b.name}: {b.dtype}{_shape(b)}{where}{taken}"
    if isinstance(record, Free):
        return f"free {record.name}"
    if isinstance(record, View):
        return f"{record.name} = {record.source}{_how(record)}"
    if isinstance(record, Launch):
        at = ", ".join(f"{dim}={value}" for dim, value in record.values if dim[0] != "@")
        where = f" at {at}" if at else ""
        statements = ", ".join(one.statement for one in (record, *record.more))
        return f"{', '.join(record.writes)} <- {statements}{where} ({', '.join(record.reads)})"
    assert isinstance(record, Apply)
    options = [f"{k}={v}" for k, v in record.options if k != "scratch"]
    return f"{record.out} <- {record.function}({', '.join([*record.inputs, *options])})"


def _shape(buffer: Buffer) -> str:
    return (
        "("
        + ", ".join(str(n) for n in buffer.shape)
        + ("," if len(buffer.shape) == 1 else "")
        + ")"
    )


def _how(view: View) -> str:
    how = view.how
    if isinstance(how, Index):
        return "[" + ", ".join(entry_text(e, str) for e in how.entries) + "]"
    if isinstance(how, Transpose):
        return f".transpose{how.axes}"
    name = "reshape" if isinstance(how, Reshape) else "broadcast"
    return f".{name}({', '.join(str(n) for n in how.shape)})"


def entry_text(entry: Entry, show: Callable[[Expression], str]) -> str:
    """Return one entry of an index in Python's notation; `show` prints an expression."""
    if entry == WHOLE:
        return ":"
    if entry == NEW:
        return "None"
    if entry == REVERSED:
        return "::-1"
    if isinstance(entry, Range):
        start = "" if entry.start == 0 else show(entry.start)
        step = "" if entry.step == 1 else f":{entry.step}"
        return f"{start}:{show(entry.stop)}{step}"
    assert isinstance(entry, Expression)
    return show(entry)
