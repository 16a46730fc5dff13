"""Programs as the Python that makes them: run anew, it makes the same program."""

from __future__ import annotations

import math as maths
from collections.abc import Callable
from math import pi, sqrt
from typing import Any

import pytest

import workbench as wb
from tests.programs import PROGRAMS
from workbench import algorithms, environments
from workbench.program.values import Program

SCALE = 2.5
ENVIRONMENT = environments.CartPole()


def scaled(x: wb.Tensor) -> wb.Tensor:
    return halved(x) * SCALE


def halved(x: wb.Tensor) -> wb.Tensor:
    return x / 2 + pi * maths.e * sqrt(2.0)


@wb.program
def with_needs(B: int = 3, T: int = 4, gamma: float = 0.9) -> dict[str, Any]:
    b, t = wb.dims(b=B, t=T)
    x = wb.normal(over=(b, t))
    return {"y": (lambda y: scaled(y))(x).sum(over=t) * gamma}


def bare(T: int = 4) -> dict[str, Any]:
    return {"y": wb.normal(over=wb.dim(t=T))}


@wb.program
def with_an_object(B: int = 2) -> dict[str, Any]:
    return {"state": ENVIRONMENT.reset(over=wb.dim(b=B))}


def run_anew(program: Program) -> Program:
    names: dict[str, Any] = {"Any": Any}
    exec(program.equations.written, names)
    made: Program = names["program"]
    return made


@pytest.mark.parametrize(
    "call",
    [
        lambda: with_needs(B=5, gamma=0.5),
        lambda: with_needs(7),
        lambda: wb.program(bare)(T=9),
        lambda: algorithms.reinforce(B=2, T=3),
    ],
)
def test_source_makes_the_same_program(call: Callable[[], Program]) -> None:
    program = call()
    again = run_anew(program)
    assert again.canonical == program.canonical
    assert again.parameters == program.parameters


def test_what_nobody_can_write_is_told() -> None:
    text = with_an_object().equations.written
    assert "ENVIRONMENT = ...  # " in text and "program = with_an_object()" in text


def test_program_without_source_is_traced_all_the_same() -> None:
    names: dict[str, Any] = {"wb": wb}
    exec("def f(T=3):\n    return {'x': wb.normal(over=wb.dim(t=T))}\n", names)
    assert wb.program(names["f"])().equations.written == ""


@pytest.mark.parametrize("name", PROGRAMS)
def test_steps_keep_the_source(name: str) -> None:
    program = PROGRAMS[name][0]()
    variant = wb.variant(program)
    assert program.equations.written
    for move in list(variant.moves())[:5]:
        if move.legal:
            after = variant.apply(move.step).program
            assert after.equations.written == program.equations.written
