"""Loops inside of kernels, left with the last step at which an episode of the block is open."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.codegen.cuda import fibres as fibres_of_a_gpu
from tests.codegen.cuda.fibres import (
    FibreDriver,
    differences,
    expect_bits_of_compiled_c,
    fibres,
    watched,
)
from tests.golden_files import GoldenFiles
from tests.native_runs import compiled, run_native, shared_cache
from workbench import nn
from workbench.backends.timed.stamped_program import StampedProgram
from workbench.codegen.bodies.open_lanes import LoopNeeds
from workbench.codegen.cuda.kernel_functions import functions
from workbench.codegen.cuda.launch_order import gpu_kernels
from workbench.codegen.kernels import program_kernels
from workbench.codegen.stamps.segments import stamped
from workbench.lowering.loops.records import For, If, Launch, Record
from workbench.polyhedral.conditions import AffineComparison
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.transforms import Accumulate, Contract, Incrementalize, Persist, Vectorize
from workbench.transforms.step.transform import Transform

NATIVE = pytest.mark.skipif(wb.backends()["native"] is not None, reason="there is no C compiler")
IN_BLOCKS = (Persist("b", 16), Contract())
LEARNING = (Incrementalize("to_go", "t"), Persist("b", 16))


@wb.program
def learned(B: int = 19, I: int = 1, T: int = 12) -> dict[str, Any]:
    """A number learned from walks that end: forwards, and backwards by what is still to come."""
    b, i, t = wb.dims(b=B, i=I, t=T)
    w = wb.recurrent("w", (), over=i)
    w[0] = 0.4
    x = wb.recurrent("x", (), over=(b, i, t))
    x[b, i, 0] = wb.uniform(over=(b, i))
    x[b, i, t + 1] = x * 1.2
    wb.until(x > 1.5, over=t)
    to_go = wb.discounted_sum(x[b, i, t:T], 0.9)
    loss = (wb.tanh(x * w) * wb.stop_gradient(to_go)).sum(over=t).mean(over=b)
    w[i + 1] = w - 0.1 * wb.gradient(loss, w)
    return {"loss": loss, "w": w}


@wb.program
def nested(B: int = 19, T: int = 12, K: int = 3) -> dict[str, Any]:
    """Walks that end, of steps with turns of their own."""
    b, t, k = wb.dims(b=B, t=T, k=K)
    x = wb.recurrent("x", (), over=(b, t))
    turned = wb.recurrent("turned", (), over=(b, t, k))
    turned[b, t, 0] = x
    turned[b, t, k + 1] = wb.tanh(turned) + wb.uniform(over=(b, t, k))
    x[b, 0] = 0.5
    x[b, t + 1] = turned[b, t, K]
    wb.until(wb.uniform(over=(b, t)) < 0.3, over=t)
    return {"total": x.sum(over=t)}


@wb.program
def squared(B: int = 19, T: int = 12) -> dict[str, Any]:
    """Numbers of walks that end, times sums of squares of what is still to come."""
    b, t = wb.dims(b=B, t=T)
    x = wb.uniform(over=(b, t))
    wb.until(x < 0.3, over=t)
    to_go = wb.discounted_sum(x[b, t:T], 0.9)
    later = (to_go[b, t:T] * to_go[b, t:T]).sum()
    return {"product": later * x}


@wb.program
def carried(B: int = 5, T: int = 17) -> dict[str, Any]:
    """Walks through a layer that end early, and the weights that are learned of them."""
    b, i, t = wb.dims(b=B, i=1, t=T)
    layer = nn.mlp("layer", 2, (3,), 2)
    weights = nn.parameters(layer, over=i)
    x = wb.recurrent("x", (2,), over=(b, i, t))
    x[b, i, 0] = 1.0
    x[b, i, t + 1] = layer(weights, x)
    wb.until((wb.index(t) >= 4) & (wb.uniform(over=(b, i, t)) < 0.8), over=t)
    loss = x.sum(axis=0).max(over=t).mean(over=b)
    return {"slope": wb.gradient(loss, weights)["layer.weight_2"]}


def blocks(program: wb.Program, steps: Sequence[Transform] = IN_BLOCKS) -> wb.Variant:
    return wb.variant(program).replay(steps)


def lengths(variant: wb.Variant, sizes: Mapping[str, int]) -> Any:
    """The steps of each episode."""
    found = run_native(variant.program, sizes, dtype="float32")
    after = found[variant.program.equations.ends[0].after]
    return np.minimum(after, sizes["T"] - 1) + 1


# -- texts -----------------------------------------------------------------------------------------


def test_kernels_leave_their_loops_as_is_stored(golden: GoldenFiles) -> None:
    """Forwards the steps behind are closed in a loop of their own; backwards what is summed over
    all steps is in one before.
    """
    variant = blocks(learned(), LEARNING)
    (c,) = (k.text for k in variant.kernels("native") if "left_t" in k.text)
    golden("kernels/left.c", f"{c}\n")
    kernels = gpu_kernels(program_kernels(variant.program))
    (cuda,) = (f.text for f in functions(kernels, "float32") if "left_t" in f.text)
    golden("kernels/left.cu", cuda)


# -- turns -----------------------------------------------------------------------------------------

PROGRAMS: dict[str, tuple[wb.Program, tuple[Transform, ...]]] = {
    "learning": (learned(), LEARNING),
    "steps with turns": (nested(), IN_BLOCKS),
    "sums added up": (nested(), (Accumulate("t_1"), Accumulate("t"), *IN_BLOCKS)),
}
HORIZONS = (30, 45)
"""The most steps: all episodes end before."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_block_of_a_gpu_comes_to_no_barrier_behind_the_last_open_step(name: str) -> None:
    program, steps = PROGRAMS[name]
    variant, passed = blocks(program, steps), []
    for horizon in HORIZONS:
        made = fibres(variant.program, {"T": horizon})
        assert isinstance(made.driver, FibreDriver)
        made.prepare("float32")
        barriers = ctypes.c_int64.in_dll(made.driver.library, "barriers")
        before = barriers.value
        assert watched(made, {"T": horizon})[1] == ""
        passed.append(barriers.value - before)
    assert lengths(variant, {"T": HORIZONS[0]}).max() < HORIZONS[0]
    assert passed[0] == passed[1]


