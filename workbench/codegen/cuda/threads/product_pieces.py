"""Pieces of a product's result: the rows and columns that a thread sums at a time."""

from __future__ import annotations

from dataclasses import replace

from workbench.codegen.cuda.threads.independent_turns import most
from workbench.codegen.kernel_records import Invoke
from workbench.polyhedral.expression import expression

LARGEST, ONE = (4, 4), (1, 1)
EFFORT = {LARGEST: 24, (2, 4): 15, ONE: 4}
"""The pieces that there are functions for (`block_functions.h`), with about how many instructions a
thread has for one in each turn: a load for each number, or for four, and what is summed.
"""


def in_pieces(record: Invoke, threads: int) -> Invoke:
    """Return a product with the pieces by which so many threads have summed it soonest; the largest
    where its sides are not known.
    """
    rows, columns = (most(expression(record.option[side])) for side in ("rows", "columns"))
    chosen = LARGEST
    if rows is not None and columns is not None:

        def effort(piece: tuple[int, int]) -> int:
            across = room(record) if piece == ONE else columns
            pieces = -(-rows // piece[0]) * -(-(across or columns) // piece[1])
            return -(-pieces // threads) * EFFORT[piece]

        chosen = min(EFFORT, key=effort)
    high, wide = chosen
    return replace(record, options=(*record.options, ("high", high), ("wide", wide)))


def room(record: Invoke) -> int | None:
    """Return the places of a row of a result that is summed one by one: of all that it has room
    for. None where it is not known.
    """
    columns, step = (most(expression(record.option[n])) for n in ("columns", "out_step"))
    return step if columns is not None and step is not None and step >= columns else columns
