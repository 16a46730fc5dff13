"""Compiled kernels as views see them: the same as those of the variant."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

import workbench as wb
from workbench.algorithms import reinforce
from workbench.backends import backends
from workbench.errors import WorkbenchError
from workbench.session.parts.code import TextView, kernel, kernels
from workbench.variants.variant import Variant

COMPILED: dict[str, Any] = {"backend": "native", "dtype": "float32"}


@cache
def persisted() -> Variant:
    written = wb.variant(reinforce(hidden=(4,)))
    return written.apply(wb.transforms.Persist("b", 2)).apply(wb.transforms.Contract())


def owner(shown: TextView) -> dict[int, str]:
    return {n: span.statement for span in shown.spans for n in range(span.first, span.last + 1)}


def test_kernels_are_those_of_the_variant() -> None:
    found, said = kernels(persisted(), COMPILED).kernels, persisted().kernels("native")
    assert [(k.name, k.statements, k.lines) for k in found] == [
        (k.name, k.statements, len(k.text.splitlines())) for k in said
    ]
    region = max(found, key=lambda k: k.lines)
    (own,) = (k for k in said if k.name == region.name)
    assert (region.loads, region.stores, region.private) == (own.loads, own.stores, own.private)
    assert region.tile_bytes == str(own.tile_bytes)
    assert (region.flops, region.bytes) == (str(own.flops), str(own.bytes))
    assert region.private and "T" in region.flops


def test_a_kernel_has_its_text_and_the_lines_of_its_statements() -> None:
    for one in persisted().kernels("native"):
        shown = kernel(persisted(), {**COMPILED, "name": one.name})
        assert (shown.name, shown.language) == (one.name, "c")
        assert shown.text == one.text.removesuffix("\n")
        assert owner(shown) == {n: s for n, (_, s) in enumerate(one.lines) if s is not None}
        assert shown.text.splitlines()[shown.start].strip().startswith("/* statement: ")


def test_the_statements_of_kernels_are_the_programs() -> None:
    shown = kernels(persisted(), COMPILED).kernels
    assert {name for one in shown for name in one.statements} == set(persisted().program.statement)


def test_kernels_need_no_compiler_and_say_that_there_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CC", "nowhere-to-be-found")
    reason = backends()["native"]
    assert reason is not None
    found = kernels(persisted(), COMPILED)
    assert found.kernels
    assert found.remark == f"This is what native would run: {reason}."


def test_kernels_of_a_backend_that_compiles_none_are_refused() -> None:
    with pytest.raises(WorkbenchError, match="backend 'numpy' has no compiled kernels"):
        kernels(persisted(), {**COMPILED, "backend": "numpy"})


def test_kernels_in_an_unknown_dtype_are_refused() -> None:
    with pytest.raises(WorkbenchError, match="unknown dtype 'float16'"):
        kernels(persisted(), {**COMPILED, "dtype": "float16"})


def test_a_kernel_of_an_unknown_name_is_refused() -> None:
    with pytest.raises(WorkbenchError, match=r"unknown kernel 'kernel_los': did you mean kernel_l"):
        kernel(persisted(), {**COMPILED, "name": "kernel_los"})
