"""Races of a block's threads, as `threads.h` finds them: in a warp, between warps."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping

import pytest

from tests.codegen.cuda.fibres import FibreDriver
from workbench.codegen.cuda.functions import Function
from workbench.polyhedral.expression import expression

THREADS = 128
IN_WARP, IN_NEXT = "thread / 32 * 32 + (thread + 1) % 32", "(thread + 32) % THREADS"
WRITE = "ST(own, thread, 1.0f);"
READ_OF_WARP, READ_OF_BLOCK = (f"(void)LD(own, {place});" for place in (IN_WARP, IN_NEXT))
READ_BY_WARP = "if (thread < 32) (void)LD(own, 0);"
THREE_TIMES = "for (int k = 0; k < 3; k++)"

RACES = {
    "no barrier in a warp": f"{WRITE} {READ_OF_WARP}",
    "a barrier of warps between warps": f"{WRITE} WARP_BARRIER {READ_OF_BLOCK}",
    "two barriers of warps between warps": f"{WRITE} WARP_BARRIER WARP_BARRIER {READ_OF_BLOCK}",
    "an exchange is no barrier": f"{WRITE} (void)FROM_LANE_BESIDE(thread, 1); {READ_OF_WARP}",
    "writers of a warp": f"{WRITE} ST(own, {IN_WARP}, 2.0f);",
    "readers of a warp and a writer of another": (
        f"{READ_OF_WARP} WARP_BARRIER ST(own, (thread + 64) % THREADS, 1.0f);"
    ),
    "readers of a warp on both sides of its barrier and a writer of another": (
        f"{READ_BY_WARP} WARP_BARRIER {READ_BY_WARP} WARP_BARRIER "
        "if (thread == 32) ST(own, 0, 1.0f);"
    ),
    "readers of two warps": "(void)LD(own, 0); WARP_BARRIER if (thread == 0) ST(own, 0, 1.0f);",
    "a turn and the next in a warp": (f"{THREE_TIMES} {{ {READ_OF_WARP} WARP_BARRIER {WRITE} }}"),
}
ORDERED = {
    "a barrier of warps in a warp": f"{WRITE} WARP_BARRIER {READ_OF_WARP}",
    "a barrier of the block between warps": f"{WRITE} BARRIER {READ_OF_BLOCK}",
    "readers of a warp and a writer behind its barrier": (
        f"{READ_BY_WARP} WARP_BARRIER if (thread == 3) ST(own, 0, 1.0f);"
    ),
    "turns of a warp": (f"{THREE_TIMES} {{ {READ_OF_WARP} WARP_BARRIER {WRITE} WARP_BARRIER }}"),
    "a barrier that two of four warps reach": (
        f"if (thread < 64) {{ {WRITE} WARP_BARRIER {READ_OF_WARP} }}"
    ),
}
APART = {word: f"if (thread % 32 < 16) {{ {word} }}" for word in ("BARRIER", "WARP_BARRIER")}


def _function(name: str, body: str) -> Function:
    """A kernel with an array of which each thread has written its element."""
    text = (
        f"#undef THREADS\n#define THREADS {THREADS}\n"
        f"KERNEL({name}, THREADS, 1)(Run *run, unsigned char *own_memory, int64_t own_bytes, "
        "ARRAY(float) x) {\n"
        "    SHARED_MEMORY\n    SHARED(float, own, 0, THREADS)\n"
        "    const int thread = THREAD;\n"
        "    (void)run, (void)own_memory, (void)own_bytes, (void)x;\n"
        f"    ST(own, thread, 0.0f);\n    BARRIER\n    {body}\n}}\n"
    )
    one = expression(1)
    return Function(name, text, (), THREADS, 0, one, one, ("x",), (), (), ())


@pytest.fixture(scope="module")
def faults() -> Mapping[str, str]:
    """What is found in each body, which a block of four warps runs."""
    bodies = RACES | ORDERED | APART
    made = {how: _function(f"kernel_{k}", body) for k, (how, body) in enumerate(bodies.items())}
    driver, found = FibreDriver({"x": 1}), {}
    kernels, x = driver.load(list(made.values())).kernels, driver.memory(4)
    for how, function in made.items():
        ctypes.c_int64.in_dll(driver.library, "faults").value = 0
        driver.launch(kernels[function.name], 1, (0, x.address, 0, x.address))
        driver.wait()
        found[how] = driver.fault
    return found


@pytest.mark.parametrize("how", RACES)
def test_threads_that_meet_are_found(faults: Mapping[str, str], how: str) -> None:
    met = r"own\[\d+\] is (read|written) in line \d+ and (read |written )?in line \d+"
    assert re.fullmatch(met, faults[how])


@pytest.mark.parametrize("how", ORDERED)
def test_threads_that_wait_for_each_other_do_not_meet(faults: Mapping[str, str], how: str) -> None:
    assert faults[how] == ""


@pytest.mark.parametrize("how", APART)
def test_a_barrier_that_half_a_warp_reaches_is_a_fault(faults: Mapping[str, str], how: str) -> None:
    assert "not all threads come to the barrier" in faults[how]
