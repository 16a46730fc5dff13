"""The same bits for every width of vectors, processor, level of optimisation and compiler."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.codegen.c.compiled import NATIVE, Build, call, others
from tests.codegen.c.points import edges, strided
from tests.codegen.c.wrappers import CASTS, FUNCTIONS, FUSED, GAMMA, ROWS, source

Arrays = dict[str, np.ndarray[Any, Any]]

NAMES = {
    *FUNCTIONS,
    *GAMMA,
    "power",
    "fused",
    "sqrt",
    "floor",
    "divide",
    "minimum",
    "maximum",
    "sign",
    "where",
}
SINGLE = [row for row in [*ROWS, *FUSED] if row.name in NAMES and row.operands[-1] == "f"]
FROM_FLOAT = [row for row in CASTS if row.operands == "f"]
COUNT = 2**15

MORE = """
#include "sums.h"
#include "permutation.h"
#include "orthogonal.h"
void draws(float *uniform, float *normal, int32_t *order, uint32_t *scratch, int64_t n) {
    uint32_t x[5] = {7, 65000, 3, 1, 2};
    fill_uniform_f(uniform, n, 11, 12, 4, x);
    fill_normal_f(normal, n, 11, 12, 5, x);
    permutation(0, order, n, 11, 12, 2, x, scratch);
}
void normals(const uint32_t *word, float *out, int64_t n) {
    for (int64_t i = 0; i < n; i += LANES)
        store_vf(out + i, normal_vf((vu)load_vi((const int32_t *)word + i)));
}
void summed(const float *x, float *out, int64_t n) {
    vf parts[PARTS] = {{0}};
    for (int64_t i = 0; i < n; i += LANES) parts[i / LANES % PARTS] += load_vf(x + i);
    out[0] = sum16_vf(parts);
}
void orthogonal(const float *x, float *out, double *scratch) {
    orthogonalize_f(x, out, 40, 24, scratch);
}
"""


def results(build: Build, folder: Path) -> Arrays:
    """Everything that is float32, by name. One NaN is like another."""
    library = build.library(source([*SINGLE, *FROM_FLOAT]) + MORE, folder)
    x = np.concatenate([strided(COUNT), edges()[:4096]])
    y = np.roll(x, 2 * COUNT // 3)
    condition = np.arange(len(x)) % 3 == 0
    found = {}
    for row in [*SINGLE, *FROM_FLOAT]:
        own = [condition, x, y] if row.name == "where" else [x, y, x[::-1].copy()]
        own = own[: len(row.operands)]
        for form in ("vector", "single"):
            out = found[f"{form}_{row.symbol}"] = row.empty(len(x))
            call(getattr(library, f"{form}_{row.symbol}"), *own, out, len(x))
    found |= drawn(library)
    return {name: np.where(a != a, np.array(np.nan, a.dtype), a) if a.dtype.kind == "f" else a
            for name, a in found.items()}  # fmt: skip


def drawn(library: Any) -> Arrays:
    """Draws, sums and factors of a library."""
    n = 4099
    uniform, normal = np.empty(n, np.float32), np.empty(n, np.float32)
    order = np.empty(n, np.int32)
    call(library.draws, uniform, normal, order, np.empty(2 * n, np.uint32), n)
    words = np.arange(2**16, dtype=np.uint32) * np.uint32(2**16)
    normals, total = np.empty(2**16, np.float32), np.empty(1, np.float32)
    call(library.normals, words, normals, len(words))
    call(library.summed, normal, total, 4096)
    factors = np.empty(960, np.float32)
    call(library.orthogonal, normal, factors, np.empty(4096))
    return {"uniform": uniform, "normal": normal, "order": order, "normals": normals,
            "total": total, "factors": factors}  # fmt: skip


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Arrays:
    return results(NATIVE, tmp_path_factory.mktemp("native"))


@pytest.mark.xdist_group("bits")
@pytest.mark.parametrize("build", others(), ids=lambda build: build.name)
def test_bits_are_the_same(build: Build, native: Arrays, tmp_path: Path) -> None:
    for name, found in results(build, tmp_path).items():
        different = np.flatnonzero(found.view(np.uint8) != native[name].view(np.uint8))
        assert not len(different), f"{name} under {build.name}: {len(different)} bytes differ"
