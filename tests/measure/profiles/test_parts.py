"""Rows of a profile: their sums, shares of peaks, and which of them are shared out."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tests import by_hand as h
from workbench.backends.timed.peaks import Peaks
from workbench.measure.profiles.parts import (
    NO_SCOPE,
    PYTHON,
    Division,
    KernelTime,
    Part,
    scope_of,
)
from workbench.measure.profiles.rows import rows
from workbench.measure.profiles.table import Row

PARTS = (
    Part("k1", 0, "a", "acting", 1.0, 10, flops=6.0, bytes=30.0),
    Part("k1", 0, "b", "acting", 2.0, 10),
    Part("k1", 1, "b", "acting", 0.5, 20),
    Part("k2", 0, "b", "acting", 4.0, 5),
    Part("k2", 1, "c", "learning", 2.0, 7),
    Part(PYTHON, 0, PYTHON, PYTHON, 0.5, 3),
)
LAUNCHES = {"k1": 10, "k2": 5}


def found(what: str, peaks: Peaks | None = None) -> dict[str, Row]:
    return {row.name: row for row in rows(PARTS, what, peaks, LAUNCHES)}


@pytest.mark.parametrize(
    ("what", "seconds"),
    [
        ("kernel", {"k2": 6.0, "k1": 3.5, PYTHON: 0.5}),
        ("scope", {"acting": 7.5, "learning": 2.0, PYTHON: 0.5}),
        ("statement", {"b": 6.5, "c": 2.0, "a": 1.0, PYTHON: 0.5}),
    ],
)
def test_rows_add_up_their_parts_the_longest_first(what: str, seconds: dict[str, float]) -> None:
    made = found(what)
    assert {name: row.seconds for name, row in made.items()} == seconds
    assert list(made) == list(seconds)
    assert [row.share for row in made.values()] == [n / 10 for n in seconds.values()]


def test_rows_whose_entry_another_shares_are_approximate() -> None:
    assert {n: row.approximate for n, row in found("statement").items()} == {
        "a": True, "b": True, "c": False, PYTHON: False,
    }  # fmt: skip
    assert not any(row.approximate for what in ("kernel", "scope") for row in found(what).values())


def test_calls_of_a_kernel_are_its_launches_and_of_others_those_of_their_entries() -> None:
    assert {n: row.calls for n, row in found("kernel").items()} == {"k1": 10, "k2": 5, PYTHON: 3}
    assert found("statement")["b"].calls == 10 + 20 + 5
    assert found("scope")["acting"].calls == 10 + 20 + 5  # an entry of two statements once


def test_shares_of_peaks_are_of_the_rows_own_time() -> None:
    row = found("statement", Peaks(12.0, {1 << 14: 60.0}))["a"]
    assert (row.flops_share, row.bytes_share) == (0.5, 0.5)
    assert math.isnan(found("statement")["a"].flops_share)


NEAR, FAR = 1 << 14, 1 << 20
"""Levels of memory, of 100 and of 10 bytes in a second."""
MEMORY = Peaks(1.0, {NEAR: 100.0, FAR: 10.0})


def test_bytes_have_the_peak_of_memory_that_holds_what_a_launch_touches() -> None:
    parts = (
        Part("k1", 0, "a", "acting", 1e6, 20, bytes=9.0 * NEAR),
        Part("k1", 1, "b", "acting", 1e6, 20, bytes=1.0 * NEAR),
        Part("k2", 0, "b", "learning", 1e6, 1, bytes=10.0 * NEAR),
    )
    launches = {"k1": 10, "k2": 1}  # each touches as much as is near, and ten times that
    kernels = {row.name: row for row in rows(parts, "kernel", MEMORY, launches)}
    assert kernels["k1"].bytes_peak == pytest.approx(100.0)
    assert kernels["k2"].bytes_peak == pytest.approx(10.0)
    assert kernels["k2"].bytes_share == pytest.approx(10 * NEAR / 1e6 / 10.0)
    both = {row.name: row for row in rows(parts, "statement", MEMORY, launches)}["b"]
    seconds = NEAR / 100.0 + 10 * NEAR / 10.0
    assert both.bytes_share == pytest.approx(seconds / 2e6)
    assert both.bytes_peak == pytest.approx(11 * NEAR / seconds)


def test_where_there_are_no_kernels_an_execution_touches_its_bytes() -> None:
    part = Part("", 0, "a", "acting", 1.0, 4, bytes=4.0 * NEAR)
    assert rows([part], "statement", MEMORY, {})[0].bytes_peak == pytest.approx(100.0)
    assert rows([replace(part, calls=3)], "statement", MEMORY, {})[0].bytes_peak == 10.0


def test_threads_share_what_is_touched_and_nearer_memory_is_no_slower() -> None:
    shared = Peaks(1.0, {NEAR: 100.0, FAR: 110.0}, threads=2)
    assert shared.bytes_per_second(2 * NEAR) == shared.nearest_bytes_per_second == 220.0
    two = Peaks(1.0, {NEAR: 100.0, FAR: 10.0}, threads=2)
    assert two.bytes_per_second(2 * NEAR) == two.nearest_bytes_per_second == 200.0
    assert two.bytes_per_second(2 * NEAR + 2) == two.farthest_bytes_per_second == 20.0
    assert two.bytes_per_second(1e12) == 20.0


@pytest.mark.parametrize(("inside", "uncertain"), [(1.14, False), (1.16, True), (0.84, True)])
def test_a_division_is_uncertain_from_15_percent_on(inside: float, uncertain: bool) -> None:
    assert KernelTime("k", 1, 3.0, Division(1.0, inside)).uncertain is uncertain
    assert not KernelTime("k", 1, 3.0).uncertain


@pytest.mark.parametrize(
    ("scope", "phase", "counted"),
    [
        (("environment",), "acting", "environment"),
        (("policy", "environment"), "acting", "environment"),
        (("policy",), "acting", "acting"),
        ((), "learning", "learning"),
        (("loss", "actor"), "", "loss"),
        ((), "", NO_SCOPE),
    ],
)
def test_a_statement_counts_to_the_environment_its_phase_or_its_scope(
    scope: tuple[str, ...], phase: str, counted: str
) -> None:
    statement = h.statement("x", [h.n], 1.0, {"n": (0, h.N)})
    assert scope_of(replace(statement, scope=scope, phase=phase)) == counted


def test_rows_that_share_an_uncertain_kernel_say_so_and_have_no_share_of_a_peak() -> None:
    """One alone in its kernel is as long as that, however it would be divided."""
    together = [Part("k", n, f"s{n}", "", 1.0, 1, 8.0, 4.0) for n in (1, 2)]
    found = rows(
        [*together, Part("l", 1, "s3", "", 1.0, 1, 8.0, 4.0)], "statement", MEMORY, {}, "kl"
    )
    unsure = {row.name: row for row in found if row.uncertain}
    assert set(unsure) == {"s1", "s2"}
    assert unsure["s1"].seconds_text == "1 s?"
    assert all(
        math.isnan(row.flops_share) and math.isnan(row.bytes_share) for row in unsure.values()
    )
