"""Where a running program is, seen from another thread."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

import workbench as wb
from workbench.algorithms import reinforce
from workbench.backends import get
from workbench.session.running import SAMPLE, Place, Sampler

PROGRAM = reinforce(B=2, I=40, T=30, hidden=(4,))
VECTORIZED = wb.variant(PROGRAM).apply(wb.transforms.Vectorize("b"))


def watched(
    run: Callable[[], object],
    enough: Callable[[list[Place]], object] = bool,
) -> list[Place]:
    """What was seen of a run, repeated until that is enough."""
    places: list[Place] = []
    with Sampler(places.append):
        while not enough(places):
            run()
    return places


@pytest.mark.parametrize("check_finite", [False, True])
def test_a_run_is_seen_with_its_statements_and_loops(check_finite: bool) -> None:
    places = watched(
        lambda: wb.run(VECTORIZED, progress=False, check_finite=check_finite),
        lambda places: any(place.loops for place in places),
    )
    first, *_, last = places
    assert (first.program, first.variant) == ("reinforce", VECTORIZED.key)
    assert not first.over
    assert first.now
    assert set(first.now) <= set(first.shares) <= {s.name for s in VECTORIZED.program.statements}
    assert sum(first.shares.values()) == pytest.approx(1.0)
    (name, done, count), *inner = next(place.loops for place in places if place.loops)
    assert (name, count) == ("i", 40)
    assert 0 <= done < 40
    assert all((loop, total) == ("t", 30) and 0 <= at < 30 for loop, at, total in inner)
    assert last.over
    assert (last.now, last.loops) == ((), ())


def test_what_was_seen_running_is_over_when_another_runs() -> None:
    written = wb.variant(PROGRAM)
    for _ in range(4):
        places: list[Place] = []
        with Sampler(places.append):
            while not places:
                wb.run(written, progress=False)
            until = time.monotonic() + 2 * SAMPLE  # too short to be reported itself
            while time.monotonic() < until:
                wb.run(VECTORIZED, progress=False)
        running = ""
        for place in places:
            assert running in ("", place.variant)
            running = "" if place.over else place.variant
        assert running == ""


def test_a_program_run_by_a_backend_alone_is_no_variant() -> None:
    compiled = get("numpy").compile(VECTORIZED.program)
    first, *_ = watched(compiled.run)
    assert (first.program, first.variant) == ("reinforce", "")


def test_nothing_is_seen_where_nothing_runs() -> None:
    places: list[Place] = []
    sampler = Sampler(places.append)
    sampler.start()
    sampler.start()  # a cell in a cell
    sampler.stop()
    sampler.stop()
    assert places == []
