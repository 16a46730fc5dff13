"""REINFORCE with ends learns what it learns with a mask: the same draws, the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.codegen.cuda.fibres import fibres, watched
from tests.episodes.rolled import Kind, walk
from tests.native_runs import compiled, run_native, shared_cache
from workbench.algorithms import reinforce
from workbench.transforms import Contract, Donate, Incrementalize, Persist, Recompute, Vectorize

BACKENDS = [name for name in ("numpy", "native") if wb.backends()[name] is None]
SIZES = {"B": 19, "I": 3, "T": 40}


@pytest.mark.parametrize("backend", BACKENDS)
def test_ends_learn_as_a_mask_does(backend: str) -> None:
    masked = wb.run(
        reinforce(hidden=(20,)),
        "numpy",
        sizes=SIZES,
        dtype="float64",
        progress=False,
    )
    run = wb.run(
        reinforce(hidden=(20,), ends=True), backend, sizes=SIZES, dtype="float64", progress=False
    )
    for name in ("loss", "episode_return", "episodes"):
        np.testing.assert_allclose(run[name], masked[name], rtol=1e-9)
    np.testing.assert_allclose(run.lengths["t"].mean(axis=0), masked["episode_return"])
    assert run.lengths["t"].max() <= 40


@pytest.mark.skipif("native" not in BACKENDS, reason="there is no C compiler")
def test_blocks_execute_their_longest_episode_and_no_more() -> None:
    chosen = wb.variant(reinforce(hidden=(20,), ends=True))
    for step in (Incrementalize("worth", "t"), Persist("b", 16, chunks=2)):
        chosen = chosen.apply(step)
    after = run_native(chosen.program, SIZES, dtype="float32")[
        chosen.program.equations.ends[0].after
    ]
    lengths = np.minimum(after, SIZES["T"] - 1) + 1
    longest = lengths[:16].max(axis=0).sum() + lengths[16:].max(axis=0).sum()
    rows = wb.profile(chosen, "native", sizes=SIZES, progress=False).by("statement")
    calls = {row.name: row.calls for row in rows}
    assert longest < 2 * SIZES["I"] * SIZES["T"]
    for name in ("policy.hidden_1", "state[t+1]", "gradient.output"):
        assert calls[name] == longest, name


VARIANTS: dict[str, Any] = {
    "learning in blocks": (
        lambda: reinforce(hidden=(20,), ends=True),
        (
            Incrementalize("worth", "t"),
            Persist("b", 16, chunks=2),
            Recompute("policy.hidden_1"),
            Contract(),
            Donate(),
        ),
        SIZES,
    ),
    "walk in blocks": (
        lambda: walk(Kind(1.1, 1.0, 0.1, 3.0, 99))(),
        (Persist("b", 16, chunks=2), Contract(), Donate()),
        {"B": 37, "I": 2, "T": 9},
    ),
    "walk along b": (
        lambda: walk(Kind(1.1, 1.0, 0.1, 3.0, 99))(),
        (Vectorize("b"), Contract()),
        {"B": 5, "I": 2, "T": 9},
    ),
}


@pytest.mark.parametrize("how", VARIANTS)
def test_cuda_kernels_have_the_bits_of_compiled_c(how: str) -> None:
    program, steps, sizes = VARIANTS[how]
    variant = wb.variant(program())
    for step in steps:
        variant = variant.apply(step)
    found, fault = watched(fibres(variant.program, sizes), sizes, "float32")
    assert fault == ""
    with shared_cache():
        wanted = compiled(variant.program).run(sizes, 3, "float32").outputs
    for name, value in wanted.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)
