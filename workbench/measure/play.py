"""A variant's schedule played at small sizes: event by event, what is read and written where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from workbench.errors import WorkbenchError, nearest
from workbench.lowering.execution.events import (
    Event,
    Execution,
    TooMuchTouched,
    Touch,
    execution,
    instances,
)
from workbench.lowering.execution.slots import TooLargeToShare
from workbench.measure.checking.small_blocks import (
    NotInSmallBlocks,
    blocks_text,
    in_small_blocks,
)
from workbench.measure.play_sizes import playable_sizes, smallest_sizes
from workbench.program.sizes import numbers, settable
from workbench.program.values import Program, Statement
from workbench.variants.variant import Variant, variant

MOST = 2_000
"""The most instances that are played."""
MOST_TOUCHES = 8_000
"""The most reads and writes of these."""
FEW = 12
"""The events that an execution shows of itself."""

Sizes = Mapping[str, int]


class TooLargeToPlay(WorkbenchError):
    """A statement with too many instances to be played at `sizes`. It can be at `smaller` ones, of
    which some are as they were; None where even the smallest are too large.
    """

    def __init__(self, message: str, sizes: Sizes, smaller: Sizes | None) -> None:
        self.sizes = sizes
        self.smaller = smaller
        super().__init__(message)


@dataclass(frozen=True, repr=False, eq=False)
class Played:
    """A variant's execution at small sizes, event by event.

    `program` is what runs: the variant's, in blocks of 3 where its own are larger. `whole`: all
    of its statements run, else some; all of them would at `smaller` sizes, None where there are
    none. `remark` says what of this is not as one might expect, "" if nothing.
    """

    program: Program
    execution: Execution
    whole: bool
    remark: str
    smaller: Sizes | None

    def frame(self) -> Any:
        """Return a pandas table with a row an instance: its event's time, its statement and
        coordinates, the elements that it reads and the one that it writes, the slots of that, and
        the elements that were in these before.
        """
        import pandas as pd

        return pd.DataFrame(_rows(self.execution))

    def __repr__(self) -> str:
        """Show the first events, a line each."""
        run = self.execution
        head = f"{self.program.name} at {numbers(run.sizes)}: {run.instances:,} instances in "
        lines = [f"{head}{len(run.events):,} events", *([self.remark] if self.remark else [])]
        lines += [_line(event) for event in islice(run.events, FEW)]
        left = len(run.events) - FEW
        return "\n".join([*lines, *([f"  … {left:,} more"] if left > 0 else [])])


def play(
    program: Program | Variant, sizes: Sizes | None = None, statement: str | None = None
) -> Played:
    """Run a variant's schedule instance by instance at small sizes, without computing anything.

    An event is what runs at once: an iteration of the loops, of a dimension that is an axis all
    instances. Each has the slots of memory that it reads and writes. Sizes that are not given are
    the smallest with three values of each loop and more than each window. Where a program has more
    than 2,000 instances there, `statement` and its neighbours are played, unless given an output.

    Raises WorkbenchError for an unknown statement, TooLargeToPlay for one that alone has more,
    SizeError for sizes that the program does not take.
    """
    asked = _asked(program, sizes, statement)
    found = _execution(asked.program, asked.sizes)
    if found is not None:
        return Played(asked.program, found, True, asked.in_blocks, None)
    return _nearby(asked)


def play_nearby(
    program: Program | Variant, sizes: Sizes | None = None, statement: str | None = None
) -> Played:
    """Do the same for a statement and its neighbours alone, as if there were too many instances."""
    return _nearby(_asked(program, sizes, statement))


@dataclass(frozen=True)
class _Asked:
    """A program in small blocks, its sizes, and the statement that is played in any case.

    `in_blocks` is a sentence where the blocks are not the program's own.
    """

    program: Program
    in_blocks: str
    sizes: Sizes
    chosen: Statement


def _asked(program: Program | Variant, sizes: Sizes | None, statement: str | None) -> _Asked:
    own = variant(program).program
    if statement is not None and statement not in own.statement:
        hint = nearest(str(statement), own.statement, "statements")
        raise WorkbenchError(f"unknown statement {statement!r}: {hint}")
    run, in_blocks = _blocks(own)
    chosen = run.statement[statement or run.writers[run.outputs[0].array][-1].name]
    return _Asked(run, in_blocks, smallest_sizes(run, sizes or {}), chosen)


def _blocks(program: Program) -> tuple[Program, str]:
    """Return the program in small blocks, and a sentence where they are not its own."""
    try:
        small = in_small_blocks(program)
    except NotInSmallBlocks:
        return program, ""
    return small, "" if small is program else f"Played {blocks_text(program, small, '')}."


def _nearby(asked: _Asked) -> Played:
    """Play a statement with as many of its neighbours as can be played."""
    program, sizes, chosen = asked.program, asked.sizes, asked.chosen
    near = list(neighbours(program, chosen))
    names = [chosen.name]
    for name in near:
        if instances(program, sizes, [*names, name]) <= MOST:
            names.append(name)
    while names:
        found = _execution(program, sizes, names)
        if found is None:
            names.pop()
            continue
        smaller, which = _smaller(asked, None)
        said = (
            f"Only {chosen.name} is played{_with(len(names) - 1, len(near))}: {program.name} has "
            f"{instances(program, sizes):,} instances of {len(program.statements)} statements at "
            f"these sizes, too many to be played together{which and f': {which}'}."
        )
        remark = " ".join(filter(None, [asked.in_blocks, said]))
        return Played(program, found, False, remark, smaller)
    smaller, which = _smaller(asked, [chosen.name])
    own = settable(program.equations, sizes)
    raise TooLargeToPlay(
        f"{chosen.name} has {instances(program, sizes, [chosen.name]):,} instances at "
        f"{numbers(own)}, which with what they read is more than can be played ({MOST:,} "
        f"instances, {MOST_TOUCHES:,} reads and writes): {which or 'play another statement'}",
        own,
        smaller,
    )


def _execution(program: Program, sizes: Sizes, names: list[str] | None = None) -> Execution | None:
    """Run the schedule, or that of some statements; None where that is too much to be played."""
    if instances(program, sizes, names) > MOST:
        return None
    try:
        return execution(program, sizes, names, MOST_TOUCHES)
    except (TooLargeToShare, TooMuchTouched):
        return None


def _smaller(asked: _Asked, names: list[str] | None) -> tuple[Sizes | None, str]:
    """Return sizes at which the program, or some statements, can be played, and which of those that
    were asked for are larger; None and "" where even the smallest are too large.
    """
    program = asked.program
    own = settable(program.equations, asked.sizes)
    found = playable_sizes(
        program, own, lambda tried: _execution(program, tried, names) is not None
    )
    if found is None:
        return None, ""
    cut = {name: size for name, size in own.items() if found[name] != size}
    verb = "are" if len(cut) > 1 else "is"
    fits = numbers({name: found[name] for name in cut})
    return found, f"{numbers(cut)} {verb} too large, {fits} can be played"


def _with(played: int, near: int) -> str:
    """Say with how many of its neighbours a statement is played."""
    if not played:
        return ""
    some = f"{played} of " if played < near else ""
    return f", with {some}its {near} neighbours" if near > 1 else ", with its neighbour"


def neighbours(program: Program, statement: Statement) -> Iterator[str]:
    """Yield the other statements that write its array or what it reads, then those that read what
    it writes.
    """
    used = {statement.array, *(read.array for read in statement.reads)}
    writing = {s.name for s in program.statements if s.array in used}
    reading = {
        s.name for s in program.statements if any(r.array == statement.array for r in s.reads)
    }
    for names in (writing, reading - writing):
        yield from (s.name for s in program.statements if s.name in names - {statement.name})


# -- as text ---------------------------------------------------------------------------------------


def _rows(run: Execution) -> Iterator[dict[str, Any]]:
    """Yield a row for each instance, in order."""
    piece = {array: each for each in run.memory.pieces for array in each.arrays}
    held: dict[tuple[object, int], str] = {}
    for event in run.events:
        dims = run.program.statement[event.statement].dims
        for instance in event.instances:
            write = instance.write
            places = [(piece[write.array], slot) for slot in write.slots]
            replaced = dict.fromkeys(held[place] for place in places if place in held)
            yield {
                "time": event.time,
                "statement": event.statement,
                "instance": numbers(dict(zip(dims, instance.point, strict=True))),
                "reads": [_element(touch) for touch in instance.reads],
                "writes": _element(write),
                "slots": list(write.slots),
                "replaces": [other for other in replaced if other != _element(write)],
            }
            held |= dict.fromkeys(places, _element(write))


def _line(event: Event) -> str:
    """Return an event as a line: what it writes, and into which slots."""
    writes = [i.write for i in event.instances]
    slots = sorted({slot for touch in writes for slot in touch.slots})
    listed = ", ".join(_element(touch) for touch in writes[:3]) + (" …" if writes[3:] else "")
    where = ", ".join(map(str, slots[:3])) + (" …" if slots[3:] else "")
    plural = "s" if slots[1:] else ""
    return f"{event.time:>4}  {event.statement}: {listed} in slot{plural} {where}"


def _element(touch: Touch) -> str:
    return f"{touch.array}[{', '.join(map(str, touch.element))}]" if touch.element else touch.array
