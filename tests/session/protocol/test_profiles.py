"""Profiles as views get them: rows, what is approximate, what is uncertain, what was predicted."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

import workbench as wb
from tests.native_runs import shared_cache
from tests.session.capsules.measured import profiles, variants
from workbench.algorithms import reinforce
from workbench.measure.profiles.parts import PYTHON
from workbench.session.protocol.capsule import plain
from workbench.session.protocol.profiles import profile_view
from workbench.session.protocol.reading import record
from workbench.session.protocol.state import ProfileRowView, ProfileView
from workbench.transforms import Persist


def by_name(rows: tuple[ProfileRowView, ...]) -> dict[str, ProfileRowView]:
    return {row.name: row for row in rows}


def test_rows_have_the_statements_that_they_compute_and_the_scope_of_most() -> None:
    view = profile_view(profiles(variants())[2])
    kernels = by_name(view.kernels)
    assert kernels["kernel_g"].statements == ("g", "reward")
    assert kernels["kernel_g"].scope == "acting"
    assert by_name(view.scopes)["learning"].statements == ("reward", "to_go")
    assert by_name(view.statements)[PYTHON].statements == ()
    for rows in (view.scopes, view.kernels, view.statements):
        assert math.isclose(sum(row.seconds for row in rows), view.seconds)
    assert (view.backend, view.threads, view.label) == (
        "native", 2, "Vectorize('b'), Contract()",
    )  # fmt: skip


def test_only_what_shares_an_uncertain_division_is_uncertain() -> None:
    view = profile_view(profiles(variants())[2])
    assert {row.name for row in view.statements if row.uncertain} == {"g", "reward"}
    assert {row.name for row in view.scopes if row.uncertain} == {"acting", "learning"}
    assert not any(row.uncertain for row in view.kernels)  # each was timed as one
    assert {row.name for row in view.statements if row.approximate} == {"g", "reward"}
    assert not any(row.approximate for row in view.kernels)


def test_what_was_predicted_stands_beside_what_has_no_other_row() -> None:
    numpy, _, native = profiles(variants())
    assert by_name(profile_view(numpy).scopes)["acting"].predicted == 0.002
    assert profile_view(numpy).predicted_seconds == pytest.approx(0.005)
    assert by_name(profile_view(native).kernels)["kernel_to_go"].predicted == 0.001
    first = native.parts[0]
    elsewhere = replace(native, parts=(*native.parts, replace(first, kernel="kernel_to_go")))
    rows = by_name(profile_view(elsewhere).kernels)
    assert (rows["kernel_g"].predicted, rows["kernel_to_go"].predicted) == (None, None)
    unknown = profile_view(replace(numpy, predicted={}))
    assert unknown.predicted_seconds is None
    assert {row.predicted for row in unknown.statements} == {None}


def test_the_same_run_has_the_same_name() -> None:
    first, second, _ = profiles(variants())
    same = replace(first, untimed_seconds=1.0, date="2027-01-01T00:00:00+00:00")
    assert profile_view(same).id == profile_view(first).id
    others = [second, replace(first, threads=2), replace(first, sizes={"B": 3, "T": 9})]
    assert len({profile_view(one).id for one in (first, *others)}) == 4


def test_a_profile_of_compiled_c_is_told_and_read_again() -> None:
    variant = wb.variant(reinforce(hidden=(4,))).apply(Persist("b", 16))
    with shared_cache():
        found = wb.profile(variant, "native", {"B": 21, "I": 2, "T": 4}, progress=False)
        said = variant.predict({"B": 21, "I": 2, "T": 4}, "native", threads=1)
    view = profile_view(found)
    text = json.dumps(plain(view), allow_nan=False)
    assert record("profile", json.loads(text), ProfileView) == view
    assert len(view.kernels) == len(found.by("kernel"))
    assert {row.name for row in view.scopes} >= {"acting", "learning", "environment"}
    assert sum(row.predicted or 0.0 for row in view.statements) == pytest.approx(
        view.predicted_seconds
    )
    assert view.predicted_seconds == pytest.approx(said.seconds)
