"""Small kernels that stand in a row: one block runs them faster than they are launched one by one.

What an optimizer does with a few thousand parameters takes a block some microseconds, and as long
as that each launch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

from workbench.codegen.cuda.independent_turns import width
from workbench.codegen.kernel_records import Invoke, KernelRecord, Loop, Scratch, Where, walk
from workbench.codegen.kernels import KernelRecords, ProgramKernels
from workbench.lowering.loops.records import Allocate, AtOnce, For, Free, If, Launch, Record
from workbench.program.operations.table import OPERATIONS
from workbench.program.values import Program

MOST_TURNS = 16_384
"""Those of the loops of a small kernel: 16 of each thread of a block."""


def small_in_a_row(made: ProgramKernels) -> Iterator[tuple[int, ...]]:
    """Yield the numbers of a program's kernels in order: of small ones in a row together, of others
    each by itself.
    """
    rows = _Rows(made)
    rows.body(made.loops.body)
    return iter(rows.found)


def held_in_rows(made: ProgramKernels) -> ProgramKernels:
    """Return the kernels of a program whose memory is freed behind rows of small ones, not inside:
    so none of them gets memory that another one before it had.
    """
    body = _Rows(made).body(made.loops.body)
    return replace(made, loops=replace(made.loops, body=body))


def is_of_host(program: Program, kernel: KernelRecords) -> bool:
    """Tell whether the host does what a kernel does."""
    if any(isinstance(r, Invoke) and r.function == "external" for r in walk(kernel.records)):
        return True
    calls = (c for name in kernel.statements for c in program.statement[name].calls)
    return any(OPERATIONS[call.operation].given for call in calls)


class _Rows:
    def __init__(self, made: ProgramKernels) -> None:
        self.made = made
        self.numbers = count()
        self.found: list[tuple[int, ...]] = []

    def body(self, body: Sequence[Record]) -> tuple[Record, ...]:
        """Find the rows in a body; return it with memory freed behind them."""
        done: list[Record] = []
        row: list[int] = []
        freed: list[Record] = []

        def end() -> None:
            if row:
                self.found.append(tuple(row))
            row.clear()
            done.extend(freed)
            freed.clear()

        for record in body:
            if isinstance(record, Free) and row:
                freed.append(record)
            elif isinstance(record, (Allocate, Free)):
                done.append(record)
            elif isinstance(record, (Launch, AtOnce)):
                launches = record.body if isinstance(record, AtOnce) else (record,)
                numbers = [next(self.numbers) for _ in launches]
                kernels = (self.made.kernels[number] for number in numbers)
                if all(_is_small(self.made, kernel) for kernel in kernels):
                    row += numbers
                else:
                    end()
                    self.found += [(number,) for number in numbers]
                done.append(record)
            else:
                end()
                if isinstance(record, For) and record.apart:
                    self.found.append((next(self.numbers),))
                else:
                    assert isinstance(record, (For, If)), record
                    record = replace(record, body=self.body(record.body))
                done.append(record)
        end()
        return tuple(done)


def _is_small(made: ProgramKernels, kernel: KernelRecords) -> bool:
    turns = _turns(kernel.records)
    return turns is not None and turns <= MOST_TURNS and not is_of_host(made.program, kernel)


def _turns(records: Sequence[KernelRecord]) -> int | None:
    """Return the most turns of all loops, None where sizes of a run decide."""
    total = 0
    for record in records:
        if isinstance(record, Scratch) and record.elements.terms:
            return None
        if isinstance(record, (Loop, Where)):
            times = width(record) if isinstance(record, Loop) else 1
            inside = _turns(record.body)
            if times is None or inside is None:
                return None
            total += times * max(inside, 1)
    return total
