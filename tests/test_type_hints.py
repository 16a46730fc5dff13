"""Type hints as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Optional

import pytest

from workbench.type_hints import Hint, field_hints, fits, read_hint

TEXT, NUMBER = Hint("text", str), Hint("whole number", int)


@dataclass(frozen=True)
class Point:
    x: float
    of: Annotated[str, "a name"] | None = None
    way: Literal["up", "down"] = "up"


@pytest.mark.parametrize(
    ("hint", "read"),
    [
        (str, TEXT),
        (bool, Hint("truth", bool)),
        (Any, Hint("anything", Any)),
        (int | None, Hint("whole number", int, optional=True)),
        (Optional[str], Hint("text", str, optional=True)),  # noqa: UP045
        (Literal["a", 1], Hint("choice", choices=("a", 1))),
        (tuple[str, ...], Hint("list", tuple, (TEXT,))),
        (tuple[str, int], Hint("tuple", tuple, (TEXT, NUMBER))),
        (tuple[()], Hint("tuple", tuple)),
        (Mapping[str, int], Hint("mapping", Mapping, (TEXT, NUMBER))),
        (Point, Hint("record", Point)),
    ],
)
def test_a_hint_is_read(hint: Any, read: Hint) -> None:
    assert read_hint(hint) == read


@pytest.mark.parametrize("hint", [None, complex, int | str, list[int], [64, 64], "later"])
def test_a_hint_of_a_user_may_be_anything(hint: Any) -> None:
    assert read_hint(hint) == Hint("other", hint)


def test_fields_keep_their_marks_which_do_not_count_in_comparisons() -> None:
    hints = field_hints(Point)
    assert [hint.what for hint in hints.values()] == ["number", "text", "choice"]
    assert hints["of"] == Hint("text", str, optional=True)
    assert [hint.marked for hint in hints.values()] == [None, "a name", None]
    assert read_hint(tuple[tuple[Annotated[str, "deep"], int], ...]).marked == "deep"


@pytest.mark.parametrize(
    ("hint", "fitting", "others"),
    [
        (str, ["", "a"], [1, None, ("a",)]),
        (int, [0, -3], [1.0, True, "1"]),
        (float, [1, 1.5], [True, "1"]),
        (bool, [True], [1, None]),
        (str | None, ["a", None], [1]),
        (Literal["a", 1], ["a", 1], ["b", None, ["a"]]),
        (tuple[str, ...], [(), ("a", "b")], ["ab", ["a"], ("a", 1)]),
        (tuple[tuple[str, int], ...], [(), (("a", 1),)], [("a", 1), (("a", 1, 2),)]),
    ],
)
def test_a_value_fits_its_hint(hint: Any, fitting: list[Any], others: list[Any]) -> None:
    assert [fits(value, read_hint(hint)) for value in fitting] == [True] * len(fitting)
    assert [fits(value, read_hint(hint)) for value in others] == [False] * len(others)
