"""Contract: what is folded, what stays whole and why, what later steps must not break."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.native_runs import check_native
from tests.programs import PROGRAMS, automatic
from tests.truth import truth
from workbench.backends import get
from workbench.errors import TooComplexError
from workbench.transforms import Contract, Distribute, Donate, Fuse, Tile, Vectorize
from workbench.transforms.step.refusal import Refusal
from workbench.transforms.step.transform import Transform


@wb.program
def moving(B: int = 3, T: int = 5) -> dict[str, Any]:
    b, t = wb.dims(b=B, t=T)
    position = wb.recurrent("position", (), over=(b, t))
    force = wb.sin(position)
    position[b, 0] = wb.uniform(over=b)
    position[b, t + 1] = position + force
    energy = force * position
    return {"last": position[b, T], "total": energy.sum(over=t)}


@wb.program
def backwards(T: int = 5) -> dict[str, Any]:
    t = wb.dim(t=T)
    reward = wb.uniform(over=t)
    worth = wb.recurrent("worth", (), over=t)
    worth[T] = 0.0
    worth[t] = reward + 0.9 * worth[t + 1]
    scaled = reward * worth[0]
    return {"worth": worth, "scaled": scaled.sum(over=t)}


@wb.program
def looked_up(N: int = 5) -> dict[str, Any]:
    n = wb.dim(n=N)
    x = wb.normal(over=n)
    at = wb.cast(wb.uniform(over=n) * 3.0, int) % N
    return {"y": wb.gather(x, n=at)}


@wb.program
def downwards(B: int = 200, T: int = 6) -> dict[str, Any]:
    """Backwards along b, and the last slice written is read beside every other."""
    b, t = wb.dims(b=B, t=T)
    u = wb.uniform(over=t)
    x = wb.recurrent("x", (), over=(b, t))
    x[B, t] = u[t]
    x[b, t] = 0.8 * x[b + 1, t]
    y = x[b, t] + x[0, t]
    return {"y": y.sum(over=b)}


def refusal(program: Any, step: Contract) -> Refusal:
    found = wb.variant(program).check(step)
    assert found is not None
    return found


def same_as_reference(found: wb.Variant) -> None:
    run = get("numpy").compile(found.program).run(dtype="float64")
    for name, expected in truth(found.root.program).outputs().items():
        np.testing.assert_allclose(run.outputs[name], expected, rtol=1e-9, atol=1e-12)
    check_native(found.program, run.outputs, {}, 0)


def test_one_dimension_is_folded_and_the_rest_stays() -> None:
    found = wb.variant(moving()).apply(Contract("position", "t"))
    assert "position over b (B), t (2 of T + 1)\n" in found.storage
    assert found.program.storage.contracted == (("position", "t"),)
    same_as_reference(found)


def test_all_of_every_array_is_folded_that_can_be() -> None:
    found = wb.variant(moving()).apply(Vectorize("b")).apply(Contract())
    assert found.storage.splitlines() == [
        "last over b (B)",
        "position over b (B), t (2 of T + 1)",
        "force over b (B), t (1 of T)",
        "total over b (B)",
        "energy over b (B), t (T)",
    ]
    same_as_reference(found)


def test_name_of_an_array_stands_for_all_its_dimensions() -> None:
    found = wb.variant(moving()).apply(Contract("position"))
    assert found.program.storage.contracted == (("position", "b"), ("position", "t"))
    assert "position over b (1 of B), t (2 of T + 1)\n" in found.storage


def test_dimension_stands_for_all_arrays() -> None:
    found = wb.variant(moving()).apply(Contract(dim="t"))
    assert found.program.storage.contracted == (("position", "t"), ("force", "t"))
    assert found.notes == ("kept whole: energy (t): all slices are live at one time",)


def test_what_stays_whole_is_said_with_the_reason() -> None:
    found = wb.variant(moving()).apply(Vectorize("b")).apply(Contract())
    assert found.notes == (
        "kept whole: last (b), total (b): returned whole",
        "kept whole: position (b), force (b), energy (b): b runs as an array axis",
        "kept whole: energy (t): all slices are live at one time",
    )
    assert wb.variant(looked_up()).apply(Contract()).notes[-1] == (
        "kept whole: x (n): read at an index that depends on data"
    )


def test_what_reads_a_recurrence_s_first_slice_last_is_shown_and_not_its_step() -> None:
    @wb.program
    def kept(T: int = 5) -> dict[str, Any]:
        t = wb.dim(t=T)
        state = wb.recurrent("state", (), over=t)
        state[0] = 1.0
        state[t + 1] = wb.sin(state)
        return {"mean": state.mean(over=t)}

    assert refusal(kept(), Contract("state", "t")).sentence == (
        "Contract('state', 't'): mean_sum has still to read state[0] when state[t+1] at t=1 writes "
        "state[2], so all 3 slices along t are live at one time (smallest case of 3 slices: T=2)"
    )


def test_lifetimes_refused_with_the_two_ends_that_are_live_at_one_time() -> None:
    found = refusal(backwards(), Contract("reward", "t"))
    assert found.kind == "dependence"
    assert found.sentence == (
        "Contract('reward', 't'): worth[t=0] has still to read reward[0] when reward[t=2] writes "
        "reward[2], so all 3 slices along t are live at one time (smallest case of 3 slices: T=3)"
    )
    assert found.witness is not None and found.line is not None
    assert found.witness.statements == ("reward", "worth")
    assert found.witness.instances == ({"t": 2}, {"t": 0})
    assert found.witness.element == (0,) and found.witness.sizes == {"T": 3}
    assert found.line.text == "worth[t] = reward + 0.9 * worth[t + 1]"


def test_output_refused() -> None:
    found = refusal(moving(), Contract("last", "b"))
    assert found.kind == "capability"
    assert found.sentence == "Contract('last', 'b'): last is an output: it is returned whole"


def test_array_axis_refused_with_the_statement() -> None:
    program = wb.variant(moving()).apply(Vectorize("b")).program
    assert refusal(program, Contract("force", "b")).sentence == (
        "Contract('force', 'b'): b runs as an array axis in force, which touches all of force "
        "along b at one time; in blocks (Tile) it would touch a block at a time"
    )


def test_data_dependent_read_refused() -> None:
    assert refusal(looked_up(), Contract("x", "n")).sentence == (
        "Contract('x', 'n'): y reads x at an index along n that depends on data, so any of its "
        "slices may be read"
    )


def test_data_dependent_read_refused_for_that_and_not_for_an_axis_that_blocks_would_help() -> None:
    program = wb.variant(looked_up()).apply(Vectorize("n", ("x",))).program
    found = refusal(program, Contract("x", "n"))
    assert "depends on data" in found.sentence and "Tile" not in found.sentence


def test_unknown_array_and_dimension_refused_with_the_nearest() -> None:
    assert refusal(moving(), Contract("positon")).sentence == (
        "Contract('positon'): unknown array positon: did you mean position? "
        "(arrays: last, position, force, total, energy)"
    )
    assert refusal(moving(), Contract("force", "tt")).sentence == (
        "Contract('force', 'tt'): unknown dim tt: did you mean t? (dims of force: b, t)"
    )
    assert refusal(moving(), Contract(dim="q")).sentence == (
        "Contract(dim='q'): unknown dim q: the dims are b, t"
    )


def test_no_effect_refused_when_folded_already() -> None:
    program = wb.variant(moving()).apply(Contract()).program
    assert refusal(program, Contract("position", "t")).sentence == (
        "Contract('position', 't'): position is folded along t already"
    )
    assert refusal(program, Contract()).sentence == "Contract(): no array can be folded"
    assert refusal(program, Contract(dim="b")).kind == "no effect"


@wb.program
def once(I: int = 3) -> dict[str, Any]:
    i = wb.dim(i=I)
    first = wb.recurrent("first", (), over=i)
    first[0] = 1.0
    return {"y": first[0] + wb.cast(wb.index(i), float)}


def test_no_effect_refused_when_there_is_one_slice() -> None:
    found = refusal(once(), Contract("first", "i"))
    assert found.kind == "no effect"
    assert found.sentence == (
        "Contract('first', 'i'): first has one slice along i, there is nothing to fold"
    )


def test_no_effect_refused_when_there_is_no_dimension() -> None:
    found = refusal(backwards(), Contract("scaled_output"))
    assert found.kind == "no effect"
    assert found.sentence.endswith("scaled_output has no dimensions to fold")


def test_later_step_that_needs_what_is_folded_refused_with_the_earlier_step() -> None:
    folded = wb.variant(moving()).apply(Contract("force", "t"))
    found = folded.check(Vectorize("t", ("energy",)))
    assert found is not None and found.kind == "capability"
    assert found.sentence == (
        "Vectorize('t', statements=('energy',)) would make force need all of t, which "
        "Contract('force', 't') has folded: t runs as an array axis in energy, which touches all "
        "of force along t at one time; in blocks (Tile) it would touch a block at a time"
    )
    with pytest.raises(wb.Refused, match="which Contract"):
        folded.apply(Vectorize("t", ("energy",)))


@wb.program
def stages(T: int = 5) -> dict[str, Any]:
    t = wb.dim(t=T)
    x = wb.recurrent("x", (), over=t)
    x[0] = 1.0
    x[t + 1] = 0.5 * x + wb.uniform(over=t)
    y = wb.recurrent("y", (), over=t)
    y[0] = x[0]
    y[t + 1] = y * x[t + 1]
    z = wb.sin(y)
    return {"z": z, "end": y[T]}


def test_later_step_whose_blocks_need_whole_slots_refused_with_the_blocks() -> None:
    """B of B + 1 slots are live: a number of slots, and none of blocks."""
    v = wb.variant(downwards()).apply(Tile("b", 64)).apply(Contract()).apply(Donate())
    assert v.program.storage.contracted == (("x", "b"),)
    found = next(move.refusal for move in v.moves() if move.step == Vectorize("b"))
    assert found is not None and found.kind == "capability"
    assert found.sentence == (
        "Vectorize('b') would make x need all of b, which Contract('x', 'b') has folded: y touches "
        "x in blocks of 64 along b, so x keeps a whole number of blocks; the B slices that are "
        "live at one time are no such number at all sizes"
    )


def test_blocks_that_need_whole_slots_refused_and_not_for_two_ends_of_the_smallest_size() -> None:
    """At B = 1 both slices are live at one time; at other sizes B of B + 1 are."""
    found = (
        wb.variant(downwards()).apply(Tile("b", 64)).apply(Vectorize("b")).check(Contract("x", "b"))
    )
    assert found is not None and found.kind == "capability" and found.witness is None
    assert "y touches x in blocks of 64 along b" in found.sentence


def test_blocks_refused_where_indices_do_not_count_from_0() -> None:
    @wb.program
    def example(B: int = 5) -> dict[str, Any]:
        b = wb.dim(b=B)
        x = wb.recurrent("x", (), over=b)
        x[b + 2] = wb.uniform(over=b)
        y = x[b + 2] * 2.0
        return {"total": y.sum(over=b)}

    found = wb.variant(example()).apply(Tile("b", 2)).apply(Vectorize("b")).check(Contract("x"))
    assert found is not None and found.kind == "capability"
    assert found.sentence.endswith(
        "blocks keep their places only where b counts from 0, and x from 2"
    )


def test_later_step_that_parts_a_loop_refused() -> None:
    """Vectorizing z moves it behind the loop over t, where it still reads all of y."""
    folded = wb.variant(stages()).apply(Contract("y", "t"))
    found = folded.check(Vectorize("t", ("z",)))
    assert found is not None and found.kind == "capability"
    assert "would make y need all of t, which Contract('y', 't') has folded" in found.sentence


def same_after_repair(before: wb.Variant, step: Contract, repairs: tuple[Transform, ...]) -> None:
    """The step is refused, with exactly these repairs; after each it computes the same."""
    found = before.check(step)
    assert found is not None and found.repairs == repairs
    expected = truth(before.root.program).outputs()
    for repair in repairs:
        after = before.apply(repair).apply(step)
        run = wb.run(after, dtype="float64", backend="numpy")
        for name, values in expected.items():
            np.testing.assert_allclose(run[name], values, rtol=1e-12)


def test_whole_axis_is_repaired_by_blocks() -> None:
    before = wb.variant(moving()).apply(Vectorize("b"))
    same_after_repair(before, Contract("force", "b"), (Tile("b", 64),))


def test_reader_in_a_loop_of_its_own_is_repaired_by_one_loop() -> None:
    before = wb.variant(stages()).apply(Distribute(("z",)))
    same_after_repair(before, Contract("y", "t"), (Fuse(("y[t+1]", "z")),))


def test_what_nothing_helps_has_no_repairs() -> None:
    found = refusal(moving(), Contract("last"))
    assert (found.kind, found.repairs, found.instead) == ("capability", (), ())


def test_candidates_are_all_arrays_and_each_that_shrinks() -> None:
    assert list(Contract.candidates(wb.variant(moving()).program)) == [
        Contract(),
        Contract("position"),
        Contract("force"),
        Contract("energy", "b"),
    ]
    done = wb.variant(moving()).apply(Contract()).program
    assert list(Contract.candidates(done)) == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_computes_the_same_when_folded(name: str) -> None:
    template, sizes = PROGRAMS[name]
    root = wb.variant(template())
    vectorized = root
    for step in automatic(name).steps:
        if isinstance(step, Vectorize):
            vectorized = vectorized.apply(step)
    folded = [v.apply(Contract()) for v in (root, vectorized) if v.check(Contract()) is None]
    compiled = [get("numpy").compile(v.program) for v in folded]
    for given in sizes:
        expected = truth(root.program, given).outputs()
        for one in compiled:
            run = one.run(given, dtype="float64")
            for output, values in expected.items():
                np.testing.assert_allclose(run.outputs[output], values, rtol=1e-9, atol=1e-9)
            check_native(one.program, run.outputs, given, 0)


def test_lifetimes_that_take_too_much_work_refused_and_not_hidden(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def endless(*_: object) -> None:
        raise TooComplexError("computing lifetimes: too complex, given up after 5 operations")

    monkeypatch.setattr("workbench.transforms.storage.contract.folding", endless)
    assert list(Contract.candidates(moving())) == [Contract()]
    found = refusal(moving(), Contract())
    assert found.kind == "cost"
    assert "too complex" in found.sentence