@NATIVE
@pytest.mark.parametrize("name", ["learning", "steps with turns"])
def test_compiled_c_takes_no_turn_behind_the_last_open_step(name: str) -> None:
    """As stamps tell, of which each turn makes some."""
    program, steps = PROGRAMS[name]
    variant, taken = blocks(program, steps), []
    for horizon in HORIZONS:
        made = compiled(variant.program)
        timed = StampedProgram(variant.program, stamped(made.kernels)[0], made.compiler)
        with shared_cache():
            taken.append(sum(timed.timed({"T": horizon}, 0, "float32").calls))
    assert taken[0] == taken[1] > 0


@NATIVE
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("horizon", [1, 2, 12])
def test_all_backends_agree(name: str, horizon: int) -> None:
    """Where no episode ends before the horizon, and where some do."""
    (program, steps), sizes = PROGRAMS[name], {"B": 37, "T": horizon}
    variant = blocks(program, steps)
    wanted = wb.run(program, "numpy", sizes=sizes, dtype="float64", progress=False)
    found = run_native(variant.program, sizes)
    for output in wanted:
        np.testing.assert_allclose(found[output], wanted[output], rtol=1e-9, err_msg=output)
    with shared_cache():
        own = compiled(variant.program).run(sizes, 3, "float32").outputs
    assert differences(variant.program, sizes, own) == []


