"""The check against the reference: what it takes, what it finds, and what it says."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.environments.playing import Clock, choice, restarting
from tests.programs import PROGRAMS, automatic
from workbench.backends.numpy import NumPyBackend
from workbench.environments import Gymnasium
from workbench.measure.checking.check import check
from workbench.measure.checking.report import Check, from_json
from workbench.measure.compare import compare
from workbench.program.bodies import Call, Literal
from workbench.program.values import Program
from workbench.transforms import Contract, Vectorize
from workbench.variants.variant import Variant

NEAR = 1e-10
"""A distance between a draw and its threshold that float32 cannot see."""


@wb.program
def near_tie(T: int = 6, distance: float = NEAR) -> dict[str, Any]:
    """A draw against a threshold a little above it: in float32 they are equal."""
    t = wb.dim(t=T)
    draw = wb.uniform(over=t)
    threshold = draw + distance
    taken = threshold <= draw
    gone = wb.recurrent("gone", (), over=t)
    gone[0] = 0.0
    gone[t + 1] = 0.5 * gone + wb.where(taken, 1.0, -1.0)
    return {"gone": gone, "threshold": threshold}


def broken(program: Program, operation: str, other: str) -> Variant:
    """A variant that a wrong step would leave: one operation has become another."""

    def changed(body: Any) -> Any:
        if not isinstance(body, Call):
            return body
        name = other if body.operation == operation else body.operation
        return replace(body, operation=name, arguments=tuple(changed(a) for a in body.arguments))

    statements = tuple(replace(s, body=changed(s.body)) for s in program.statements)
    assert statements != program.statements
    wrong = replace(program, equations=replace(program.equations, statements=statements))
    return Variant(wrong, wb.variant(program), Vectorize(f"{operation} for {other}"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_variants_of_the_small_programs_pass(name: str) -> None:
    root = wb.variant(PROGRAMS[name][0]())
    for variant in (root, automatic(name)):
        for dtype in ("float64", "float32"):
            found = check(variant, "numpy", dtype)
            assert found.passed, found
            assert found.worst <= 1.0
            assert [d.name for d in found.compared] == [o.name for o in root.program.outputs]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_variant_that_computes_something_else_fails_with_an_element(dtype: str) -> None:
    found = check(broken(PROGRAMS["leaky_sum"][0](), "multiply", "add"), "numpy", dtype)
    assert found.verdict == "failed"
    assert found.reason.startswith("s[")
    assert "expected" in found.reason
    assert str(found).startswith("does not agree with the reference at B=3, T=4: s[")


def test_variant_that_changes_integers_fails() -> None:
    found = check(broken(PROGRAMS["alignment"][0](), "maximum", "minimum"), backend="numpy")
    assert found.verdict == "failed"
    assert "differ" in found.reason


def test_check_is_made_once() -> None:
    program = PROGRAMS["returns"][0]()
    assert check(wb.variant(program), backend="numpy") is check(
        wb.variant(program), backend="numpy"
    )
    assert check(wb.variant(program), backend="numpy") is not check(
        wb.variant(program), "numpy", "float64"
    )


def test_check_survives_json() -> None:
    for found in (
        check(wb.variant(near_tie()), backend="numpy"),
        check(broken(near_tie(), "multiply", "add"), backend="numpy"),
    ):
        assert from_json(json.loads(json.dumps(found.to_json(), allow_nan=False))) == found


# -- sampled choices -------------------------------------------------------------------------------


def test_choice_that_rounding_decides_is_reported_and_what_follows_judged_with_it() -> None:
    root = wb.variant(near_tie())
    assert not check(root, "numpy", "float64").differing
    found = check(root, "numpy", "float32")
    assert found.passed, found
    assert len(found.differing) == found.sizes["T"]
    assert found.differing[0].startswith("taken at t=0 is True where the reference has False: ")
    assert "it drew 0." in found.differing[0]
    assert "sampled choices that rounding decided otherwise" in str(found)


def test_choice_whose_array_is_not_kept_whole_is_judged_too() -> None:
    contracted = wb.variant(near_tie(T=7)).apply(Contract())
    assert "taken over t (1 of T)" in contracted.storage
    found = check(contracted, "numpy", "float32")
    assert found.passed, found
    assert len(found.differing) == found.sizes["T"]


def test_choice_that_rounding_does_not_decide_fails() -> None:
    found = check(broken(near_tie(distance=0.01), "less_equal", "greater"), "numpy", "float32")
    assert found.verdict == "failed"
    assert "taken at t=0 is True where the reference has False: it drew" in found.reason


def test_wrong_value_behind_a_choice_that_rounding_decides_fails() -> None:
    found = check(broken(near_tie(), "multiply", "add"), "numpy", "float32")
    assert found.verdict == "failed"
    assert found.differing
    assert found.reason.startswith("gone[")


# -- what is not reached ---------------------------------------------------------------------------


def test_branch_that_is_never_taken_is_reported_with_its_line() -> None:
    @wb.program
    def example(T: int = 5) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.uniform(over=t)
        return {"y": wb.where(x > 2.0, 1.0, x), "z": wb.where(x > 0.5, 1.0, x)}

    found = check(wb.variant(example()), backend="numpy")
    assert found.passed
    (text,) = found.untaken
    assert text.startswith("y (line ")
    assert text.endswith(
        ': return {"y": wb.where(x > 2.0, 1.0, x), "z": wb.where(x > 0.5, 1.0, x)})'
        " is only checked where x[t] > 2.0 is false"
    )
    assert text in str(found)


def test_sizes_grow_until_an_event_has_happened() -> None:
    """The counter passes 7 after eight steps, more than the least sizes have."""

    @wb.program
    def example(T: int = 5) -> dict[str, Any]:
        t = wb.dim(t=T)
        n = wb.recurrent("n", (), over=t)
        n[0] = 0.0
        n[t + 1] = wb.where(n > 7.0, 0.0, n + 1.0)
        return {"n": n}

    found = check(wb.variant(example()), backend="numpy")
    assert found.sizes["T"] >= 9
    assert not found.untaken


# -- failures that are no deviation ----------------------------------------------------------------


def test_run_that_stops_fails_with_its_sentence() -> None:
    @wb.program
    def example(N: int = 4) -> dict[str, Any]:
        n = wb.dim(n=N)
        x = wb.uniform(over=n)
        return {"y": wb.gather(x, n=wb.index(n))}

    program = example()

    def outside(body: Any) -> Any:
        if hasattr(body, "index") and any(not hasattr(e, "variables") for e in body.index):
            return replace(body, index=(Literal(99, "int32"),))
        return body

    statements = tuple(replace(s, body=outside(s.body)) for s in program.statements)
    stopping = replace(program, equations=replace(program.equations, statements=statements))
    wrong = Variant(stopping, wb.variant(program), Vectorize("x"))
    found = check(wrong, backend="numpy")
    assert found.verdict == "failed"
    assert found.reason.startswith("it stops: x is indexed at n = 99, outside 0 to ")


def test_program_that_the_reference_refuses_cannot_be_checked() -> None:
    @wb.program
    def example(T: int = 4) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.uniform(over=t)
        return {"y": wb.gather(x, t=wb.cast(x + 100.0, int))}

    found = check(wb.variant(example()), backend="numpy")
    assert found.verdict == "impossible"
    assert "t=100" in found.reason
    assert str(found).startswith("could not be checked: ")


def test_ctrl_c_during_a_check_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = NumPyBackend.compile

    def interrupted(self: NumPyBackend, program: Program) -> Any:
        found = compiled(self, program)

        def run(*_: Any, **__: Any) -> Any:
            done = type(found).run(found, {"T": 3})
            return replace(done, completed=0)

        object.__setattr__(found, "run", run)
        return found

    monkeypatch.setattr(NumPyBackend, "compile", interrupted)
    with pytest.raises(KeyboardInterrupt):
        check(wb.variant(near_tie(T=77)), backend="numpy")


# -- external objects ------------------------------------------------------------------------------


def test_program_with_an_external_object_is_checked_like_any_other() -> None:
    root = wb.variant(restarting(Gymnasium("CartPole-v1"), choice(2), I=1, T=5))
    found = check(root, "numpy", "float64")
    assert found.passed, found


class Fickle(Clock):
    """Shows another time in every run, whatever its seed."""

    def _observation(self) -> Any:
        return np.full((2, 2), next(ANSWERS), np.float32)


ANSWERS = itertools.count(0.0)


def test_external_object_that_answers_otherwise_each_time_cannot_be_checked() -> None:
    root = wb.variant(restarting(Gymnasium(Fickle), choice(2), I=1, T=5))
    found = check(root, "numpy", "float64")
    assert found.verdict == "impossible"
    assert found.reason.endswith("answers otherwise in two runs of one program from the same seed")
    both = compare([root, root], dtype="float64", repeats=1, progress=False, backend="numpy")
    assert [m.measured for m in both.measurements] == [True, True]
    assert [m.checked for m in both.measurements] == [found.reason] * 2
    assert "no: " in both.frame["checked"].iloc[0]


def test_sizes_of_a_report_are_those_that_were_run() -> None:
    found = check(wb.variant(PROGRAMS["small_ppo"][0]()), backend="numpy")
    assert found.sizes["K"] == found.sizes["B"] * found.sizes["T"] // found.sizes["M"]


def test_empty_report_has_no_worst_deviation() -> None:
    assert Check("impossible", "numpy", "float32", {}, 0, reason="x").worst == 0.0
