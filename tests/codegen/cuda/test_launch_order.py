"""Launches in another order: fewer are left, and none overtakes one that it waits for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import pytest

from workbench.algorithms import a2c, ppo, reinforce
from workbench.codegen.cuda.launch_order import gpu_kernels, reordered
from workbench.codegen.cuda.small_kernels import is_small, is_wide, small_in_a_row
from workbench.codegen.joined_launches import memory_in
from workbench.codegen.kernel_records import reads, walk, writes
from workbench.codegen.kernels import KernelRecords, ProgramKernels, program_kernels
from workbench.lowering.loops.records import Allocate, AtOnce, For, Free, If, Launch, Record
from workbench.program.values import Program
from workbench.transforms import Contract, Donate, Persist, Vectorize
from workbench.variants.variant import variant


def in_blocks(program: Program, chunks: int) -> ProgramKernels:
    chosen = variant(program)
    for dim in ("b", "k"):
        if dim in program.dim:
            chosen = chosen.apply(Persist(dim, 16, chunks))
    return program_kernels(chosen.apply(Contract()).apply(Donate()).program)


def as_axes(program: Program) -> ProgramKernels:
    chosen = variant(program)
    for dim in ("b", "k"):
        if dim in program.dim:
            chosen = chosen.apply(Vectorize(dim))
    return program_kernels(chosen.apply(Contract()).apply(Donate()).program)


MADE = {
    "ppo, few chunks": lambda: in_blocks(ppo(), 16),
    "ppo, many chunks": lambda: in_blocks(ppo(), 128),
    "ppo as written": lambda: program_kernels(ppo(hidden=(16,))),
    "ppo along b and k": lambda: as_axes(ppo()),
    "reinforce, many chunks": lambda: in_blocks(reinforce(), 128),
    "a2c along b": lambda: as_axes(a2c()),
}

pytestmark = pytest.mark.xdist_group("launch order")
"""One process traces them."""


@cache
def made_of(name: str) -> ProgramKernels:
    """The kernels of a program, whose records are written once."""
    return MADE[name]()


def memory(made: ProgramKernels, kernel: KernelRecords) -> tuple[set[str], set[str]]:
    """What a kernel reads and what it writes."""
    of = memory_in(made.loops)
    records = list(walk(kernel.records))
    return (
        {of.get(name, name) for record in records for name in reads(record)},
        {of.get(name, name) for record in records for name in writes(record)},
    )


def may_move(made: ProgramKernels, kernel: KernelRecords) -> bool:
    """What it writes has the same size in all runs, or is there all the time."""
    written = {name for record in walk(kernel.records) for name in writes(record)}
    buffers = [made.buffers[name] for name in written if name in made.buffers]
    return all(not buffer.elements.terms or buffer.initial == "nan" for buffer in buffers)


def straight(body: Sequence[Record]) -> Iterator[list[Record]]:
    """The records between loops, of each body."""
    found: list[Record] = []
    for record in body:
        if isinstance(record, (For, If)):
            yield found
            found = []
            if not (isinstance(record, For) and record.apart):
                yield from straight(record.body)
        else:
            found.append(record)
    yield found


@pytest.mark.parametrize("name", MADE)
def test_no_launch_overtakes_one_that_it_waits_for(name: str) -> None:
    made = made_of(name)
    after = reordered(made)
    before = list(made.kernels)
    assert sorted(map(id, before)) == sorted(map(id, after.kernels))
    place = {id(kernel): k for k, kernel in enumerate(after.kernels)}
    touched = [memory(made, kernel) for kernel in before]
    for j, (read, written) in enumerate(touched):
        for k in range(j):
            if written & (touched[k][0] | touched[k][1]) or read & touched[k][1]:
                assert place[id(before[k])] < place[id(before[j])]


@pytest.mark.parametrize("name", MADE)
def test_small_launches_come_before_those_that_wait_for_them(name: str) -> None:
    """In a row all that wait for none, then all that wait for these, and so on. Where dimensions
    are as written, each small launch writes what is as large as a run.
    """
    made = reordered(made_of(name))
    ordered = False
    for row in small_in_a_row(made):
        if not all(is_small(made.kernels[k]) and may_move(made, made.kernels[k]) for k in row):
            continue
        touched = [memory(made, made.kernels[k]) for k in row]
        levels: list[int] = []
        for j, (read, written) in enumerate(touched):
            waits = [
                levels[k]
                for k in range(j)
                if written & (touched[k][0] | touched[k][1]) or read & touched[k][1]
            ]
            levels.append(max(waits, default=-1) + 1)
        assert levels == sorted(levels)
        ordered = ordered or len(set(levels)) > 1
    assert ordered or name == "ppo as written"


@pytest.mark.parametrize("name", MADE)
def test_memory_is_there_while_it_is_used(name: str) -> None:
    made = gpu_kernels(made_of(name))
    of = memory_in(made.loops)
    for records in straight(made.loops.body):
        freed = set[str]()
        begun = {r.buffer.name for r in records if isinstance(r, Allocate)}
        for record in records:
            if isinstance(record, Allocate):
                begun.discard(record.buffer.name)
            elif isinstance(record, Free):
                freed.add(of.get(record.name, record.name))
            elif isinstance(record, (Launch, AtOnce)):
                for one in record.body if isinstance(record, AtOnce) else (record,):
                    used = {*one.reads, *one.writes}
                    assert not used & begun
                    assert not {of.get(n, n) for n in used} & freed


def test_sums_of_many_chunks_are_one_launch() -> None:
    made = gpu_kernels(made_of("ppo, many chunks"))
    wide = [row for row in small_in_a_row(made) if is_wide(made, made.kernels[row[0]])]
    (row,) = wide
    assert [made.kernels[k].statements[0] for k in row] == [
        "gradient.critic.weight_2",
        "gradient.actor.weight_2",
    ]


def test_what_is_as_large_as_a_run_stays_where_it_is() -> None:
    """There, memory would be held longer."""
    made = made_of("ppo along b and k")
    assert len(made.kernels) > 100
    moved = [k for k, kernel in enumerate(reordered(made).kernels) if kernel is not made.kernels[k]]
    assert not any(
        made.buffers[name].elements.terms and made.buffers[name].initial != "nan"
        for k in moved
        for record in walk(made.kernels[k].records)
        for name in writes(record)
        if name in made.buffers
    )
