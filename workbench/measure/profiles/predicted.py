"""The predicted seconds of what a profile has parts of: statements, and what is between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.measure.profiles.parts import PYTHON
from workbench.measure.rounds.expected import Expectation
from workbench.program.accumulating import derived, owner


def predicted_parts(
    expectation: Expectation, sizes: Mapping[str, int], lengths: Mapping[str, Any]
) -> dict[str, float]:
    """Return the predicted seconds by statement and of what is in none, with episodes of these
    lengths; {} where the backend has no known constants. A statement and the start of points that
    it adds up are one.
    """
    prediction = expectation.prediction(sizes, lengths)
    if prediction is None:
        return {}
    known = derived(expectation.program).statement
    found = {PYTHON: prediction.besides.seconds}
    for name, share in prediction.by_statement.items():
        statement = owner(known[name])
        found[statement] = found.get(statement, 0.0) + share.seconds
    return found
