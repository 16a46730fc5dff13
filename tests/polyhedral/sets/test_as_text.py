"""A bound on isl's work holds whatever the work was when it was reached."""

from __future__ import annotations

from contextlib import suppress

import islpy as isl
import pytest

from workbench.errors import TooComplexError
from workbench.polyhedral.sets.as_text import limited

TEXT = "[T] -> { [i, j] : 0 <= i < T and 0 <= j < T and exists k : j = 3k + i }"
GIVEN_UP = "reading a set: too complex, given up after 5 operations"


def test_work_that_ends_while_a_text_is_read_is_too_complex() -> None:
    with pytest.raises(TooComplexError, match=GIVEN_UP), limited("reading a set", 5):
        isl.Set(TEXT)


def test_an_answer_of_work_that_was_given_up_is_no_answer() -> None:
    with (
        pytest.raises(TooComplexError, match=GIVEN_UP),
        limited("reading a set", 5),
        suppress(isl.Error),  # as code does for which an error of isl's means something
    ):
        isl.Set(TEXT)


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(isl.Error, match="syntax error"), limited("reading a set"):
        isl.Set("{ [i : }")
    with pytest.raises(KeyError), limited("reading a set"):
        raise KeyError


def test_work_after_the_bounded_one_is_not_bounded() -> None:
    with suppress(TooComplexError), limited("reading a set", 5):
        isl.Set(TEXT)
    assert not isl.Set(TEXT).is_empty()
