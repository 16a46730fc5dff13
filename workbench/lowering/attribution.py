"""The user's array that each buffer belongs to, which is its name when memory runs out, and the
statements that need it first and read it last.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.lowering.instances.swapping import TO_DEVICE, copies
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.owners import owners, read_by
from workbench.lowering.loops.records import (
    Allocate,
    Apply,
    Enter,
    Launch,
    Record,
    RuntimeCheck,
    View,
    walk,
)
from workbench.program.values import Program


def attributed(loops: LoopProgram, program: Program) -> dict[str, str]:
    """Return the array of each allocated buffer: the one it holds, or whose equation needs it.

    Memory that one buffer takes over from another goes by both names.
    """
    arrays = {where.buffer.name: name for name, where in loops.stored.items()}
    needed = first_needed(loops.body)
    between = list(copies(loops.body))
    parts = {copy.device: copy.host for copy in between}
    rings = {copy.device for copy in between if copy.ahead}
    uses: dict[str, list[str]] = {}
    first: dict[str, str] = {}
    for record in walk(loops.body):
        if isinstance(record, Allocate) and record.source is not None:
            first[record.buffer.name] = first.get(record.source, record.source)
    for buffer in dict.fromkeys([*arrays, *needed, *first]):
        text = arrays.get(buffer)
        if buffer in parts:
            text = f"{'slices' if buffer in rings else 'a slice'} of {arrays[parts[buffer]]}"
        if text is None and buffer in needed:
            text = f"a temporary of {program.statement[needed[buffer]].array}"
        held = uses.setdefault(first.get(buffer, buffer), [])
        if text is not None and text not in held:
            held.append(text)
    return {buffer: ", then ".join(held[:2]) for buffer, held in uses.items() if held}


def first_needed(body: tuple[Record, ...]) -> Mapping[str, str]:
    """Return the first statement that mentions each buffer, by its name or through views.

    Records in front of all statements belong to the statement that needs them. Scratch memory of an
    operation belongs to the operation that comes next.
    """
    statement_of: dict[str, str] = {}
    source: dict[str, str] = {}
    result_of: dict[str, str] = {}
    scratch: list[str] = []
    statement = ""
    for record in walk(body):
        if isinstance(record, Enter):
            statement = record.statement
        elif isinstance(record, View):
            source[record.name] = source.get(record.source, record.source)
        elif isinstance(record, Allocate) and record.buffer.scratch:
            scratch.append(record.buffer.name)
        elif isinstance(record, (Apply, RuntimeCheck)):
            inputs = record.inputs if isinstance(record, Apply) else ()
            out = record.out if isinstance(record, Apply) else record.name
            out = source.get(out, out)
            operands = [*(source.get(name, name) for name in inputs), *scratch]
            scratch.clear()
            for name in (*operands, out):
                if statement and name:
                    statement_of.setdefault(name, statement)
                elif name and name != out:
                    result_of.setdefault(name, out)
    for name in reversed(list(result_of)):
        if result_of[name] in statement_of:
            statement_of.setdefault(name, statement_of[result_of[name]])
    return statement_of


def last_readers(body: tuple[Record, ...]) -> Mapping[str, str]:
    """Return the last statement in text order that reads each buffer, by its name or through views.
    Of several in one loop it is the last that does.

    Who reads a slice on the device reads the array on the host that it was copied from.
    """
    source: dict[str, str] = {}
    copied_from: dict[str, str] = {}
    reader: dict[str, str] = {}
    for record, statement in zip(walk(body), owners(body), strict=True):
        if isinstance(record, View):
            source[record.name] = source.get(record.source, record.source)
        elif isinstance(record, Apply) and record.function == TO_DEVICE:
            out = source.get(record.out, record.out)
            copied_from[out] = source.get(record.inputs[0], record.inputs[0])
        elif statement is not None:
            more = record.more if isinstance(record, Launch) else ()
            for name in read_by(record):
                buffer = source.get(name, name)
                last = next(
                    (one.statement for one in reversed(more) if name in one.reads), statement
                )
                reader[buffer] = last
                if buffer in copied_from:
                    reader[copied_from[buffer]] = last
    return reader
