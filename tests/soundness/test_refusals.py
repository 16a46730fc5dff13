"""What is refused because of a dependence is wrong indeed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice

import pytest

import workbench as wb
from tests.programs import PROGRAMS
from tests.soundness.early import comes_too_early
from tests.soundness.memory import Shared, clobbered
from tests.soundness.refusals import Met, is_wrong, refusals, waits_for_itself
from workbench.transforms import Swap, Vectorize
from workbench.transforms.step.transform import REGISTRY

ENOUGH = 4
"""Distinct refusals of each of these programs; `make soundness` judges a thousand."""
NAMES = ("leaky_sum", "returns", "n_step", "alignment", "repeated", "carried", "delayed")


@pytest.mark.parametrize("name", NAMES)
def test_what_is_refused_is_wrong_indeed(name: str) -> None:
    judged: Counter[bool | None] = Counter()
    for met in islice(refusals([name], sorted(REGISTRY), 0), ENOUGH):
        wrong = is_wrong(met)
        assert wrong is not False, str(met)
        judged[wrong] += 1
    assert judged[True] == ENOUGH


def test_an_order_that_is_legal_is_not_called_wrong() -> None:
    root = wb.variant(PROGRAMS["leaky_sum"][0]())
    sizes = {"B": 2, "T": 3}
    refused = root.check(Vectorize("t", ("s[t+1]",)))
    assert refused is not None and refused.witness is not None
    assert is_wrong(Met("leaky_sum", root.program, Vectorize("t", ("s[t+1]",)), refused))
    assert not waits_for_itself(root.program, Vectorize("t", ("x",)), sizes)
    assert not waits_for_itself(root.program, Vectorize("b"), sizes)
    late = replace(refused, attempted=root.apply(Vectorize("t", ("x",))).program)
    assert is_wrong(Met("leaky_sum", root.program, Vectorize("t", ("x",)), late)) is False


def test_copy_that_comes_early_brings_what_is_written_by_then() -> None:
    root = wb.variant(PROGRAMS["delayed"][0]())
    refused = root.check(Swap("x", prefetch=2))
    assert refused is not None and refused.witness is not None
    late = replace(refused.witness, statements=("x[t+2]", "x[t+2]"))
    for ahead in (0, 1, 2, 3):
        assert comes_too_early(root.program, late, ahead, {"T": 6}) == (ahead >= 2)
    first = replace(refused.witness, statements=("x[0]", "x[t+2]"))
    assert not comes_too_early(root.program, first, 3, {"T": 6})


def test_memory_used_in_turn_holds_what_is_read_next() -> None:
    program = PROGRAMS["delayed"][0]()
    assert clobbered(Shared(program, {"T": 5}, {("x", 0): 2})) is None
    found = clobbered(Shared(program, {"T": 5}, {("x", 0): 1}))
    assert found is not None
    assert (found.array, found.element, found.by) == ("x", (0,), ("x", (1,)))
