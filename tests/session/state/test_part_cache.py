"""Parts that are prepared, with a worker that does nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.programs import leaky_sum
from workbench.session.protocol.messages import Want
from workbench.session.state.part_cache import PartCache
from workbench.transforms import Vectorize
from workbench.variants.variant import Variant


class Idle:
    """Remembers which variants' moves were ordered and not dropped."""

    def __init__(self) -> None:
        self.orders: dict[int, str] = {}

    def order(self, task: str, variant: Variant, part: str, *rest: Any, **how: Any) -> int:
        self.orders[len(self.orders) + 1] = variant.key
        return len(self.orders)

    def drop(self, number: int) -> None:
        del self.orders[number]

    def hasten(self, number: int, urgency: str) -> None:
        assert number in self.orders


@pytest.mark.parametrize("is_waited_for", [False, True])
def test_moves_of_what_is_shown_no_more_are_left_to_who_waits(is_waited_for: bool) -> None:
    work, first = Idle(), Variant(leaky_sum())
    second = first.apply(Vectorize("b"))
    kept = PartCache(work, lambda: None)  # type: ignore[arg-type]
    kept.prepare_shown(first)
    if is_waited_for:
        kept.want(Want("want", 1, "leaky_sum", "moves", first.key, {}), first, hear)
    kept.prepare_shown(second)
    assert set(work.orders.values()) == ({first.key, second.key} if is_waited_for else {second.key})
    kept.forget(hear, 1)
    assert set(work.orders.values()) == {second.key}


def hear(message: Any) -> None:
    """A view that is not told anything here."""
