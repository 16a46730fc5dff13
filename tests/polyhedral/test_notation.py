"""Schedule trees survive their text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.polyhedral.notation import parse
from workbench.errors import ProgramError
from workbench.polyhedral.tree import Leaf, Loop, Tree, sequence, statements, text

names = st.sampled_from(["a", "policy.hidden_1", "state_2", "γ", "update"])
leaves: st.SearchStrategy[Tree] = st.builds(Leaf, names)


def loops(children: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    """Loops and sequences over smaller trees; only sequential loops have a direction and shifts."""

    def shifted(tree: Tree, backwards: bool, by: int) -> Tree:
        first = next(iter(statements(tree)))
        return Loop("t", tree, "loop", backwards, ((first, by),) if by else ())

    return st.one_of(
        st.builds(shifted, children, st.booleans(), st.integers(-3, 3)),
        st.builds(lambda tree: Loop("b", tree, "axis"), children),
        st.builds(
            lambda tree, size, chunks: Loop(
                "t", tree, tile=size, apart=chunks > 0, chunks=max(chunks, 1)
            ),
            children,
            st.integers(2, 99),
            st.integers(0, 3),
        ),
        st.builds(sequence, st.lists(children, min_size=1, max_size=3)),
    )


@given(st.recursive(leaves, loops, max_leaves=8))
def test_tree_survives_its_text(tree: Tree) -> None:
    assert parse(text(tree)) == tree


def test_blocks_say_their_size() -> None:
    tree = Loop("t", Loop("t", Leaf("a"), "axis"), backwards=True, tile=64)
    assert text(tree) == "for t in blocks of 64 reversed:\n    axis t:\n        a\n"
    assert parse(text(tree)) == tree


def test_blocks_that_are_apart_say_so() -> None:
    tree = Loop("t", Loop("t", Leaf("a"), "axis"), offsets=(("a", 1),), tile=64, apart=True)
    assert text(tree).startswith("for t in blocks of 64, in any order:    # shifted: a +1\n")
    assert parse(text(tree)) == tree
    dealt = Loop("t", Leaf("a"), tile=64, apart=True, chunks=16)
    assert text(dealt) == "for t in blocks of 64, in any order, at most 16 chunks:\n    a\n"
    assert parse(text(dealt)) == dealt


@pytest.mark.parametrize(
    "loop", [{"tile": None}, {"tile": 4, "kind": "axis"}, {"tile": 4, "backwards": True}]
)
def test_only_blocks_without_a_direction_are_apart(loop: dict[str, Any]) -> None:
    with pytest.raises(AssertionError, match="t is apart"):
        Loop("t", Leaf("a"), apart=True, **loop)


def test_blank_lines_do_not_matter() -> None:
    assert parse("\nfor t:\n\n    a\n") == Loop("t", Leaf("a"))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "the schedule ends where a statement or a loop was expected"),
        ("for t:\n", "the schedule ends where a statement or a loop was expected"),
        ("for t:\na\n", "line 2 of the schedule, 'a': expected `for DIM:`"),
        ("a\n        b\n", "line 2 of the schedule, '        b': expected"),
        ("  a\n", "line 1 of the schedule, '  a': expected"),
        ("while t:\n    a\n", "line 1 of the schedule, 'while t:': expected"),
    ],
)
def test_broken_text_is_refused_with_its_line(source: str, message: str) -> None:
    with pytest.raises(ProgramError) as caught:
        parse(source)
    assert caught.value.message.startswith(message)
