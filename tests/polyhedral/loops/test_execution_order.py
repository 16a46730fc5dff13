"""Places in the order of a tree against the order that a hand executor runs."""

from __future__ import annotations

import pytest

from tests.programs import PROGRAMS, alignment, returns
from tests.soundness.order import operations, run_at
from workbench.polyhedral.loops.execution_order import places
from workbench.program.sizes import resolve
from workbench.program.values import Program
from workbench.transforms import Tile, Vectorize
from workbench.transforms.step.refusal import Refused
from workbench.transforms.step.transform import Transform, apply


def placed(program: Program, sizes: dict[str, int]) -> dict[tuple[str, tuple[int, ...]], int]:
    points = run_at(program, resolve(program.equations, sizes))
    return places(program.schedule, {s.name: s.dims for s in program.statements}, points)


def by_hand(program: Program, sizes: dict[str, int]) -> dict[tuple[str, tuple[int, ...]], int]:
    points = run_at(program, resolve(program.equations, sizes))
    order = operations(program.schedule, program, points)
    return {(name, p): place for place, (name, at) in enumerate(order) for p in at}


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n != "small_ppo"])
def test_instances_have_the_place_at_which_they_run(name: str) -> None:
    template, every = PROGRAMS[name]
    program = template()
    dims = [d.name for d in program.dims]
    steps: list[Transform] = [Vectorize(d) for d in dims] + [Tile(d, 2) for d in dims]
    for sizes in every[:2]:
        changed = program
        assert placed(changed, sizes) == by_hand(changed, sizes)
        for step in steps:
            try:
                changed = apply(changed, step).program
            except Refused:
                continue
            assert placed(changed, sizes) == by_hand(changed, sizes)


def test_a_loop_that_runs_backwards_starts_at_its_last_instance() -> None:
    found = placed(returns(), {"B": 1, "T": 3})
    order = [found["g", (0, t)] for t in range(3)]
    assert order == sorted(order, reverse=True)


def test_instances_of_one_array_operation_have_one_place() -> None:
    program = apply(returns(), Vectorize("b")).program
    found = placed(program, {"B": 3, "T": 2})
    assert len({found["g", (b, 0)] for b in range(3)}) == 1


def test_statements_without_points_do_not_count() -> None:
    program = alignment()
    dims = {s.name: s.dims for s in program.statements}
    found = places(program.schedule, dims, {"y[p+1,q+1]": [(0, 0), (0, 1), (1, 0)]})
    assert list(found.values()) == [0, 1, 2]
