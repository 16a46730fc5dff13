"""Networks whose equal layers are one recurrence over a dimension of layers."""

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.language.differences import check
from workbench import nn, optim
from workbench.algorithms import ppo, reinforce
from workbench.backends.reference.evaluator import Reference
from workbench.errors import ProgramError
from workbench.program.values import Program
from workbench.variants.variant import optimize

HIDDEN = (4,) * 4


@wb.program
def regression(
    B: int = 5, I: int = 3, hidden: tuple[int, ...] = HIDDEN, layers: str = "dim"
) -> dict[str, Any]:
    """A network trained on noise, its gradient cut to a norm over all layers."""
    b, i = wb.dims(b=B, i=I)
    network = nn.mlp("net", 3, hidden, 2, output_gain=1.0, layers=layers)
    theta = nn.parameters(network, over=i)
    x = wb.normal(shape=3, over=(b, i))
    y = network(theta, x)
    loss = (y * y).sum().mean(over=b)
    gradient = optim.clip_by_global_norm(wb.gradient(loss, theta), 0.5)
    theta.update(optim.adam(gradient, 0.1))
    return {"loss": loss}


@wb.program
def derivative(B: int = 2, depth: int = 3) -> dict[str, Any]:
    """The gradient of a network of fixed parameters."""
    b = wb.dim(b=B)
    network = nn.mlp("net", 2, (2,) * depth, 1, output_gain=1.0, layers="dim")
    theta = nn.parameters(network)
    y = network(theta, wb.normal(shape=2, over=b))
    found = wb.gradient((y * y).sum().mean(over=b), theta)
    loss = (y * y).sum().mean(over=b)
    return {"loss": loss, **{f"d_{name.split('.')[1]}": g for name, g in found.items()}}


def unrolled(program: Program, depth: int) -> dict[str, Any]:
    """The parameters that a program's networks start with, under the unrolled form's names."""
    reference = Reference(program.equations)
    found = {}
    for kind in ("weight", "bias"):
        name = f"parameters.net.{kind}"
        found[f"{name}_1"] = reference.element(f"{name}_first", (0,))
        for layer in range(depth - 1):
            found[f"{name}_{layer + 2}"] = reference.element(name, (0, layer))
        found[f"{name}_{depth + 1}"] = reference.element(f"{name}_last", (0,))
    return found


def test_equal_to_the_unrolled_form_with_equal_parameters() -> None:
    program = regression()
    start = unrolled(program, len(HIDDEN))
    found, other = (
        wb.run(
            wb.variant(one),
            dtype="float64",
            progress=False,
            parameters=start_of_it,
            backend="numpy",
        )
        for one, start_of_it in ((program, None), (regression(layers="unrolled"), start))
    )
    np.testing.assert_allclose(found["loss"], other["loss"], rtol=1e-12)
    weights = found.carried["parameters.net.weight"]
    for layer in range(len(HIDDEN) - 1):
        expected = other.carried[f"parameters.net.weight_{layer + 2}"]
        np.testing.assert_allclose(weights[layer], expected, rtol=1e-9)


def test_as_the_reference_says() -> None:
    found = wb.run(regression(), dtype="float64", progress=False, backend="numpy")
    np.testing.assert_allclose(
        found["loss"], Reference(regression().equations).array("loss"), rtol=1e-9
    )


@pytest.mark.parametrize("depth", [2, 4])
def test_gradient_is_that_of_differences(depth: int) -> None:
    names = ("weight_first", "bias_first", "weight", "bias", "weight_last", "bias_last")
    check(
        derivative(depth=depth),
        wrt=[f"parameters.net.{name}" for name in names],
        gradients=[f"d_{name}" for name in names],
    )


def test_layers_start_differently_and_orthogonal() -> None:
    weight = Reference(regression().equations).array("parameters.net.weight")[0]
    assert weight.shape == (3, 4, 4)
    for layer in range(3):
        np.testing.assert_allclose(weight[layer] @ weight[layer].T, 2 * np.eye(4), atol=1e-12)
        assert not np.allclose(weight[layer], weight[layer - 1])


def test_statements_do_not_grow_with_depth() -> None:
    few, many = regression(hidden=(4,) * 3), regression(hidden=(4,) * 9)
    assert len(few.statements) == len(many.statements)
    assert str(few.dim["l"].size) == "2"
    assert str(many.dim["l"].size) == "8"


def test_one_hidden_layer_needs_no_dim() -> None:
    assert str(regression(hidden=(4,))) == str(regression(hidden=(4,), layers="unrolled"))


def test_networks_of_one_depth_share_their_dim() -> None:
    @wb.program
    def two(I: int = 2) -> dict[str, Any]:
        i = wb.dim(i=I)
        first, same, deeper = (
            nn.mlp(name, 2, (3,) * depth, 1, layers="dim")
            for name, depth in (("first", 3), ("same", 3), ("deeper", 4))
        )
        theta = nn.parameters(first, same, deeper, over=i)
        x = wb.normal(shape=2, over=i)
        y = first(theta, x) + same(theta, x) + deeper(theta, x)
        theta.update(optim.sgd(wb.gradient((y * y).sum(), theta), 0.1))
        return {"y": y}

    program = two()
    assert [d.name for d in program.dims] == ["i", "l", "l_2"]
    assert program.array["parameters.same.weight"].dims == ("i", "l")
    assert program.array["parameters.deeper.weight"].dims == ("i", "l_2")


@pytest.mark.usefixtures("server")  # what is found depends on the machine
@pytest.mark.parametrize(
    ("algorithm", "dims", "network"),
    [(reinforce, "bt", "policy"), pytest.param(ppo, "bkt", "actor", marks=pytest.mark.soundness)],
    ids=["reinforce", "ppo"],
)
def test_layers_loop_inside_and_the_rest_is_vectorized(
    algorithm: Any, dims: str, network: str
) -> None:
    variant = optimize(wb.variant(algorithm(hidden=(8,) * 3, layers="dim")), backend="numpy")
    assert {f"Vectorize({dim!r})" for dim in dims} <= set(map(str, variant.steps))
    lines = variant.schedule.splitlines()
    at = next(n for n, line in enumerate(lines) if line.strip() == "for l:")
    assert lines[at + 1].strip().startswith(f"{network}.hidden")
    assert any(line.strip() == "for l reversed:" for line in lines)


def test_runs_go_on_with_layers_as_a_dim(tmp_path: Any) -> None:
    written = wb.variant(reinforce(hidden=(4,) * 3, layers="dim", B=3, T=5))
    path = tmp_path / "parameters.safetensors"
    whole = wb.run(written, sizes={"I": 3}, progress=False, backend="numpy")
    wb.run(written, sizes={"I": 2}, progress=False, backend="numpy").save(path)
    rest = wb.run(written, sizes={"I": 1}, progress=False, parameters=path, backend="numpy")
    np.testing.assert_array_equal(rest["loss"], whole["loss"][2:])


def test_unequal_layers_refused() -> None:
    with pytest.raises(ProgramError, match="need hidden layers of one width, found 4, 5"):
        regression(hidden=(4, 5))
    with pytest.raises(ProgramError, match='expected "unrolled" or "dim"'):
        regression(layers="rolled")


def test_parameters_at_a_name_are_refused_with_the_spelling() -> None:
    @wb.program
    def example(I: int = 2) -> dict[str, Any]:
        i = wb.dim(i=I)
        theta = nn.parameters(nn.mlp("net", 2, (), 1), over=i)
        return {"y": theta["net.weight_1"].sum()}

    with pytest.raises(ProgramError, match="indexed by i; one of them by its name is"):
        example()
