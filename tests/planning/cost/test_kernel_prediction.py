"""Predictions of compiled kernels against runs and closed forms: peaks, work, seconds of known
constants.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

import workbench as wb
from tests.programs import PROGRAMS, Outputs
from workbench import nn
from workbench.backends import get
from workbench.planning.cost.counted import counted
from workbench.planning.cost.prediction import Prediction, predict
from workbench.planning.machine.constants import Machine
from workbench.planning.machine.defaults import NATIVE
from workbench.program.sizes import resolve
from workbench.transforms import Contract, Donate, Persist, Tile, Vectorize
from workbench.variants.variant import Variant, optimize, variant

FREE = Machine(
    backend="native",
    call=dict.fromkeys(NATIVE.call, 0.0),
    row=dict.fromkeys(NATIVE.row, 0.0),
    element={},
    byte=((1, 0.0),),
    product={"float32": 0.0, "float64": 0.0},
    panel={"float32": 0.0, "float64": 0.0},
    fresh=0.0,
    cold=1.0,
)
"""A machine on which everything is free."""


@wb.program
def roots(B: int = 40, T: int = 5) -> Outputs:
    """A function of each element."""
    b, t = wb.dims(b=B, t=T)
    x = wb.recurrent("x", (), over=(b, t))
    x[b, t] = wb.sqrt(2.0 + wb.cast(b, "float"))
    return {"x": x}


@wb.program
def layer(B: int = 40, T: int = 3, size: int = 64) -> Outputs:
    """A linear layer of many inputs."""
    b, t = wb.dims(b=B, t=T)
    network = nn.mlp("layer", size, (), size)
    theta = nn.parameters(network)
    h = wb.recurrent("h", (size,), over=(b, t))
    h[b, 0] = wb.uniform(shape=size, over=b)
    h[b, t + 1] = network(theta, h)
    return {"h": h[b, T].sum(axis=0)}


def costing(**kinds: float) -> Machine:
    """A machine on which operations of these kinds cost so much, and nothing else anything."""
    rates = {kind.replace("_", " "): {"float32": n, "float64": n} for kind, n in kinds.items()}
    return replace(FREE, element=rates)


def on(machine: Machine, chosen: Variant, sizes: Mapping[str, int], threads: int = 1) -> Prediction:
    known = resolve(chosen.program.equations, sizes)
    return predict(counted(chosen.program, "native"), known, machine, "float32", threads)


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_peak_is_that_of_a_run_to_the_byte(name: str) -> None:
    template, choices = PROGRAMS[name]
    root = variant(template())
    for chosen in (root, optimize(root, backend="native", threads=1)):
        compiled = get("native").compile(chosen.program)
        for sizes in choices:
            for threads in (1, 2):
                found = chosen.predict(sizes, "native", threads=threads)
                ran = compiled.run(sizes, threads=threads)
                assert found.peak_bytes["device"] == ran.peak_bytes


def test_operations_of_a_group_count_once_for_all_of_its_lanes() -> None:
    machine, root = costing(sqrt=1.0, one_sqrt=100.0), variant(roots())
    in_lanes = root.apply(Vectorize("b"))
    for B, groups in ((40, 3), (33, 3), (32, 2), (1, 1)):
        assert on(machine, in_lanes, {"B": B}).seconds == groups * 5
        assert on(machine, root, {"B": B}).seconds == 100 * B * 5


def test_products_are_computed_for_whole_groups_of_lanes() -> None:
    machine = replace(FREE, product={"float32": 1.0, "float64": 1.0})
    chosen = variant(layer()).apply(Persist("b", 32))
    for B, lanes in ((32, 32), (33, 32 + 16), (64, 64), (4, 16)):
        found = on(machine, chosen, {"B": B})
        assert found.seconds == 3 * 2 * 64 * 64 * lanes
        assert found.operations >= 3 * 2 * 64 * 64 * B


@pytest.mark.parametrize(("lanes", "as_many"), [(64, 64), (96, 64 + 2 * 32), (48, 64 + 3 * 16)])
def test_products_take_longer_in_groups_of_fewer_columns(lanes: int, as_many: int) -> None:
    ones = {"float32": 1.0, "float64": 1.0}
    machine = replace(FREE, product=ones, widths=((64, 1.0), (32, 2.0), (16, 3.0)))
    found = on(machine, variant(layer()).apply(Persist("b", 96)), {"B": lanes})
    assert found.seconds == 3 * 2 * 64 * 64 * as_many


def test_kernels_in_blocks_take_the_share_of_the_busiest_thread() -> None:
    machine = costing(sqrt=1.0)
    chosen = variant(roots()).apply(Persist("b", 16))
    alone = on(machine, chosen, {"B": 80}).seconds
    assert alone == 5 * 5
    assert on(machine, chosen, {"B": 80}, threads=2).seconds == pytest.approx(alone * 3 / 5)
    assert on(machine, chosen, {"B": 80}, threads=8).seconds == pytest.approx(alone / 5)


def test_launches_are_counted_where_only_they_cost() -> None:
    machine = replace(FREE, call=FREE.call | {"launch": 1.0})
    root = variant(roots())
    assert on(machine, root, {"B": 7}).seconds == on(machine, root, {"B": 7}).launches == 7 * 5
    assert on(machine, root.apply(Persist("b", 2)), {"B": 7}).launches == 1


def test_threads_cost_a_launch_more() -> None:
    machine = replace(FREE, call=FREE.call | {"threads": 1.0})
    chosen = variant(roots()).apply(Persist("b", 2))
    assert on(machine, chosen, {}).seconds == 0
    assert on(machine, chosen, {}, threads=2).seconds == 1


@wb.program
def twice(T: int = 1000, K: int = 50) -> Outputs:
    """An array that is written, and then read again and again."""
    t, k = wb.dims(t=T, k=K)
    x = wb.recurrent("x", (), over=t)
    x[t] = wb.uniform(over=t)
    y = wb.recurrent("y", (), over=k)
    y[0] = 1.0
    y[k + 1] = (x[0:T] * y).max()
    return {"y": y[K]}


def test_bytes_that_are_used_again_come_from_where_all_between_fits() -> None:
    """Rates that only a working set of the whole array has: all but the first reading is near."""
    chosen = variant(twice())
    far = replace(FREE, byte=((4_000, 0.0), (4_001, 1.0)))
    assert on(far, chosen, {"T": 900}).seconds == 0
    found = on(far, chosen, {"T": 100_000}).by_statement
    assert sum(s.seconds for s in found.values()) >= 50 * 100_000 * 4


def test_a_block_pays_for_its_own_bytes_by_the_size_of_the_array() -> None:
    far = replace(FREE, byte=((20_000, 0.0), (20_001, 1.0)))
    root = variant(layer())
    small, large = (root.apply(Persist("b", size)).apply(Contract()) for size in (16, 64))
    assert on(far, small, {"B": 64}).seconds < on(far, large, {"B": 64}).seconds


def test_cost_is_shared_out_by_statement() -> None:
    found = variant(layer()).apply(Persist("b", 32)).predict({"B": 4096}, "native", threads=1)
    parts = sum((s.seconds for s in found.by_statement.values()), found.besides.seconds)
    assert parts == pytest.approx(found.seconds)
    most = max(found.by_statement, key=lambda name: found.by_statement[name].seconds)
    assert most == "h[t+1]"


def test_every_variant_of_every_program_is_predicted() -> None:
    for template, choices in PROGRAMS.values():
        root = variant(template())
        tiles = [Tile(dim.name, 2) for dim in root.program.dims]
        for steps in ([], [Donate()], *([tile] for tile in tiles)):
            chosen: Any = root
            for step in steps:
                chosen = chosen.apply(step) if chosen.check(step) is None else chosen
            found = chosen.predict(choices[0], "native")
            assert found.seconds > 0
            assert found.launches > 0


def test_prediction_says_how_many_threads_it_is_for() -> None:
    root = variant(roots())
    assert "3 threads" in str(root.predict(backend="native", threads=3))
    assert "threads" not in str(root.predict(backend="native", threads=1))
