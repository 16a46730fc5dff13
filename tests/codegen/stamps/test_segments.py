"""Kernels with stamps: what runs is the same, and each stamp ends a segment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import pytest

import workbench as wb
from workbench.algorithms import ppo
from workbench.codegen.kernel_records import KernelRecord, Loop, Serves, Stamp, Where, walk
from workbench.codegen.kernels import ProgramKernels, program_kernels
from workbench.codegen.stamps.segments import Segment, stamped
from workbench.program.values import Program
from workbench.transforms import Persist


def kernels_of(program: Program) -> ProgramKernels:
    return program_kernels(program)


def in_blocks(program: Program) -> Program:
    variant = wb.variant(program)
    for dim in ("b", "k"):
        if dim in program.dim:
            variant = variant.apply(Persist(dim, 16))
    return variant.program


def without_stamps(records: Sequence[KernelRecord]) -> tuple[KernelRecord, ...]:
    return tuple(
        replace(r, body=without_stamps(r.body)) if isinstance(r, (Loop, Where)) else r
        for r in records
        if not isinstance(r, Stamp)
    )


def stretches(records: Sequence[KernelRecord]) -> Iterator[tuple[int, list[KernelRecord]]]:
    """The records up to each stamp of a body, with its number."""
    before: list[KernelRecord] = []
    for record in records:
        if isinstance(record, Stamp):
            yield record.number, before
            before = []
        elif isinstance(record, (Loop, Where)) and any(
            isinstance(r, Stamp) for r in walk(record.body)
        ):
            yield from stretches(record.body)
            before = []
        else:
            before.append(record)


def without_own_time(records: Sequence[KernelRecord]) -> list[KernelRecord]:
    return [r for r in records if type(r).__name__ not in ("Serves", "Scratch", "Let")]


@pytest.fixture(scope="module")
def of_ppo() -> tuple[ProgramKernels, ProgramKernels, tuple[Segment, ...]]:
    kernels = kernels_of(in_blocks(ppo(hidden=(20, 20))))
    return (kernels, *stamped(kernels))


Made = tuple[ProgramKernels, ProgramKernels, tuple[Segment, ...]]


def test_without_its_stamps_a_kernel_is_what_it_was(of_ppo: Made) -> None:
    kernels, divided, segments = of_ppo
    assert len(segments) > 20
    for before, after in zip(kernels.kernels, divided.kernels, strict=True):
        assert without_stamps(after.records) == before.records
        assert replace(after, records=before.records) == before


def test_stamps_are_numbered_behind_the_kernels(of_ppo: Made) -> None:
    kernels, divided, segments = of_ppo
    inside = [r for k in divided.kernels for r in walk(k.records) if isinstance(r, Stamp)]
    first = len(kernels.kernels)
    assert [r.number for r in inside] == list(range(first, first + len(segments)))


def test_a_segment_is_what_stands_between_two_stamps(of_ppo: Made) -> None:
    kernels, divided, segments = of_ppo
    first = len(kernels.kernels)
    for number, kernel in enumerate(divided.kernels):
        for stamp, records in stretches(kernel.records):
            segment = segments[stamp - first]
            assert segment.kernel == number
            assert without_own_time(records) == without_own_time(segment.records)


def test_every_statement_of_a_divided_kernel_is_in_a_segment(of_ppo: Made) -> None:
    kernels, _, segments = of_ppo
    for number in {segment.kernel for segment in segments}:
        records = kernels.kernels[number].records
        served = {r.statement for r in walk(records) if isinstance(r, Serves)}
        inside = {s for g in segments if g.kernel == number for s in g.statements}
        assert served == inside - {""}


def test_neighbours_of_one_statement_are_one_segment(of_ppo: Made) -> None:
    *_, segments = of_ppo
    for before, segment in pairwise(segments):
        alone = len(before.statements) == 1 and before.statements == segment.statements
        assert not alone or before.row != segment.row


def test_an_episode_is_divided_inside(of_ppo: Made) -> None:
    *_, segments = of_ppo
    layer = [s for s in segments if s.statements == {"actor.hidden_2"}]
    assert [set(s.ranges) & {"i", "t"} for s in layer] == [{"i", "t"}]


def test_a_kernel_of_one_statement_has_no_stamps() -> None:
    kernels = kernels_of(ppo(hidden=(5,)))
    divided, segments = stamped(kernels)
    assert divided.kernels == tuple(kernels.kernels)
    assert segments == ()
