"""Arrays in one piece of memory, in an order that a later step turned round."""

from __future__ import annotations

from typing import Any

import workbench as wb
from tests.soundness.walks import Meaning
from workbench.transforms import Donate, Vectorize


@wb.program
def turned(I: int = 4) -> Any:
    """Each `late` is written when `early` is dead; under an axis all of `early` comes after it."""
    i = wb.dim(i=I)
    x = wb.recurrent("x", (), over=i)
    x[0] = 1.0
    early = x * 3.0
    shown = wb.exp(early)
    late = wb.cos(x)
    x[i + 1] = x + late
    return {"shown": shown, "x": x}


def test_memory_is_handed_on_in_the_order_in_which_it_is_held() -> None:
    meaning = Meaning("turned", turned(), {"I": 4})
    variant = meaning.root.apply(Donate("early", "late")).apply(Vectorize("i"))
    text = str(variant.loop_program)
    assert "allocate early: float(I,) in the memory of late" in text
    assert meaning.difference(variant) is None
