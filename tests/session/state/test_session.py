"""A workbench with its worker process, and what it says to views."""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args
from unittest.mock import patch

import pytest

import workbench as wb
from tests.programs import leaky_sum
from tests.session.listening import Listener
from tests.session.shown import CONTRACT, MEASURE, RECURRENCE, VECTORIZE, Shown
from workbench.program.values import Program
from workbench.session.picture.snapshot import snapshot
from workbench.session.processes import worker_tasks
from workbench.session.protocol.failures import sentence
from workbench.session.protocol.messages import (
    PROTOCOL,
    Done,
    Failed,
    Part,
    Rename,
    Saved,
    Show,
    StateMessage,
    Welcome,
)
from workbench.session.protocol.state import UntracedView
from workbench.session.requests.handlers import handle
from workbench.session.requests.sessions import Sessions
from workbench.session.state.part_cache import OF_SHOWN, first


def test_a_view_is_welcomed_with_every_workbench(shown: Shown) -> None:
    newcomer = Listener(shown.view.sessions)
    newcomer.say(type="hello", protocol=PROTOCOL)
    welcome, state = newcomer.heard
    assert isinstance(welcome, Welcome)
    assert welcome.workbenches == ("leaky_sum",)
    assert isinstance(state, StateMessage)
    assert (state.state.current, state.open) == (shown.root, False)
    assert [(s.name, s.default) for s in state.state.sizes] == [("B", 3), ("T", 5)]


def test_a_view_of_another_protocol_is_told_so(shown: Shown) -> None:
    newcomer = Listener(shown.view.sessions)
    newcomer.say(type="hello", protocol=0)
    welcome, failed = newcomer.heard
    assert isinstance(welcome, Welcome)
    assert isinstance(failed, Failed)
    assert failed.error.sentence == (
        "These views speak protocol 0 of the workbench, "
        f"Python speaks {PROTOCOL}: reload the page, "
        "and restart the Jupyter kernel after an update."
    )


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        ({"type": "sing"}, "unknown request 'sing'"),
        ({"type": "show"}, "show lacks variant"),
        ({"type": "show", "variant": "nowhere"}, "there is no variant nowhere in the tree"),
        ({"type": "show", "variant": "", "workbench": "lost"}, "there is no workbench 'lost'"),
        ({"type": "cancel"}, "there is nothing to stop"),
        ({"type": "change", "arguments": {}}, "no template of leaky_sum is watched"),
        ({"type": "load", "show": True, "text": "{"}, "this is no saved workbench: it is not JSON"),
        ({"type": "load", "show": True, "text": "{}"}, "it lacks protocol, release or state"),
        ({**MEASURE, "variants": []}, "there is nothing to measure"),
    ],
)
def test_a_request_is_refused_in_a_sentence(
    shown: Shown, request_: dict[str, Any], sentence: str
) -> None:
    failed = shown.view.ask(**request_)
    assert isinstance(failed, Failed)
    assert sentence in failed.error.sentence


def test_a_step_makes_a_variant_that_is_current(shown: Shown) -> None:
    key = shown.apply(shown.root, VECTORIZE)
    state = shown.view.state(lambda s: s.current == key)
    assert [v.name for v in state.variants] == ["as written", "Vectorize('b')"]
    assert shown.session.tree.shown == wb.variant(leaky_sum()).apply(wb.transforms.Vectorize("b"))
    assert shown.session.tree.shown.key == key


def test_a_refused_step_says_why(shown: Shown) -> None:
    failed = shown.view.ask(type="apply", variant=shown.root, step={"transform": "Vectorise"})
    assert isinstance(failed, Failed)
    assert "unknown transform 'Vectorise'" in failed.error.sentence
    key = shown.apply(shown.root, VECTORIZE)
    again = shown.view.ask(type="apply", variant=key, step=VECTORIZE)
    assert isinstance(again, Failed)
    root = wb.variant(leaky_sum())
    vectorized = root.apply(wb.transforms.Vectorize("b"))
    refusal = vectorized.check(wb.transforms.Vectorize("b"))
    assert refusal is not None
    assert again.error.sentence == refusal.sentence


