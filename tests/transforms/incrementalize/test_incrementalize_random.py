"""Incrementalize's side conditions on random reductions: every accepted step computes the same.

A reduction is a range, a combiner and factors of what is combined. Most can be lifted; a test says
which, so that a step that refuses everything would fail too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from workbench.backends import get
from workbench.backends.reference.evaluator import Reference
from workbench.program.values import Program
from workbench.transforms import Incrementalize
from workbench.variants.variant import Variant, optimize, variant

SIZES = [{"T": 1}, {"T": 2}, {"T": 3, "B": 1}, {"T": 6}, {"T": 7, "B": 1}, {"T": 13, "B": 1}]


@dataclass(frozen=True)
class Case:
    """A reduction of `x[b, range]`."""

    kind: str
    """The range; past and later ones are empty for some instances, so they are summed only."""
    shift: int
    length: int
    combiner: str
    weight: str
    gamma: float
    factor: str
    tensor: bool


@st.composite
def reductions(draw: st.DrawFn) -> Case:
    """Ranges of every kind; weights where the combiner has them."""
    kinds = ("suffix", "prefix", "ahead", "behind", "around", "past", "later")
    kind = draw(st.sampled_from(kinds))
    empties = kind in ("past", "later")
    combiner = "sum" if empties else draw(st.sampled_from(("sum", "sum", "max", "min")))
    weights = ("none", "ahead", "discounted", "back", "two")
    factors = ("none", "data", "instance", "mask", "divided") if combiner == "sum" else ("none",)
    return Case(
        kind=kind,
        shift=draw(st.integers(0, 2)),
        length=draw(st.integers(2, 5)),
        combiner=combiner,
        weight=draw(st.sampled_from(weights)),
        gamma=draw(st.sampled_from((0.9, 0.5, 1.25))),
        factor=draw(st.sampled_from(factors)),
        tensor=draw(st.booleans()),
    )


@lru_cache(maxsize=256)
def written(case: Case) -> Program:
    """The program in the language: one reduction, named `found`."""

    @wb.program
    def reduction(B: int = 2, T: int = 7) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        shape = (2,) if case.tensor else ()
        x, y = wb.normal(shape=shape, over=(b, t)), wb.uniform(1.0, 2.0, over=(b, t))
        far = case.shift if case.combiner == "sum" else 0
        n, s = case.length, case.shift
        lower, upper = {
            "suffix": (wb.minimum(t + far, T), T),
            "prefix": (0, wb.maximum(t + 1 - far, 0)),
            "ahead": (t, wb.minimum(t + n, T)),
            "behind": (wb.maximum(t - n + 1, 0), t + 1),
            "past": (wb.maximum(t - n - far, 0), wb.maximum(t - far, 0)),
            "later": (wb.minimum(t + far, T), wb.minimum(t + far + n, T)),
            "around": (wb.maximum(t - s, 0), wb.minimum(t + n, T)),
        }[case.kind]
        seen = x[b, lower:upper]
        k = _range_of(seen)
        value = seen
        if case.factor == "data":
            value = value * y[b, lower:upper]
        powers = {
            "none": 1.0,
            "ahead": case.gamma ** wb.index(k - t),
            "discounted": case.gamma ** wb.index(k),
            "back": case.gamma ** wb.index(t - k),
            "two": case.gamma ** wb.index(k - t) * 0.75 ** wb.index(2 * k - 2 * t),
        }
        if case.weight != "none":
            value = powers[case.weight] * value
        value = {
            "instance": lambda v: v * y[b, t],
            "mask": lambda v: wb.where(y[b, t] > 1.5, v, 0.0),
            "divided": lambda v: -v / y[b, t],
        }.get(case.factor, lambda v: v)(value)
        return {"found": _combined(value, case.combiner, k)}

    return reduction()


def _range_of(x: Any) -> Any:
    from workbench.language.tracing.trace import current
    from workbench.polyhedral.expression import variable

    (name,) = (d for d in x.dims if current().dims[d].axis is not None)
    return variable(name)


def _combined(x: Any, combiner: str, k: Any) -> Any:
    from workbench.language.tracing.reductions import reduce

    return reduce(x, combiner, over=k)


def assert_agrees(program: Program, lifted: Variant, seed: int) -> None:
    """The lifted equations by the reference, and as run, against the root's by the reference."""
    compiled = [
        get("numpy").compile(v.program) for v in (lifted, optimize(lifted, backend="numpy"))
    ]
    for sizes in SIZES:
        wanted = Reference(program.equations, sizes, seed).array("found")
        found = [Reference(lifted.program.equations, sizes, seed).array("found")]
        found += [c.run(sizes, seed, "float64").outputs["found"] for c in compiled]
        scale = np.abs(wanted).max(initial=1.0)
        for values in found:
            np.testing.assert_allclose(values, wanted, rtol=1e-12, atol=1e-12 * scale)


def test_block_that_is_longer_than_the_dimension_computes_the_same() -> None:
    case = Case("prefix", 0, 2, "sum", "discounted", 0.9, "none", True)
    lifted = variant(written(case)).apply(Incrementalize("found", "t", 4))
    assert_agrees(written(case), lifted, 0)  # at T = 1 no block has the shape of x[b, 0:4]


@settings(max_examples=50)
@given(reductions(), st.sampled_from((None, 1, 2, 3, 4, 64)), st.integers(0, 3))
def test_lifted_reduction_computes_the_same(case: Case, block: int | None, seed: int) -> None:
    program = written(case)
    slides = case.kind not in ("suffix", "prefix")
    length = case.length + (case.shift if case.kind == "around" else 0)
    root = variant(program)
    step = Incrementalize("found", "t", block)
    refusal = root.check(step)
    if slides and block not in (None, length):
        assert refusal is not None and "which need blocks of" in refusal.sentence
        (repair,) = refusal.instead
        assert root.check(repair) is None
        return
    assert refusal is None, refusal
    lifted = root.apply(step)
    assert_agrees(program, lifted, seed)
