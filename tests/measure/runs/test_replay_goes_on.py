"""Programs with replay are saved and gone on from, bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.language.replay.test_priorities import judged
from tests.language.replay.test_replay import walk
from tests.truth import truth
from workbench import nn, rl
from workbench.errors import ProgramError, WorkbenchError
from workbench.measure.run import holding_past
from workbench.program.values import Program
from workbench.transforms import Recompute, Vectorize


def whole_and_parts(
    program: Program | wb.Variant, cut: int, path: Path, backend: str, updates: int = 11
) -> tuple[wb.Result, dict[str, Any]]:
    """A run of all updates, and what two runs say together of which the second goes on."""
    options: dict[str, Any] = {"backend": backend, "progress": False}
    whole = wb.run(program, sizes={"I": updates}, seed=3, **options)
    first = wb.run(program, sizes={"I": cut}, seed=3, keep=True, **options)
    first.save(path)
    second = wb.run(program, sizes={"I": updates - cut}, parameters=path, **options)
    joined = {}
    for name in whole:
        axis = whole.dims[name].index("i")
        before = np.take(first[name], range(cut), axis)
        joined[name] = np.concatenate([before, second[name]], axis)
    return whole, joined


@pytest.mark.parametrize("each", [False, True], ids=["each update", "each step"])
@pytest.mark.parametrize("cut", [1, 2, 3, 7])
def test_run_that_goes_on_draws_of_what_was_before(tmp_path: Path, each: bool, cut: int) -> None:
    """Of a ring of three updates one, two and all are from before, and rows of more are gone."""
    for program in (wb.variant(walk(each=each)), wb.optimize(walk(each=each), backend="numpy")):
        whole, joined = whole_and_parts(program, cut, tmp_path / "x.safetensors", "numpy")
        for name in whole:
            np.testing.assert_array_equal(joined[name], whole[name], err_msg=name)


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_run_that_goes_on_knows_the_priorities_from_before(tmp_path: Path, backend: str) -> None:
    program = wb.optimize(judged(), backend=backend)
    for cut in (2, 7):
        whole, joined = whole_and_parts(program, cut, tmp_path / "x.safetensors", backend)
        for name in whole:
            np.testing.assert_array_equal(joined[name], whole[name], err_msg=name)


def test_compiled_run_goes_on(tmp_path: Path) -> None:
    program = wb.optimize(walk(each=True), backend="native")
    whole, joined = whole_and_parts(program, 5, tmp_path / "x.safetensors", "native")
    for name in whole:
        np.testing.assert_array_equal(joined[name], whole[name], err_msg=name)


def test_third_run_goes_on_from_a_second(tmp_path: Path) -> None:
    program, path = wb.optimize(walk(each=True), backend="numpy"), tmp_path / "x.safetensors"
    options: dict[str, Any] = {"backend": "numpy", "progress": False}
    whole = wb.run(program, sizes={"I": 6}, **options)
    wb.run(program, sizes={"I": 1}, keep=True, **options).save(path)
    for _ in range(2):
        wb.run(program, sizes={"I": 1}, keep=True, parameters=path, **options).save(path)
    last = wb.run(program, sizes={"I": 3}, parameters=path, **options)
    np.testing.assert_array_equal(last["number"], whole["number"][3:])
    np.testing.assert_array_equal(last["drawn"], whole["drawn"][3:])


def test_what_is_kept_are_the_updates_that_may_be_drawn_again(tmp_path: Path) -> None:
    program = wb.optimize(walk(), backend="numpy")
    options: dict[str, Any] = {"backend": "numpy", "progress": False, "keep": True}
    shapes = {
        I: wb.run(program, sizes={"I": I}, **options).carried["replay.x"].shape
        for I in (1, 2, 3, 9)
    }
    assert shapes == {1: (2, 1, 3, 2), 2: (2, 2, 3, 2), 3: (2, 2, 3, 2), 9: (2, 2, 3, 2)}


def test_replay_of_another_capacity_refused_with_shapes(tmp_path: Path) -> None:
    program, path = wb.optimize(walk(), backend="numpy"), tmp_path / "x.safetensors"
    options: dict[str, Any] = {"backend": "numpy", "progress": False}
    wb.run(program, sizes={"I": 9}, keep=True, **options).save(path)
    with pytest.raises(
        WorkbenchError, match=r"replay.x is \(2, 2, 3, 2\), expected \(2, 3, 3, 2\)"
    ):
        wb.run(program, sizes={"I": 2, "N": 24}, parameters=path, **options)


def test_reads_of_all_that_ever_was_are_refused(tmp_path: Path) -> None:
    """Nothing says how much of it a later run needs."""

    @wb.program
    def example(I: int = 4) -> dict[str, Any]:
        i = wb.dim(i=I)
        x = wb.recurrent("x", (), over=i)
        drawn = wb.within(wb.cast(wb.uniform(over=i), int), 0, i + 1)
        x[0] = 1.0
        x[i + 1] = 0.5 * x + wb.gather(x, i=drawn)
        return {"x": x[i + 1] * 1.0}

    with pytest.raises(ProgramError, match="reads x of other updates than its own"):
        wb.run(example(), backend="numpy", keep=True, progress=False)


def test_replay_without_parameters_is_not_enough_to_go_on(tmp_path: Path) -> None:
    @wb.program
    def example(I: int = 4) -> dict[str, Any]:
        i, k, b = wb.dims(i=I, k=2, b=1)
        replay = rl.Replay(3, {"n": (int, ())}, over=(b, i))
        replay.write(n=wb.index(i))
        return {"n": replay.sample(k)["n"]}

    with pytest.raises(WorkbenchError, match="nor another recurrence to keep"):
        wb.run(example(), backend="numpy", keep=True, progress=False)


@wb.program
def glanced_back(I: int = 6, H: int = 3) -> dict[str, Any]:
    """A value that is carried from update to update, and read at random among the last ones."""
    i = wb.dim(i=I)
    theta = nn.parameters(nn.vector("v", 2), over=i)
    theta.update({name: 0.9 * x for name, x in theta.tensors.items()})
    x = wb.recurrent("x", (), over=i)
    x[0] = 1.0
    x[i + 1] = 0.5 * x + wb.uniform(over=i)
    oldest = wb.maximum(i - H + 1, 0)
    held = wb.cast(wb.index(i + 1 - oldest), float)
    back = wb.cast(wb.uniform(over=i) * held, int)
    seen = wb.gather(x, i=wb.within(wb.index(oldest) + back, oldest, i + 1))
    return {"twice": 2.0 * x, "back": back, "seen": seen}


@pytest.mark.parametrize("backend", ["numpy", "native"])
@pytest.mark.parametrize("cut", [1, 2, 3, 7])
def test_what_is_carried_may_be_read_at_random_too(tmp_path: Path, backend: str, cut: int) -> None:
    program = glanced_back()
    outputs = truth(program, {"I": 11}, 3).outputs()
    for variant in (wb.variant(program), wb.optimize(program, backend=backend)):
        whole, joined = whole_and_parts(variant, cut, tmp_path / "x.safetensors", backend)
        for name in whole:
            np.testing.assert_array_equal(joined[name], whole[name], err_msg=name)
        np.testing.assert_allclose(whole["twice"], outputs["twice"], rtol=1e-6)
        at = np.maximum(np.arange(11) - 2, 0) + outputs["back"]
        np.testing.assert_array_equal(2.0 * np.asarray(whole["seen"]), whole["twice"][at])


def in_parts(
    program: Program | wb.Variant, parts: tuple[int, ...], path: Path, backend: str
) -> tuple[wb.Result, dict[str, Any]]:
    """A run of all updates, and what runs say together of which each goes on from the last."""
    options: dict[str, Any] = {"backend": backend, "progress": False}
    whole = wb.run(program, sizes={"I": sum(parts)}, seed=4, **options)
    runs: list[wb.Result] = []
    for updates in parts:
        start = {"parameters": path} if runs else {"seed": 4}
        runs.append(wb.run(program, sizes={"I": updates}, keep=True, **options, **start))
        runs[-1].save(path)
    joined = {
        name: np.concatenate([r[name] for r in runs], whole.dims[name].index("i")) for name in whole
    }
    return whole, joined


@pytest.mark.parametrize("backend", ["numpy", "native"])
@pytest.mark.parametrize("parts", [(2, 1, 2), (1, 1, 1, 2), (3, 1, 1)])
def test_what_is_carried_and_read_at_random_goes_on_in_any_parts(
    tmp_path: Path, backend: str, parts: tuple[int, ...]
) -> None:
    """A run with rows of the past ahead hands on its own last element."""

    @wb.program
    def example(I: int = 5) -> dict[str, Any]:
        i = wb.dim(i=I)
        x = wb.recurrent("x", (), over=i)
        x[0] = 0.0
        x[i + 1] = wb.tanh(0.5 * x + wb.uniform(over=i))
        oldest = wb.maximum(i - 2, 0)
        drawn = wb.maximum(wb.index(i) - wb.cast(wb.uniform(over=i) * 3.0, int), 0)
        seen = wb.gather(x, i=wb.within(drawn, oldest, i + 1))
        return {"next": x[i + 1] * 1.0, "seen": seen}

    whole, joined = in_parts(example(), parts, tmp_path / "x.safetensors", backend)
    for name in whole:
        np.testing.assert_array_equal(joined[name], whole[name], err_msg=name)


def several_ahead(lead: int, depth: int, each: bool) -> Program:
    """An array written some updates ahead, and read at random among the last ones."""

    @wb.program
    def example(I: int = 5, T: int = 2) -> dict[str, Any]:
        i, t = wb.dims(i=I, t=T)
        over = (i, t) if each else (i,)
        rest = over[1:]
        x = wb.recurrent("x", (), over=over)
        for n in range(lead):
            x[(n, *rest)] = 0.1 * n
        drawn = wb.uniform(over=over)
        x[(i + lead, *rest)] = 0.5 * x + drawn
        oldest = wb.maximum(i - depth, 0)
        at = wb.maximum(wb.index(i) - wb.cast(drawn * (depth + 1.0), int), 0)
        at = wb.within(at, oldest, i + 1)
        return {"now": x + drawn, "seen": wb.gather(x, i=at)}

    return example()


@pytest.mark.parametrize("each", [False, True], ids=["alone", "each step"])
@pytest.mark.parametrize(("lead", "depth"), [(1, 2), (2, 1), (2, 2), (3, 1), (3, 3)])
def test_what_is_written_several_updates_ahead_goes_on(
    tmp_path: Path, lead: int, depth: int, each: bool
) -> None:
    program = several_ahead(lead, depth, each)
    for variant in (wb.variant(program), wb.optimize(program, backend="numpy")):
        for parts in ((1, 4), (3, 2), (2, 1, 2), (1, 1, 1, 2)):
            whole, joined = in_parts(variant, parts, tmp_path / "x.safetensors", "numpy")
            for name in whole:
                np.testing.assert_array_equal(joined[name], whole[name], err_msg=name)


def test_compiled_run_hands_on_several_elements(tmp_path: Path) -> None:
    program = wb.optimize(several_ahead(2, 2, True), backend="native")
    whole, joined = in_parts(program, (2, 1, 2), tmp_path / "x.safetensors", "native")
    for name in whole:
        np.testing.assert_array_equal(joined[name], whole[name], err_msg=name)


@pytest.mark.parametrize("way", ["as many as a size", "backwards"])
def test_what_lies_in_no_order_of_updates_is_refused(way: str) -> None:
    """The elements of the updates before are elsewhere in a run of another length."""

    @wb.program
    def example(I: int = 5, N: int = 2) -> dict[str, Any]:
        i, n = wb.dims(i=I, n=N)
        theta = nn.parameters(nn.vector("v", 2), over=i)
        theta.update({name: 0.9 * x for name, x in theta.tensors.items()})
        x = wb.recurrent("x", (), over=i)
        if way == "backwards":
            x[I - 1 - i] = wb.uniform(over=i)
        else:
            x[n] = wb.uniform(over=n)
            x[i + N] = wb.uniform(over=i)
        return {"now": x + wb.uniform(over=i), "v": theta.tensors["v.value"]}

    with pytest.raises(ProgramError, match="reads x of other updates than its own") as refused:
        wb.run(example(), backend="numpy", keep=True, progress=False)
    assert refused.value.line


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_outputs_are_of_the_updates_of_the_run_alone(tmp_path: Path, backend: str) -> None:
    """Also where the rows of the past lie ahead of them in their array."""

    @wb.program
    def example(I: int = 5, B: int = 2) -> dict[str, Any]:
        b, i = wb.dims(b=B, i=I)
        y = wb.recurrent("y", (), over=i)
        y[0] = 0.3
        y[i + 1] = 0.6 * y + 0.2 * wb.uniform(over=i)
        x = wb.recurrent("x", (), over=(b, i))
        x[b, 0] = 0.1
        x[b, i + 1] = 0.5 * x + wb.uniform(over=(b, i))
        z = wb.tanh(y + wb.uniform(over=(b, i)))
        at = wb.within(wb.maximum(wb.index(i) - 1, 0), wb.maximum(i - 1, 0), i + 1)
        return {"seen": wb.gather(z, i=at) + wb.gather(x, i=at), "z": z, "x": x}

    path, options = tmp_path / "x.safetensors", {"backend": backend, "progress": False}
    for program in (wb.variant(example()), wb.optimize(example(), backend=backend)):
        whole = wb.run(program, sizes={"I": 5}, **options)
        wb.run(program, sizes={"I": 2}, keep=True, **options).save(path)
        shapes: list[dict[str, tuple[int, ...]]] = []

        def report(done: int, total: int, outputs: Any, seen: Any = shapes) -> None:
            seen.append({name: x.shape for name, x in outputs.items()})

        later = wb.run(program, sizes={"I": 3}, parameters=path, **(options | {"progress": report}))
        for name in whole:
            np.testing.assert_array_equal(later[name], whole[name][:, 2:], err_msg=name)
        assert all(x.shape == shapes[-1].get(name, x.shape) for name, x in later.items())


@wb.program
def computed_again(B: int = 3, I: int = 3, T: int = 3) -> dict[str, Any]:
    """Draws in a replay, of which each can be made again where it is sampled."""
    b, i, t, m = wb.dims(b=B, i=I, t=T, m=2)
    y = wb.recurrent("y", (), over=i)
    y[0] = 0.3
    y[i + 1] = y[i] * 0.9
    z = wb.tanh(wb.uniform(over=(b, i, t)))
    replay = rl.Replay(2 * B * T, {"z": (float, ())}, over=(b, i, t))
    replay.write(z=z)
    return {"drawn": replay.sample(m)["z"], "y": y + wb.uniform(over=i)}


def test_variant_that_holds_no_past_is_refused(tmp_path: Path) -> None:
    program, path = computed_again(), tmp_path / "x.safetensors"
    again = wb.variant(program).apply(Recompute("replay.z"))
    options: dict[str, Any] = {"backend": "numpy", "progress": False}
    with pytest.raises(ProgramError, match=r"computes replay\.z again"):
        wb.run(again, keep=True, **options)
    wb.run(program, keep=True, **options).save(path)
    with pytest.raises(ProgramError, match=r"computes replay\.z again"):
        wb.run(again, parameters=path, **options)


def test_variant_that_holds_the_past_for_some_readers_is_refused() -> None:
    """The clone would draw again of updates before the run, which it counts otherwise."""

    @wb.program
    def example(I: int = 5, B: int = 2) -> dict[str, Any]:
        i, b = wb.dims(i=I, b=B)
        y = wb.recurrent("y", (), over=i)
        y[0] = 0.3
        y[i + 1] = y[i] * 0.9
        z = wb.tanh(wb.uniform(over=(i, b)))
        at = wb.within(wb.maximum(wb.index(i) - 1, 0), wb.maximum(i - 1, 0), i + 1)
        seen, most = wb.gather(z, i=at), wb.gather(z, i=at).max(over=b)
        return {"seen": seen, "most": most + z.sum(over=b), "y": y + wb.uniform(over=i)}

    options: dict[str, Any] = {"backend": "numpy", "keep": True, "progress": False}
    with pytest.raises(ProgramError, match=r"computes z again"):
        wb.run(wb.variant(example()).apply(Recompute("z", "seen")), **options)
    now = wb.variant(example()).apply(Recompute("z", "most_sum"))
    assert wb.run(now, **options).carried["z"].shape == (1, 2)


def test_steps_are_left_out_after_which_no_past_is_held() -> None:
    best = wb.variant(computed_again()).apply(Recompute("replay.z")).apply(Vectorize("b"))
    holding = holding_past(best)
    assert holding.steps == (Vectorize("b"),)
    assert holding_past(holding) is holding
    assert wb.run(holding, backend="numpy", keep=True, progress=False).carried


def test_recurrence_of_an_update_that_is_read_at_random_goes_on(tmp_path: Path) -> None:
    """Its past has the name that its start has in a new run."""

    @wb.program
    def example(I: int = 5, T: int = 2) -> dict[str, Any]:
        i, t = wb.dims(i=I, t=T)
        y = wb.recurrent("y", (), over=i)
        y[0] = 0.3
        y[i + 1] = y[i] * 0.9
        z = wb.recurrent("z", (), over=(i, t))
        z[i, 0] = 1.0 * y
        z[i, t + 1] = 0.5 * z + wb.uniform(over=(i, t))
        at = wb.within(wb.maximum(wb.index(i) - 1, 0), wb.maximum(i - 1, 0), i + 1)
        return {"seen": wb.gather(z, i=at)}

    whole, joined = in_parts(example(), (2, 1, 2), tmp_path / "x.safetensors", "numpy")
    np.testing.assert_array_equal(joined["seen"], whole["seen"])
    given = {"z": np.full(5, 2.0)}
    new = wb.run(example(), backend="numpy", parameters=given, progress=False)
    np.testing.assert_array_equal(new["seen"][:, 0], 2.0)


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_what_its_own_update_alone_reads_at_random_goes_on(tmp_path: Path, backend: str) -> None:
    """Nothing of it is kept, and its indices count updates from the first one on."""

    @wb.program
    def example(I: int = 5, T: int = 3) -> dict[str, Any]:
        i, t = wb.dims(i=I, t=T)
        y = wb.recurrent("y", (), over=i)
        y[0] = 0.3
        y[i + 1] = y[i] * 0.9
        z = y + wb.uniform(over=(i, t))
        step = wb.cast(wb.uniform(over=(i, t)) * wb.cast(wb.index(T), float), int)
        return {"seen": wb.gather(z, i=wb.within(wb.index(i), i, i + 1), t=step), "z": z}

    whole, joined = in_parts(example(), (2, 1, 2), tmp_path / "x.safetensors", backend)
    for name in whole:
        np.testing.assert_array_equal(joined[name], whole[name], err_msg=name)