def test_parts_are_computed_once_and_kept(shown: Shown) -> None:
    picture = shown.view.want("snapshot", shown.root)
    assert [node["array"] for node in picture["nodes"]] == ["x", "s", "s", "last"]
    shown.view.sessions.work.stop()
    os_free = shown.view.want("snapshot", shown.root)  # no worker is asked
    assert os_free == picture
    assert shown.view.sessions.work.pid is None


def test_a_new_variant_comes_with_its_picture(shown: Shown) -> None:
    """As work of its own, drawing would wait for whatever the worker turned to meanwhile."""
    done = shown.view.ask(type="apply", variant=shown.root, step=VECTORIZE)
    assert isinstance(done, Done), done
    made = shown.session.tree.shown
    assert done.variant == made.key != shown.root
    assert shown.session.kept.picture(made) == snapshot(made.program)


def test_every_part_that_can_be_asked_for_is_computed(shown: Shown) -> None:
    assert set(worker_tasks.PARTS) == set(get_args(Part))
    given = {"size": "T", "sizes": {}, "backend": "numpy", "dtype": "float32"}
    points = shown.view.want("sweep", shown.root, **given)["points"]
    assert 5 in [point["value"] for point in points]


def test_moves_come_in_batches_that_make_up_the_kept_part(shown: Shown) -> None:
    last = shown.view.want("moves", shown.root)
    assert last["moves"] == []
    (kept,) = (p for p in shown.session.capsule().parts if p.part == "moves")
    root = wb.variant(leaky_sum())
    assert {m["step"]["text"] for m in kept.value["moves"]} == {str(m.step) for m in root.moves()}
    late = Listener(shown.view.sessions, "leaky_sum")
    assert late.want("moves", shown.root) == kept.value


def test_a_part_with_bad_arguments_is_a_sentence_and_can_be_asked_for_again(shown: Shown) -> None:
    given = {"sizes": {"X": 3}, "backend": "numpy", "dtype": "float32"}
    for _ in range(2):
        failed = shown.view.want("cost", shown.root, **given)
        assert isinstance(failed, Failed)
        assert "X" in failed.error.sentence
    assert shown.view.want("cost", shown.root, **given | {"sizes": {"T": 3}})["seconds"] > 0


def test_prices_are_kept_beside_all_else_and_are_no_change_of_their_own(shown: Shown) -> None:
    run = {"sizes": {}, "backend": "numpy", "dtype": "float32"}
    for part, arguments in (*first({}), *OF_SHOWN):
        shown.view.want(part, shown.root, **arguments)
    heard: list[str] = []
    with patch("workbench.session.state.part_cache.MOST", 1):
        shown.session.listen(lambda: heard.append("changed"))
        steps = [{"dim": "b"}, {"dim": "b", "statements": ["x"]}]
        prices = [
            shown.view.want(
                "price", shown.root, step={"transform": "Vectorize", "arguments": step}, **run
            )
            for step in steps
        ]
        assert heard == []
    assert all(price["seconds"] > 0 for price in prices)
    kept = [p.part for p in shown.session.capsule().parts]
    assert kept.count("price") == 2 and OF_SHOWN[-1][0] in kept


def test_kernels_come_as_a_list_and_their_texts_one_by_one(shown: Shown) -> None:
    run = {"backend": "native", "dtype": "float32"}
    listed = shown.view.want("kernels", shown.root, **run)["kernels"]
    text = shown.view.want("kernel", shown.root, name=listed[0]["name"], **run)
    assert text["language"] == "c" and len(text["text"].splitlines()) == listed[0]["lines"]
    parts = [p.part for p in shown.session.capsule().parts]
    assert (parts.count("kernels"), parts.count("kernel")) == (1, 1)
    failed = shown.view.want("kernel", shown.root, name="none", **run)
    assert isinstance(failed, Failed)
    assert failed.error.sentence.startswith("unknown kernel 'none': ")


