"""Incrementalize: the equations it makes, where they stand, what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.native_runs import check_native
from tests.programs import PROGRAMS
from tests.truth import truth
from workbench.backends import get
from workbench.errors import WorkbenchError
from workbench.planning.recipe.plan import Plan
from workbench.planning.recipe.vectorized import vectorized
from workbench.polyhedral.expression import variable
from workbench.polyhedral.tree import axis_dims
from workbench.program.text.infix import equation
from workbench.program.values import Program
from workbench.transforms import Contract, Incrementalize, Tile, Vectorize
from workbench.transforms.step.refusal import Refusal
from workbench.variants.variant import Variant, optimize, variant


@wb.program
def returns(B: int = 3, T: int = 7, gamma: float = 0.9) -> dict[str, Any]:
    b, t = wb.dims(b=B, t=T)
    reward = wb.uniform(over=(b, t))
    worth = wb.discounted_sum(reward[b, t:T], gamma)
    return {"worth": worth, "first": worth[b, 0].mean(over=b)}


@wb.program
def learned(B: int = 3, T: int = 7) -> dict[str, Any]:
    """A loss of returns of what all environments share, and its gradient."""
    b, t = wb.dims(b=B, t=T)
    scale, reward = wb.uniform(over=(b, t)), wb.normal(over=t)
    worth = wb.discounted_sum(reward[t:T], 0.9)
    recent = wb.discounted_sum(reward[t : wb.minimum(t + 3, T)], 0.5)
    loss = (scale * worth * worth + scale * recent).sum(over=(b, t))
    return {"gradient": wb.gradient(loss, reward)}


def equations(found: Variant, array: str) -> list[str]:
    """What an array and those made for it are now."""
    return [
        equation(s, found.program.equations)
        for s in found.program.statements
        if s.array == array or s.array.startswith(f"{array}.")
    ]


def refusal(program: Program, *arguments: Any) -> Refusal:
    found = variant(program).check(Incrementalize(*arguments))
    assert found is not None
    return found


def assert_computes_the_same(program: Program, found: Variant, *many: dict[str, int]) -> None:
    """The outputs of a variant, and of it as arrays in folded memory, by the root's equations."""
    arrays = vectorized(Plan(found.program)).stored
    compiled = [get("numpy").compile(program) for program in (found.program, arrays.program)]
    for sizes in many or ({},):
        wanted = truth(program, sizes, 5)
        for one in compiled:
            run = one.run(sizes, 5, "float64")
            for output in program.outputs:
                values = wanted.array(output.array)
                scale = np.abs(values).max(initial=1.0)
                np.testing.assert_allclose(
                    run.outputs[output.name], values, rtol=1e-12, atol=1e-12 * scale
                )
            check_native(one.program, run.outputs, sizes, 5)


# -- what becomes of a statement -------------------------------------------------------------------


def test_suffix_is_a_recurrence_from_the_end() -> None:
    found = variant(returns()).apply(Incrementalize("worth", "t"))
    assert equations(found, "worth") == [
        "worth[b, T - 1] = reward[b, T - 1]",
        "worth[b, t] = reward[b, t] + 0.9 * worth[b, t + 1]  for 0 <= t < T - 1",
    ]
    assert "    worth[T-1]\n    for t reversed:\n        worth\n" in found.schedule


def test_suffix_in_blocks_is_a_recurrence_over_their_heads_then_in_all_of_them() -> None:
    found = variant(returns()).apply(Incrementalize("worth", "t", 4))
    assert equations(found, "worth") == [
        "worth[b, 4 * ((T - 1) // 4)] = "
        "sum(t_1 in 4 * ((T - 1) // 4)..T-1) 0.9 ** (t_1 - 4 * ((T - 1) // 4)) * reward[b, t_1]",
        "worth.partial[b, t_block4] = "
        "sum(t_in4 in 0..3) 0.9 ** t_in4 * reward[b, 4 * t_block4 + t_in4]"
        "  for 0 <= t_block4 < (T + 3) // 4 - 1",
        "worth[b, 4 * t_block4] = worth.partial[b, t_block4] + 0.6561 * worth[b, 4 * t_block4 + 4]"
        "  for 0 <= t_block4 < (T + 3) // 4 - 1",
        "worth[b, T - 1] = reward[b, T - 1]",
        "worth[b, 4 * t_block4 + t_in4] = "
        "reward[b, 4 * t_block4 + t_in4] + 0.9 * worth[b, 4 * t_block4 + t_in4 + 1]"
        "  for 0 <= b < B and t_block4 >= 0 and 0 < t_in4 <= 3 and t_in4 <= -2 + T - 4t_block4",
    ]


