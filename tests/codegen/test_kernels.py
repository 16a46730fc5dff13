"""Kernels of small programs: their records, and their C text as it is stored."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from tests.golden_files import GoldenFiles
from workbench.codegen.kernel_records import Loop, Update, walk
from workbench.codegen.kernel_work import scratch_bytes
from workbench.codegen.kernels import ProgramKernels, program_kernels
from workbench.codegen.printing.program.program_text import program_text
from workbench.errors import WorkbenchError
from workbench.program.values import Program
from workbench.transforms import Accumulate, Vectorize


def made(program: Program, *axes: str) -> ProgramKernels:
    """The kernels of a program with these dims as array axes."""
    variant = wb.variant(program)
    for dim in axes:
        variant = variant.apply(Vectorize(dim))
    return program_kernels(variant.program)


@wb.program
def dense(B: int = 20) -> dict[str, Any]:
    """A layer of 24 features of 6."""
    b = wb.dim(b=B)
    x = wb.normal(shape=6, over=b)
    weight = wb.normal(shape=(6, 24))
    return {"y": wb.tanh(x @ weight)}


@wb.program
def suffix(T: int = 9) -> dict[str, Any]:
    """Sums of what comes later."""
    t = wb.dim(t=T)
    x = wb.normal(over=t)
    return {"later": x[t + 1 : T].sum(), "all": x[0:T].sum()}


@wb.program
def looked_up(B: int = 20, N: int = 7) -> dict[str, Any]:
    """A table read at random rows."""
    b, n = wb.dims(b=B, n=N)
    table = wb.uniform(over=n)
    row = wb.cast(wb.uniform(0.0, 7.0, over=b), int)
    return {"y": wb.gather(table, n=row)}


@wb.program
def counted(B: int = 20) -> dict[str, Any]:
    """A loss of draws, and where the largest is."""
    b = wb.dim(b=B)
    x = wb.uniform(shape=3, over=b)
    return {"sum": (x * x).sum(axis=0).sum(over=b), "where": x.sum(axis=0).argmax(over=b)}


@wb.program
def outer(B: int = 20) -> dict[str, Any]:
    """The gradient of a layer's weights: a sum of outer products."""
    b = wb.dim(b=B)
    x = wb.normal(shape=8, over=b)
    d = wb.normal(shape=24, over=b)
    return {"g": (wb.reshape(x, (8, 1)) * d).sum(over=b)}


@pytest.mark.parametrize(
    ("program", "axes"),
    [(dense, "b"), (suffix, "t"), (looked_up, "b"), (counted, "b"), (outer, "b")],
    ids=lambda v: v if isinstance(v, str) else v.name,
)
def test_text_is_as_stored(program: Any, axes: str, golden: GoldenFiles) -> None:
    text = program_text(made(program(), axes), "float32")
    golden(f"kernels/{program.name}.c", "\n".join(text.kernels.values()))


def test_kernel_touches_the_buffers_of_its_statement_only() -> None:
    kernels = made(dense())
    y = next(k for k in kernels.kernels if k.statements == ("y",))
    assert set(y.buffers) == {"x", "weight", "y"}
    assert y.variables == ("b",)


def test_statement_over_an_axis_has_its_lanes_there() -> None:
    y = next(k for k in made(dense(), "b").kernels if k.statements == ("y",))
    (lanes,) = (r for r in walk(y.records) if isinstance(r, Loop) and r.lanes)
    assert lanes.variable.startswith("b")
    assert str(lanes.upper) == "B"


def test_statement_without_an_axis_has_its_lanes_in_its_inner_shape() -> None:
    y = next(k for k in made(dense()).kernels if k.statements == ("y",))
    lanes = [r for r in walk(y.records) if isinstance(r, Loop) and r.lanes]
    assert lanes and all(str(r.upper) == "24" for r in lanes)


def test_products_of_sums_are_fused_in_the_records() -> None:
    g = next(k for k in made(outer(), "b").kernels if k.statements == ("g",))
    updates = [r.value for r in walk(g.records) if isinstance(r, Update)]
    assert updates and all(getattr(v, "operation", "") == "fma" for v in updates)


def test_scratch_memory_is_counted_with_the_lanes() -> None:
    y = next(k for k in made(dense(), "b").kernels if k.statements == ("y",))
    held = scratch_bytes(y.records, 4).evaluate({"B": 20})
    assert 24 * 16 * 4 <= held < 2 * 24 * 16 * 4


def test_sizes_and_seeds_are_no_part_of_the_text() -> None:
    small, large = (program_text(made(dense(B=n), "b"), "float32").units for n in (4, 400))
    assert small == large


def test_names_of_users_do_not_meet_those_of_the_run_time() -> None:
    @wb.program
    def unlucky(LANES: int = 4) -> dict[str, Any]:
        lane = wb.dim(lane=LANES)
        run = wb.normal(over=lane)
        return {"float": run + 1.0, "tanh_vf": wb.tanh(run)}

    text = "\n".join(program_text(made(unlucky(), "lane"), "float32").kernels.values())
    assert "LANES_2 = run->sizes[0]" in text
    assert "float *const float_2" in text or "float *const xfloat" in text


# -- kernels as users see them ---------------------------------------------------------------------


def test_kernel_tells_its_arrays_and_counts_its_work() -> None:
    variant = wb.variant(dense()).apply(Vectorize("b"))
    kernel = next(k for k in variant.kernels() if k.statements == ("y",))
    assert set(kernel.loads) == {"x", "weight"}
    assert kernel.stores == ("y",) and kernel.private == ()
    products, functions = 2 * 6 * 24, 24
    assert kernel.flops.evaluate({"B": 20}) == 20 * (products + functions)
    stored, weight = 24 * 4, 6 * 24 * 4
    assert kernel.bytes.evaluate({"B": 20}) >= 20 * (stored + weight)


def test_sum_of_outer_products_counts_each_point() -> None:
    variant = wb.variant(outer()).apply(Vectorize("b"))
    (kernel,) = (k for k in variant.kernels() if k.statements == ("g",))
    assert kernel.flops.evaluate({"B": 20}) == 20 * 2 * 8 * 24


def test_triangular_sum_is_counted_at_its_longest() -> None:
    (later,) = (k for k in wb.variant(suffix()).kernels() if k.statements == ("later",))
    assert later.flops.evaluate({"T": 9}) <= 9


def test_float64_moves_twice_the_bytes() -> None:
    variant = wb.variant(outer()).apply(Vectorize("b"))
    single, double = (
        next(k for k in variant.kernels(dtype=dtype) if k.statements == ("g",))
        for dtype in ("float32", "float64")
    )
    assert double.bytes.evaluate({"B": 20}) == 2 * single.bytes.evaluate({"B": 20})
    assert double.flops == single.flops


def test_every_line_has_the_statement_that_it_serves() -> None:
    kernel = wb.variant(dense()).kernels()[-1]
    assert kernel.text == "\n".join(line for line, _ in kernel.lines) + "\n"
    assert {s for _, s in kernel.lines} == {None, kernel.statements[0]}


def test_start_of_points_that_are_added_up_is_the_points_own() -> None:
    kernels = wb.variant(outer()).apply(Accumulate("b")).kernels()
    known = set(wb.variant(outer()).apply(Accumulate("b")).program.statement)
    assert {s for kernel in kernels for s in kernel.statements} == known
    assert {s for kernel in kernels for _, s in kernel.lines if s is not None} == known


def test_backend_without_kernels_is_refused() -> None:
    with pytest.raises(WorkbenchError, match=r"backend 'numpy' has no compiled kernels"):
        wb.variant(dense()).kernels("numpy")