def test_what_is_forgotten_is_not_answered(shown: Shown) -> None:
    number = shown.view.say(type="want", part="moves", variant=shown.root, arguments={})
    shown.view.say(type="forget", id=number)
    before = len(shown.view.heard)
    shown.view.want("moves", shown.root, statements=["x"])
    answers = [m for m in shown.view.heard[before:] if getattr(m, "id", 0) == number]
    assert answers == []


def test_an_answer_goes_to_who_asked_and_the_state_to_all(shown: Shown) -> None:
    view, other = shown.view, Listener(shown.view.sessions, shown.view.workbench)
    key = shown.apply(shown.root, VECTORIZE)
    view.want("snapshot", key)
    assert isinstance(view.want("code", key, backend="none"), Failed)
    assert isinstance(view.ask(type="save", format="state"), Saved)
    assert isinstance(view.ask(type="remove", variant=shown.root), Failed)
    other.state(lambda s: s.current == key)
    assert {type(message) for message in other.heard} == {StateMessage}


def test_variants_are_shown_named_and_removed(shown: Shown) -> None:
    view, first = shown.view, shown.apply(shown.root, VECTORIZE)
    second = shown.apply(first, CONTRACT)
    view.ask(type="rename", variant=second, name=" small ")
    view.ask(type="show", variant=shown.root)
    state = view.newest
    assert state.current == shown.root
    assert [(v.name, v.named) for v in state.variants][2] == ("small", True)
    view.ask(type="remove", variant=first)
    assert [v.key for v in view.newest.variants] == [shown.root]
    failed = view.ask(type="remove", variant=shown.root)
    assert isinstance(failed, Failed)
    assert "cannot be removed" in failed.error.sentence


def test_a_name_that_another_variant_has_is_refused(shown: Shown) -> None:
    key = shown.apply(shown.root, VECTORIZE)
    shown.view.ask(type="rename", variant=shown.root, name="mine")
    failed = shown.view.ask(type="rename", variant=key, name=" mine ")
    assert isinstance(failed, Failed)
    assert failed.error.sentence == (
        "the program as written is named 'mine' already; expected a name that no other has"
    )
    assert [v.named for v in shown.view.newest.variants] == [True, False]


def test_a_branch_is_tried_on_another(shown: Shown) -> None:
    vectorized = shown.apply(shown.root, VECTORIZE)
    contracted = shown.apply(shown.root, CONTRACT)
    done = shown.view.ask(type="replay", variant=contracted, onto=vectorized, only_last=True)
    assert isinstance(done, Done)
    assert done.variant is not None
    steps = [str(step) for step in shown.session.tree[done.variant].steps]
    assert steps == ["Vectorize('b')", "Contract('x')"]
    again = shown.view.ask(type="replay", variant=vectorized, onto=done.variant, only_last=True)
    assert isinstance(again, Failed)
    assert "does not fit" in again.error.sentence
    written = shown.view.ask(type="replay", variant=shown.root, onto=vectorized, only_last=True)
    assert isinstance(written, Failed)
    assert "has no step" in written.error.sentence


def test_a_worker_that_dies_is_replaced_and_what_it_did_fails(shown: Shown) -> None:
    work = shown.view.sessions.work
    shown.view.want("snapshot", shown.root)
    assert work.pid is not None
    os.kill(work.pid, signal.SIGSTOP)  # it cannot answer
    number = shown.view.say(
        type="want", part="value", variant=shown.root,
        arguments={"array": "s", "coordinates": {"b": 0, "t": 1}, "sizes": {}, "seed": 0},
    )  # fmt: skip
    before = work.pid
    os.kill(work.pid, signal.SIGKILL)
    key = shown.apply(shown.root, VECTORIZE)
    assert work.pid != before
    assert shown.session.tree[key].step == wb.transforms.Vectorize("b")
    answer = shown.view.until(lambda m: m if getattr(m, "id", 0) == number else None)
    assert not isinstance(answer, Failed) or "is gone" in answer.error.sentence


@wb.program
def two(B: int = 3, T: int = 5) -> dict[str, Any]:
    """Two sums; without the second dimension there is one."""
    b, t = wb.dims(b=B, t=T)
    x = wb.normal(over=(b, t))
    return {"first": x.sum(over=t), "second": x.sum(over=b)}


