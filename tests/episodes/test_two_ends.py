"""Values over two dims that both end: they exist where both do, in every backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.codegen.cuda.fibres import SEED, fibres, watched
from tests.native_runs import run_native
from workbench.backends import philox
from workbench.backends.reference.evaluator import Reference
from workbench.errors import WorkbenchError
from workbench.program.values import Program
from workbench.transforms import Persist, Vectorize

SIZES = {"B": 3, "T": 5, "K": 4}


@wb.program
def crossed(
    B: int = 3, T: int = 5, K: int = 4, chance: float = 0.25, own: bool = True
) -> dict[str, Any]:
    """Steps t and choices k of each b, or choices of all, each up to an end of their own."""
    b, t, k = wb.dims(b=B, t=T, k=K)
    x = wb.uniform(over=(b, t))
    wb.until(x < chance, over=t)
    u = wb.uniform(over=(b, k) if own else k)
    wb.until(u < chance, over=k)
    v = x * u
    along_k = wb.recurrent("along_k", (), over=(b, t, k))
    along_k[b, t, 0] = x + 1.0
    along_k[b, t, k + 1] = 0.5 * along_k + v
    along_t = wb.recurrent("along_t", (), over=(b, t, k))
    along_t[b, 0, k] = u + 1.0
    along_t[b, t + 1, k] = 0.5 * along_t + v
    return {
        "v": v,
        "along_k": along_k,
        "along_t": along_t,
        "over_k": v.sum(over=k),
        "over_t": v.max(over=t),
        "over_all": v.mean(over=(b, t, k)),
        "to_go": wb.discounted_sum(v[b, t:T, k], 0.9),
        "slope": wb.gradient((v * v * x).sum(over=(b, t, k)), u),
    }


def looped(program: Program, chance: float, own: bool) -> dict[str, Any]:
    """The meaning of it, by loops that break."""
    B, T, K = SIZES.values()
    keys = {name: philox.statement_key(program.statement[name].origin) for name in ("x", "u")}
    v, to_go = np.full((B, T, K), np.nan), np.full((B, T, K), np.nan)
    along_k, along_t = np.full((B, T, K + 1), np.nan), np.full((B, T + 1, K), np.nan)
    over_k, over_t = np.full((B, T), np.nan), np.full((B, K), np.nan)
    slope = np.zeros((B, K))
    for b in range(B):
        u: list[float] = []
        while len(u) < K and not (u and u[-1] < chance):
            at = [b, len(u)] if own else [len(u)]
            u.append(float(philox.draw("uniform", SEED, keys["u"], at, ())))
        along_t[b, 0, : len(u)] = np.array(u) + 1.0
        for t in range(T):
            x = float(philox.draw("uniform", SEED, keys["x"], [b, t], ()))
            along_k[b, t, 0] = x + 1.0
            for k, choice in enumerate(u):
                v[b, t, k] = x * choice
                along_k[b, t, k + 1] = 0.5 * along_k[b, t, k] + v[b, t, k]
                along_t[b, t + 1, k] = 0.5 * along_t[b, t, k] + v[b, t, k]
                slope[b, k] += 2 * x**3 * choice
            over_k[b, t] = sum(v[b, t, : len(u)])
            if x < chance:
                break
        for k in range(len(u)):
            over_t[b, k] = max(v[b, : t + 1, k])
            for first in range(t + 1):
                rest = v[b, first : t + 1, k]
                to_go[b, first, k] = sum(0.9**n * each for n, each in enumerate(rest))
    return {
        "v": v,
        "along_k": along_k,
        "along_t": along_t,
        "over_k": over_k,
        "over_t": over_t,
        "over_all": np.nanmean(v),
        "to_go": to_go,
        "slope": slope if own else slope.sum(axis=0),
    }


def ways_of_running(program: Program, own: bool) -> dict[str, Any]:
    """Each backend, as written and by its recipe."""
    root = wb.variant(program)
    ways = {
        "reference": lambda: Reference(program.equations, seed=SEED).outputs(),
        "numpy": lambda: of_numpy(root),
        "k at once": lambda: of_numpy(root.apply(Vectorize("k"))),
        "numpy's recipe": lambda: of_numpy(wb.optimize(root, backend="numpy")),
        "native": lambda: of_native(root),
        "native's recipe": lambda: of_native(wb.optimize(root, backend="native")),
        "cuda's recipe": lambda: of_cuda(wb.optimize(root, backend="cuda")),
    }
    if own:
        blocks = root.apply(Persist("b", 2))
        ways |= {"blocks": lambda: of_native(blocks), "blocks of a GPU": lambda: of_cuda(blocks)}
    return ways


def of_numpy(variant: wb.Variant) -> Any:
    return wb.run(variant, "numpy", seed=SEED, dtype="float64", progress=False)


def of_native(variant: wb.Variant) -> Any:
    return run_native(variant.program, seed=SEED)


def of_cuda(variant: wb.Variant) -> Any:
    sizes = {p.name: SIZES[p.name] for p in variant.program.parameters}
    outputs, fault = watched(fibres(variant.program), sizes)
    assert fault == ""
    return outputs


@pytest.mark.parametrize(
    ("chance", "own"),
    [(0.25, True), (0.4, False), (1.1, True)],
    ids=["own", "shared", "one_step"],
)
def test_values_over_two_ends_are_those_of_loops_that_break(chance: float, own: bool) -> None:
    program = crossed(chance=chance, own=own)
    expected = looped(program, chance, own)
    for name, run in ways_of_running(program, own).items():
        found = run()
        for output, values in expected.items():
            np.testing.assert_allclose(
                found[output], values, rtol=1e-5, atol=1e-6, err_msg=f"{output} by {name}"
            )


def test_text_names_both_conditions() -> None:
    assert "v[b, t, k] = x[b, t] * u[b, k]    # if open[b, t] and open_2[b, k]" in str(crossed())


@wb.program
def one(T: int = 5, K: int = 4, last: int = 2, highest: int = 2) -> dict[str, Any]:
    """A number of one step and one choice, which may be past either end."""
    t, k = wb.dims(t=T, k=K)
    steps, choices = wb.cast(wb.index(t), float), wb.cast(wb.index(k), float)
    ends = wb.exp(np.zeros(2)) * np.array([last, highest], float)
    wb.until(steps > ends[0] - 0.5, over=t)
    wb.until(choices > ends[1] - 0.5, over=k)
    drawn = wb.uniform(over=t) * 0.0 + steps
    v = wb.exp(drawn * 0.5) * choices
    at = wb.cast(ends[0] * 0.0 + 2.0, int)
    return {"y": wb.gather(v, t=at, k=at)}


@pytest.mark.parametrize(
    ("last", "highest", "dim"), [(2, 2, None), (4, 3, None), (1, 2, "t"), (3, 1, "k")]
)
def test_a_read_is_checked_at_both_ends(last: int, highest: int, dim: str | None) -> None:
    root = wb.variant(one(last=last, highest=highest))
    ways = {
        "reference": lambda: Reference(root.program.equations).outputs(),
        "numpy": lambda: of_numpy(root),
        "native": lambda: of_native(root),
        "cuda": lambda: of_cuda(root),
    }
    for name, run in ways.items():
        if dim is None:
            np.testing.assert_allclose(run()["y"], 2 * np.e, rtol=1e-6, err_msg=name)
            continue
        with pytest.raises(WorkbenchError) as error:
            run()
        said = f"v is read at {dim} = 2, which is past the end of the episode"
        said = "does not exist: its episode ended before" if name == "reference" else said
        assert said in str(error.value), name


def test_a_step_of_each_kind_keeps_the_meaning_of_two_ends() -> None:
    program = crossed()
    expected = looped(program, 0.25, True)
    root = wb.variant(program)
    taken = {type(move.step): move.step for move in root.moves() if move.refusal is None}
    assert len(taken) > 5
    for step in taken.values():
        found = of_numpy(root.apply(step))
        for output, values in expected.items():
            np.testing.assert_allclose(
                found[output], values, rtol=1e-9, atol=1e-12, err_msg=f"{output} after {step}"
            )