@NATIVE
def test_an_output_of_a_closed_step_may_read_what_is_not_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A block has one step of `later` in shared memory, and no lane of it is open: another value is
    chosen. That it is not is found.
    """
    program = blocks(squared()).program
    expect_bits_of_compiled_c(program)
    chosen = re.compile(r"where_f\(\w+, (multiply_f\(later\w*, \w+\)), \(float\)NAN_F\)")
    text = fibres_of_a_gpu.unit
    monkeypatch.setattr(fibres_of_a_gpu, "unit", lambda made: chosen.sub(r"\1", text(made)))
    assert watched(fibres(program), {})[1] == "product is computed from what is not written"


@NATIVE
@pytest.mark.parametrize("steps", [(), (Contract(),)], ids=["as it is", "contracted"])
def test_a_sum_beside_the_steps_adds_zeros_of_those_behind_the_last(
    steps: tuple[Transform, ...],
) -> None:
    """The loop over steps is left, so these zeros are written behind it."""
    program = blocks(carried(), (Persist("b", 3), Vectorize("t"), *steps)).program
    wanted = wb.run(carried(), "numpy", dtype="float64", progress=False)["slope"]
    np.testing.assert_allclose(run_native(program, {})["slope"], wanted, rtol=1e-9)
    (kernel,) = (k.text for k in blocks(program, ()).kernels("native") if "left_t" in k.text)
    behind = kernel.split("t = left_t; t < T")[1].split("/* statement: gradient")[0]
    assert "layer_hidden_1 + " in behind
    expect_bits_of_compiled_c(program)


# -- which loops -----------------------------------------------------------------------------------

STATEMENTS = nested().equations
STEP, HORIZON = variable("t"), STATEMENTS.array["open"].extent[1][1] - 1
GUARDED, TELLS = "open_uniform", "open[t+1]"


def at(step: Expression, statement: str = GUARDED) -> Launch:
    """A launch of a statement for a step."""
    return Launch(statement, (("t", step),), (), ())


def when(record: Record) -> If:
    """A record under a condition."""
    return If(AffineComparison(expression(1), "<=", STEP), (record,))


def left(
    *body: Record, first: int = 0, last: Expression = HORIZON, backwards: bool = False
) -> Expression | None:
    """The step with whose lanes a loop over `t` ends."""
    loop = For("t", expression(first), last, backwards, "t", body)

    def placed(launch: Launch) -> Any:
        statement = STATEMENTS.statement[launch.statement]
        return SimpleNamespace(statement=statement, place=dict(launch.values), blocks=())

    stored: Any = {"open": SimpleNamespace(array=STATEMENTS.array["open"])}
    found = LoopNeeds(loop, placed, stored, {"open": 1}).ending()
    return None if found is None else found.index[1]


def test_a_loop_ends_with_the_step_that_most_launches_need() -> None:
    assert left() is None
    assert left(at(STEP - 1), at(STEP), at(STEP, TELLS)) == STEP
    assert left(at(STEP - 1), at(STEP - 1), at(STEP)) == STEP - 1
    assert left(at(STEP), backwards=True) == STEP


def test_a_loop_goes_on_where_the_begin_of_a_turn_does_not_tell() -> None:
    assert left(at(STEP * 2)) is None
    assert left(at(expression(3))) is None
    assert left(at(STEP + 1), at(STEP + 1), at(STEP, TELLS)) is None  # told behind it
    assert left(at(STEP), at(STEP), at(variable("s"), TELLS)) is None
    assert left(at(STEP), at(STEP, TELLS), backwards=True) is None


def test_a_loop_ends_only_where_each_turn_has_an_element_to_look_at() -> None:
    """What stands under a condition runs in some turns; `open` has slices 0 to T."""
    assert left(when(at(STEP))) == STEP
    assert left(when(at(STEP)), last=HORIZON + 1) == STEP
    assert left(when(at(STEP)), last=HORIZON + 2) is None
    assert left(when(at(STEP - 1))) is None
    assert left(when(at(STEP - 1)), first=1) == STEP - 1