def test_blocks_are_an_axis_where_the_dim_was_and_positions_a_loop() -> None:
    root = variant(returns()).apply(Vectorize("b")).apply(Vectorize("t"))
    found = root.apply(Incrementalize("worth", "t", 4))
    axes = axis_dims(found.program.schedule)
    assert set(axes["worth[4*t_block4+t_in4]"]) == {"b", "t_block4"}
    assert set(axes["worth.partial"]) == {"b", "t_block4"}
    assert set(axes["worth[4*t_block4]"]) == {"b"}
    assert axes["reward"] == axis_dims(root.program.schedule)["reward"]
    plain = root.apply(Incrementalize("worth", "t"))
    assert axis_dims(plain.program.schedule)["worth"] == ("b",)
    assert_computes_the_same(returns(), found, {"T": 11})


def test_adjoint_is_lifted_and_the_pairs_it_was_made_from_are_gone() -> None:
    program = learned()
    root = variant(program)
    products = {a.name for a in program.arrays if "t_1" in a.dims}
    (statement,) = (
        s for s in program.statements if s.combiner and {r.array for r in s.reads} & products
    )
    found = root.apply(Incrementalize(statement.name, "t"))
    gone = {a.name for a in program.arrays} - {a.name for a in found.program.arrays}
    assert gone == products
    ahead, start = equations(found, statement.array)[::-1]
    assert "0.9 * " in ahead and "[t - 1]" in ahead
    assert start.startswith(f"{statement.array}[0] = ")
    assert_computes_the_same(program, found, {"T": 2}, {"T": 3}, {"T": 8})


def test_gradient_of_a_window_is_a_window_that_looks_back() -> None:
    program = learned()
    root = variant(program)
    steps = [s for s in Incrementalize.candidates(program) if s.dim == "t"]
    for step in steps:
        found = root.apply(step)
        assert_computes_the_same(program, found, {"T": 8}, {"T": 3, "B": 1})
    assert len([s for s in steps if s.block is None]) == 3


def test_several_dims_that_do_not_move_are_combined_for_each_point_first() -> None:
    @wb.program
    def example(B: int = 3, T: int = 5) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.normal(over=(b, t))
        seen = x[b, 0 : t + 1]
        (k,) = (d for d in seen.dims if d not in ("b", "t"))
        return {"total": seen.sum(over=(b, variable(k)))}

    program = example()
    found = variant(program).apply(Incrementalize("total", "t"))
    assert equations(found, "total") == [
        "total.combined[t_1] = sum(b) x[b, t_1]  for 0 <= t_1 < T",
        "total[0] = total.combined[0]",
        "total[t] = total.combined[t] + total[t - 1]  for 1 <= t < T",
    ]
    for block in (None, 2):
        lifted = variant(program).apply(Incrementalize("total", "t", block))
        assert_computes_the_same(program, lifted, {"T": 5})


def test_factor_of_the_instance_is_multiplied_on_last() -> None:
    @wb.program
    def example(T: int = 5) -> dict[str, Any]:
        t = wb.dim(t=T)
        x, y = wb.normal(over=t), wb.normal(over=t)
        return {"pairs": (wb.where(y > 0.0, x[t:T] * y, 0.0)).sum()}

    program = example()
    found = variant(program).apply(Incrementalize("pairs", "t"))
    assert (
        equations(found, "pairs")[-1]
        == "pairs[t] = where(pairs_greater[t], y[t] * pairs.running[t], 0.0)"
    )
    assert_computes_the_same(program, found)


