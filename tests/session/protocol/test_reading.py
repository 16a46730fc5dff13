from __future__ import annotations

from typing import Any

import pytest

from workbench.errors import WorkbenchError
from workbench.session.protocol.messages import Apply, Forget, Hello, Measure
from workbench.session.protocol.reading import number_of, read

APPLY = {"type": "apply", "id": 3, "workbench": "ppo", "variant": "k", "step": {"transform": "F"}}
MEASURE = {
    "type": "measure", "id": 4, "workbench": "ppo", "variants": ["a", "b"], "backend": "numpy",
    "sizes": {"B": 8}, "lengths": {}, "seed": 0, "dtype": "float32", "repeats": None,
    "force": False,
}  # fmt: skip


def test_a_request_is_read_with_all_its_fields() -> None:
    assert read({"type": "hello", "protocol": 1}) == Hello("hello", 1)
    assert read(APPLY) == Apply("apply", 3, "ppo", "k", {"transform": "F"})
    found = read(MEASURE)
    assert isinstance(found, Measure)
    assert (found.variants, found.sizes, found.repeats) == (("a", "b"), {"B": 8}, None)


def test_numbers_of_javascript_are_whole_where_they_should_be() -> None:
    assert read({"type": "forget", "id": 2.0}) == Forget("forget", 2)


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        ("text", "a request is an object; found 'text'"),
        ({"type": "aply"}, "unknown request 'aply': did you mean apply?"),
        ({"id": 2}, "unknown request None"),
        ({"type": "forget"}, "forget lacks id"),
        ({"type": "forget", "id": "2"}, "forget.id is '2'; expected a whole number"),
        ({"type": "forget", "id": True}, "forget.id is True; expected a whole number"),
        ({"type": "forget", "id": None}, "forget.id is None; expected a whole number"),
        (APPLY | {"step": []}, "apply.step is []; expected an object"),
        (APPLY | {"variant": 7}, "apply.variant is 7; expected a text"),
        (MEASURE | {"sizes": {"B": "8"}}, "measure.sizes.B is '8'; expected a whole number"),
        (MEASURE | {"variants": "ab"}, "measure.variants is 'ab'; expected a list"),
        (MEASURE | {"variants": ["a", 1]}, "measure.variants[1] is 1; expected a text"),
        (MEASURE | {"dtype": "half"}, "'half'; expected 'float32' or 'float64'"),
        (MEASURE | {"force": 0}, "measure.force is 0; expected true or false"),
    ],
)
def test_a_request_is_refused_when_it_is_not_one(request_: Any, sentence: str) -> None:
    with pytest.raises(WorkbenchError) as caught:
        read(request_)
    assert sentence in caught.value.message


def test_the_number_of_a_broken_request_is_found_where_there_is_one() -> None:
    assert number_of({"type": "?", "id": 5}) == 5
    assert number_of({"id": "x"}) is None
    assert number_of([]) is None
