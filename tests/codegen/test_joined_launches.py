"""Launches over the same elements: which become one kernel, and that it computes the same."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from tests.golden_files import GoldenFiles
from tests.native_runs import run_native, unlike
from tests.truth import truth
from workbench.codegen.kernel_records import loads
from workbench.codegen.kernel_records import walk as walk_kernel
from workbench.codegen.kernels import ProgramKernels, program_kernels
from workbench.codegen.printing.program.program_text import program_text
from workbench.lowering.launches import launches
from workbench.lowering.loops.records import Allocate, Free, Launch, walk
from workbench.program.values import Program
from workbench.transforms import Contract, Donate, Layout


@wb.program
def momentum(I: int = 5) -> dict[str, Any]:
    """Two parameters that follow their running gradients."""
    i = wb.dim(i=I)
    p = wb.recurrent("p", (3, 7), over=i)
    m = wb.recurrent("m", (3, 7), over=i)
    p[0], m[0] = wb.normal(shape=(3, 7)), 0.0
    gradient = p * p - 0.5
    m[i + 1] = 0.9 * m + gradient
    p[i + 1] = p - 0.1 * m[i + 1] / (wb.absolute(m[i + 1]) + i)
    return {"size": (p * p).sum()}


@wb.program
def masks() -> dict[str, Any]:
    """Numbers of each dtype from the same elements."""
    x = wb.normal(shape=(5, 5))
    mask = x > 0.0
    count = wb.cast(mask, int) * 3
    y = wb.where(mask, x, 0.5 * count)
    return {"mask": mask, "count": count, "y": y}


@wb.program
def elsewhere() -> dict[str, Any]:
    """Values that are read at other elements than they were written at."""
    x = wb.normal(shape=(6, 6))
    y = x * 2.0
    turned = wb.transpose(y) + x
    rows = y - y.sum(axis=1, keepdims=True)
    return {"y": y, "turned": turned, "rows": rows}


@wb.program
def scaled() -> dict[str, Any]:
    """A number that is made of all elements, and read for each."""
    x = wb.normal(shape=20)
    y = x * 2.0
    scale = y.sum()
    z = y * scale
    w = z + y
    return {"scale": scale, "z": z, "w": w}


@wb.program
def neighbours(I: int = 4) -> dict[str, Any]:
    """An element of one slice and of the next, in memory for two."""
    i = wb.dim(i=I)
    p = wb.recurrent("p", (3, 7), over=i)
    p[0] = wb.normal(shape=(3, 7))
    p[i + 1] = wb.sin(p) + 1.0
    q = p + p[i + 1]
    r = q * p
    return {"q": q.sum(), "r": r.sum()}


@wb.program
def twice(I: int = 3) -> dict[str, Any]:
    """Two chains, a link of one after a link of the other, scaled by a number made of both."""
    i = wb.dim(i=I)
    a = wb.recurrent("a", (4, 5), over=i)
    b = wb.recurrent("b", 20, over=i)
    a[0], b[0] = wb.normal(shape=(4, 5)), wb.normal(shape=20)
    half, third = a * 0.5 + 1.0, b / 3.0 - 1.0
    scale = 1.0 / ((half * half).sum() + (third * third).sum())
    c, d = half * scale, third * scale
    a[i + 1] = c + c * a
    b[i + 1] = d - d * b
    return {"a": (a * a).sum(), "b": (b * b).sum()}


@wb.program
def later(T: int = 4) -> dict[str, Any]:
    """Large elements first, then a loop with what is as large as they."""
    t = wb.dim(t=T)
    x = wb.normal(shape=1000)
    y = wb.sin(x)
    z = y * 2.0 + x
    total = (z + y).sum()
    w = wb.normal(shape=250, over=t) * total
    return {"w": w.sum(over=t).sum()}


PROGRAMS = {
    "in place": (momentum, (Contract(), Donate())),
    "slices": (momentum, ()),
    "laid out": (momentum, (Layout("m", ("...", "i")),)),
    "dtypes": (masks, ()),
    "other elements": (elsewhere, ()),
    "scaled": (scaled, ()),
    "neighbours": (neighbours, (Contract(),)),
    "two chains": (twice, (Contract(), Donate())),
    "later": (later, ()),
}
JOINED = {
    "in place": {("gradient_product", "gradient", "m[i+1]", "p[i+1]")},
    "slices": {("gradient_product", "gradient", "m[i+1]")},
    "laid out": {("gradient_product", "gradient", "m[i+1]")},
    "dtypes": {("mask", "count", "y")},
    "other elements": set(),
    "scaled": {("z", "w")},
    "neighbours": {("q", "r")},
    "two chains": {("c", "a[i+1]"), ("d", "b[i+1]")},
    "later": {("y", "z")},
}


def program_of(name: str) -> Program:
    """A program after its steps."""
    template, steps = PROGRAMS[name]
    variant = wb.variant(template())
    for step in steps:
        variant = variant.apply(step)
    return variant.program


def made(name: str) -> ProgramKernels:
    """The kernels of a program after its steps."""
    program = program_of(name)
    return program_kernels(program)


@pytest.mark.parametrize("name", PROGRAMS)
def test_launches_are_joined_that_touch_each_other_in_their_own_element_only(name: str) -> None:
    kernels = made(name).kernels
    assert {k.statements for k in kernels if len(k.statements) > 1} == JOINED[name]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_joined_launches_compute_what_the_equations_say(name: str, dtype: str) -> None:
    program = program_of(name)
    found = run_native(program, dtype=dtype)
    meaning = truth(program)
    wanted = {output.name: meaning.array(output.array) for output in program.outputs}
    assert not list(unlike(found, wanted, dtype))


@pytest.mark.parametrize("name", PROGRAMS)
def test_all_that_a_launch_touches_is_allocated_and_not_freed(name: str) -> None:
    loops = made(name).loops
    held: set[str] = set()
    memory: dict[str, str] = {}
    for record in walk(loops.body):
        if isinstance(record, Allocate):
            own, source = record.buffer.name, record.source
            memory[own] = own if source is None else memory[source]
            assert (memory[own] in held) is (source is not None)
            held.add(memory[own])
        elif isinstance(record, Free):
            held.remove(memory[record.name])
        elif isinstance(record, Launch):
            assert {memory[name] for name in (*record.reads, *record.writes)} <= held
    assert held == {memory[result.buffer] for result in loops.results}


def test_what_a_later_loop_needs_is_allocated_when_what_is_joined_is_freed() -> None:
    program = program_of("later")
    apart = launches(program).peak({"T": 4}, "float32")
    assert made("later").loops.peak({"T": 4}, "float32") == apart


def test_values_go_from_one_statement_to_the_next_in_registers() -> None:
    (kernel,) = (k for k in made("in place").kernels if len(k.statements) > 1)
    loaded = [load.buffer for record in walk_kernel(kernel.records) for load in loads(record)]
    assert sorted(loaded) == ["m", "p"]


def test_text_of_joined_launches_is_as_stored(golden: GoldenFiles) -> None:
    kernels = program_text(made("in place"), "float32").kernels
    golden("kernels/joined.c", next(text for name, text in kernels.items() if "more" in name))
