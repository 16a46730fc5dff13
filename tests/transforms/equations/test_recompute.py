"""Recompute: which readers get a clone, where it stands, equal draws, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.benchmarks.large import observations_again
from tests.language.test_random_programs import SIZES, Rule, rules, written
from tests.native_runs import check_native
from tests.programs import PROGRAMS, automatic
from tests.truth import truth
from workbench import environments
from workbench.algorithms import ppo, reinforce
from workbench.backends.reference.evaluator import Reference
from workbench.measure.checking.agreement import deviations
from workbench.program.text.infix import body_text, equation
from workbench.transforms import (
    Accumulate,
    Contract,
    Donate,
    Fuse,
    Incrementalize,
    Recompute,
    Vectorize,
)
from workbench.transforms.equations.readers import readers_of
from workbench.transforms.rules.row import is_external
from workbench.variants.variant import Variant, optimize


@wb.program
def twice(B: int = 3, T: int = 4) -> dict[str, Any]:
    """A feature that one loop computes and reads, and a later loop reads again."""
    b, t = wb.dims(b=B, t=T)
    x = wb.normal(over=(b, t))
    feature = wb.tanh(x)
    s = wb.recurrent("s", (), over=(b, t))
    s[b, 0] = 0.0
    s[b, t + 1] = 0.5 * s + feature
    g = wb.recurrent("g", (), over=(b, t))
    g[b, T] = s[b, T]
    g[b, t] = 0.5 * g[b, t + 1] + feature
    last = (s[b, T] * feature[b, T - 1]).sum(over=b)
    return {"g": g, "last": last}


@wb.program
def gathered(B: int = 2, T: int = 5, K: int = 3) -> dict[str, Any]:
    """Values picked at drawn positions, once each in a statement and inside a sum."""
    b, t, k = wb.dims(b=B, t=T, k=K)
    x = wb.normal(over=(b, t))
    s = wb.recurrent("s", (), over=(b, t))
    value = wb.tanh(s + 0.1 * wb.index(2 * t + b))
    s[b, 0] = 0.0
    s[b, t + 1] = 0.5 * value + x
    noise = 0.5 * x[b, T - 1 - t]
    row = wb.cast(wb.uniform(0.0, float(2), over=k), int) % B
    column = wb.cast(wb.uniform(0.0, float(5), over=k), int) % T
    seen = wb.gather(value, b=row, t=column)
    turned = wb.gather(noise, b=row, t=column)
    return {"seen": seen * seen, "sum": (seen * turned).sum(over=k)}


@wb.program
def looking_ahead(T: int = 5) -> dict[str, Any]:
    """A reader one step ahead of what it reads, inside the cycle that both are on."""
    t = wb.dim(t=T)
    x = wb.recurrent("x", (), over=t)
    x[0] = 1.0
    x[1] = 2.0
    x[2] = 3.0
    z = wb.sin(x)
    r = z[wb.minimum(t + 1, T - 1)] + 1.0
    x[t + 3] = 0.5 * x[t] + r
    return {"x": x}


def assert_runs(
    root: Variant,
    after: Variant,
    sizes: dict[str, int] | None = None,
    before: Variant | None = None,
    run: Variant | None = None,
) -> None:
    """Recomputing changes no bit of what the equations `before` mean (the root's, unless given).
    What other steps did, before it or to the variant that is run instead, adds in another order.
    """
    expected = truth(root.program, sizes, 3).outputs()
    same = expected if before is None else truth(before.program, sizes, 3).outputs()
    meant = Reference(after.program.equations, sizes, 3)
    result = wb.run(
        run or after, sizes=sizes, seed=3, dtype="float64", progress=False, backend="numpy"
    )
    for name in result:
        np.testing.assert_array_equal(meant.array(name), same[name])
    off = [*deviations(same, expected, "float64"), *deviations(result, expected, "float64")]
    assert all(each.agrees for each in off), [str(each) for each in off if not each.agrees]
    check_native((run or after).program, result, sizes, 3)


# -- what is cloned, and where ---------------------------------------------------------------------


def test_each_loop_that_reads_has_a_clone_in_front_of_its_first_reader() -> None:
    root = wb.variant(twice())
    after = root.apply(Recompute("feature"))
    assert readers_of(after.program, "feature.again") == ["g"]
    assert readers_of(after.program, "feature.again_2") == ["last"]
    assert readers_of(after.program, "feature") == ["s[t+1]"]
    assert "for t reversed:\n        feature.again\n        g\n" in after.schedule
    assert_runs(root, after)


def test_clone_is_of_just_the_elements_that_are_read() -> None:
    root = wb.variant(twice())
    after = root.apply(Recompute("feature", readers="last"))
    again = after.program.statement["feature.again"]
    assert equation(again, after.program.equations) == "feature.again[b] = tanh(x[b, T - 1])"
    assert_runs(root, after)


def test_named_readers_are_exactly_those() -> None:
    root = wb.variant(twice())
    after = root.apply(Recompute("feature", readers="last"))
    assert readers_of(after.program, "feature.again") == ["last"]
    assert readers_of(after.program, "feature") == ["s[t+1]", "g"]
    assert_runs(root, after)


def test_name_of_an_array_stands_for_its_statements_that_read() -> None:
    found = wb.variant(twice()).apply(Recompute("feature", readers="s"))
    assert readers_of(found.program, "feature.again") == ["s[t+1]"]


def test_clone_of_a_draw_draws_the_same() -> None:
    @wb.program
    def drawn(T: int = 4) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.normal(shape=2, over=t)
        s = wb.recurrent("s", 2, over=t)
        s[0] = 0.0
        s[t + 1] = 0.5 * s + x
        g = wb.recurrent("g", 2, over=t)
        g[T] = s[T]
        g[t] = g[t + 1] * x
        return {"g": g}

    root = wb.variant(drawn())
    after = root.apply(Recompute("x"))
    again = after.program.statement["x.again"]
    assert again.origin == after.program.statement["x"].origin
    assert_runs(root, after)
    assert_runs(root, after, run=optimize(after, backend="numpy"))


def test_clone_stands_under_the_axes_of_its_readers() -> None:
    root = wb.variant(reinforce(B=3, I=2, T=4, hidden=(3, 3)))
    after = root.apply(Vectorize("b")).apply(Vectorize("t")).apply(Recompute("policy.hidden_1"))
    lines = [line.strip() for line in after.schedule.splitlines()]
    place = lines.index("policy.hidden_1.again")
    assert lines[place + 1] == "gradient.policy.bias_1_product"
    assert [line for line in lines[:place] if line.startswith(("for", "axis"))][-1] == "axis t:"
    assert_runs(root, after)


def test_original_that_nothing_reads_any_more_is_dropped() -> None:
    root = wb.variant(twice())
    every = readers_of(root.program, "feature")
    after = root.apply(Recompute("feature", readers=tuple(every)))
    assert "feature" not in after.program.array
    assert after.notes[-1] == (
        "feature has no reader left and is not computed: B * T * 4 bytes in float32"
    )
    assert_runs(root, after)


def test_notes_say_what_it_costs_and_frees() -> None:
    found = wb.variant(reinforce(hidden=(64, 64))).apply(Recompute("policy.hidden_2"))
    products, biases, tanh = 2 * 64 * 64, 64, 64
    assert found.notes == (
        "computed again: policy.hidden_2.again at B * I * T more instances, "
        f"{products + biases + tanh} operations each",
        "computed again: policy.hidden_2.again_2 at B * I * T more instances, "
        f"{products + biases + tanh} operations each",
        "policy.hidden_2 is read by policy.output only: what Contract need not keep of its "
        "B * I * T * 256 bytes in float32 is free",
    )


def test_clone_of_an_array_in_pieces_has_all_of_them() -> None:
    @wb.program
    def pieces(T: int = 4) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.uniform(over=t)
        y = wb.recurrent("y", (), over=t)
        y[t] = wb.sin(x)
        y[T] = 0.5
        s = wb.recurrent("s", (), over=t)
        s[0] = 0.0
        s[t + 1] = s + y
        g = wb.recurrent("g", (), over=t)
        g[T] = s[T] + y[T]
        g[t] = g[t + 1] * y[t + 1]
        return {"g": g}

    root = wb.variant(pieces())
    after = root.apply(Recompute("y", readers=("g",)))
    assert [s.name for s in after.program.writers["y.again"]] == ["y.again", "y.again[T]"]
    assert_runs(root, after)


def test_gathered_readers_get_the_clone_at_their_positions() -> None:
    root = wb.variant(gathered())
    after = root.apply(Recompute("value"))
    again = after.program.statement["value.again"]
    assert again.dims == ("k",)
    at = "row[k], column[k]"
    assert body_text(again.body) == f"tanh(s[{at}] + 0.1 * (row[k] + column[k] * 2))"
    assert readers_of(root.program, "value") == ["s[t+1]", "seen", "sum"]
    assert readers_of(after.program, "value") == ["s[t+1]"]
    assert readers_of(after.program, "value.again") == ["seen"]
    assert readers_of(after.program, "value.again_2") == ["sum"]
    for sizes in ({}, {"B": 1, "K": 1}, {"T": 1}):
        assert_runs(root, after, sizes)
    assert_runs(root, after, run=optimize(after, backend="numpy"))


def test_gathered_index_of_the_original_may_be_computed_from_the_position() -> None:
    root = wb.variant(gathered())
    after = root.apply(Recompute("noise"))
    assert "x[row[k], column[k] * -1 + (T - 1)]" in equation(after.program.statement["noise.again"])
    assert_runs(root, after)


@pytest.mark.parametrize(
    "environment",
    [pytest.param("Pendulum", marks=pytest.mark.soundness), environments.Noisy((4,), 3)],
)
def test_minibatches_of_ppo_compute_their_observations_again(environment: Any) -> None:
    root = wb.variant(ppo(B=2, I=2, T=3, E=1, M=2, environment=environment, hidden=(3,)))
    after = root.apply(Recompute("environment.observation"))
    assert after.program.statement["environment.observation.again"].dims[-1] == "k"
    left = readers_of(after.program, "environment.observation")
    assert left == ["actor.hidden_1", "critic.hidden_1"]
    assert_runs(root, after, run=optimize(after, backend="numpy"))


def blocks_of_samples(size: int = 3) -> Variant:
    """A feature that a later loop over epochs sums in blocks over t, and reads one step ahead."""

    @wb.program
    def epochs(B: int = 2, T: int = 8, E: int = 2) -> dict[str, Any]:
        b, t, e = wb.dims(b=B, t=T, e=E)
        s = wb.recurrent("s", (), over=(b, t))
        feature = wb.tanh(s)
        s[b, 0] = wb.normal(over=b)
        s[b, t + 1] = 0.5 * feature + wb.normal(over=(b, t))
        w = wb.recurrent("w", (), over=e)
        w[0] = 1.0
        error = feature * w - s[b, t + 1]
        gradient = (error * feature).sum(over=(b, t))
        ahead = (feature[b, wb.minimum(t + 1, T - 1)] * w).mean(over=(b, t))
        w[e + 1] = w - 0.1 * gradient + 0.01 * ahead
        return {"w": w}

    return wb.variant(epochs()).apply(Incrementalize("gradient", "t", size))


def test_clone_for_a_sum_in_blocks_is_of_one_block() -> None:
    root = blocks_of_samples()
    after = root.apply(Recompute("feature"))
    again = [s for s in after.program.statements if s.array.startswith("feature.again")]
    (block,) = [s for s in again if "t_block3" in s.dims]
    assert block.dims == ("e", "t_block3", "b", "t_in")
    assert body_text(block.body) == "tanh(s[b, 3 * t_block3 + t_in])"
    assert readers_of(after.program, block.array) == ["gradient.partial"]
    assert f"axis b:\n            axis t_in:\n                {block.name}\n" in after.schedule
    for found in (after, after.apply(Contract())):
        for sizes in ({}, {"T": 3}, {"T": 1}, {"E": 1, "B": 1}):
            assert_runs(root, found, sizes)


def test_clone_stands_inside_loops_whose_iterations_read_all_of_it_again() -> None:
    root = blocks_of_samples()
    after = root.apply(Recompute("feature", readers="error"))
    assert after.program.statement["feature.again"].dims == ("b", "t", "e")
    lines = [line.strip() for line in after.schedule.splitlines()]
    assert lines[lines.index("feature.again") + 1] == "error"
    assert lines.index("for e:") < lines.index("feature.again")
    assert_runs(root, after)


@pytest.mark.parametrize("shuffle", [pytest.param(False, marks=pytest.mark.soundness), True])
def test_minibatches_in_blocks_compute_a_block_of_observations_at_a_time(shuffle: bool) -> None:
    """PPO on large observations that are computed from a scalar: a sixteenth of the memory."""
    environment = environments.Trivial((3, 24, 24))
    sizes = {"B": 4, "T": 256, "I": 1}
    both = observations_again(2, shuffle=shuffle, environment=environment, hidden=(2,), **sizes)
    kept, small = (wb.run(found, progress=False, backend="numpy") for found in both)
    for name in kept:
        np.testing.assert_array_equal(small[name], kept[name])
    assert small.peak_bytes <= kept.peak_bytes / 16


# -- properties ------------------------------------------------------------------------------------


SMALL = [name for name in PROGRAMS if name not in ("small_reinforce", "small_ppo")]


@pytest.mark.parametrize("name", SMALL)
def test_every_accepted_recompute_computes_what_the_equations_mean(name: str) -> None:
    template, many = PROGRAMS[name]
    root = wb.variant(template())
    for before in (root, automatic(name)):
        for step in Recompute.candidates(before.program):
            if before.check(step) is None:
                assert_runs(root, before.apply(step), many[0], before)


@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_all_recomputes_one_after_the_other_compute_what_the_equations_mean(
    name: str, optimized: bool
) -> None:
    template, many = PROGRAMS[name]
    root = wb.variant(template())
    after = before = automatic(name) if optimized else root
    for step in list(Recompute.candidates(after.program)):
        if after.check(step) is None:
            after = after.apply(step)
    assert_runs(root, after, many[-1], before)


@settings(max_examples=25)
@given(rules(causal=True), SIZES, st.data())
def test_random_program_recomputed_computes_what_the_equations_mean(
    found: list[Rule], sizes: dict[str, int], data: st.DataObject
) -> None:
    root = wb.variant(written(found))
    arrays = [a for a in root.program.array if a not in {o.array for o in root.program.outputs}]
    if not arrays:
        return
    array = data.draw(st.sampled_from(arrays))
    readers = readers_of(root.program, array)
    chosen = data.draw(st.sets(st.sampled_from(readers), min_size=1))
    step = Recompute(array, tuple(sorted(chosen)))
    if root.check(step) is None:
        assert_runs(root, root.apply(step), sizes)


# -- refusals --------------------------------------------------------------------------------------


def refused(program: Any, step: Recompute) -> Any:
    found = wb.variant(program).check(step)
    assert found is not None
    return found


def test_recurrence_refused_with_what_it_needs() -> None:
    found = refused(twice(), Recompute("s"))
    assert found.kind == "capability"
    assert found.sentence == (
        "Recompute('s'): s cannot be computed slice by slice: s[b, t + 1] needs s[b, t], so the "
        "clone would need all that is kept now"
    )
    assert found.line.text == "s[b, t + 1] = 0.5 * s + feature"


def test_returned_array_refused() -> None:
    found = refused(twice(), Recompute("last"))
    assert found.kind == "no effect"
    assert found.sentence == (
        "Recompute('last'): last is returned as last, so all of it is kept anyway"
    )


def test_readers_beside_the_writer_refused() -> None:
    found = refused(twice(), Recompute("x"))
    assert found.kind == "no effect"
    assert found.sentence == (
        "Recompute('x'): every reader stands in the innermost loop of what writes it: feature"
    )


def test_external_statement_refused() -> None:
    environment = environments.Gymnasium("CartPole-v1")
    program = ppo(B=2, I=2, T=3, E=1, M=2, hidden=(3,), environment=environment)
    array = next(s.array for s in program.statements if is_external(s.body) and s.dims)
    found = refused(program, Recompute(array))
    assert found.kind == "capability"
    assert "calls the external object CartPole-v1, which would answer otherwise" in found.sentence


def test_unknown_array_refused_with_the_nearest() -> None:
    found = refused(twice(), Recompute("featur"))
    assert found.sentence.startswith(
        "Recompute('featur'): unknown array featur: did you mean feature? (arrays: "
    )


def test_unknown_reader_refused_with_the_nearest() -> None:
    found = refused(twice(), Recompute("feature", "lest"))
    assert found.sentence.startswith(
        "Recompute('feature', readers=('lest',)): unknown statement lest: did you mean last? ("
    )


def test_named_statement_that_does_not_read_it_refused() -> None:
    found = refused(twice(), Recompute("x", "last"))
    assert found.kind == "input"
    assert found.sentence == (
        "Recompute('x', readers=('last',)): last does not read x; what does: feature"
    )


def test_no_reader_named_refused() -> None:
    found = refused(twice(), Recompute("x", ()))
    assert found.sentence == (
        "Recompute('x', readers=()): readers is empty; name some, or leave it out"
    )


def test_clone_without_a_place_refused_with_two_instances() -> None:
    found = refused(looking_ahead(), Recompute("z", "r"))
    assert found.kind == "dependence"
    assert found.sentence == (
        "Recompute('z', readers=('r',)): r[t=0] reads z.again[1], which z.again[t=1] writes, but "
        "the loop over t runs forwards (smallest case: T=2)"
    )
    assert found.witness.instances == ({"t": 1}, {"t": 0})


def test_gathered_draw_refused() -> None:
    @wb.program
    def drawn(N: int = 4) -> dict[str, Any]:
        n, k = wb.dims(n=N, k=N)
        x = wb.normal(over=n)
        s = wb.recurrent("s", (), over=n)
        s[0] = 0.0
        s[n + 1] = s + x
        place = wb.permutation(N, over=())[k]
        return {"s": s, "y": wb.gather(x, n=place)}

    found = refused(drawn(), Recompute("x"))
    assert found.kind == "capability"
    assert found.sentence == (
        "Recompute('x'): y reads x[place[k]], and at computed positions x cannot be computed "
        "again: normal draws at its own instance"
    )


def test_gathered_pieces_refused() -> None:
    program = ppo(B=2, I=2, T=3, E=1, M=2, hidden=(3,))
    found = refused(program, Recompute("value"))
    assert found.sentence.endswith(
        "and at computed positions value cannot be computed again: several equations define value"
    )


def test_gathered_reduction_refused() -> None:
    @wb.program
    def sums(N: int = 4) -> dict[str, Any]:
        n, k = wb.dims(n=N, k=N)
        x = wb.normal(over=n)
        later = x[n:N].sum()
        place = wb.permutation(N, over=())[k]
        s = wb.recurrent("s", (), over=n)
        s[0] = 0.0
        s[n + 1] = s + later
        return {"s": s, "y": wb.gather(later, n=place)}

    found = refused(sums(), Recompute("later"))
    assert found.sentence == (
        "Recompute('later'): y reads later[place[k]], and at computed positions later cannot be "
        "computed again: later is a sum, whose range would have to move too"
    )


# -- what it is for --------------------------------------------------------------------------------


def test_hidden_layers_computed_again_need_no_memory_of_the_episode() -> None:
    root = wb.variant(reinforce(B=4, I=2, T=40, hidden=(16, 16)))
    v = root.apply(Accumulate("t")).apply(Vectorize("b"))
    sums = [n for n in v.program.statement if n.startswith("gradient") and n.endswith(".points")]
    kept = v.apply(Fuse(("gradient.policy.bias_1_product", *sums)))
    again = kept.apply(Recompute("policy.hidden_2")).apply(Recompute("policy.hidden_1"))
    peaks = []
    for variant in (kept, again):
        folded = variant.apply(Contract()).apply(Donate())
        assert_runs(kept, folded)
        peaks.append(wb.run(folded, progress=False, backend="numpy").peak_bytes)
    episode = 2 * 4 * 40 * 16 * 4  # two layers, B, T, 16 features of 4 bytes
    assert peaks[0] - peaks[1] > 0.8 * episode
