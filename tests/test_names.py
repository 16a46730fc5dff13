"""Names that nothing else has."""

from __future__ import annotations

from workbench.names import free, lengthened, unique


def test_free_name_is_the_wish_or_the_first_number_that_is_free() -> None:
    assert free("t", ()) == "t"
    assert free("t", {"t", "t_2", "t_4"}) == "t_3"
    assert free("t", ["t"], mark="") == "t2"


def test_unique_name_is_taken_from_then_on() -> None:
    taken: set[str] = set()
    assert [unique("x", taken) for _ in range(3)] == ["x", "x_2", "x_3"]
    assert taken == {"x", "x_2", "x_3"}


def test_lengthened_name_has_as_many_underscores_as_it_needs() -> None:
    assert lengthened("N", {"N", "N_"}) == "N__"
    assert lengthened("N", {"n": 1}) == "N"
