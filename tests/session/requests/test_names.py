"""The names that Python gives variants: those of comparisons, of workbenches, of variables."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.programs import leaky_sum
from tests.session.shown import Shown
from workbench.session.requests.notebook_variables import Following
from workbench.variants.variant import Variant

ROOT = wb.variant(leaky_sum())
B = ROOT.apply(wb.transforms.Vectorize("b"))
FOLDED = B.apply(wb.transforms.Contract("x"))


@pytest.fixture
def following(shown: Shown) -> Following:
    return Following(shown.view.sessions)


def names(shown: Shown) -> dict[str, str]:
    """The names, by steps."""
    tree = shown.session.tree
    return {", ".join(map(str, tree[key].steps)): name for key, name in tree.names.items()}


def compared(**variants: Variant) -> wb.Comparison:
    return wb.compare(variants, "numpy", repeats=2, progress=False)


def test_a_comparison_names_its_variants_which_join_the_tree(
    shown: Shown, following: Following
) -> None:
    following.after_cell({"_": compared(plain=ROOT, fast=B)}, None)
    assert names(shown) == {"": "plain", "Vectorize('b')": "fast"}
    assert shown.session.tree.current == shown.root


def test_a_name_goes_to_the_variant_that_was_given_it_last(
    shown: Shown, following: Following
) -> None:
    following.after_cell({"_": compared(fast=B)}, None)
    following.after_cell({"_": compared(fast=FOLDED)}, None)
    assert names(shown) == {"Vectorize('b'), Contract('x')": "fast"}


def test_a_list_names_nothing(shown: Shown, following: Following) -> None:
    found = wb.compare([ROOT, B], "numpy", repeats=2, progress=False)
    following.after_cell({"_": found}, None)
    assert names(shown) == {} and found.named == {}


def test_the_users_own_name_stays(shown: Shown, following: Following) -> None:
    shown.session.adopt([B])
    shown.session.rename(B.key, "mine")
    following.after_cell({"fast": B, "_": compared(quick=B)}, None)
    assert names(shown) == {"Vectorize('b')": "mine"}


def test_a_variable_names_its_variant_unless_a_comparison_does(
    shown: Shown, following: Following
) -> None:
    following.after_cell({"program": ROOT.program, "fast": B}, None)
    assert names(shown) == {"Vectorize('b')": "fast"}
    following.after_cell({"fast": B, "_": compared(quick=B)}, None)
    assert names(shown) == {"Vectorize('b')": "quick"}


def test_a_variable_that_takes_step_after_step_is_no_name(
    shown: Shown, following: Following
) -> None:
    following.after_cell({"v": ROOT}, None)
    following.after_cell({"v": B}, None)
    assert names(shown) == {}
    following.after_cell({"w": B}, None)
    following.after_cell({"w": FOLDED}, None)
    assert names(shown) == {}


def test_a_variable_that_tells_only_what_it_is_names_nothing(
    shown: Shown, following: Following
) -> None:
    following.after_cell({"variant": B, "program": FOLDED.program}, None)
    assert names(shown) == {}


def test_a_variable_that_is_bound_anew_takes_its_name_along(
    shown: Shown, following: Following
) -> None:
    other = ROOT.apply(wb.transforms.Contract("x"))
    following.after_cell({"fast": B}, None)
    following.after_cell({"fast": other}, None)
    assert names(shown) == {"Contract('x')": "fast"}
