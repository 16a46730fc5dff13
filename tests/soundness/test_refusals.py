"""What is refused because of a dependence is wrong indeed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice

import pytest

import workbench as wb
from tests.programs import PROGRAMS
from tests.soundness.memory import Clobbered, Shared, clobbered
from tests.soundness.refusals import Met, is_wrong, refusals, waits_for_itself
from workbench.transforms import Contract, Vectorize
from workbench.transforms.base import REGISTRY

SMALL = [name for name in PROGRAMS if not name.startswith("small")]
ENOUGH = 20
"""Distinct refusals of each of these programs: more than 200 in all."""


@pytest.mark.parametrize("name", [n for n in SMALL if n not in ("shuffled", "statistics")])
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


def test_memory_used_in_turn_holds_what_is_read_next() -> None:
    program = wb.variant(PROGRAMS["leaky_sum"][0]()).apply(Contract("x", "t")).program
    sizes = {"B": 2, "T": 3}
    assert clobbered(Shared(program, sizes, {("x", 1): 1})) is None
    found = clobbered(Shared(program, sizes, {("s", 1): 1}))
    assert found == Clobbered("s[t+1]", (0, 0), "s", (0, 0), ("s", (0, 1)))
