"""Loads, stores, gathers, masks and sums over lanes, and what a unit's compilation decides."""

from __future__ import annotations

import ctypes
import platform
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.codegen.c.compiled import NATIVE, X86, Build, call
from tests.codegen.c.expanding import expanded
from tests.codegen.c.wrappers import DTYPES, NUMBERS
from workbench.codegen.runtime import BODIES, CALLING, CALLS, flags, runtime_text, with_runtime

PLACES = """
#include "sums.h"
int64_t lane_count(void) { return LANES; }
void subnormal(float *out, int64_t flushed) {
    uint64_t before = begin_exact_floats();
    if (flushed) FLUSH;
    uint64_t inner = begin_exact_floats();
    volatile float small = 0x1p-126f, half = 0.5f;
    out[0] = small * half;
    end_exact_floats(inner);
    out[1] = small * half;
    end_exact_floats(before);
}
void first(uint8_t *out, int64_t count) { store_vb(out, first_vb(count)); }
int any(const uint8_t *x) { return any_vb(load_vb(x)); }
"""
OF_KIND = """
void some_{k}({t} *x, {t} *out, int64_t stride, int64_t count) {{
    v{k} loaded = load_some_v{k}(x, stride, count);
    store_v{k}(out, loaded);
    store_some_v{k}(out + LANES, stride, count, loaded);
}}
void gathered_{k}(const {t} *x, const int32_t *at, {t} *out) {{
    vi place = load_vi(at);
    store_v{k}(out, gather_v{k}(x, place));
    store_v{k}(out + LANES, far_gather_v{k}(x, cast_vl_vi(place)));
}}
"""
COMBINED_OF = """
void all_{name}_{k}(const {t} *x, {t} *out, int64_t n) {{
    v{k} parts[PARTS];
    for (int k = 0; k < PARTS; k++) parts[k] = load_v{k}(x + k * LANES);
    for (int64_t i = 16; i < n; i += LANES)
        parts[i / LANES % PARTS] = {combine}_v{k}(parts[i / LANES % PARTS], load_v{k}(x + i));
    out[0] = {name}16_v{k}(parts);
}}
"""
COMBINES = {"sum": "add", "minimum": "minimum", "maximum": "maximum"}
FLUSH = {True: "__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040)",
         False: '__asm__ volatile("msr fpcr, %0" : : "r"(UINT64_C(1) << 24))'}  # fmt: skip


def memory_source(x86: bool) -> str:
    kinds = [OF_KIND.format(k=k, t=t) for k, t in NUMBERS.items()]
    sums = [
        COMBINED_OF.format(k=k, t=NUMBERS[k], name=name, combine=combine)
        for k in "fdil"
        for name, combine in COMBINES.items()
    ]
    return "\n".join([PLACES.replace("FLUSH", FLUSH[x86]), *kinds, *sums])


@pytest.fixture(scope="module", params=["native", "lanes4"])
def memory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    narrow = ("-march=native", "-DLANES=4")
    build = NATIVE if request.param == "native" else Build("lanes4", narrow)
    return build.library(memory_source(X86), tmp_path_factory.mktemp("memory"))


def numbers(kind: str, n: int) -> np.ndarray:
    drawn = np.random.default_rng(6).normal(0, 50, n)
    return (drawn > 0) if kind == "b" else drawn.astype(DTYPES[kind])


@pytest.mark.parametrize("stride", [1, 3])
@pytest.mark.parametrize("kind", NUMBERS)
def test_some_lanes_are_loaded_and_stored(kind: str, stride: int, memory: ctypes.CDLL) -> None:
    lanes = memory.lane_count()
    x = numbers(kind, 3 * lanes)
    for count in (0, 1, lanes - 1, lanes, lanes + 5):
        out = np.full(4 * lanes, 1, x.dtype)
        expected = out.copy()
        call(getattr(memory, f"some_{kind}"), x, out, stride, count)
        taken = x[: stride * min(count, lanes) : stride]
        expected[:lanes] = 0
        expected[: len(taken)] = taken
        expected[lanes:][: stride * len(taken) : stride] = taken
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("kind", NUMBERS)
def test_lanes_are_gathered(kind: str, memory: ctypes.CDLL) -> None:
    lanes = memory.lane_count()
    x = numbers(kind, 100)
    at = np.random.default_rng(7).integers(0, 100, lanes).astype(np.int32)
    out = np.empty(2 * lanes, x.dtype)
    call(getattr(memory, f"gathered_{kind}"), x, at, out)
    np.testing.assert_array_equal(out, np.tile(x[at], 2))


