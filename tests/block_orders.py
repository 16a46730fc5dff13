"""Other orders of blocks than NumPy's, for loops whose blocks are apart."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal
from unittest.mock import patch

from workbench.backends.arrays import source
from workbench.lowering.loops.records import For
from workbench.polyhedral.dependences.legality import violation
from workbench.polyhedral.tree import Loop, loops, replaced
from workbench.program.dependences import dependences
from workbench.program.values import Program
from workbench.transforms.step.refusal import Refusal
from workbench.transforms.step.storage_holds import broken_storage
from workbench.transforms.step.transform import violated

BlockOrder = Literal["ascending", "descending", "shuffled"]
ORDERS: tuple[BlockOrder, ...] = ("ascending", "descending", "shuffled")


@contextmanager
def blocks_in(order: BlockOrder) -> Iterator[None]:
    """Whatever is compiled for NumPy inside runs the blocks that are apart in this order."""
    written = source._Writer.range

    def values(writer: Any, loop: For) -> str:
        text = written(writer, loop)
        if not loop.apart:
            return text
        return f"__import__('tests.block_orders').block_orders.ordered({text}, {order!r})"

    with patch.object(source._Writer, "range", values):
        yield


def ordered(values: range, order: BlockOrder) -> Sequence[int]:
    """The values of a loop in this order; the same ones are always shuffled alike."""
    if order == "ascending":
        return values
    if order == "descending":
        return values[::-1]
    shuffled = list(values)
    random.Random(len(shuffled)).shuffle(shuffled)
    return shuffled


def could_be_apart(program: Program) -> list[Loop]:
    """The loops over blocks that run in order, forwards."""
    return [
        loop
        for loop in loops(program.schedule)
        if loop.tile is not None and not loop.apart and not loop.backwards
    ]


def with_apart(program: Program, loop: Loop, chunks: int = 1) -> Program | Refusal:
    """The program with the blocks of a loop in any order, or why they cannot be."""
    schedule = replaced(program.schedule, loop, replace(loop, apart=True, chunks=chunks))
    after = replace(program, schedule=schedule)
    broken = violation(schedule, dependences(after.equations))
    if broken is not None:
        return violated(after, broken, "Apart")
    return broken_storage(after, "Apart") or after


def all_apart(program: Program) -> Program:
    """The program with all its blocks in any order where they may be, outer ones first."""
    for loop in could_be_apart(program):
        now = next((other for other in could_be_apart(program) if other == loop), None)
        after = None if now is None else with_apart(program, now)
        program = after if isinstance(after, Program) else program
    return program
