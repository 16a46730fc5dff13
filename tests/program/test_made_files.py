"""What is made from a program is kept under all that it depends on."""

from __future__ import annotations

import itertools
from dataclasses import fields, replace
from typing import Any

import pytest

from tests.programs import leaky_sum
from workbench.polyhedral.tree import Leaf, Loop
from workbench.program.made_files import digest, made_of

BLOCKS = Loop("t", Leaf("x"), tile=8, apart=True, chunks=2)

OTHER: dict[str, Any] = {
    "dim": "u",
    "child": Leaf("y"),
    "kind": "axis",
    "backwards": True,
    "offsets": (("x", 1),),
    "tile": 4,
    "apart": False,
    "chunks": 4,
}
"""For each field of a loop another value."""


def of(loop: Loop) -> str:
    return digest(made_of(replace(leaky_sum(), schedule=loop)))


@pytest.mark.parametrize("name", [field.name for field in fields(Loop)])
def test_each_field_of_a_loop_is_part_of_it(name: str) -> None:
    plain = replace(BLOCKS, apart=False, chunks=1)
    first = {"apart": replace(BLOCKS, chunks=1), "chunks": BLOCKS}.get(name, plain)
    assert of(first) != of(replace(first, **{name: OTHER[name]}))


def test_it_is_the_same_for_equal_programs() -> None:
    for chunks, other in itertools.product((2, 4), repeat=2):
        one, two = replace(BLOCKS, chunks=chunks), replace(BLOCKS, chunks=other)
        assert (of(one) == of(two)) is (chunks == other)
