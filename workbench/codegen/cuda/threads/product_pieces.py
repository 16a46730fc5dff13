"""Pieces of a product's result: the rows and columns that a thread sums at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace

from workbench.codegen.cuda.threads.independent_turns import most
from workbench.codegen.cuda.threads.warps import WARP
from workbench.codegen.kernel_records import Invoke
from workbench.polyhedral.expression import expression

LARGEST, ONE = (4, 4), (1, 1)


@dataclass(frozen=True)
class _Turn:
    """What a warp has for a piece of each thread in each turn: about how many instructions, and how
    often it asks shared memory for as much as that gives at one time.
    """

    instructions: int
    requests: int


TURNS = {LARGEST: _Turn(21, 5), (2, 4): _Turn(12, 4), ONE: _Turn(7, 2)}
"""The pieces that there are functions for (`block_functions.h`): loads of numbers, or of four, and
what is summed. The more a thread sums at a time, the less is asked for each sum.
"""
SCHEDULERS = 4
"""The warps of a multiprocessor that have an instruction each at one time. Shared memory serves
one.
"""


def in_pieces(record: Invoke, threads: int) -> Invoke:
    """Return a product with the pieces by which so many threads have summed it soonest: as long as
    one thread takes, and as all of them keep the multiprocessor busy. The largest where its sides
    are not known.
    """
    rows, columns = (most(expression(record.option[side])) for side in ("rows", "columns"))
    chosen = LARGEST
    if rows is not None and columns is not None:

        def effort(piece: tuple[int, int]) -> float:
            across = room(record) if piece == ONE else columns
            pieces = -(-rows // piece[0]) * -(-(across or columns) // piece[1])
            turn, of_thread, warps = TURNS[piece], -(-pieces // threads), -(-pieces // WARP)
            at_once = max(turn.instructions / SCHEDULERS, turn.requests)
            return max(of_thread * turn.instructions, warps * at_once)

        chosen = min(TURNS, key=effort)
    high, wide = chosen
    return replace(record, options=(*record.options, ("high", high), ("wide", wide)))


def room(record: Invoke) -> int | None:
    """Return the places of a row of a result that is summed one by one: of all that it has room
    for. None where it is not known.
    """
    columns, step = (most(expression(record.option[n])) for n in ("columns", "out_step"))
    return step if columns is not None and step is not None and step >= columns else columns
