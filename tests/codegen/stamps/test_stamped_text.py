"""The C of a stamped program: the plain program's, and stamps."""

from __future__ import annotations

import re

import pytest

import workbench as wb
from workbench.algorithms import reinforce
from workbench.codegen.kernels import ProgramKernels, program_kernels
from workbench.codegen.printing.program.program_text import program_text
from workbench.codegen.printing.program.stamping import NAMES
from workbench.codegen.runtime import STAMPS, header
from workbench.codegen.stamps.segments import stamped
from workbench.program.values import Program
from workbench.transforms import Persist


def kernels_of(program: Program) -> ProgramKernels:
    return program_kernels(program)


@pytest.fixture(scope="module")
def kernels() -> ProgramKernels:
    return kernels_of(wb.variant(reinforce(hidden=(20,))).apply(Persist("b", 16)).program)


def test_stamps_follow_launches_and_kernels_stay_as_they_are() -> None:
    """All come one by one: no two are long enough to be run at once."""
    kernels = kernels_of(wb.variant(reinforce(hidden=(3,))).apply(Persist("b", 16)).program)
    plain, with_stamps = program_text(kernels, "float32"), program_text(kernels, "float32", True)
    assert {**plain.units, "program": ""} == {**with_stamps.units, "program": ""}
    lines = with_stamps.units["program"].splitlines()
    launched = [k for k, line in enumerate(lines) if re.match(r"\s+kernel_\w+\(run", line)]
    stamps = [lines[position + 1].strip() for position in launched]
    assert stamps == [f"stamp_launch(run, {k});" for k in range(len(plain.kernels))]
    text = with_stamps.units["program"]
    begun, _, behind = text.partition("\nEXPORTED void stamp_often")
    assert behind.endswith("}\n")
    added = ("stamp_launch(", "stamp_iteration(", "begin_stamps(", STAMPS)
    left = [x for x in begun.splitlines() if x and not any(name in x for name in added)]
    assert left == [x for x in plain.units["program"].splitlines() if x]
    assert begun.count("begin_stamps(run);") == 3


def test_only_stamps_are_added_to_kernels_that_are_divided(kernels: ProgramKernels) -> None:
    divided, segments = stamped(kernels)
    plain = program_text(kernels, "float32").kernels
    with_stamps = program_text(divided, "float32", True).kernels
    first = len(kernels.kernels)
    found = []
    for name, text in with_stamps.items():
        left = []
        for line in text.splitlines():
            stamp = re.fullmatch(r"\s+stamp\(run, (\d+)\);", line)
            found += [int(stamp[1])] if stamp else []
            left += [] if stamp else [line]
        assert left == plain[name].splitlines()
    assert found == list(range(first, first + len(segments)))


def test_a_units_kernels_know_stamps_only_where_they_have_some(kernels: ProgramKernels) -> None:
    divided, _ = stamped(kernels)
    for made, inside in ((kernels, {False}), (divided, {True, False})):
        units = program_text(made, "float32", stamped=True).units
        of_kernels = [units[name] for name in units if name.startswith("kernels")]
        stamps = ["stamp(run, " in text for text in of_kernels]
        assert [f'"{STAMPS}"' in text for text in of_kernels] == stamps
        assert set(stamps) == inside


def test_a_users_names_are_none_of_the_stamps() -> None:
    names = set(re.findall(r"^INLINE \w+ (\w+)\(|^\} (\w+);", header(STAMPS), re.MULTILINE))
    words = {name for pair in names for name in pair if name} | {"stamp_often", "ticks_now"}
    assert words == set(NAMES)

    def steps(T: int = 3) -> dict[str, wb.Tensor]:
        t = wb.dim(t=T)
        stamp, stamp_launch = wb.uniform(over=t), wb.uniform(over=t)
        return {"clock_ticks": stamp * stamp_launch, "stamp": stamp, "run": stamp_launch}

    made = kernels_of(wb.program(steps)())
    text = program_text(made, "float32", stamped=True)
    assert "stamp_2" in str(text)
    for word in words:
        assert not re.search(rf"const (int64_t )?{word}\b", str(text)), word
