"""Launches at once: none needs another, they take no more memory, any order has the same bits."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

import workbench as wb
from tests.native_runs import compiled, other_bits, shared_cache
from tests.programs import PROGRAMS
from workbench.algorithms import ppo
from workbench.codegen.kernels import ProgramKernels, program_kernels
from workbench.codegen.printing.program.program_text import program_text
from workbench.codegen.run_memory import run_memory
from workbench.errors import RunError
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.arena import arena
from workbench.lowering.loops.bytes import bytes_of
from workbench.lowering.loops.records import Allocate, AtOnce, Launch, walk
from workbench.program.sizes import resolve
from workbench.program.values import Program
from workbench.transforms import Contract, Donate
from workbench.transforms.step.refusal import Refused

Outputs = dict[str, Any]


def groups(loops: LoopProgram) -> list[tuple[Launch, ...]]:
    return [record.body for record in walk(loops.body) if isinstance(record, AtOnce)]


def stored(program: Program) -> Program:
    """The program with arrays folded and donated, as far as that is legal."""
    variant = wb.variant(program)
    for step in (Contract(), Donate()):
        try:
            variant = variant.apply(step)
        except Refused:
            continue
    return variant.program


def places(made: ProgramKernels, sizes: dict[str, int]) -> dict[str, tuple[int, int]]:
    """The bytes of the arena in which each buffer lies; results have memory of their own."""
    known = resolve(made.program.equations, sizes)
    laid = run_memory(made, known, "float32").arrays.places
    first: dict[str, str] = {}
    for record in walk(made.loops.body):
        if isinstance(record, Allocate) and record.source is not None:
            first[record.buffer.name] = first.get(record.source, record.source)
    found = {}
    for k, (name, buffer) in enumerate(made.buffers.items()):
        begin = laid.get(first.get(name, name), -(k + 1) << 40)
        found[name] = (begin, begin + bytes_of(buffer, known, "float32"))
    for name, of in first.items():
        if of not in laid:  # in the memory of a result
            found[name] = found[of]
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_launch_writes_bytes_that_another_at_once_touches(name: str) -> None:
    make, (sizes, *_) = PROGRAMS[name]
    made = program_kernels(stored(make()))
    at = places(made, dict(sizes))
    for group in groups(made.loops):
        for one, other in combinations(group, 2):
            for writer, user in ((one, other), (other, one)):
                for written in writer.writes:
                    for touched in (*user.reads, *user.writes):
                        begin, end = at[written]
                        first, last = at[touched]
                        assert end <= first or last <= begin, (written, touched)


@pytest.mark.parametrize("name", PROGRAMS)
def test_launches_at_once_take_no_more_memory(name: str) -> None:
    make, (sizes, *_) = PROGRAMS[name]
    made = program_kernels(stored(make()))
    known = resolve(made.program.equations, dict(sizes))
    body = tuple(
        inner
        for record in made.loops.body
        for inner in (record.body if isinstance(record, AtOnce) else (record,))
    )
    one_by_one = arena(body, known, "float32").bytes
    assert arena(made.loops.body, known, "float32").bytes == one_by_one


def learning(program: Program) -> list[str]:
    (group,) = (g for g in groups(program_kernels(program).loops) if len(g) > 5)
    return [launch.writes[-1] for launch in group]


def test_all_parameters_are_updated_at_once() -> None:
    program = stored(ppo(hidden=(40, 40)))
    assert len(learning(program)) == 12
    text = program_text(program_kernels(program), "float32").units["program"]
    assert "each_block(run, at_once, (const int64_t[]){i, e, m}, 0, 12, 0, 12, 12, " in text


def test_short_launches_are_not_shared() -> None:
    assert groups(program_kernels(stored(ppo(hidden=(5, 5)))).loops) == []


@wb.program
def sums(T: int = 3, N: int = 40) -> Outputs:
    """Two wide sums, which have memory of the run while they are computed."""
    t = wb.dim(t=T)
    x = wb.recurrent("x", (40, 40), over=t)
    x[0] = wb.uniform(shape=(40, 40))
    one, two = (x * x).sum(), (x * 3.0).sum()
    x[t + 1] = x * 0.5 + (one - two) * 1e-3
    return {"one": one, "two": two}


def test_kernels_with_memory_of_the_run_run_beside_no_other() -> None:
    made = program_kernels(stored(sums()))
    text = program_text(made, "float32")
    scratch = {name for name, of in text.kernels.items() if "run->scratch" in of}
    assert scratch and any(len(group) > 1 for group in groups(made.loops))
    tasks = [line for line in text.units["program"].splitlines() if "case " in line]
    assert not any(name in line for line in tasks for name in scratch)


@pytest.mark.parametrize(
    ("program", "sizes"),
    [(stored(ppo(hidden=(40, 40))), {"B": 4, "I": 2, "T": 8, "M": 2}), (sums(), {})],
    ids=["ppo", "sums"],
)
def test_threads_that_run_them_give_the_same_bits(program: Program, sizes: dict[str, int]) -> None:
    made = compiled(program)
    assert groups(made.kernels.loops)
    with shared_cache():
        made.prepare()
    one = made.run(sizes, 3).outputs
    for _ in range(5):
        assert list(other_bits(made.run(sizes, 3, threads=3).outputs, one)) == []


@wb.program
def looked_up(T: int = 2) -> Outputs:
    """Two tables in which each step looks up a row that they do not have."""
    t = wb.dim(t=T)
    k = wb.recurrent("k", (), over=t, dtype="int32")
    k[0] = 0
    k[t + 1] = k + 3
    rows = wb.uniform(shape=(3, 2000))
    return {"first": rows[k + 1] * 2.0, "second": rows[k + 2] * 3.0}


def test_first_failure_in_their_order_is_told() -> None:
    made = compiled(looked_up())
    with shared_cache():
        made.prepare()
    told = []
    for threads in (1, 3, 3, 3):
        with pytest.raises(RunError) as error:
            made.run({}, 0, threads=threads)
        told.append(str(error.value))
    assert len(set(told)) == 1
