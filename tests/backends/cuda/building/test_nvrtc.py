"""CUDA text as NVRTC compiles it, with no GPU: its instructions, and what is refused."""

from __future__ import annotations

import importlib.util
import re

import pytest

from workbench.algorithms import reinforce
from workbench.backends.cuda.building import nvrtc
from workbench.backends.cuda.building.build import _text
from workbench.codegen.cuda.headers import unit_begin
from workbench.codegen.cuda.kernel_functions import functions
from workbench.codegen.cuda.launch_order import gpu_kernels
from workbench.codegen.kernels import program_kernels
from workbench.errors import CompilerError, UnavailableError, WorkbenchError
from workbench.transforms import Persist
from workbench.variants.variant import variant

NUMBERS = (
    unit_begin()
    + """
KERNEL(numbers, 128, 1)(ARRAY(float) x, ARRAY(int32_t) whole) {
    const int n = THREAD;
    const float a = LD(x, n), b = LD(x, n + 1);
    const words drawn = philox(counter(2, n, 3, 4, 0, 0, 0), 5, 6);
    float sum = tanh_f(a) + exp_f(a) + log_f(a) + log1p_f(b) + sin_f(a) + cos_f(b);
    sum = add_f(sum, multiply_f(power_f(a, b), minimum_f(a, sqrt_f(b) / a)));
    sum = sum + lgamma_f(a) * digamma_f(b) + trigamma_f(a);
    sum = fused_f(normal_f(drawn.word[0]), uniform_f(drawn.word[1]), sum);
    ST(x, n, sum);
    ST(whole, n, floor_divide_i(LD(whole, n), cast_i_f(sum)));
}
"""
)
WIDE = (
    unit_begin()
    + """
KERNEL(wide_numbers, 128, 1)(ARRAY(double) x) {
    const int n = THREAD;
    ST(x, n, exp_d(LD(x, n)) * tanh_d(LD(x, n + 1)) + power_d(LD(x, n), 2.5) + log1p_d(LD(x, 2)));
    ST(x, n + 1, lgamma_d(LD(x, n)) + digamma_d(LD(x, n)) * trigamma_d(LD(x, n + 1)));
}
"""
)


def instructions(text: str) -> set[str]:
    """Those that a text becomes."""
    ptx = nvrtc.compiled(text, "sm_90").ptx
    return set(re.findall(r"^\s+(?:@\S+ )?([a-z]\S*)", ptx, re.MULTILINE))


def others(found: set[str]) -> list[str]:
    """Those whose bits may be others than those of compiled C."""
    bare = {"mul.f32", "add.f32", "sub.f32", "min.f32", "max.f32"}
    return [i for i in found if i in bare or (".f32" in i and (".ftz" in i or ".approx" in i))]


def test_float32_has_no_instruction_whose_bits_are_others() -> None:
    """Products and sums that the assembler may fuse have no rounding in their names; numbers near 0
    are kept; quotients, roots and functions are those of the text.
    """
    found = instructions(NUMBERS)
    assert {"fma.rn.f32", "mul.rn.f32", "add.rn.f32", "div.rn.f32", "sqrt.rn.f32"} <= found
    assert not others(found)


def test_a_program_has_no_instruction_whose_bits_are_others() -> None:
    program = variant(reinforce(hidden=(20,))).apply(Persist("b", 16)).program
    made = list(functions(gpu_kernels(program_kernels(program)), "float32"))
    longest = max(made, key=lambda function: len(function.text))
    found = instructions(_text([longest]))
    assert {"fma.rn.f32", "mul.rn.f32", "add.rn.f32"} <= found and not others(found)


def test_float64_has_the_functions_of_the_library() -> None:
    assert nvrtc.compiled(WIDE, "sm_90").ptx.count("fma.rn.f64") > 10


def test_a_text_compiles_to_the_same_bytes() -> None:
    first, again = (nvrtc.compiled(NUMBERS, "sm_80") for _ in range(2))
    assert first.cubin == again.cubin and first.cubin[:4] == b"\x7fELF"


def test_what_nvrtc_refuses_is_told_in_its_words() -> None:
    with pytest.raises(
        CompilerError, match=r"NVRTC 13\.0 failed for sm_90: kernels\.cu\(2\)"
    ) as error:
        nvrtc.compiled("\nint x = y;\n", "sm_90")
    assert 'identifier "y" is undefined' in error.value.output


@pytest.mark.parametrize("name", ["sm_", "90", "compute_90", 90, "sm_9 0"])
def test_an_architecture_that_is_none_is_refused(name: object) -> None:
    with pytest.raises(WorkbenchError) as error:
        nvrtc.checked_architecture(name)
    told = f"architecture {name!r}; expected sm_ and a number, as sm_80, sm_90, sm_100"
    assert str(error.value) == told


def test_an_architecture_that_nvrtc_does_not_know_is_told_in_its_words() -> None:
    with pytest.raises(CompilerError, match="failed for sm_30"):
        nvrtc.compiled("", "sm_30")


def test_where_there_is_no_nvrtc_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert nvrtc.unavailable() is None
    nvrtc._library.cache_clear()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(nvrtc.ctypes.util, "find_library", lambda name: None)
    try:
        reason = nvrtc.unavailable()
        assert reason is not None and "NVRTC is not installed: " in reason
        assert "pip install nvidia-cuda-nvrtc==13.0.48" in reason
        with pytest.raises(UnavailableError, match="NVRTC is not installed"):
            nvrtc.compiled("", "sm_90")
    finally:
        nvrtc._library.cache_clear()
