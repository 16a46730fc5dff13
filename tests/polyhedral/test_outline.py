"""Outlines: schedule trees with long lists cut."""

from __future__ import annotations

import pytest

from tests.polyhedral.notation import parse
from workbench.polyhedral.outline import outline

BODY = "".join(f"    {name}\n" for name in "abcde")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb\nfor t reversed:\n    c\n    d.x\n", "a\nb\nfor t reversed:\n    c\n    d.x\n"),
        (
            "net.a\nnet.b\nnet.c\nsum\nnet.d\naxis b:\n    x.a\n    x.b\n    y.c\n    y.d\n",
            "net.a\nnet.b\nnet.c\nsum\nnet.d\naxis b:\n    x.a … y.d    (4 statements)\n",
        ),
        (
            "for t in blocks of 8:    # shifted: a +1, b +1, c -2\n    a\n    b\n    c\n",
            "for t in blocks of 8:    # shifted: a, b +1, c -2\n    a\n    b\n    c\n",
        ),
        (
            "for t:    # shifted: a +1, b +1, c +2, d +1, e +1\n" + BODY,
            "for t:    # shifted: 4 statements +1, c +2\n" + BODY,
        ),
    ],
)
def test_outline_cuts_parts_and_shifts_that_are_many(text: str, shown: str) -> None:
    assert outline(parse(text)) == shown
