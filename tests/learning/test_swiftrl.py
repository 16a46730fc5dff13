"""Policies that SwiftRL's variants learn from logs, by exact evaluation on
Gymnasium's tables. `swiftrl.jsonl` has what runs reached (`python -m tests.learning.swiftrl`).
"""

from __future__ import annotations

import pytest

from tests.learning.swiftrl import LEAST, NEAR, RUNS, Run, score

pytest.importorskip("gymnasium")


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_policy_is_as_good_as_the_best_nearly(run: Run) -> None:
    found = score(run)
    assert found["score"] >= LEAST[run.environment]
    if run.numbers == "INT32":
        floats = score(run._replace(numbers="FP32"))
        assert abs(found["score"] - floats["score"]) <= NEAR[run.environment]
