"""Small kernels that stand in a row: one block runs them faster than they are launched one by one.

What an optimizer does with a few thousand parameters takes a block some microseconds, and as long
as that each launch. Where a few numbers are all that a row leaves, and only the blocks behind it
need them, each of these runs the row for itself. Wide kernels in a row, each a loop over elements,
are one launch too: many blocks share the elements of all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import count

from workbench.codegen.cuda.threads.independent_turns import are_independent, width
from workbench.codegen.joined_launches import memory_in
from workbench.codegen.kernel_records import (
    Invoke,
    KernelRecord,
    Let,
    Loop,
    Scratch,
    Serves,
    Where,
    walk,
    writes,
)
from workbench.codegen.kernels import KernelRecords, ProgramKernels
from workbench.lowering.loops.records import (
    Allocate,
    Apply,
    AtOnce,
    Enter,
    For,
    Free,
    If,
    Launch,
    Record,
    View,
)

MOST_TURNS = 131_072
"""Those of the loops of a small kernel: 256 of each thread of a block."""
MOST_TURNS_OF_EACH = 256
"""Those of the loops of a row that each block runs for itself."""
FEW = 16
"""The most elements of an array that such a row leaves."""


def small_in_a_row(made: ProgramKernels) -> Iterator[tuple[int, ...]]:
    """Yield the numbers of a program's kernels in order: of small ones in a row together, with the
    blocks behind that run them for themselves; of wide ones in a row together, where none needs
    another; of others each by itself.
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


def in_stages(kernel: KernelRecords) -> bool:
    """Tell whether a kernel becomes several functions: it calls an external object, which only the
    host can, or many blocks draw a permutation.
    """
    return any(ends_stage(record) for record in kernel.records) or is_of_host(kernel)


def ends_stage(record: KernelRecord) -> bool:
    """Tell whether a record of a kernel, in no loop, is no part of a function with others."""
    return isinstance(record, Invoke) and record.function in ("external", "permutation")


def is_of_host(kernel: KernelRecords) -> bool:
    """Tell whether a kernel calls an external object."""
    return any(isinstance(r, Invoke) and r.function == "external" for r in walk(kernel.records))


def is_small(kernel: KernelRecords) -> bool:
    """Tell whether one block runs a kernel faster than it is launched by itself."""
    turns = _turns(kernel.records)
    return turns is not None and turns <= MOST_TURNS and not in_stages(kernel)


def is_wide(made: ProgramKernels, kernel: KernelRecords) -> bool:
    """Tell whether a kernel is one loop over elements of arrays of a fixed size, too long for one
    block.
    """
    others = [r for r in kernel.records if not isinstance(r, (Serves, Let))]
    if len(others) != 1 or kernel.dealing is not None or is_small(kernel):
        return False
    (loop,) = others
    if not isinstance(loop, Loop) or any(isinstance(r, (Scratch, Invoke)) for r in walk(loop.body)):
        return False
    return are_independent(loop) and are_fixed(made, left_by(made, [kernel]))


def are_fixed(made: ProgramKernels, buffers: Iterable[str]) -> bool:
    """Tell whether buffers have the same size in all runs."""
    return not any(made.buffers[name].elements.terms for name in buffers)


def left_by(made: ProgramKernels, kernels: Iterable[KernelRecords]) -> frozenset[str]:
    """Return the arrays that kernels write."""
    records = (record for kernel in kernels for record in walk(kernel.records))
    written = {name for record in records for name in writes(record)}
    return frozenset(name for name in written if name in made.buffers)


class _Rows:
    def __init__(self, made: ProgramKernels) -> None:
        self.made = made
        self.memory = memory_in(made.loops)
        self.numbers = count()
        self.found: list[tuple[int, ...]] = []

    def body(self, body: Sequence[Record]) -> tuple[Record, ...]:
        """Find the rows in a body; return it with memory freed behind them."""
        done: list[Record] = []
        row: list[int] = []
        freed: list[Record] = []
        wide = False

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
            elif isinstance(record, (Enter, View, Apply)):
                end()  # of a copy between the spaces
                done.append(record)
            elif isinstance(record, (Launch, AtOnce)):
                for launch in record.body if isinstance(record, AtOnce) else (record,):
                    number = next(self.numbers)
                    now = self._is_wide(number)
                    small = is_small(self.made.kernels[number])
                    if now != wide or not (small or now) or (now and self._meets(row, number)):
                        end()
                    wide = now
                    if small or now:
                        row.append(number)
                    else:
                        self.found.append((number,))
                    done.append(launch)
            else:
                if isinstance(record, For) and record.apart:
                    number = next(self.numbers)
                    if wide or not self._is_run_by_blocks(row, number):
                        end()
                    row.append(number)
                    done.append(record)
                    end()
                    continue
                end()
                assert isinstance(record, (For, If)), record
                done.append(replace(record, body=self.body(record.body)))
        end()
        return tuple(done)

    def _is_wide(self, number: int) -> bool:
        return is_wide(self.made, self.made.kernels[number])

    def _meets(self, row: Sequence[int], number: int) -> bool:
        """Tell whether a kernel touches what those of a row write, or writes what they touch."""
        kernels, one = [self.made.kernels[k] for k in row], self.made.kernels[number]
        touched = self._memory_of(name for kernel in kernels for name in kernel.buffers)
        written = self._memory_of(left_by(self.made, kernels))
        own = self._memory_of(left_by(self.made, [one]))
        return bool(written & self._memory_of(one.buffers) or own & touched)

    @cached_property
    def _users(self) -> Mapping[str, set[int]]:
        """The kernels that touch each array's memory."""
        users: dict[str, set[int]] = {}
        for number, kernel in enumerate(self.made.kernels):
            for name in kernel.buffers:
                users.setdefault(self.memory.get(name, name), set()).add(number)
        return users

    def _is_run_by_blocks(self, row: Sequence[int], number: int) -> bool:
        """Tell whether blocks can each run a row of kernels that stands in front of them."""
        kernels = [self.made.kernels[k] for k in row]
        turns = [_turns(kernel.records) or 0 for kernel in kernels]
        if not row or sum(turns) > MOST_TURNS_OF_EACH:
            return False
        left = left_by(self.made, kernels)
        touched = self._memory_of(name for kernel in kernels for name in kernel.buffers)
        if touched & self._memory_of(left_by(self.made, [self.made.kernels[number]])):
            return False  # one block would read what another has written over
        return all(self._is_for(name, {*row, number}) for name in left)

    def _memory_of(self, names: Iterable[str]) -> set[str]:
        return {self.memory.get(name, name) for name in names}

    def _is_for(self, name: str, numbers: set[int]) -> bool:
        """Tell whether an array is a few numbers that only some kernels touch."""
        buffer, memory = self.made.buffers[name], self.memory.get(name, name)
        few = not buffer.elements.terms and buffer.elements.constant <= FEW
        return few and not buffer.initial and self._users[memory] <= numbers


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
