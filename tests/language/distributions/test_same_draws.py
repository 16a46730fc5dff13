"""Draws and what follows from them are the same by the reference, by NumPy, as compiled C and as
kernels of a GPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import workbench as wb
from tests.codegen.cuda.fibres import SEED, differences
from tests.native_runs import run_native
from tests.truth import truth
from workbench.transforms import Vectorize

LEGAL = [True, True, False, True, True]


@wb.program
def samples(N: int = 37) -> dict[str, Any]:
    n = wb.dim(n=N)
    x = wb.normal(shape=2, over=n)
    bernoulli, squashed = wb.Bernoulli(x), wb.SquashedNormal(x, wb.exp(0.3 * x), -2.0, 1.0)
    several = wb.MultiCategorical(wb.normal(shape=5, over=n), (3, 2), LEGAL)
    gamma, beta = wb.Gamma(wb.exp(x), 2.0), wb.Beta(wb.exp(x), wb.exp(-x))
    amount = gamma.sample()
    share, share_log = beta.sample_with_log_probability()
    event, choices = bernoulli.sample(), several.sample()
    action, log_probability = squashed.sample_with_log_probability()
    return {
        "event": event,
        "choices": choices,
        "action": action,
        "amount": amount,
        "share": share,
        "amount_log": gamma.log_probability(amount),
        "share_log": share_log,
        "entropies": gamma.entropy() + beta.entropy(),
        "event_log": bernoulli.log_probability(event),
        "choices_log": several.log_probability(choices),
        "action_log": log_probability,
        "again": squashed.log_probability(action),
    }


def test_draws_are_the_same_by_every_backend() -> None:
    wanted = truth(samples(), seed=SEED).outputs()
    written = wb.variant(samples())
    vectorized = written.apply(Vectorize("n"))
    by_numpy = (
        wb.run(variant, seed=SEED, dtype="float64", progress=False, backend="numpy").outputs
        for variant in (written, vectorized)
    )
    for found in (*by_numpy, run_native(vectorized.program, seed=SEED)):
        for name, values in wanted.items():
            np.testing.assert_allclose(found[name], values, rtol=1e-9, atol=1e-12, err_msg=name)


def test_draws_are_the_same_in_float32_and_by_kernels_of_a_gpu_bit_by_bit() -> None:
    program = wb.variant(samples()).apply(Vectorize("n")).program
    found = run_native(program, seed=SEED, dtype="float32")
    for name, values in truth(samples(), seed=SEED).outputs().items():
        np.testing.assert_allclose(found[name], values, rtol=2e-4, atol=2e-4, err_msg=name)
    assert differences(program, {}, found) == []
