"""The identities of combiners: the values that change nothing, where combining starts."""

from __future__ import annotations


def identity(combiner: str, dtype: str) -> float | int | bool:
    """Return the identity of "sum", "max" or "min" among values of a dtype."""
    if combiner == "sum":
        return 0
    if dtype == "float":
        return float("-inf") if combiner == "max" else float("inf")
    if dtype == "bool":
        return combiner != "max"
    top = 1 << (31 if dtype == "int32" else 63)
    return -top if combiner == "max" else top - 1
