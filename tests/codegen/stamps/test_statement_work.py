"""The work of statements in a kernel adds up to the kernel's, and is what a hand counts."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.algorithms import ppo
from workbench.codegen.kernel_records import (
    Compute,
    Draw,
    Invoke,
    KernelRecord,
    Let,
    Load,
    Local,
    Loop,
    Serves,
    Store,
)
from workbench.codegen.kernel_work import work
from workbench.codegen.kernels import ProgramKernels, program_kernels
from workbench.codegen.stamps.statement_work import (
    DRAW_STEPS,
    FUNCTION_STEPS,
    StatementWork,
    WorkAt,
    readers_of_common,
)
from workbench.polyhedral.expression import expression, size, variable
from workbench.program.sizes import resolve
from workbench.transforms import Persist

N = size("N")
ZERO = expression(0)
AT = WorkAt({"N": 10}, {"x", "y"}, 4)
X = Load("x", variable("n"), "float")


def tanh(name: str) -> Let:
    return Let(name, Compute("tanh", (X,), "float"))


def stored(name: str, buffer: str = "y") -> Store:
    return Store(buffer, variable("n"), Local(name, "float"))


def test_records_count_for_the_statement_that_they_serve() -> None:
    inside: tuple[KernelRecord, ...] = (
        Serves("a"),
        tanh("p"),
        stored("p"),
        Serves("b"),
        Let("q", Compute("fma", (X, X, X), "float")),
        stored("q", "scratch"),
    )
    found = AT.by_statement((Loop("n", ZERO, N, inside, lanes=True),), {})
    assert found == {
        "a": StatementWork(flops=10, bytes=80, steps=10 * (FUNCTION_STEPS + 1 + 1)),
        "b": StatementWork(flops=20, bytes=120, steps=10 * (1 + 3 + 1)),
    }


def test_what_comes_first_serves_the_statement_before_and_what_follows_a_loop_its_last() -> None:
    body: tuple[KernelRecord, ...] = (
        tanh("p"),
        Loop("m", ZERO, expression(3), (Serves("b"), tanh("q"))),
        tanh("r"),
    )
    found = AT.by_statement(body, {"n": (ZERO, N - 1)}, "a")
    each = FUNCTION_STEPS + 1
    assert {name: one.steps for name, one in found.items()} == {"a": each, "b": 4 * each}


def test_a_loop_counts_at_its_longest() -> None:
    triangle = Loop("m", ZERO, variable("n") + 1, (tanh("p"),))
    found = AT.by_statement((Loop("n", ZERO, N, (Serves("a"), triangle)),), {})
    assert found["a"].flops == 10 * 10


@pytest.mark.parametrize(
    ("function", "options", "steps"),
    [
        ("product", {"rows": 3, "columns": 4, "times": 5, "into": False}, 60),
        ("lane_sums", {"rows": 3, "columns": 4, "times": 5, "into": False}, 60),
        ("turned", {"rows": 3, "columns": 4}, 24),
        ("orthogonalize", {"rows": 3, "columns": 4}, 4 * 3 * 4 * 3),
        ("permutation", {"n": 7}, 7 * 32),
        ("external", {}, 1),
    ],
)
def test_a_function_takes_what_its_matrices_have(
    function: str, options: dict[str, int], steps: int
) -> None:
    record = Invoke(function, ("out", ZERO), (("p", ZERO), ("q", ZERO)), tuple(options.items()))
    assert AT.by_statement((Serves("a"), record), {})["a"].steps == steps


def test_words_are_drawn_at_one_price() -> None:
    drawn = Draw(("p", "q", "r", "s"), "draw", (), ZERO)
    assert AT.by_statement((Serves("a"), drawn), {})["a"].steps == DRAW_STEPS


def test_what_several_need_belongs_to_those_that_read_it() -> None:
    ahead = Loop("n", ZERO, N, (stored("p", "gathered"),), lanes=True)
    reads = Let("q", Load("gathered", ZERO, "float"))
    body: tuple[KernelRecord, ...] = (ahead, Serves("a"), reads, Serves("b"), tanh("r"))
    assert readers_of_common(body) == {"a"}


@pytest.fixture(scope="module")
def kernels() -> ProgramKernels:
    variant = wb.variant(ppo(hidden=(20,)))
    for dim in ("b", "k"):
        variant = variant.apply(Persist(dim, 16))
    return program_kernels(variant.program)


def test_statements_add_up_to_their_kernel(kernels: ProgramKernels) -> None:
    sizes = resolve(kernels.program.equations, {"B": 40, "T": 7, "M": 5})
    outside = {s.buffer.name for s in kernels.loops.stored.values()}
    at = WorkAt(sizes, outside, 4)
    for kernel in kernels.kernels:
        whole = work(kernel.records, outside, 4, kernel.ranges)
        found = at.by_statement(kernel.records, kernel.ranges).values()
        assert sum(one.flops for one in found) == whole.flops.evaluate(sizes)
        assert sum(one.bytes for one in found) == whole.bytes.evaluate(sizes)
