"""Values of programs: which of them are equal."""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys

import workbench as wb
from tests.programs import leaky_sum
from workbench.program.bodies import Literal


def test_zeros_of_two_signs_are_two_literals() -> None:
    assert Literal(0.0, "float") != Literal(-0.0, "float")
    assert Literal((1.0, 0.0), "float", (2,)) != Literal((1.0, -0.0), "float", (2,))
    assert Literal((0.0, -0.0), "float", (2,)) == Literal((0.0, -0.0), "float", (2,))
    assert Literal(0.0, "float") == Literal(0.0, "float") == Literal(0, "float")
    assert Literal(0, "int32") != Literal(0.0, "float")
    assert hash(Literal(0.0, "float")) == hash(Literal(0, "float"))
    assert Literal(math.nan, "float") == Literal(math.nan, "float")


def keys_of(program: wb.Program) -> list[object]:
    """List the values of a program that are keys of some table."""
    return [
        key
        for s in program.statements
        for key in (s, s.instances, s.instances.write, s.body, *s.write, *s.reads)
    ]


def test_values_are_equal_keys_in_another_process() -> None:
    """Strings hash otherwise there: a hash that came along would hide a value in a set."""
    keys = keys_of(leaky_sum())
    assert {hash(key) for key in keys}  # each has been computed here
    code = (
        "import pickle, sys; from tests.program.test_values import keys_of, leaky_sum;"
        "made = pickle.load(sys.stdin.buffer); here = {*keys_of(leaky_sum())};"
        "print(all(key in here for key in made), len(made))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=pickle.dumps(keys),
        capture_output=True,
        check=True,
        env=os.environ | {"PYTHONHASHSEED": "7"},
    )
    assert done.stdout.decode().split() == ["True", str(len(keys))]