def test_long_reduction_is_combined_block_by_block() -> None:
    program = returns()
    found = variant(program).apply(Incrementalize("first_sum", "b", 2))
    assert equations(found, "first_sum") == [
        "first_sum.partial[b_block2] = "
        "sum(b in 2 * b_block2..min(B - 1, 2 * b_block2 + 1)) worth[b, 0]"
        "  for 0 <= b_block2 < (B + 1) // 2",
        "first_sum = sum(b_block2 in 0..(B + 1) // 2 - 1) first_sum.partial[b_block2]",
    ]
    assert "for b_block2:\n    first_sum.partial\nfirst_sum\n" in found.schedule
    assert_computes_the_same(program, found, *({"B": B} for B in (1, 2, 3, 5)))


REFUSED = {
    "ranges": ["spread_sum_2"],  # the squared distance from each instance's own mean
    "tables": ["gradient.shared_sum", "gradient.shared_sum"],  # entries, in blocks and without
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_candidates_of_the_small_programs_compute_the_same(name: str) -> None:
    template, sizes = PROGRAMS[name]
    root = variant(template())
    refused = []
    for step in Incrementalize.candidates(root.program):
        small = step if step.block is None else replace(step, block=2)
        if root.check(small) is None:
            assert_computes_the_same(root.program, root.apply(small), *sizes)
        else:
            refused.append(step.statement)
    assert refused == REFUSED.get(name, [])


def test_windows_that_are_empty_at_first_are_zero() -> None:
    @wb.program
    def example(T: int = 6) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.normal(over=t)
        return {"lag": x[wb.maximum(t - 4, 0) : wb.maximum(t - 1, 0)].sum()}

    program = example()
    found = variant(program).apply(Incrementalize("lag", "t"))
    assert equations(found, "lag")[-1] == "lag[t] = 0.0  for 0 <= t < min(1, T - 1) + 1"
    assert_computes_the_same(program, found, *({"T": T} for T in (1, 2, 3, 5, 9)))


@pytest.mark.parametrize("T", [1, 2, 3, 4])
def test_blocks_longer_than_the_range_leave_one_head(T: int) -> None:
    for block in (3, 64):
        found = variant(returns()).apply(Incrementalize("worth", "t", block))
        assert_computes_the_same(returns(), found, {"T": T})


def test_partial_results_are_lifted_along_the_instances_too() -> None:
    program = returns()
    found = variant(program).apply(Incrementalize("worth", "t_1", 4)).apply(Vectorize("b"))
    found = found.apply(Vectorize("t_1_block4")).apply(Incrementalize("worth.partial", "t"))
    assert_computes_the_same(program, found, *({"T": T} for T in (1, 4, 9)))


# -- stability -------------------------------------------------------------------------------------


@pytest.mark.parametrize("huge", [1e8, float("inf"), float("nan")])
@pytest.mark.parametrize("gamma", [1.0, 0.99])
def test_one_huge_value_disturbs_only_the_windows_that_contain_it(
    huge: float, gamma: float
) -> None:
    @wb.program
    def example(T: int = 500, at: int = 203) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.where(wb.index(t) == at, huge, wb.uniform(over=t)) if huge else wb.uniform(over=t)
        return {"x": x, "window": wb.discounted_sum(x[t : wb.minimum(t + 20, T)], gamma)}

    lifted = optimize(variant(example()).apply(Incrementalize("window", "t")), backend="numpy")
    run = get("numpy").compile(lifted.program).run(dtype="float32")
    x = run.outputs["x"].astype(np.float64)
    weights = gamma ** np.arange(20)
    wanted = np.array([weights[: len(x[t : t + 20])] @ x[t : t + 20] for t in range(500)])
    apart = (np.arange(500) > 203) | (np.arange(500) < 203 - 19)
    np.testing.assert_allclose(run.outputs["window"][apart], wanted[apart], rtol=4e-6)
    touched = run.outputs["window"][~apart]
    assert (touched > 1e7).all() or np.isnan(touched).all()


# -- refusals --------------------------------------------------------------------------------------


@wb.program
def odd(T: int = 7, N: int = 3, gamma: float = 0.9) -> dict[str, Any]:
    """Reductions of every kind that cannot be lifted."""
    t = wb.dim(t=T)
    x, y = wb.normal(over=t), wb.normal(over=t)
    seen = x[t:T]
    (k,) = (variable(d) for d in seen.dims if d != "t")
    return {
        "best": seen.argmax(),
        "whole": (x[0:T] + y).sum(),
        "apart": ((seen - y) ** 2).sum(),
        "ramp": (wb.cast(wb.index(k - t), float) * seen).sum(),
        "scaled": (seen * y).max(),
        "every": x[0 : t // 2 + 1].sum(),
        "window": x[t : wb.minimum(t + 3, T)].sum(),
        "signed": ((-gamma) ** wb.index(k - t) * seen).max(),
        "wide": x[wb.maximum(t - T // 2, 0) : t + 1].sum(),
        "product": x * y,
    }


@pytest.mark.parametrize(
    ("arguments", "kind", "sentence"),
    [
        (("wort", "t"), "input", "unknown statement wort: did you mean worth?"),
        (("worth", "s"), "input", "unknown dim s: the dims of worth are b, t, t_1"),
        (("worth", "t", 0), "input", "a block of 0; expected a whole number from 1 on"),
        (("worth", "t", 2.5), "input", "a block of 2.5; expected a whole number from 1 on"),
        (("first_sum", "b"), "input", "first_sum combines b: say block=, how many at a time"),
        (("reward", "t"), "no effect", "reward combines nothing: it has no range"),
        (
            ("worth", "b"),
            "no effect",
            "the range of worth over t_1 does not move with b: there is nothing that one instance "
            "could take over from its neighbour",
        ),
    ],
)
def test_bad_input_refused(arguments: tuple[Any, ...], kind: str, sentence: str) -> None:
    found = refusal(returns(), *arguments)
    assert found.kind == kind
    assert found.sentence.startswith(f"{Incrementalize(*arguments)}: {sentence}")


def test_array_of_pieces_without_a_range_and_a_mean_say_what_combines() -> None:
    @wb.program
    def pieces(B: int = 3, T: int = 4) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.recurrent("x", (), over=(b, t))
        x[b, 0] = 0.0
        x[b, t + 1] = x + 1.0
        mean = x[b, 0:T].sum().mean(over=b)
        return {"mean": mean}

    assert refusal(pieces(), "x", "t").sentence == (
        "Incrementalize('x', 't'): x[0], x[t+1] combine nothing: they have no range"
    )
    assert refusal(pieces(), "mean", "b").sentence == (
        "Incrementalize('mean', 'b'): mean combines nothing: it has no range; of the same line "
        "combine mean_sum (t_1), mean_sum_2 (b)"
    )


@pytest.mark.parametrize(
    ("arguments", "kind", "sentence"),
    [
        (
            ("best", "t"),
            "capability",
            "best is argmax, which cannot go on from a result; expected sum, max, min",
        ),
        (
            ("apart", "t"),
            "capability",
            "x[t_1] - y[t] in apart depends on both t and t_1, and is not a power whose exponent "
            "is affine in them, so one instance cannot go on from another",
        ),
        (
            ("ramp", "t"),
            "capability",
            "t_1 - t in ramp depends on both t and t_1, and is not a power whose exponent is "
            "affine in them, so one instance cannot go on from another",
        ),
        (
            ("scaled", "t"),
            "capability",
            "a max of scaled is scaled by what depends on t, which may be negative: only sums can "
            "be scaled afterwards",
        ),
        (
            ("window", "t", 64),
            "capability",
            "window combines windows of 3, which need blocks of 3, not of 64",
        ),
        (
            ("signed", "t"),
            "capability",
            "a max with weights needs a base that is a positive number",
        ),
        (
            ("wide", "t"),
            "capability",
            "the range of wide over t_5 neither grows by one point from a neighbour along t to the "
            "next, nor is it a window of one length that slides with t",
        ),
    ],
)
def test_what_cannot_be_lifted_refused(
    arguments: tuple[Any, ...], kind: str, sentence: str
) -> None:
    found = refusal(odd(), *arguments)
    assert (found.kind, found.sentence) == (kind, f"{Incrementalize(*arguments)}: {sentence}")
    assert found.line is not None and found.line.file.endswith("test_incrementalize.py")


def test_wrong_block_of_a_window_is_repaired_by_its_own() -> None:
    (other,) = refusal(odd(), "window", "t", 64).instead
    assert other == Incrementalize("window", "t")
    assert_computes_the_same(odd(), variant(odd()).apply(other))


def test_wrong_block_of_a_window_is_not_repaired_by_what_is_refused_too() -> None:
    folded = variant(PROGRAMS["n_step"][0]()).apply(Contract())
    found = folded.check(Incrementalize("discounted_sum", "t", 4))
    assert found is not None and found.sentence.endswith("need blocks of 3, not of 4")
    assert folded.check(Incrementalize("discounted_sum", "t")) is not None
    assert found.instead == ()


def test_block_of_a_range_inside_a_recurrence_is_repaired_by_the_plain_lift() -> None:
    @wb.program
    def example(T: int = 7) -> dict[str, Any]:
        """What is added depends on what has been added up."""
        t = wb.dim(t=T)
        x = wb.recurrent("x", (), over=t)
        total = x[0 : t + 1].sum()
        x[0] = 1.0
        x[t + 1] = 0.1 * total
        return {"total": total}

    found = refusal(example(), "total", "t", 3)
    assert found.kind == "dependence"
    assert found.sentence == (
        "Incrementalize('total', 't', block=3): total[t=1] reads x[1], which x[t+1] at t=0 writes "
        "(smallest case: T=2): x[t+1], total need each other from step to step of t, so no block "
        "can be combined before all of them have run"
    )
    assert found.witness is not None
    assert found.witness.statements == ("x[t+1]", "total")
    assert found.witness.instances == ({"t": 0}, {"t": 1})
    (other,) = found.instead
    lifted = variant(example()).apply(other)
    assert_computes_the_same(example(), lifted)


def test_window_inside_a_recurrence_refused_with_a_witness() -> None:
    @wb.program
    def example(I: int = 2, T: int = 7) -> dict[str, Any]:
        """What comes next depends on the last three, in every update."""
        i, t = wb.dims(i=I, t=T)
        x = wb.recurrent("x", (), over=(i, t))
        total = x[i, wb.maximum(t - 2, 0) : t + 1].sum()
        x[0, 0] = 1.0
        x[i + 1, 0] = x[i, T]
        x[i, t + 1] = 0.1 * total
        return {"total": total}

    found = refusal(example(), "total", "t")
    assert found.kind == "dependence"
    assert found.witness is not None and found.instead == ()
    assert [at["i"] for at in found.witness.instances] == [0, 0]
    assert [at["t"] for at in found.witness.instances] == [0, 1]


def test_statement_in_a_loop_over_blocks_refused() -> None:
    tiled = variant(returns()).apply(Tile("t", 2))
    found = tiled.check(Incrementalize("worth", "t"))
    assert found is not None and found.kind == "capability"
    assert found.sentence.endswith("incrementalize before tiling")


def test_part_of_blocks_is_not_taken_apart_again() -> None:
    once = variant(returns()).apply(Incrementalize("first_sum", "b", 2))
    found = once.check(Incrementalize("first_sum.partial", "b", 2))
    assert found is not None and found.kind == "no effect"
    assert found.sentence.endswith("first_sum.partial is a part of blocks of 2 of b already")


def test_positions_in_blocks_are_no_second_axis() -> None:
    lifted = variant(odd()).apply(Incrementalize("window", "t")).apply(Vectorize("t_block3"))
    found = lifted.check(Vectorize("t_in3", ("window[3*t_block3+t_in3]",)))
    assert found is not None and found.kind == "capability"
    assert found.sentence.endswith(
        "window[3*t_block3+t_in3] writes window[3 * t_block3 + t_in3], where t_block3 and t_in3 "
        "are one dimension of the array: only one of them can be an axis"
    )


def test_step_of_an_array_written_in_pieces_names_the_one_that_combines() -> None:
    assert variant(returns()).check(Incrementalize("worth", "t")) is None
    with pytest.raises(WorkbenchError):
        variant(returns()).apply(Incrementalize("worth", "t")).apply(Incrementalize("worth", "t"))
