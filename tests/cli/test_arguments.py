"""How the text of an option becomes the value of an argument."""

import pytest

from workbench.cli.arguments import reader_of, written


@pytest.mark.parametrize(
    ("default", "text", "value"),
    [
        (1, "7", 7),
        (0.5, "1e-3", 1e-3),
        ("a", "b", "b"),
        ((1, 2), "3", (3,)),
        ((1, 2), "(3, 4)", (3, 4)),
        ([0.5], "1,2", [1.0, 2.0]),
        ((True,), "true,false", (True, False)),
        ((), "1,x", (1, "x")),
        (None, "[1, 2]", [1, 2]),
        (None, "word", "word"),
    ],
)
def test_value_is_read_like_its_default(default: object, text: str, value: object) -> None:
    assert reader_of("name", default)[0](text) == value


def test_default_is_written_as_one_types_it() -> None:
    assert [written(x) for x in ((64, 64), 0.99, (), "x")] == ["64,64", "0.99", '""', "x"]
