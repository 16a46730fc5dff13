"""Where a running program is, seen from another thread."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

import workbench as wb
from tests.programs import leaky_sum
from tests.session.shown import Shown
from workbench.algorithms import reinforce
from workbench.backends import get
from workbench.session.processes.sampler import SAMPLE, PositionListener, RunPosition, Sampler
from workbench.session.protocol.messages import Running

PROGRAM = reinforce(B=2, I=40, T=30, hidden=(4,))
VECTORIZED = wb.variant(PROGRAM).apply(wb.transforms.Vectorize("b"))


def collecting(places: list[RunPosition]) -> PositionListener:
    return lambda place, variant: places.append(place)


def watched(
    run: Callable[[], object],
    enough: Callable[[list[RunPosition]], object] = bool,
) -> list[RunPosition]:
    """What was seen of a run, repeated until that is enough."""
    places: list[RunPosition] = []
    with Sampler(collecting(places)):
        while not enough(places):
            run()
    return places


@pytest.mark.parametrize("check_finite", [False, True])
def test_a_run_is_seen_with_its_statements_and_loops(check_finite: bool) -> None:
    places = watched(
        lambda: wb.run(VECTORIZED, progress=False, check_finite=check_finite, backend="numpy"),
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
    written, sizes = wb.variant(PROGRAM), {"I": 10}
    for _ in range(4):
        places: list[RunPosition] = []
        with Sampler(collecting(places)):
            while not places:
                wb.run(written, sizes=sizes, progress=False, backend="numpy")
            until = time.monotonic() + 2 * SAMPLE  # too short to be reported itself
            while time.monotonic() < until:
                wb.run(VECTORIZED, sizes=sizes, progress=False, backend="numpy")
        running = ""
        for place in places:
            assert running in ("", place.variant)
            running = "" if place.over else place.variant
        assert running == ""


def test_a_program_run_by_a_backend_alone_is_no_variant() -> None:
    compiled = get("numpy").compile(VECTORIZED.program)
    first, *_ = watched(compiled.run)
    assert (first.program, first.variant) == ("reinforce", "")


def test_a_program_is_seen_as_the_variant_that_the_automatic_recipe_made() -> None:
    first, *_ = watched(lambda: wb.run(PROGRAM, progress=False, backend="numpy"))
    assert first.variant == wb.optimize(PROGRAM, backend="numpy").key


def place(variant: str) -> RunPosition:
    return RunPosition(
        "leaky_sum", variant, {"s[t + 1]": 1.0}, ("s[t + 1]",), (("t", 1, 5),), 1.0, False
    )


def test_what_runs_joins_the_tree_and_is_named_while_what_is_shown_stays(
    shown: Shown,
) -> None:
    automatic = wb.optimize(leaky_sum(), backend="numpy")
    shown.session.join_running(automatic)
    shown.session.show_running(place(automatic.key))
    state = shown.view.newest
    (found,) = (one for one in state.variants if one.key == automatic.key)
    assert (found.name, found.named, state.current) == ("automatic", True, shown.root)
    heard = shown.view.until(lambda m: m if isinstance(m, Running) else None)
    assert heard.variant == automatic.key
    revision = shown.view.newest.revision
    shown.session.join_running(automatic)
    assert shown.view.newest.revision == revision


def test_a_second_automatic_variant_has_a_number(shown: Shown) -> None:
    for backend in ("numpy", "native"):
        shown.session.join_running(wb.optimize(leaky_sum(), backend=backend))
    named = [one.name for one in shown.view.newest.variants if one.named]
    assert named == ["automatic", "automatic 2"]


def test_a_step_that_runs_is_called_by_its_name(shown: Shown) -> None:
    variant = wb.variant(leaky_sum()).apply(wb.transforms.Vectorize("b"))
    shown.session.join_running(variant)
    assert [one.name for one in shown.view.newest.variants] == ["as written", "Vectorize('b')"]


def test_a_program_with_other_arguments_runs_as_no_variant_of_the_tree(shown: Shown) -> None:
    other = wb.optimize(leaky_sum(T=9), backend="numpy")
    shown.session.join_running(other)
    shown.session.show_running(place(other.key))
    assert [one.key for one in shown.view.newest.variants] == [shown.root]
    assert shown.view.until(lambda m: m if isinstance(m, Running) else None).variant == ""


def test_nothing_is_seen_where_nothing_runs() -> None:
    places: list[RunPosition] = []
    sampler = Sampler(collecting(places))
    sampler.start()
    sampler.start()  # a cell in a cell
    sampler.stop()
    sampler.stop()
    assert places == []
