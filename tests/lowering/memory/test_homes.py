"""Where arrays live: outside the loops over what is stored whole of them, inside where they are
folded.
"""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from workbench.lowering.loops.records import Allocate, For, Record
from workbench.lowering.lower import lower
from workbench.program.sizes import resolve
from workbench.transforms import Contract


@wb.program
def squares(B: int = 3, T: int = 5) -> dict[str, Any]:
    """One loop over t in one over b, with what is used where it is made."""
    b, t = wb.dims(b=B, t=T)
    x = wb.recurrent("x", (), over=(b, t))
    x[b, 0] = wb.uniform(over=b)
    middle = wb.sin(x)
    x[b, t + 1] = middle * 0.5
    return {"last": x[b, T]}


def allocated_in(variant: wb.Variant, array: str) -> list[str]:
    """The loops inside which an array's memory is asked for."""
    loops = lower(variant.program)
    name = loops.stored[array].buffer.name

    def search(body: tuple[Record, ...], around: list[str]) -> list[str] | None:
        for record in body:
            if isinstance(record, Allocate) and record.buffer.name == name:
                return around
            if isinstance(record, For):
                found = search(record.body, [*around, record.dim])
                if found is not None:
                    return found
        return None

    found = search(loops.body, [])
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("steps", "home", "loops"),
    [
        ((), 0, []),
        ((Contract("middle", "t"),), 0, []),
        ((Contract("middle", "b"),), 1, ["b"]),
        ((Contract("middle", "b"), Contract("middle", "t")), 2, ["b"]),
    ],
)
def test_array_lives_outside_the_loops_over_what_is_stored_whole(
    steps: tuple[Contract, ...], home: int, loops: list[str]
) -> None:
    variant = wb.variant(squares())
    for step in steps:
        variant = variant.apply(step)
    assert lower(variant.program).stored["middle"].level == home
    assert allocated_in(variant, "middle") == loops
    for sizes in ({"B": 1, "T": 1}, {"B": 4, "T": 7}):
        done = wb.run(variant, sizes=sizes, progress=False, backend="numpy")
        known = resolve(variant.program.equations, sizes)
        assert done.peak_bytes == lower(variant.program).peak(known, "float32")
