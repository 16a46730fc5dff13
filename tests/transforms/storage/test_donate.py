"""Donate: whose memory is handed on, what is refused and why, what later steps must not break."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.native_runs import check_native
from tests.polyhedral.notation import parse
from tests.programs import PROGRAMS
from tests.truth import truth
from workbench.backends import get
from workbench.lowering.loops.records import Allocate, walk
from workbench.lowering.lower import lower
from workbench.program.sizes import resolve
from workbench.transforms import Contract, Donate, Vectorize
from workbench.transforms.step.refusal import Refusal
from workbench.transforms.step.storage_holds import broken_storage


@wb.program
def pushed(T: int = 5) -> dict[str, Any]:
    t = wb.dim(t=T)
    position = wb.recurrent("position", (), over=t)
    force = wb.sin(position)
    push = force * 0.1
    position[0] = 1.0
    position[t + 1] = position + push
    return {"last": position[T]}


@wb.program
def layered(B: int = 3, T: int = 4) -> dict[str, Any]:
    b, t = wb.dims(b=B, t=T)
    x = wb.normal(over=(b, t))
    y = wb.exp(x)
    whole = wb.cast(y * 10.0, int)
    z = wb.sin(y) + 1.0
    early = wb.normal(over=(b, t))
    s = wb.recurrent("s", 3, over=(b, t))
    s[b, 0] = 0.5
    s[b, t + 1] = wb.cumsum(s, 0)
    mixed = z * early[b, T - 1]
    return {
        "whole": whole.sum(over=(b, t)),
        "end": s[b, T],
        "mixed": mixed.sum(over=(b, t)),
    }


@wb.program
def learned(I: int = 4) -> dict[str, Any]:
    i = wb.dim(i=I)
    theta = wb.recurrent("theta", 3, over=i)
    theta[0] = wb.normal(shape=3)
    theta[i + 1] = theta - 0.1 * theta * theta
    return {"last": theta[I]}


def refusal(variant: wb.Variant | Any, step: Donate) -> Refusal:
    found = wb.variant(variant).check(step)
    assert found is not None
    return found


def same_as_reference(found: wb.Variant, sizes: dict[str, int] | None = None) -> None:
    compiled = get("numpy").compile(found.program)
    run = compiled.run(sizes, dtype="float64")
    for name, expected in truth(found.root.program, sizes).outputs().items():
        np.testing.assert_allclose(run.outputs[name], expected, rtol=1e-9, atol=1e-9)
    known = resolve(found.program.equations, sizes)
    assert run.peak_bytes == compiled.loop_program.peak(known, "float64")
    check_native(found.program, run.outputs, sizes, 0)


def peak(found: wb.Variant) -> int:
    return lower(found.program).peak(resolve(found.program.equations, {}), "float64")


def asked_for(found: wb.Variant) -> list[str]:
    records = walk(lower(found.program).body)
    return [r.buffer.name for r in records if isinstance(r, Allocate) and r.source is None]


def test_result_takes_over_the_memory_of_its_operand() -> None:
    root = wb.variant(pushed())
    found = root.apply(Donate("force", "push"))
    assert found.program.storage.donated == (("force", "push"),)
    assert "push over t (T), in the memory of force\n" in found.storage
    assert "push" in asked_for(root) and "push" not in asked_for(found)
    assert peak(found) == peak(root) - 5 * 8
    same_as_reference(found)


def test_slices_are_handed_on_one_by_one() -> None:
    """second is read after the loop in which first dies slice by slice."""
    found = wb.variant(turns()).apply(Donate("first", "second"))
    assert "second" not in asked_for(found)
    same_as_reference(found)
    same_as_reference(found, {"T": 1})


@wb.program
def turns(T: int = 5) -> dict[str, Any]:
    t = wb.dim(t=T)
    first = wb.normal(over=t)
    worth = wb.recurrent("worth", (), over=t)
    second = first * worth[t + 1]
    worth[T] = 1.0
    worth[t] = second - 0.5
    return {"total": second.sum(over=t)}


def test_parameters_are_updated_in_place() -> None:
    folded = wb.variant(learned()).apply(Contract())
    assert "theta over i (2 of I + 1)\n" in folded.storage
    found = folded.apply(Donate("theta", "theta"))
    assert "theta over i (1 of I + 1), in place\n" in found.storage
    assert peak(found) < peak(folded)
    same_as_reference(found)


def test_all_that_save_memory_are_found() -> None:
    found = wb.variant(pushed()).apply(Contract()).apply(Donate())
    assert found.program.storage.donated == (("position", "position"), ("force", "push"))
    assert found.check(Donate()) is not None
    same_as_reference(found)


def test_one_name_finds_the_other() -> None:
    root = wb.variant(pushed())
    for step in (Donate("force"), Donate(to="push")):
        assert root.apply(step).program.storage.donated == (("force", "push"),)


def test_a_chain_is_one_piece_of_memory() -> None:
    flat = wb.variant(chained()).apply(Vectorize("n"))
    found = flat.apply(Donate())
    assert found.program.storage.donated == (("a", "b"), ("b", "c"))
    assert not {"b", "c"} & set(asked_for(found))
    assert peak(found) < peak(flat)
    same_as_reference(found)


@wb.program
def chained(N: int = 600) -> dict[str, Any]:
    n = wb.dim(n=N)
    a = wb.recurrent("a", (), over=n)
    a[n] = wb.cast(wb.index(n), float)
    b = wb.sin(a)
    c = b + 1.0
    return {"total": c.sum(over=n)}


@wb.program
def needed_later(T: int = 4) -> dict[str, Any]:
    t = wb.dim(t=T)
    x = wb.normal(over=t)
    y = wb.exp(x)
    last = wb.cumsum(wb.stack([x, y]), 0)
    z = x[T - 1 - t] * y
    return {"total": z.sum(over=t), "last": last.sum(over=t)}


def test_place_that_is_still_read_refused_with_two_instances() -> None:
    found = refusal(needed_later(), Donate("x", "y"))
    assert found.kind == "dependence"
    assert found.sentence == (
        "Donate('x', 'y'): last[t=0] has still to read x[0] when y[t=0] writes y[0], in the same "
        "place (smallest case: T=1)"
    )
    assert found.witness is not None
    assert found.witness.statements == ("y", "last") and found.witness.sizes == {"T": 1}


@wb.program
def mirrored(T: int = 4) -> dict[str, Any]:
    t = wb.dim(t=T)
    x = wb.normal(over=t)
    y = wb.sin(x + x[T - 1 - t])
    return {"total": y.sum(over=t)}


def test_place_of_another_lane_refused_with_two_instances() -> None:
    """NumPy adds before it writes; a kernel writes some lanes before it reads for others."""
    found = refusal(wb.variant(mirrored()).apply(Vectorize("t")), Donate("x", "y"))
    assert found.kind == "dependence"
    assert found.sentence == (
        "Donate('x', 'y'): y[t=0] has still to read x[1] when y[t=1] writes y[1], in the same "
        "place (smallest case: T=2)"
    )


@wb.program
def added_up(N: int = 4) -> dict[str, Any]:
    n = wb.dim(n=N)
    x = wb.normal(shape=3, over=n)
    y = wb.cumsum(x, 0)
    return {"total": y.sum(over=n)}


def test_operation_that_is_not_elementwise_refused_with_the_instance() -> None:
    found = refusal(wb.variant(added_up()).apply(Vectorize("n")), Donate("x", "y"))
    assert found.kind == "dependence"
    assert found.sentence == (
        "Donate('x', 'y'): y[n=0] reads x[0] in the operation that writes y[0], and not element "
        "by element, in the same place (smallest case: N=1)"
    )


def test_operation_that_is_not_elementwise_refused_in_place() -> None:
    folded = wb.variant(layered()).apply(Contract("s", "t"))
    found = refusal(folded, Donate("s", "s"))
    assert found.kind == "dependence"
    assert found.sentence == (
        "Donate('s', 's'): s[t+1] at b=0, t=0 reads s[0, 0] in the operation that writes s[0, 1], "
        "and not element by element (smallest case: B=1, T=1)"
    )


def test_array_that_keeps_all_slices_is_not_updated_in_place() -> None:
    found = refusal(learned(), Donate("theta", "theta"))
    assert found.sentence == (
        "Donate('theta', 'theta'): theta keeps all its slices, so there is none whose place "
        "another could take; Contract would fold it"
    )
    assert found.repairs == (Contract("theta"),)


def test_other_dtype_size_or_loops_refused() -> None:
    flat = wb.variant(layered()).apply(Vectorize("b")).apply(Vectorize("t"))
    names = [a.name for a in flat.program.arrays if a.dtype == "int32" and a.dims]
    assert refusal(flat, Donate("y", names[0])).sentence == (
        f"Donate('y', {names[0]!r}): y is float and {names[0]} is int32"
    )
    assert refusal(pushed(), Donate("position", "force")).sentence == (
        "Donate('position', 'force'): position has T + 1 elements in memory, force T"
    )


def test_arrays_that_live_inside_other_loops_refused() -> None:
    @wb.program
    def example(B: int = 3, T: int = 4) -> dict[str, Any]:
        """What one b needs of its own is as much as what all share."""
        b, t = wb.dims(b=B, t=T)
        base = wb.normal(over=t)
        s = wb.recurrent("s", (), over=(b, t))
        own = wb.exp(s)
        s[b, 0] = base.sum(over=t)
        s[b, t + 1] = 0.5 * own
        return {"y": s[b, T]}

    folded = wb.variant(example()).apply(Contract("own", "b"))
    assert refusal(folded, Donate("base", "own")).sentence == (
        "Donate('base', 'own'): base lives outside all loops, own inside one iteration of b"
    )


def test_output_refused() -> None:
    assert refusal(pushed(), Donate("force", "last")).sentence == (
        "Donate('force', 'last'): last is an output: it is returned whole, in memory of its own"
    )
    assert refusal(pushed(), Donate("last", "last")).kind == "capability"


def test_unknown_array_refused_with_the_nearest() -> None:
    assert refusal(pushed(), Donate("forse")).sentence.startswith(
        "Donate('forse'): unknown array forse: did you mean force? (arrays: "
    )
    assert refusal(pushed(), Donate(to="pus")).kind == "input"


def test_no_effect_refused() -> None:
    done = wb.variant(pushed()).apply(Contract()).apply(Donate())
    assert refusal(done, Donate("force", "push")).sentence == (
        "Donate('force', 'push'): push has the memory of force already"
    )
    assert refusal(done, Donate("position", "position")).sentence == (
        "Donate('position', 'position'): position is updated in place already"
    )
    assert refusal(done, Donate()).sentence == (
        "Donate(): no array can take over another's memory, none can be updated in place"
    )
    assert refusal(done, Donate("push")).sentence == (
        "Donate('push'): no array can take over the memory of push"
    )
    flat = wb.variant(layered()).apply(Vectorize("b")).apply(Vectorize("t"))
    assert refusal(flat, Donate("y", "mixed")).sentence == (
        "Donate('y', 'mixed'): y is dead before mixed is written and its memory is free by then, "
        "so nothing would be saved"
    )


def test_memory_given_once_refused_and_the_repair_follows_the_heir() -> None:
    flat = wb.variant(chained()).apply(Vectorize("n")).apply(Donate("a", "b"))
    found = refusal(flat, Donate("a", "c"))
    assert found.sentence == "Donate('a', 'c'): b takes over the memory of a; c could follow it"
    assert found.instead == (Donate("b", "c"),)
    same_as_reference(flat.apply(found.instead[0]))


def test_wrong_way_round_refused_with_the_right_way_as_repair() -> None:
    flat = wb.variant(chained()).apply(Vectorize("n"))
    found = refusal(flat, Donate("c", "b"))
    assert found.sentence == (
        "Donate('c', 'b'): b is written before c, which cannot hand it any memory"
    )
    assert found.instead == (Donate("b", "c"),)
    same_as_reference(flat.apply(found.instead[0]))


@wb.program
def read_twice(N: int = 4) -> dict[str, Any]:
    n = wb.dim(n=N)
    x = wb.normal(over=n)
    w = x + 1.0
    z = 2.0 * x
    return {"total": (w * z).sum(over=n)}


def test_later_order_that_brings_them_in_each_others_way_refused() -> None:
    handed = wb.variant(read_twice()).apply(Vectorize("n")).apply(Donate("x", "z"))
    same_as_reference(handed)
    other = parse("axis n:\n    x\n    z\n    w\ntotal\n")
    found = broken_storage(replace(handed.program, schedule=other), "Fuse('x', 'z')")
    assert found is not None and found.kind == "dependence"
    assert found.sentence == (
        "Fuse('x', 'z') would take from z the memory that Donate('x', 'z') gave it: w[n=0] has "
        "still to read x[0] when z[n=0] writes z[0], in the same place (smallest case: N=1)"
    )
    assert found.witness is not None and found.witness.sizes == {"N": 1}


def test_later_step_that_makes_memory_unlike_refused() -> None:
    handed = wb.variant(pushed()).apply(Donate("force", "push"))
    found = handed.check(Contract("force", "t"))
    assert found is not None
    assert found.sentence == (
        "Contract('force', 't') would take from push the memory that Donate('force', 'push') gave "
        "it: force has 1 elements in memory, push T"
    )


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(sorted(PROGRAMS)), st.data())
def test_every_accepted_step_computes_the_same(name: str, data: st.DataObject) -> None:
    template, sizes = PROGRAMS[name]
    variant = wb.variant(template())
    for _ in range(data.draw(st.integers(0, 2))):
        able = [s for s in Vectorize.candidates(variant.program) if variant.check(s) is None]
        if able:
            variant = variant.apply(data.draw(st.sampled_from(able)))
    if data.draw(st.booleans()) and variant.check(Contract()) is None:
        variant = variant.apply(Contract())
    arrays = [a.name for a in variant.program.arrays]
    for _ in range(6):
        step = Donate(data.draw(st.sampled_from(arrays)), data.draw(st.sampled_from(arrays)))
        if variant.check(step) is None:
            variant = variant.apply(step)
    if data.draw(st.booleans()) and variant.check(Donate()) is None:
        variant = variant.apply(Donate())
    same_as_reference(variant, data.draw(st.sampled_from(sizes)))


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_computes_the_same_with_all_memory_handed_on(name: str) -> None:
    template, sizes = PROGRAMS[name]
    folded = wb.variant(template())
    if folded.check(Contract()) is None:
        folded = folded.apply(Contract())
    if folded.check(Donate()) is None:
        found = folded.apply(Donate())
        assert peak(found) <= peak(folded)
        for given_sizes in sizes:
            same_as_reference(found, given_sizes)
