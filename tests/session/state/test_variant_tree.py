from __future__ import annotations

import pytest

import workbench as wb
from tests.programs import leaky_sum
from workbench.errors import WorkbenchError
from workbench.session.state.variant_tree import planted

ROOT = wb.variant(leaky_sum())
B = ROOT.apply(wb.transforms.Vectorize("b"))
FOLDED = B.apply(wb.transforms.Contract("x"))


def test_a_tree_starts_with_a_variant_and_those_it_came_from() -> None:
    tree = planted(FOLDED)
    assert list(tree.variants) == [ROOT.key, B.key, FOLDED.key]
    assert (tree.root, tree.current, tree.shown) == (ROOT.key, FOLDED.key, FOLDED)
    assert FOLDED.lineage == (ROOT, B, FOLDED)


def test_a_variant_joins_with_what_it_came_from_and_once() -> None:
    tree = planted(ROOT).with_variant(FOLDED)
    assert list(tree.variants) == [ROOT.key, B.key, FOLDED.key]
    assert tree.with_variant(B) is tree
    assert tree.current == ROOT.key


def test_what_is_removed_takes_along_what_came_from_it() -> None:
    tree = planted(FOLDED).renamed(FOLDED.key, "fast").without(B.key)
    assert list(tree.variants) == [ROOT.key]
    assert (tree.current, dict(tree.names)) == (ROOT.key, {})


def test_numbers_stay_when_another_is_removed() -> None:
    other = ROOT.apply(wb.transforms.Contract("x"))
    tree = planted(FOLDED).with_variant(other)
    assert tree.numbers == {ROOT.key: 0, B.key: 1, FOLDED.key: 2, other.key: 3}
    less = tree.without(FOLDED.key)
    assert less.numbers == {ROOT.key: 0, B.key: 1, other.key: 3}
    assert less.with_variant(FOLDED).numbers[FOLDED.key] == 4


def test_a_name_is_given_and_taken_away() -> None:
    named = planted(B).renamed(B.key, "fast")
    assert named.names == {B.key: "fast"}
    assert named.renamed(B.key, "").names == {}


def test_a_name_is_refused_when_another_variant_has_it() -> None:
    named = planted(FOLDED).renamed(B.key, "fast")
    assert named.renamed(B.key, "fast").names == {B.key: "fast"}
    said = r"the variant with Vectorize\('b'\) is named 'fast' already; expected a name"
    with pytest.raises(WorkbenchError, match=said):
        named.renamed(FOLDED.key, "fast")
    with pytest.raises(WorkbenchError, match=said):
        named.renamed(ROOT.key, "fast")
    again = named.renamed(B.key, "").renamed(FOLDED.key, "fast")
    assert again.names == {FOLDED.key: "fast"}
    assert again.renamed(B.key, "").names == {FOLDED.key: "fast"}


def test_a_tree_is_refused_what_is_not_in_it() -> None:
    tree = planted(ROOT)
    with pytest.raises(WorkbenchError, match=f"no variant {B.key[:8]} in the tree any more"):
        tree.showing(B.key)
    with pytest.raises(WorkbenchError, match="program as written cannot be removed"):
        tree.without(ROOT.key)
    with pytest.raises(WorkbenchError, match="another program does not belong"):
        tree.with_variant(wb.variant(leaky_sum(B=5)))


def test_a_name_that_is_proposed_gets_a_number_where_it_is_taken_and_replaces_none() -> None:
    tree = planted(FOLDED).called(B.key, "automatic").called(FOLDED.key, "automatic")
    assert tree.names == {B.key: "automatic", FOLDED.key: "automatic 2"}
    assert tree.called(B.key, "other") is tree
