"""Sectors that warps ask for, as the threads of `threads.h` count them: beside closed forms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.codegen.cuda.fibres import FibreDriver, Traffic
from workbench.codegen.cuda.functions import Function
from workbench.polyhedral.expression import expression

COUNT, THREADS, BLOCKS, WARP, SECTOR = 1024, 128, 2, 32, 32
FLOATS = SECTOR // 4
BODIES = {
    "copied": "ST(y, n, LD(x, n));",
    "one for all": "ST(y, n, LD(x, 0));",
    "every eighth": "ST(y, n, LD(x, 8 * n));",
    "scattered": "ST(y, LD(order, n), LD(x, n));",
    "gathered": "ST(y, n, LD(x, LD(order, n)));",
    "odd lanes": "if (n % 2) ST(y, n, LD(x, n));",
    "of two places in the text": "ST(y, n, n % 2 ? LD(x, n) : LD(x, n));",
    "twice": "ST(y, n, LD(x, n)); BARRIER ST(y, n, LD(x, n));",
    "one lane, then all": (
        "for (int turn = 0; turn < 2; turn++) { if (turn || thread % 32 == 0) "
        "ST(y, n, LD(x, turn ? 0 : 8 * n)); WARP_BARRIER }"
    ),
    "in shared memory": "ST(own, thread, LD(x, n)); ST(y, n, LD(own, thread));",
    "of a table": "ST(y, n, LD(table, n % 4));",
    "added": "(void)ADDED(order, 0, 1);",
}


def _function(name: str, body: str) -> Function:
    """A kernel whose blocks share `COUNT` turns, of which each runs a body."""
    text = (
        f"#undef THREADS\n#define THREADS {THREADS}\n"
        f"KERNEL({name}, THREADS, 1)(Run *run, unsigned char *own_memory, int64_t own_bytes, "
        "ARRAY(float) x, ARRAY(float) y, ARRAY(int32_t) order) {\n"
        "    SHARED_MEMORY\n    SHARED(float, own, 0, THREADS)\n"
        "    CONSTANTS(float, table, 4, 1, 2, 3, 4)\n"
        "    const int thread = THREAD;\n    (void)run, (void)own_memory, (void)own_bytes;\n"
        "    ROLLED for (int64_t n = BLOCK * THREADS + thread; n < 1024; n += BLOCKS * THREADS) {\n"
        f"        {body}\n    }}\n}}\n"
    )
    one = expression(1)
    return Function(name, text, (), THREADS, 0, one, one, ("x", "y", "order"), (), (), ())


ORDER = np.random.default_rng(5).permutation(COUNT).astype(np.int32)


@pytest.fixture(scope="module")
def counted() -> Mapping[str, Traffic]:
    """Return what each body asks for."""
    made = {how: _function(f"kernel_{k}", body) for k, (how, body) in enumerate(BODIES.items())}
    driver = FibreDriver({"x": 8 * COUNT, "y": COUNT, "order": COUNT})
    kernels = driver.load(list(made.values())).kernels
    x, y = (driver.memory(4 * count) for count in (8 * COUNT, COUNT))
    order = driver.memory(ORDER.nbytes)
    driver.counts = True
    for function in made.values():
        driver.copy(order.address, ORDER.ctypes.data, ORDER.nbytes)
        given = (0, x.address, 0, x.address, y.address, order.address)
        driver.launch(kernels[function.name], BLOCKS, given)
    driver.wait()
    assert driver.fault == ""
    return dict(zip(BODIES, driver.traffic, strict=True))


def sectors(places: npt.NDArray[Any]) -> int:
    """The sectors of places in floats, a row of them for each request."""
    return sum(len(np.unique(row // FLOATS)) for row in places.reshape(-1, WARP))


ALL = COUNT * 4 // SECTOR
GATHERED = sectors(ORDER)


@pytest.mark.parametrize(
    ("how", "loaded", "stored"),
    [
        ("copied", {"x": ALL}, {"y": ALL}),
        ("one for all", {"x": COUNT // WARP}, {"y": ALL}),
        ("every eighth", {"x": COUNT}, {"y": ALL}),
        ("scattered", {"x": ALL, "order": ALL}, {"y": GATHERED}),
        ("gathered", {"x": GATHERED, "order": ALL}, {"y": ALL}),
        ("odd lanes", {"x": ALL}, {"y": ALL}),
        ("of two places in the text", {"x": 2 * ALL}, {"y": ALL}),
        ("twice", {"x": 2 * ALL}, {"y": 2 * ALL}),
        ("one lane, then all", {"x": 2 * COUNT // WARP}, {"y": COUNT // WARP + ALL}),
        ("in shared memory", {"x": ALL}, {"y": ALL}),
        ("of a table", {}, {"y": ALL}),
        ("added", {}, {"order": COUNT // WARP}),
    ],
)
def test_sectors_are_those_of_a_closed_form(
    counted: Mapping[str, Traffic], how: str, loaded: dict[str, int], stored: dict[str, int]
) -> None:
    found = counted[how]
    assert (found.loaded, found.stored) == (loaded, stored)
    assert found.blocks == BLOCKS
    assert found.sectors == sum(loaded.values()) + sum(stored.values())


def test_a_gather_of_a_permutation_asks_for_more_than_a_copy() -> None:
    assert 4 * ALL < GATHERED <= COUNT