@wb.program
def one(B: int = 3) -> dict[str, Any]:
    """What is left of it."""
    b = wb.dim(b=B)
    return {"first": wb.normal(over=b) * 2.0}


def test_a_program_traced_again_takes_the_steps_that_fit(
    sessions: Sessions, tmp_path: Path
) -> None:
    shown = Shown(sessions, tmp_path, two())
    first = shown.apply(shown.root, VECTORIZE)
    shown.view.ask(type="rename", variant=first, name="over b")
    shown.apply(first, RECURRENCE)
    shown.session.redefine(wb.variant(named(one(), "two")))
    state = shown.view.state(lambda s: s.recipe_error is not None)
    assert state.recipe_error is not None
    assert state.recipe_error.sentence.startswith(
        "Vectorize('t') does not fit any more and is left out with what came of it: unknown dim t"
    )
    assert [v.name for v in state.variants] == ["as written", "over b"]
    keys = {v.key for v in state.variants}
    assert {part.variant for part in shown.session.kept.saved()} <= keys  # what was, is let go
    assert state.current == state.variants[1].key
    assert state.measurements == ()


@wb.program
def decay(B: int = 3) -> dict[str, Any]:
    """Another program, whose dim has the same name."""
    b = wb.dim(b=B)
    start = wb.uniform(over=b)
    return {"left": wb.exp(-start)}


def test_another_program_of_the_name_says_whose_steps_it_takes(
    sessions: Sessions, tmp_path: Path
) -> None:
    shown = Shown(sessions, tmp_path, two())
    shown.apply(shown.root, VECTORIZE)
    shown.session.redefine(wb.variant(named(decay(), "two")))
    state = shown.view.state(lambda s: s.taken_over)
    assert state.taken_over == (
        "The steps are those of another program that was called two before: of its "
        f"{len(two().statements)} statements this one has 0."
    )
    assert [v.name for v in state.variants] == ["as written", "Vectorize('b')"]
    shown.session.adopt([wb.variant(named(decay(), "two"))])  # it is worked on: it is known by now
    assert shown.view.newest.taken_over == ""


def test_an_edited_program_takes_its_own_steps_without_a_word(
    sessions: Sessions, tmp_path: Path
) -> None:
    shown = Shown(sessions, tmp_path, decay())
    shown.apply(shown.root, VECTORIZE)
    edited = wb.variant(decay(B=7))
    shown.session.redefine(edited)
    state = shown.view.state(lambda s: s.root == edited.key and s.current != s.root)
    assert [v.name for v in state.variants] == ["as written", "Vectorize('b')"]
    assert state.taken_over == ""


def test_an_error_stays_until_the_program_is_there_again(shown: Shown) -> None:
    error = UntracedView("leaky_sum", "cell 3", sentence("no such dimension"))
    shown.session.fail(error)
    assert shown.view.newest.error == error
    assert shown.view.newest.root == shown.root
    shown.session.redefine(wb.variant(leaky_sum()))
    assert shown.view.newest.error is None


def test_requests_from_many_threads_leave_one_consistent_tree(shown: Shown) -> None:
    key = shown.apply(shown.root, VECTORIZE)

    def clicks(name: str) -> None:
        for n in range(50):
            handle(shown.session, Rename("rename", n, "leaky_sum", key, f"{name}{n}"), unheard)
            handle(shown.session, Show("show", n, "leaky_sum", shown.root), unheard)

    threads = [threading.Thread(target=clicks, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for _ in range(20):
        shown.session.adopt([shown.session.tree[key]])
    for thread in threads:
        thread.join()
    shown.view.ask(type="show", variant=key)
    states = [m.state for m in shown.view.heard if isinstance(m, StateMessage)]
    assert len({state.revision for state in states}) == len(states)
    state = shown.view.newest
    assert state.revision == shown.session.values.revision
    assert (state.current, len(state.variants)) == (key, 2)
    assert state.variants[1].name[1:] == "49"


def unheard(message: object) -> None:
    """A view that does not listen."""


def named(program: Program, name: str) -> Program:
    return replace(program, equations=replace(program.equations, name=name))
