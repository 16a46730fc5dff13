"""Resources of kernels: a table by the pinned release of NVRTC, in which nothing is spilled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

import workbench as wb
from tests.golden_files import GoldenFiles
from workbench.algorithms import ppo, reinforce
from workbench.backends.cuda.building import kernel_resources, nvrtc
from workbench.backends.cuda.building.kernel_resources import Inspection
from workbench.backends.cuda.building.nvrtc import ARCHITECTURES
from workbench.codegen.cuda.function_writer import ROW_THREADS
from workbench.codegen.cuda.functions import Function
from workbench.codegen.kernels import ProgramKernels
from workbench.errors import CompilerError, WorkbenchError
from workbench.transforms import Contract, Donate, Persist

pytestmark = pytest.mark.xdist_group("resources")
"""One process compiles for all of them."""


def in_blocks(program: wb.Program, size: int) -> wb.Variant:
    chosen = wb.variant(program)
    for d in ("b", "k") if program.name == "ppo" else ("b",):
        chosen = chosen.apply(Persist(d, size))
    return chosen.apply(Contract()).apply(Donate())


@cache
def inspected(template: Callable[[], wb.Program], architecture: str) -> Inspection:
    """The kernels of an algorithm."""
    return wb.inspect_kernels(in_blocks(template(), 32), [architecture])


@pytest.mark.parametrize(
    "architecture",
    [a if a == "sm_90" else pytest.param(a, marks=pytest.mark.kernels) for a in ARCHITECTURES],
)
@pytest.mark.parametrize("template", [ppo, reinforce], ids=["ppo", "reinforce"])
def test_no_register_is_spilled(
    template: Callable[[], wb.Program], architecture: str, golden: GoldenFiles
) -> None:
    found = inspected(template, architecture)
    table = found.frame()
    assert not table[table.spilled > 0].kernel.tolist()
    columns = ["kernel", "threads", "shared_bytes", "registers", "blocks"]
    text = table[columns].to_string(index=False)
    golden(
        f"kernels/resources/{template().name}_{architecture}.txt",
        f"NVRTC {found.release}\n{text}\n",
    )


@pytest.mark.kernels
def test_two_blocks_of_ppo_fit_an_older_multiprocessor() -> None:
    old = inspected(ppo, "sm_80").kernels
    assert min(kernel.blocks for kernel in old if kernel.threads < ROW_THREADS) >= 2


def test_an_inspection_shows_itself_as_a_table() -> None:
    found = wb.inspect_kernels(reinforce(hidden=(4,)), ["sm_90"])
    first, second = str(found).splitlines()[:2]
    assert first == "NVRTC 13.0"
    assert second.split() == [
        "kernel", "architecture", "threads", "registers", "spilled", "stack_bytes", "shared_bytes",
        "blocks", "limit",
    ]  # fmt: skip
    assert found._repr_html_().count("<tr") == len(found.kernels) + 1


def test_a_kernel_that_is_refused_is_told_with_its_statement(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    functions = kernel_resources.functions

    def broken(made: ProgramKernels, dtype: str) -> list[Function]:
        *_, last = functions(made, dtype)
        return [replace(last, text=last.text.replace("ST(", "STORED("))]

    monkeypatch.setattr(kernel_resources, "functions", broken)
    with pytest.raises(CompilerError) as error:
        wb.inspect_kernels(reinforce(hidden=(4,)), ["sm_90"])
    assert error.value.statement is not None and "reinforce.py, line" in str(error.value)


def test_arguments_that_are_none_are_refused() -> None:
    with pytest.raises(WorkbenchError, match="architecture 'ampere'; expected sm_"):
        wb.inspect_kernels(reinforce(), ["ampere"])
    with pytest.raises(WorkbenchError, match="unknown dtype"):
        wb.inspect_kernels(reinforce(), dtype="float16")


def test_a_variant_shows_its_kernels_as_cuda() -> None:
    shown = in_blocks(reinforce(hidden=(4,)), 16)
    kernels = shown.kernels("cuda")
    largest = max(kernels, key=lambda kernel: len(kernel.statements))
    assert "KERNEL(" in largest.text and "BARRIER" in largest.text
    assert {statement for _, statement in largest.lines} > {"policy.action", None}
    statements = {s for kernel in shown.kernels("native") for s in kernel.statements}
    assert {s for kernel in kernels for s in kernel.statements} == statements
    with pytest.raises(WorkbenchError, match='expected "native" or "cuda"'):
        shown.kernels("numpy")


def test_the_release_is_the_pinned_one() -> None:
    assert nvrtc.release() == "13.0" and "13.0" in nvrtc.WHEEL
