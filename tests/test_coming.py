"""Sequences whose elements come one by one."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import pytest

from workbench.coming import Coming, OnDemand


def counting(made: list[int], end: int = 3) -> Iterator[int]:
    for n in range(end):
        made.append(n)
        yield 10 * n


def test_elements_are_made_when_they_are_first_asked_for_and_once() -> None:
    made: list[int] = []
    coming = Coming(lambda: counting(made))
    first, second = iter(coming), iter(coming)
    assert (next(first), next(second), next(second)) == (0, 0, 10)
    assert made == [0, 1]
    assert list(first) == [10, 20]
    assert (len(coming), coming[-1], coming[1:], made) == (3, 20, (10, 20), [0, 1, 2])


def test_length_and_places_make_all() -> None:
    made: list[int] = []
    assert len(Coming(lambda: counting(made))) == 3
    assert made == [0, 1, 2]
    with pytest.raises(IndexError):
        Coming(lambda: counting(made))[3]


def test_error_comes_to_all_who_ask() -> None:
    def failing() -> Iterator[int]:
        yield 1
        raise ValueError("no second")

    coming = Coming(failing)
    for _ in range(2):
        elements = iter(coming)
        assert next(elements) == 1
        with pytest.raises(ValueError, match="no second"):
            next(elements)
    with pytest.raises(ValueError, match="no second"):
        len(coming)


def test_interrupted_sequence_is_made_anew_and_lacks_nothing() -> None:
    presses = [KeyboardInterrupt]

    def interrupted() -> Iterator[int]:
        yield 1
        if presses:
            raise presses.pop()
        yield 2

    coming = Coming(interrupted)
    with pytest.raises(KeyboardInterrupt):
        len(coming)
    assert list(coming) == [1, 2]


def test_file_has_them_all() -> None:
    assert pickle.loads(pickle.dumps(Coming(lambda: counting([])))) == (0, 10, 20)


def test_each_value_is_computed_once_when_it_is_asked_for() -> None:
    computed: list[int] = []

    def square(n: int) -> int:
        computed.append(n)
        return n * n

    squares = OnDemand({3: "c", 1: "a", 2: "b"}, square)
    assert list(squares) == [3, 1, 2] and len(squares) == 3 and 2 in squares
    assert computed == []
    assert squares[1] == 1 and squares[1] == 1
    assert computed == [1]
    assert dict(squares) == {3: 9, 1: 1, 2: 4}
    assert computed == [1, 3, 2]


def test_a_key_that_is_not_there_is_an_error_and_computes_nothing() -> None:
    nothing = OnDemand({"x": None}, lambda key: pytest.fail(f"{key} is computed"))
    with pytest.raises(KeyError, match="y"):
        nothing["y"]
    assert nothing.get("y") is None


def test_what_raised_is_computed_anew() -> None:
    tries = iter([0, 1])
    inverse = OnDemand({"x": None}, lambda key: 1 // next(tries))
    with pytest.raises(ZeroDivisionError):
        inverse["x"]
    assert inverse["x"] == 1
