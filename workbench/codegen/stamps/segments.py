"""Stamps between the records of kernels that serve several statements.

A segment is what runs between two stamps: a loop of lanes or a product, with the small records
before it. Loops of the program are divided inside, since an episode is one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from workbench.codegen.kernel_records import (
    Invoke,
    KernelRecord,
    Let,
    Loop,
    Scratch,
    Serves,
    Stamp,
    Where,
    walk,
)
from workbench.codegen.kernels import KernelRecords, ProgramKernels
from workbench.codegen.stamps.statement_work import Ranges, last_served

NO_TIME = (Serves, Scratch, Let)
"""Records that take no time of their own, or what follows them takes."""


@dataclass(frozen=True)
class Segment:
    """Neighbouring records of a kernel, the first of which serve `serving`; `ranges` are those of
    the loops around. Segments of one `row` follow each other.
    """

    kernel: int
    row: int
    records: tuple[KernelRecord, ...] = field(repr=False)
    serving: str
    ranges: Ranges = field(repr=False)

    @property
    def statements(self) -> frozenset[str]:
        """The statements that it serves; "" stands for what several of the kernel need."""
        served: set[str] = set()
        serving = self.serving
        for record in walk(self.records):
            if isinstance(record, Serves):
                serving = record.statement
            elif not isinstance(record, (Loop, Where, Scratch)):
                served.add(serving)
        return frozenset(served)


def stamped(made: ProgramKernels) -> tuple[ProgramKernels, tuple[Segment, ...]]:
    """Return kernels with stamps between their segments. These are numbered behind the kernels."""
    dividing = _Dividing(len(made.kernels))
    kernels = tuple(dividing.kernel(k, kernel) for k, kernel in enumerate(made.kernels))
    return replace(made, kernels=kernels), tuple(dividing.segments)


class _Dividing:
    """The segments so far of a program with so many kernels."""

    def __init__(self, kernels: int) -> None:
        self.segments: list[Segment] = []
        self._first = kernels
        self._row = 0

    def kernel(self, number: int, kernel: KernelRecords) -> KernelRecords:
        """Return a kernel with stamps, or as it is where there is nothing to divide."""
        if kernel.dealing is None or not _has_parts(kernel.records):
            return kernel
        records = self._body(number, kernel.records, kernel.ranges, "")
        return replace(kernel, records=records)

    def _body(
        self, kernel: int, records: Sequence[KernelRecord], ranges: Ranges, serving: str
    ) -> tuple[KernelRecord, ...]:
        stamped_records: list[KernelRecord] = []
        part: list[KernelRecord] = []
        self._row += 1

        def close() -> None:
            nonlocal serving
            if all(isinstance(r, NO_TIME) for r in part):
                stamped_records.extend(part)
            else:
                segment = Segment(kernel, self._row, tuple(part), serving, ranges)
                stamped_records.extend(self._stamped(segment, stamped_records))
            serving = last_served(part, serving)
            part.clear()

        for record in records:
            if isinstance(record, (Loop, Where)) and _has_parts((record,)):
                close()
                inside = ranges
                if isinstance(record, Loop):
                    inside = {**ranges, record.variable: (record.lower, record.upper - 1)}
                body = self._body(kernel, record.body, inside, serving)
                stamped_records.append(replace(record, body=body))
                serving = last_served(record.body, serving)
                self._row += 1
                continue
            part.append(record)
            if isinstance(record, (Loop, Where, Invoke)):
                close()
        close()
        return tuple(stamped_records)

    def _stamped(self, segment: Segment, before: list[KernelRecord]) -> tuple[KernelRecord, ...]:
        """Return the records of a segment and its stamp. It is joined to the one before it where
        both serve the same single statement.
        """
        records = segment.records
        last = self.segments[-1] if self.segments else None
        joins = (
            last is not None
            and last.row == segment.row
            and len(segment.statements) == 1
            and last.statements == segment.statements
        )
        if joins and last is not None:
            before.pop()
            segment = replace(last, records=(*last.records, *records))
            self.segments.pop()
        self.segments.append(segment)
        return (*records, Stamp(self._first + len(self.segments) - 1))


def _has_parts(records: Sequence[KernelRecord]) -> bool:
    """Tell whether a loop of the program, or a condition, has several segments inside."""
    for record in records:
        if isinstance(record, Loop) and not record.ends:
            continue
        if isinstance(record, (Loop, Where)):
            inside = {r.statement for r in walk(record.body) if isinstance(r, Serves)}
            heavy = sum(isinstance(r, (Loop, Invoke, Where)) for r in record.body)
            if len(inside) > 1 and (heavy > 1 or _has_parts(record.body)):
                return True
    return False
