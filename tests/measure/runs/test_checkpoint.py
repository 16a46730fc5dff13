"""Parameters saved and loaded, and runs that go on where another one stopped."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench import nn, optim
from workbench.algorithms import ppo, reinforce
from workbench.backends.reference.evaluator import Reference
from workbench.errors import ProgramError, WorkbenchError
from workbench.program.carrying.carried import keeping, resumed, starts
from workbench.program.values import Program
from workbench.program.wellformed.rules import check
from workbench.transforms import Place, Simplify

SIZES = {"B": 3, "T": 8}
EPOCHS = {"E": 2, "M": 2}


@wb.program
def descent(I: int = 4, anneal: bool = False, normal: bool = False) -> dict[str, Any]:
    """Noisy descent on a quadratic: draws, an optimizer that counts, a running mean."""
    i = wb.dim(i=I)
    theta = nn.parameters(nn.vector("x", 2, 1.0), over=i)
    x = theta.tensors["x.value"]
    noise = wb.normal(shape=2, over=i)
    mean = wb.recurrent("mean", (2,), over=i)
    mean[0] = 0.0
    mean[i + 1] = 0.9 * mean + 0.1 * x
    rate = optim.linear_annealing(0.1, 0.0, over=i) if anneal else 0.1
    loss = ((x - 0.1 * noise) ** 2).sum()
    theta.update(optim.adam(wb.gradient(loss, theta), rate))
    return {"loss": loss, "mean": mean[i + 1].sum()}


def run(program: Program | wb.Variant, I: int, **options: Any) -> wb.Result:
    given: dict[str, Any] = {"backend": "numpy", "progress": False} | options
    return wb.run(program, **given | {"sizes": {"I": I, **options.get("sizes", {})}})


def same(left: Mapping[str, Any], right: Mapping[str, Any]) -> None:
    assert set(left) == set(right)
    for name in left:
        np.testing.assert_array_equal(left[name], right[name], err_msg=name)


def joined(first: wb.Result, second: wb.Result) -> dict[str, Any]:
    return {name: np.concatenate([first[name], second[name]]) for name in first}


NORMALIZED = {
    "environment": "Pendulum",
    "normalize_observations": True,
    "normalize_rewards": True,
}
CASES: dict[str, tuple[Callable[[], Program], dict[str, int]]] = {
    "descent": (cache(descent), {}),
    "reinforce": (cache(partial(reinforce, hidden=(8,))), SIZES),
    "ppo": (cache(partial(ppo, hidden=(8,))), SIZES | EPOCHS),
    "ppo normalized": (cache(partial(ppo, hidden=(8,), **NORMALIZED)), SIZES | EPOCHS),
}


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        *((name, "float32") for name in CASES if name != "ppo normalized"),
        ("reinforce", "float64"),
        pytest.param("ppo normalized", "float32", marks=pytest.mark.soundness),
    ],
)
def test_resumed_run_is_the_rest_of_a_longer_one(tmp_path: Path, name: str, dtype: str) -> None:
    template, sizes = CASES[name]
    program = wb.optimize(template(), sizes=sizes, backend="numpy")
    path = tmp_path / "parameters.safetensors"
    whole = run(program, 5, sizes=sizes, seed=7, dtype=dtype)
    first = run(program, 2, sizes=sizes, seed=7, dtype=dtype)
    first.save(path)
    second = run(program, 3, sizes=sizes, dtype=dtype, parameters=path)
    assert (second.first, second.seed) == (2, 7)
    same(joined(first, second), dict(whole))
    same(second.carried, whole.carried)
    second.save(path)
    third = run(program, 1, sizes=sizes, dtype=dtype, parameters=path)
    assert third.first == 5


def test_resumed_run_as_written_is_the_same(tmp_path: Path) -> None:
    root = wb.variant(reinforce(hidden=(4,)))
    path = tmp_path / "parameters.safetensors"
    whole = run(root, 3, sizes=SIZES)
    first = run(root, 1, sizes=SIZES)
    first.save(path)
    same(joined(first, run(root, 2, sizes=SIZES, parameters=path)), dict(whole))


@pytest.mark.parametrize("at", ["first", "last"])
def test_what_starts_can_be_placed(tmp_path: Path, at: str) -> None:
    root = wb.variant(reinforce(hidden=(4,)))
    placed = root
    for start in starts(root.program.equations):
        placed = placed.apply(Place(start.statement.name, "i", at))
    path = tmp_path / "parameters.safetensors"
    whole = run(root, 3, sizes=SIZES)
    first = run(placed, 1, sizes=SIZES)
    assert set(first.carried) == set(whole.carried)
    first.save(path)
    for following in (root, placed):
        second = run(following, 2, sizes=SIZES, parameters=path)
        same(joined(first, second), dict(whole))
        same(second.carried, whole.carried)


def test_what_is_carried_is_no_other_array_however_equal() -> None:
    @wb.program
    def twice(I: int = 3) -> dict[str, Any]:
        i = wb.dim(i=I)
        theta = nn.parameters(nn.vector("x", 2, 1.0), nn.vector("y", 2, 1.0), over=i)
        x, y = theta.tensors["x.value"], theta.tensors["y.value"]
        loss = (x**2).sum() + (y**2).sum()
        theta.update(optim.sgd(wb.gradient(loss, theta), 0.1))
        return {"loss": loss}

    root = wb.variant(twice())
    given = {"parameters.x.value": [3.0, 4.0]}
    expected = run(root, 3, parameters=given)
    found = run(root.apply(Simplify()), 3, parameters=given)
    np.testing.assert_allclose(found["loss"], expected["loss"], rtol=1e-6)
    assert set(found.carried) == set(expected.carried)


def test_what_is_carried_is_what_the_reference_says() -> None:
    program = descent()
    result = run(program, 3, dtype="float64")
    reference = Reference(program.equations, {"I": 3})
    assert set(result.carried) == {
        "parameters.x.value",
        "optimizer.m.x.value",
        "optimizer.v.x.value",
        "mean",
    }
    for name, values in result.carried.items():
        np.testing.assert_allclose(values, reference.element(name, (3,)), rtol=1e-12)


def test_environment_states_are_carried_where_they_go_on() -> None:
    assert "state" in {s.name for s in starts(ppo(hidden=(4,)).equations)}
    assert "state" not in {s.name for s in starts(reinforce(hidden=(4,)).equations)}


def test_annealed_rate_is_that_of_all_updates() -> None:
    program = resumed(descent(anneal=True), ("parameters.x.value",), 6)
    assert "(i + 6) / (I + 6)" in str(program)


@pytest.mark.parametrize("name", CASES)
def test_programs_that_keep_and_go_on_are_well_formed(name: str) -> None:
    program = CASES[name][0]()
    check(keeping(program).equations)
    names = {s.name for s in starts(program.equations)}
    going_on = resumed(program, names, 3)
    check(going_on.equations)
    check(keeping(going_on).equations)
    assert not any("orthogonalize" in line for line in str(going_on).splitlines())
    assert 'given("' in str(going_on)
    assert "counts updates" in str(program)


def test_draws_go_on_and_do_not_repeat() -> None:
    program = descent()
    later = resumed(program, (), 2)
    name = "noise"
    now, then = Reference(program.equations), Reference(later.equations)
    np.testing.assert_array_equal(now.element(name, (3,)), then.element(name, (1,)))


def test_arrays_by_name_start_a_new_run() -> None:
    program = descent()
    result = run(program, 2, parameters={"parameters.x.value": [3.0, 4.0]})
    assert (result.first, result.seed) == (0, 0)
    noise = Reference(program.equations).element("noise", (0,))
    assert result["loss"][0] == pytest.approx(((np.array([3.0, 4.0]) - 0.1 * noise) ** 2).sum())


def test_reference_says_that_values_were_given() -> None:
    program = resumed(descent(), ("mean",), 0)
    with pytest.raises(ProgramError, match="mean needs the values of 'mean', which only a run is"):
        Reference(program.equations).element("mean", (1,))
    given = {"mean": lambda at: np.ones(2) if at == (0,) else None}
    assert Reference(program.equations, given=given).element("mean", (1,)) == pytest.approx(
        [1.0, 1.0]
    )


def test_frame_counts_on(tmp_path: Path) -> None:
    path = tmp_path / "parameters.safetensors"
    run(descent(), 2).save(path)
    assert list(run(descent(), 2, parameters=path).frame().index) == [2, 3]


# -- refusals --------------------------------------------------------------------------------------


def refused(
    path: Any, program: Program | wb.Variant, sizes: Mapping[str, int] | None = None
) -> str:
    with pytest.raises(WorkbenchError) as error:
        run(program, 1, sizes=SIZES if sizes is None else sizes, parameters=path)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_checkpoint_of_another_network_refused_with_shapes(tmp_path: Path) -> None:
    path = tmp_path / "parameters.safetensors"
    run(wb.variant(reinforce(hidden=(4,))), 1, sizes=SIZES).save(path)
    wider = refused(path, wb.variant(reinforce(hidden=(6,))))
    assert f"{path} does not fit reinforce: " in wider
    assert "parameters.policy.weight_1 is (4, 4), expected (4, 6)" in wider
    assert "; and " in wider
    deeper = refused(path, wb.variant(reinforce(hidden=(4, 4))))
    assert "parameters.policy.weight_2 is (4, 2), expected (4, 4)" in deeper
    other = refused(path, descent(), {"I": 1})
    assert "policy.weight_2 (4, 2) is none of the program's" in other


def test_checkpoint_of_other_sizes_refused(tmp_path: Path) -> None:
    path = tmp_path / "parameters.safetensors"
    program = wb.variant(ppo(hidden=(4,)))
    run(program, 1, sizes=SIZES | EPOCHS).save(path)
    assert "state is (3, 5), expected (2, 5)" in refused(path, program, SIZES | EPOCHS | {"B": 2})


def test_missing_and_broken_files_refused(tmp_path: Path) -> None:
    program = descent()
    assert refused(tmp_path / "none", program, {}) == f"there is no file {tmp_path / 'none'}"
    broken = tmp_path / "broken.safetensors"
    broken.write_bytes(b"no safetensors file")
    assert f"{broken} is not a whole safetensors file" in refused(broken, program, {})
    whole = tmp_path / "whole.safetensors"
    run(program, 1).save(whole)
    broken.write_bytes(whole.read_bytes()[:-8])
    assert f"{broken} is not a whole safetensors file" in refused(broken, program, {})


def test_wrong_arrays_by_name_refused() -> None:
    program = descent()
    assert "did you mean parameters.x.value?" in refused({"parameters.x.valu": [1, 2]}, program, {})
    assert "is (3,), expected (2,)" in refused({"parameters.x.value": [1, 2, 3]}, program, {})
    assert "is <U1, expected float" in refused({"parameters.x.value": ["a", "b"]}, program, {})
    assert "expected a safetensors file or a mapping" in refused(3, program, {})


@wb.program
def without_parameters(T: int = 3) -> dict[str, Any]:
    """Nothing to save."""
    t = wb.dim(t=T)
    return {"x": wb.normal(over=t)}


@wb.program
def with_history(I: int = 3) -> dict[str, Any]:
    """An update that needs all those before."""
    i = wb.dim(i=I)
    theta = nn.parameters(nn.vector("x", 2, 1.0), over=i)
    loss = (theta.tensors["x.value"] ** 2).sum()
    theta.update(optim.sgd(wb.gradient(loss, theta), 0.1))
    return {"best": loss[0 : i + 1].min()}


def test_save_refused_where_nothing_is_carried_or_not_enough(tmp_path: Path) -> None:
    path = tmp_path / "parameters.safetensors"
    result = wb.run(without_parameters(), progress=False, backend="numpy")
    with pytest.raises(WorkbenchError, match=r"has neither parameters \(nn.parameters\) nor an"):
        result.save(path)
    with pytest.raises(WorkbenchError, match=r"nor another recurrence to start from"):
        wb.run(without_parameters(), progress=False, parameters={"x": 1.0}, backend="numpy")
    with pytest.raises(ProgramError, match="reads loss of other updates than its own"):
        run(with_history(), 2).save(path)
    with pytest.raises(WorkbenchError, match="there is no folder"):
        run(descent(), 1).save(tmp_path / "no" / "x.safetensors")
    assert not path.exists()


# -- without parameters ----------------------------------------------------------------------------


@wb.program
def tabular(W: int = 2, I: int = 5, K: int = 3) -> dict[str, Any]:
    """Workers walk their rows of a log, in passes; each pass draws, and tells its number."""
    w, i, k = wb.dims(w=W, i=I, k=K)
    log = wb.data("log", {"x": (float, ())}, over=(w, k))
    value = wb.recurrent("value", 2, over=(w, i, k))
    noise = wb.normal(over=(w, i, k))
    value[w, 0, 0] = 0.0
    value[w, i + 1, 0] = value[w, i, K]
    value[w, i, k + 1] = 0.5 * value + log["x"] * wb.stack([wb.cast(wb.index(i), float), noise])
    rate = wb.recurrent("rate", (), over=(w, k))
    rate[w, 0] = 1.0
    rate[w, k + 1] = 0.9 * rate
    return {"mean": value[w, i, K].mean(over=w), "rate": rate[w, K]}


LOG = {"log": {"x": np.linspace(-1, 1, 6)}}


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_a_table_is_kept_saved_and_gone_on_from(tmp_path: Path, backend: str) -> None:
    path = tmp_path / "table.safetensors"
    options: dict[str, Any] = {"backend": backend, "data": LOG, "progress": False, "seed": 4}
    whole = wb.run(tabular(), **options)
    first = wb.run(tabular(), sizes={"I": 3}, keep=True, **options)
    assert set(first.carried) == {"value"}
    assert first.carried["value"].shape == (2, 2)
    first.save(path)
    second = wb.run(tabular(), sizes={"I": 2}, parameters=path, **options)
    np.testing.assert_array_equal(
        np.concatenate([first["mean"], second["mean"]]), whole["mean"], err_msg="bit for bit"
    )
    assert (second.first, second.counted) == (3, "i")
    assert list(wb.run(tabular(), parameters=path, **options).carried) == ["value"]


@wb.program
def streamed(I: int = 5) -> dict[str, Any]:
    """A row an update."""
    i = wb.dim(i=I)
    rows = wb.data("rows", {"x": (float, ())}, over=i)
    s = wb.recurrent("s", (), over=i)
    s[0] = 0.0
    s[i + 1] = 0.5 * s + rows["x"]
    return {"s": s[i + 1] * 1.0}


def test_rows_of_updates_go_on_where_a_run_stopped(tmp_path: Path) -> None:
    path, x = tmp_path / "s.safetensors", np.arange(1.0, 8.0)
    options: dict[str, Any] = {"backend": "numpy", "data": {"rows": {"x": x}}, "progress": False}
    wb.run(streamed(), sizes={"I": 3}, keep=True, **options).save(path)
    found = wb.run(streamed(), sizes={"I": 4}, parameters=path, **options)
    s, sums = 0.0, []
    for row in x:
        s = 0.5 * s + row
        sums.append(s)
    np.testing.assert_allclose(found["s"], sums[3:], rtol=1e-6)
    with pytest.raises(WorkbenchError, match="there are 7 rows, expected 8: 8 of i"):
        wb.run(streamed(), sizes={"I": 5}, parameters=path, **options)


def test_any_recurrence_may_begin_with_given_values() -> None:
    options: dict[str, Any] = {"backend": "numpy", "data": LOG, "progress": False}
    plain = wb.run(tabular(), **options)
    found = wb.run(tabular(), parameters={"value": np.ones((2, 2)), "rate": [2.0, 3.0]}, **options)
    np.testing.assert_allclose(found["rate"], plain["rate"] * [2.0, 3.0], rtol=1e-6)
    decayed = 0.125 ** (np.arange(5) + 1)
    np.testing.assert_allclose(found["mean"], plain["mean"] + decayed[:, None], atol=1e-6)


def test_what_was_not_kept_cannot_be_saved(tmp_path: Path) -> None:
    result = wb.run(tabular(), "numpy", data=LOG, progress=False)
    assert not result.carried
    with pytest.raises(WorkbenchError, match=r"was not kept: wb.run\(…, keep=True\) keeps it"):
        result.save(tmp_path / "x.safetensors")
    with pytest.raises(WorkbenchError, match="nor another recurrence to keep"):
        wb.run(without_parameters(), "numpy", keep=True, progress=False)


@wb.program
def returns_to_go(T: int = 3) -> dict[str, Any]:
    """A recurrence that runs backwards."""
    t = wb.dim(t=T)
    s = wb.recurrent("s", (), over=t)
    s[0] = 1.0
    s[t + 1] = 0.5 * s
    g = wb.recurrent("g", (), over=t)
    g[T] = 0.0
    g[t] = s + g[t + 1]
    return {"g": g}


def test_a_recurrence_that_needs_what_is_to_come_is_not_gone_on_from() -> None:
    with pytest.raises(ProgramError, match=r"reads g of other updates than its own"):
        wb.run(returns_to_go(), "numpy", keep=True, progress=False)
    found = wb.run(returns_to_go(), "numpy", parameters={"s": 2.0}, progress=False)
    np.testing.assert_allclose(found["g"], [3.5, 1.5, 0.5, 0.0])


def test_run_that_was_interrupted_has_nothing_to_save(tmp_path: Path) -> None:
    from dataclasses import replace

    result = replace(run(descent(), 3), completed=2)
    with pytest.raises(WorkbenchError, match="interrupted after 2 of 3 updates"):
        result.save(tmp_path / "x.safetensors")


def test_run_that_was_interrupted_before_its_outputs_shows_none() -> None:
    from dataclasses import replace

    result = replace(run(descent(), 3), completed=0, outputs={}, seconds=1.5)
    shown = repr(result)
    assert shown.startswith("<descent (") and ") on numpy; 1.5 s, peak " in shown
    assert shown.endswith(", interrupted after 0 of 3>")
