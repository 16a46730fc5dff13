"""Profiling from a workbench: progress, the result in the state, what is refused and forced."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

from tests.session.shown import MEASURE, VECTORIZE, Shown
from workbench.backends import backends
from workbench.measure.profiles.parts import PYTHON
from workbench.session.outputs.page import state_file
from workbench.session.processes.measuring.profiler_client import ProfilerClient
from workbench.session.protocol.messages import Done, Failed
from workbench.session.state.saved_tree import saved_tree

PROFILE: dict[str, Any] = {
    "type": "profile", "backend": "numpy", "sizes": {}, "seed": 0, "dtype": "float32",
    "force": False, "here": False,
}  # fmt: skip
LARGE = PROFILE | {"sizes": {"B": 10**6, "T": 10**6}}
LONG = PROFILE | {"sizes": {"B": 100, "T": 2000}, "force": True}


def test_profiling_shows_progress_and_the_profile_is_in_the_state(shown: Shown) -> None:
    done = shown.view.ask(**PROFILE, variant=shown.root)
    assert isinstance(done, Done), done
    started = shown.view.state(lambda s: s.measuring is not None)
    assert started.measuring is not None
    assert (started.measuring.what, started.measuring.variants) == ("profile", (shown.root,))
    state = shown.view.state(lambda s: s.measuring is None and len(s.profiles) == 1)
    (profile,) = state.profiles
    assert (profile.variant, profile.backend, profile.label) == (shown.root, "numpy", "as written")
    program = shown.session.tree.variants[shown.root].program
    statements = {s.name for s in program.statements}
    assert {row.name for row in profile.statements} == statements | {PYTHON}
    assert len(shown.store.read()) == 0


def test_a_second_profile_of_the_same_run_takes_the_place_of_the_first(shown: Shown) -> None:
    key = shown.apply(shown.root, VECTORIZE)
    for variant in (shown.root, key, shown.root):
        assert isinstance(shown.view.ask(**PROFILE, variant=variant), Done)
    state = shown.view.newest
    assert [one.variant for one in state.profiles] == [key, shown.root]


def test_what_is_too_long_is_refused_with_its_time_until_it_is_tried_again(shown: Shown) -> None:
    assert isinstance(shown.view.ask(**LARGE, variant=shown.root), Done)
    refused = shown.view.newest.unprofiled
    assert refused is not None
    assert (refused.variant, refused.sizes, refused.too_long) == (
        shown.root, LARGE["sizes"], True,
    )  # fmt: skip
    assert "not profiled, since a run is predicted to take " in refused.error.sentence
    assert isinstance(shown.view.ask(**PROFILE, variant=shown.root), Done)
    assert shown.view.newest.unprofiled is None
    assert len(shown.view.newest.profiles) == 1


def test_a_missing_backend_is_no_matter_of_time(shown: Shown) -> None:
    missing = next(name for name, reason in backends().items() if reason is not None)
    assert isinstance(shown.view.ask(**PROFILE | {"backend": missing}, variant=shown.root), Done)
    refused = shown.view.newest.unprofiled
    assert refused is not None and not refused.too_long
    assert str(backends()[missing]) in refused.error.sentence


def test_a_stopped_profile_leaves_nothing_and_one_runs_at_a_time(shown: Shown) -> None:
    number = shown.view.say(**LONG, variant=shown.root)
    shown.view.state(lambda s: s.measuring is not None)
    for busy in (
        shown.view.ask(**PROFILE, variant=shown.root),
        shown.view.ask(**MEASURE, variants=[shown.root]),
    ):
        assert isinstance(busy, Failed)
        assert busy.error.sentence == "a profile is under way; stop it or wait for its end"
    assert isinstance(shown.view.ask(type="cancel"), Done)
    stopped = shown.view.until(lambda m: m if getattr(m, "id", 0) == number else None)
    assert isinstance(stopped, Done)
    state = shown.view.newest
    assert (state.measuring, state.profiles, state.unprofiled) == (None, (), None)
    assert isinstance(shown.view.ask(**PROFILE, variant=shown.root), Done)


def test_a_stopped_profile_keeps_its_finished_rounds(shown: Shown) -> None:
    sizes = {"B": 20, "T": 200}
    number = shown.view.say(**PROFILE | {"sizes": sizes, "force": True}, variant=shown.root)
    shown.view.state(lambda s: s.measuring is not None and s.measuring.done >= 1)
    client = shown.session.under_way._client
    assert isinstance(client, ProfilerClient)
    while client._finished is None:
        time.sleep(0.01)
    asked = time.monotonic()
    assert isinstance(shown.view.ask(type="cancel"), Done)
    assert time.monotonic() - asked < 2  # beside other work
    shown.view.until(lambda m: m if getattr(m, "id", 0) == number else None)
    state = shown.view.newest
    (profile,) = state.profiles
    assert (state.measuring, state.unprofiled) == (None, None)
    assert 1 <= profile.rounds < profile.planned
    assert f"stopped after {profile.rounds} of {profile.planned} rounds" in profile.summary
    assert profile.course is not None and profile.peaks is not None


def test_a_profile_made_here_is_stopped_too(shown: Shown) -> None:
    number = shown.view.say(**LONG | {"here": True}, variant=shown.root)
    shown.view.state(lambda s: s.measuring is not None and s.measuring.stage == "trying")
    shown.view.ask(type="cancel")
    shown.view.until(lambda m: m if getattr(m, "id", 0) == number else None)
    state = shown.view.newest
    assert (state.measuring, state.profiles, state.unprofiled) == (None, (), None)
    assert isinstance(shown.view.ask(**PROFILE | {"here": True}, variant=shown.root), Done)
    (profile,) = shown.view.newest.profiles
    assert profile.rounds == profile.planned


def test_a_profiling_process_that_dies_is_reported(shown: Shown) -> None:
    number = shown.view.say(**LONG, variant=shown.root)
    shown.view.state(lambda s: s.measuring is not None)
    assert shown.session.under_way._client is not None
    os.kill(shown.session.under_way._client._child.pid, signal.SIGKILL)
    shown.view.until(lambda m: m if getattr(m, "id", 0) == number else None)
    refused = shown.view.newest.unprofiled
    assert refused is not None and not refused.too_long
    assert refused.error.sentence.startswith("The process that profiled is gone: it was ended by ")


def test_a_removed_variant_takes_its_profiles_along(shown: Shown) -> None:
    key = shown.apply(shown.root, VECTORIZE)
    for variant in (shown.root, key):
        shown.view.ask(**PROFILE, variant=variant)
    shown.view.ask(type="remove", variant=key)
    assert [one.variant for one in shown.view.newest.profiles] == [shown.root]


def test_profiles_are_saved_and_loaded(shown: Shown) -> None:
    shown.view.ask(**PROFILE, variant=shown.root)
    (profile,) = shown.view.newest.profiles
    saved = saved_tree(state_file(shown.session.capsule()))
    assert saved.profiles == (profile,)
    shown.session.change(lambda values: values.replanted(values.tree))
    assert shown.session.state().profiles == ()
    shown.session.load(saved)
    shown.session.load(saved)
    assert shown.session.state().profiles == (profile,)
