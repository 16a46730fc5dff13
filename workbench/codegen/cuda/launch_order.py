"""Launches of a body in another order: those of which many blocks share the elements come together,
and the small ones that stood between behind them, so that fewer are launched. Of small ones, those
that wait for none come first, then those that wait for these: the warps of a block run them at one
time.

Only launches that write arrays of a fixed size, or results, change places: such arrays are small
and may be there some launches longer, or are there all the time.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from workbench.codegen.cuda.slices.sliced import sliced
from workbench.codegen.cuda.small_kernels import (
    are_fixed,
    held_in_rows,
    is_of_host,
    is_small,
    is_wide,
    left_by,
)
from workbench.codegen.joined_launches import memory_in, placed
from workbench.codegen.kernel_records import reads, walk, writes
from workbench.codegen.kernels import ProgramKernels
from workbench.lowering.loops.records import AtOnce, For, If, Launch, Record


def gpu_kernels(made: ProgramKernels) -> ProgramKernels:
    """Return the kernels of a program as a GPU runs them: gathered, on slices of arrays in host
    memory, with memory held in rows.
    """
    return held_in_rows(sliced(reordered(made)))


def reordered(made: ProgramKernels) -> ProgramKernels:
    """Return the kernels of a program with launches gathered."""
    gathering = _Gathering(made)
    body = gathering.body(made.loops.body)
    kernels = [made.kernels[number] for number in gathering.order]
    loops = replace(made.loops, body=body, guarded={})  # graphs are launched as a whole
    return replace(made, loops=loops, kernels=kernels)


@dataclass
class _Gathering:
    made: ProgramKernels
    order: list[int] = field(default_factory=list)
    """The numbers of the kernels in their new order."""

    def __post_init__(self) -> None:
        self._memory = memory_in(self.made.loops)
        self._numbers = count()

    def body(self, records: Sequence[Record]) -> tuple[Record, ...]:
        """Return the records of a body, with those of its loops."""
        done: list[Record] = []
        straight: list[Record] = []
        numbers: list[int] = []

        def close() -> None:
            done.extend(self._straight(straight, numbers))
            straight.clear()
            numbers.clear()

        for record in records:
            if isinstance(record, (Launch, AtOnce)):
                for launch in record.body if isinstance(record, AtOnce) else (record,):
                    number = next(self._numbers)
                    if not self._may_move(number):
                        close()
                        done.append(launch)
                        self.order.append(number)
                        continue
                    straight.append(launch)
                    numbers.append(number)
            elif isinstance(record, (For, If)):
                close()
                if isinstance(record, For) and record.apart:
                    self.order.append(next(self._numbers))
                    done.append(record)
                else:
                    done.append(replace(record, body=self.body(record.body)))
            else:
                straight.append(record)
        close()
        return tuple(done)

    def _may_move(self, number: int) -> bool:
        kernel = self.made.kernels[number]
        left = left_by(self.made, [kernel])
        held = [name for name in left if self.made.buffers[name].initial != "nan"]
        return not is_of_host(kernel) and are_fixed(self.made, held)

    def _straight(self, records: Sequence[Record], numbers: Sequence[int]) -> Iterable[Record]:
        """Return records without a loop between them, with launches gathered."""
        order = self._ordered(numbers)
        self.order += order
        if order == list(numbers):
            return list(records)
        launches = (record for record in records if isinstance(record, Launch))
        by_number = dict(zip(numbers, launches, strict=True))
        return placed(records, [by_number[k] for k in order], self._memory)

    def _ordered(self, numbers: Sequence[int]) -> list[int]:
        """Return launches in turns: all wide ones that wait for no other, then all small ones that
        wait for none, as often as there are any, then one of the others.
        """
        kernels = {k: self.made.kernels[k] for k in numbers}
        wide = {k for k, kernel in kernels.items() if is_wide(self.made, kernel)}
        small = {k for k, kernel in kernels.items() if k not in wide and is_small(kernel)}
        touched = {k: self._touched(k) for k in numbers}
        waits = {
            k: {j for j in numbers[:place] if _wait(touched[j], touched[k])}
            for place, k in enumerate(numbers)
        }
        left, order = dict.fromkeys(numbers), list[int]()

        def ready(chosen: Container[int]) -> list[int]:
            return [k for k in left if k in chosen and waits[k].isdisjoint(left)]

        def take(some: Iterable[int]) -> None:
            for k in some:
                del left[k]
                order.append(k)

        while left:
            take(ready(wide))
            while some := ready(small):
                take(some)
            if not ready(wide):
                take(ready(left)[:1])
        return order

    def _touched(self, number: int) -> tuple[set[str], set[str]]:
        """Return the memory that a kernel reads and that it writes."""
        records = list(walk(self.made.kernels[number].records))
        return (
            {self._memory.get(name, name) for record in records for name in reads(record)},
            {self._memory.get(name, name) for record in records for name in writes(record)},
        )


def _wait(one: tuple[set[str], set[str]], other: tuple[set[str], set[str]]) -> bool:
    """Tell whether two launches must keep their order."""
    return bool(one[1] & (other[0] | other[1]) or one[0] & other[1])
