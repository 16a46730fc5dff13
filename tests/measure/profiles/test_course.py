"""The course of a run: lanes from a log, what is one span, memory, where places stand."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

import workbench as wb
from tests.native_runs import shared_cache
from workbench.algorithms import reinforce
from workbench.backends.timed.stamps import TimedIteration, TimedLaunch
from workbench.measure.profile import Profile
from workbench.measure.profiles import course as module
from workbench.measure.profiles.course import Course, Lane, Place, course
from workbench.transforms import Persist, Vectorize

START = Place("start", 0, 0, bytes=100)
OUTER = Place("i", 0, 0, is_loop=True)
INNER = Place("t", 1, 1, is_loop=True)
STEP = Place("step", 2, 1, bytes=700)
LEARN = Place("learn", 1, 2, bytes=300)
PLACES = (START, OUTER, INNER, STEP, LEARN)


def log(iterations: int, steps: int, long: float = 1.0) -> list[Any]:
    """A start; in each iteration so many steps, each as long, and learning, three times that."""
    entries: list[Any] = [TimedLaunch(0, 0.0, long)]
    now = long
    for i in range(iterations):
        entries.append(TimedIteration(0, i, now))
        for t in range(steps):
            entries.append(TimedIteration(1, t, now))
            entries.append(TimedLaunch(1, now, now + long))
            now += long
        entries.append(TimedLaunch(2, now, now + 3 * long))
        now += 3 * long
    return entries


def lanes(found: Course | None) -> dict[str, Lane]:
    assert found is not None
    return {lane.place.name: lane for lane in found.lanes}


def test_iterations_hold_what_is_launched_in_them_and_what_that_was_predicted_to_take() -> None:
    found = course(log(2, 2), PLACES, {0: 1.0, 1: 0.5, 2: 4.0})
    assert found is not None
    assert [lane.place.name for lane in found.lanes] == ["start", "i", "t", "step", "learn"]
    assert found.seconds == 6.0  # the second iteration may not be whole
    assert not found.whole
    by_name = lanes(found)

    def times(name: str) -> list[tuple[float, float, int]]:
        return [
            (round(s.begin * found.tick, 2), round(s.end * found.tick, 2), s.count)
            for s in by_name[name].spans
        ]

    assert times("i") == [(1.0, 6.0, 0)]
    assert times("t") == [(1.0, 2.0, 0), (2.0, 3.0, 1)]
    assert times("step") == [(1.0, 3.0, 2)]  # neighbours are one
    assert times("learn") == [(3.0, 6.0, 1)]
    (step,), (learn,), (outer,) = (by_name[n].spans for n in ("step", "learn", "i"))
    long = [(s.predicted or 0.0) * found.tick for s in (step, learn, outer)]
    assert long == pytest.approx([1.0, 4.0, 5.0])
    assert [lane.share for lane in found.lanes] == pytest.approx([1 / 6, 5 / 6, 2 / 6, 2 / 6, 0.5])


def test_what_is_not_predicted_has_no_outline_nor_have_the_iterations_around() -> None:
    by_name = lanes(course(log(2, 2), PLACES, {0: 1.0, 1: 0.5}))
    assert by_name["learn"].spans[0].predicted is None
    assert by_name["i"].spans[0].predicted is None
    assert by_name["t"].spans[0].predicted is not None


def test_no_more_than_a_few_iterations_are_shown() -> None:
    found = course(log(9, 2), PLACES, {})
    assert found is not None
    assert [span.count for span in lanes(found)["i"].spans] == [0, 1, 2]
    assert found.seconds == 1 + 3 * 5


def test_memory_is_that_of_what_runs() -> None:
    found = course(log(2, 2), PLACES, {})
    assert found is not None
    held = [(round(at * found.tick, 2), bytes_held) for at, bytes_held in found.held]
    assert held == [(0.0, 100), (1.0, 700), (3.0, 300)]


def test_a_long_run_has_few_spans_and_says_how_much_of_them_was_busy() -> None:
    entries = log(2, 5000)
    found = course(entries, PLACES, {})
    assert found is not None
    assert sum(len(lane.spans) for lane in found.lanes) <= module.MOST_SPANS
    (step,) = lanes(found)["step"].spans
    assert (step.count, step.busy) == (5000, pytest.approx(1.0))
    assert sum(span.end - span.begin for span in lanes(found)["t"].spans) <= module.MOST_TICKS


def test_only_the_longest_have_a_lane_of_their_own() -> None:
    places = tuple(Place(f"s{n}", 0, n, bytes=n) for n in range(40))
    entries = [TimedLaunch(n, float(n), n + 0.5 + n / 100) for n in range(40)]
    found = course(entries, places, {})
    assert found is not None
    names = [lane.place.name for lane in found.lanes]
    assert names == [f"s{n}" for n in range(16, 40)] + ["16 others"]
    assert sum(span.count for span in found.lanes[-1].spans) == 16


def test_nothing_that_was_launched_has_no_course() -> None:
    assert course([], PLACES, {}) is None
    assert course([TimedIteration(0, 0, 0.0)], PLACES, {}) is None


@pytest.mark.parametrize("threads", [1, 2])
def test_what_is_held_is_what_a_run_and_memory_tell(threads: int) -> None:
    variant = wb.variant(reinforce(hidden=(4,))).apply(Persist("b", 4))
    sizes = {"B": 21, "I": 2, "T": 4}
    with shared_cache():
        found = wb.profile(variant, "native", sizes, threads=threads, progress=False).course
    assert found is not None
    peak = variant.memory(sizes, "native", threads=threads).peak_bytes
    assert max(bytes_held for _, bytes_held in found.held) == peak["device"]


@pytest.fixture(scope="module", params=["numpy", "native"])
def profile(request: pytest.FixtureRequest) -> Profile:
    variant = wb.variant(reinforce(hidden=(4,)))
    step = Persist("b", 16) if request.param == "native" else Vectorize("b")
    with shared_cache():
        return wb.profile(
            variant.apply(step), request.param, {"B": 21, "I": 3, "T": 4}, progress=False
        )


def test_a_run_has_the_iterations_of_its_loops_and_all_that_it_launches(profile: Profile) -> None:
    found = profile.course
    assert found is not None and found.whole is False
    by_place = {(lane.place.is_loop, lane.place.name): lane for lane in found.lanes}
    outer = by_place[True, "i"].spans
    assert [span.count for span in outer] == [0, 1]
    assert all(one.end <= other.begin + 1 for one, other in pairwise(outer))
    assert max(bytes_held for _, bytes_held in found.held) > 0
    launched = {lane.place.name for lane in found.lanes if not lane.place.is_loop}
    rows = {row.name for row in profile.by("kernel" if profile.kernels else "statement")}
    assert {name for name in launched if not name.endswith("others")} <= rows
    inside = [p for p in profile.places if not p.is_loop and p.depth > 0]
    assert inside
    assert {entry.number for entry in profile.launches} <= {
        place.number for place in profile.places if not place.is_loop
    }