def test_mask_of_the_first_lanes(memory: ctypes.CDLL) -> None:
    lanes = memory.lane_count()
    for count in (0, 1, lanes, lanes + 1, 2**40):
        out = np.full(lanes, 7, np.uint8)
        call(memory.first, out, count)
        np.testing.assert_array_equal(out, np.arange(lanes) < count)
        assert memory.any(out.ctypes) == (count > 0)


@pytest.mark.parametrize("kind", "fdil")
def test_sum_adds_sixteen_parts_pairwise(kind: str, memory: ctypes.CDLL) -> None:
    x = numbers(kind, 160)
    partial = x[:16].copy()
    for row in x.reshape(-1, 16)[1:]:
        partial += row
    for half in (8, 4, 2, 1):
        partial = partial[:half] + partial[half:]
    out = np.empty(1, x.dtype)
    call(getattr(memory, f"all_sum_{kind}"), x, out, len(x))
    assert out[0] == partial[0]


@pytest.mark.parametrize("kind", "fdil")
@pytest.mark.parametrize("name", ["minimum", "maximum"])
def test_extremum_over_lanes(name: str, kind: str, memory: ctypes.CDLL) -> None:
    x, out = numbers(kind, 160), np.empty(1, DTYPES[kind])
    call(getattr(memory, f"all_{name}_{kind}"), x, out, len(x))
    assert out[0] == getattr(np, name).reduce(x)
    if kind in "fd":
        x[77] = np.nan
        call(getattr(memory, f"all_{name}_{kind}"), x, out, len(x))
        assert np.isnan(out[0])


def test_subnormal_numbers_are_kept_and_the_state_comes_back(memory: ctypes.CDLL) -> None:
    out = np.empty(2, np.float32)
    call(memory.subnormal, out, 1)
    np.testing.assert_array_equal(out, np.array([2.0**-127, 0], np.float32))
    call(memory.subnormal, out, 0)
    np.testing.assert_array_equal(out, np.array([2.0**-127, 2.0**-127], np.float32))


def _linked(units: dict[str, str], folder: Path) -> ctypes.CDLL:
    for name, text in units.items():
        (folder / f"{name}.c").write_text(expanded(text), encoding="utf-8")
    return NATIVE.linked([folder / f"{name}.c" for name in units], folder)


def test_several_units_share_one_run_time(tmp_path: Path) -> None:
    kernel = "void tried(const float *x, float *out) { *out = power_f(x[0], x[1]); }\n"
    units = dict(with_runtime(iter([("kernel", f"{CALLING}{kernel}")])))
    assert list(units) == ["runtime", "kernel"]
    library = _linked(units, tmp_path)
    out = np.empty(1, np.float32)
    call(library.tried, np.array([3, 4], np.float32), out)
    assert out[0] == 81


def test_a_program_has_the_units_of_the_run_time_that_it_calls(tmp_path: Path) -> None:
    calls = "void tried(const float *x, double *out) {{ *out = {}; }}\n"
    for call_, more in (
        ("lgamma_f(x[0])", ["runtime_gamma"]),
        ("x[0] + sum16_vd((const vd *)out)", ["runtime_float64"]),
        ("lgamma_d(x[0]) + log_vd(*(const vd *)out)[0]", ["runtime_float64", "runtime_gamma"]),
    ):
        units = dict(with_runtime(iter([("kernel", CALLING + calls.format(call_))])))
        assert list(units) == ["runtime", *more, "kernel"]
        _linked(units, tmp_path)


def test_each_function_of_the_run_time_is_in_one_unit_that_its_calls_bring_in(
    tmp_path: Path,
) -> None:
    defined: dict[str, set[str]] = {}
    for name in BODIES:
        (tmp_path / f"{name}.c").write_text(expanded(runtime_text(name)), encoding="utf-8")
        compiler = (*NATIVE.command(), "-O1", *flags(platform.machine()), *NATIVE.flags)
        subprocess.run([*compiler, "-c", f"{name}.c"], cwd=tmp_path, check=True)
        said = subprocess.run(
            ["nm", "--defined-only", f"{name}.o"], cwd=tmp_path, capture_output=True, check=True
        ).stdout.decode()
        defined[name] = {
            words[2] for line in said.splitlines() if (words := line.split())[1] == "T"
        }
    everywhere = [function for functions in defined.values() for function in functions]
    assert len(everywhere) == len(set(everywhere)) > 70
    for name, calls in CALLS.items():
        assert defined[name]
        assert not [each for each in defined[name] if not calls.search(f"{each}(")]
