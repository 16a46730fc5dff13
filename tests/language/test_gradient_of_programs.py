"""Derivatives of whole programs: through recurrences, ranges, windows, gathers and parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.language.differences import check, differentiable
from tests.programs import recurrent_network
from workbench import nn, optim, rl
from workbench.backends.reference.evaluator import Reference
from workbench.errors import ProgramError
from workbench.polyhedral.expression import size, variable

b, t = variable("b"), variable("t")
B, T = size("B"), size("T")


def forward(x: Any) -> Any:
    s = wb.recurrent("s", (), over=(b, t))
    s[b, 0] = 0.3 * x[b, 0]
    s[b, t + 1] = wb.tanh(s * x) + 0.5 * s
    return (s[b, T] * s[b, 0]).sum(over=b)


def forward_read_everywhere(x: Any) -> Any:
    s = wb.recurrent("s", (), over=(b, t))
    s[b, 0] = 1.0
    s[b, t + 1] = s * x
    return (s * (1.0 + wb.index(t))).sum(over=(b, t)) + (s[b, 0 : T + 1] ** 2).sum().mean(over=b)


def backward(x: Any) -> Any:
    g = wb.recurrent("g", (), over=(b, t))
    g[b, T] = x[b, T - 1]
    g[b, t] = x * x + 0.9 * g[b, t + 1] * wb.where(x > 0.7, 0.0, 1.0)
    return (g * x).sum(over=(b, t))


def second_order(x: Any) -> Any:
    s = wb.recurrent("s", (), over=(b, t))
    s[b, 0] = x[b, 0]
    s[b, 1] = x[b, T - 1] * 2.0
    s[b, t + 2] = s[b, t + 1] * x + wb.sin(s[b, t])
    return (s[b, T + 1] + s[b, T]).sum(over=b)


def mutual(x: Any) -> Any:
    u = wb.recurrent("u", (), over=(b, t))
    v = wb.recurrent("v", (), over=(b, t))
    u[b, 0] = 1.0
    u[b, t + 1] = u * x + v
    v[b, t] = wb.cos(u) * x
    return (u[b, T] * v[b, T - 1]).sum(over=b)


def two_dimensional(x: Any) -> Any:
    y = wb.recurrent("y", (), over=(b, t))
    y[0, 0] = 0.4
    y[b + 1, 0] = 0.2
    y[0, t + 1] = 0.1
    y[b + 1, t + 1] = wb.sin(y[b, t + 1]) * x + y[b + 1, t] * 0.5 + y[b, t] * y[b, t]
    return y[B, T] + y[B, t].sum(over=t)


def suffix(x: Any) -> Any:
    return (x[b, t:T].sum() * x).sum(over=(b, t))


def prefix_squared(x: Any) -> Any:
    return (x[b, 0 : t + 1] ** 2).sum().sum(over=(b, t))


def discounted(x: Any) -> Any:
    return (wb.discounted_sum(x[b, t:T], 0.9) ** 2).sum(over=(b, t))


def window(x: Any) -> Any:
    return (x[b, t : wb.minimum(t + 3, T)].mean() ** 2).sum(over=(b, t))


def window_back(x: Any) -> Any:
    return (x[b, wb.maximum(t - 2, 0) : t + 1].sum() * x).sum(over=(b, t))


def differences(x: Any) -> Any:
    return ((x[b, t + 1 : T] - x[b, t : T - 1]) ** 2).sum().sum(over=(b, t))


def products_of_ranges(x: Any) -> Any:
    return (x[b, t:T] * x[b, 0 : T - t]).sum().sum(over=(b, t))


def highest(x: Any) -> Any:
    return (x[b, t:T].max() * x[b, 0 : t + 1].min()).sum(over=(b, t))


def highest_over_dims(x: Any) -> Any:
    return x.max(over=t).sum(over=b) + x.min(over=b).max(over=t)


def highest_over_two_dims(x: Any) -> Any:
    return x.max(over=(b, t)) * x[0:B, 0:T].min()


def constants(x: Any) -> Any:
    return (x[b, T - 1] * x[b, 0] * x[0, T - 1]).sum(over=b) + x[B - 1, T - 1]


def one_read_for_all(x: Any) -> Any:
    return (x[b, 0] * x).sum(over=(b, t))


def broadcasts(x: Any) -> Any:
    m = x.mean(over=t)
    return ((x - m) ** 2 * x.std(over=b)).sum(over=(b, t))


def normalized(x: Any) -> Any:
    return (rl.normalize(x, over=(b, t)) ** 3).sum(over=(b, t))


def shifted(x: Any) -> Any:
    return (x[b, t:T].sum() * x[b, T - 1 - t]).sum(over=(b, t))


def strided(x: Any) -> Any:
    return (x[b, t // 2] * x[b, T - 1 - t // 2] * x).sum(over=(b, t))


def wrapped(x: Any) -> Any:
    return (x[b, t - t % 2] * x[B - 1 - b, t]).sum(over=(b, t))


def chained(x: Any) -> Any:
    return x[b, 0:T].sum().mean(over=b) ** 2


def gathered(x: Any) -> Any:
    place = (wb.index(t) * wb.index(t)) % T
    return (wb.gather(x, t=place) * x).sum(over=(b, t))


def gathered_both(x: Any) -> Any:
    place = wb.cast(x * 3.0, int) % T
    other = (wb.index(b) + wb.index(t)) % B
    return (wb.gather(x * x, b=other, t=place)).sum(over=(b, t))


def gathered_recurrence(x: Any) -> Any:
    s = wb.recurrent("s", (), over=(b, t))
    s[b, 0] = 0.3 * x[b, 0]
    s[b, t + 1] = wb.tanh(s * x)
    place = (wb.index(t) * wb.index(t)) % (T + 1)
    return (wb.gather(s, t=place) * x).sum(over=(b, t))


def advantage(x: Any) -> Any:
    value = wb.recurrent("value", (), over=(b, t))
    value[b, t] = x
    value[b, T] = 0.3
    done = wb.uniform(over=(b, t)) < 0.3
    return (rl.gae(x, value, done, t, 0.9, 0.8) ** 2).mean(over=(b, t))


def scaled_by_position(x: Any) -> Any:
    return (x * wb.index(T - t) / (wb.index(t) + 1)).sum(over=(b, t))


PROGRAMS = [
    forward,
    forward_read_everywhere,
    backward,
    second_order,
    mutual,
    two_dimensional,
    suffix,
    prefix_squared,
    discounted,
    window,
    window_back,
    differences,
    products_of_ranges,
    highest,
    highest_over_dims,
    highest_over_two_dims,
    constants,
    one_read_for_all,
    broadcasts,
    normalized,
    shifted,
    strided,
    wrapped,
    chained,
    gathered,
    gathered_both,
    gathered_recurrence,
    advantage,
    scaled_by_position,
]


@pytest.mark.parametrize("body", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("sizes", [{"B": 2, "T": 4}, {"B": 3, "T": 3}], ids=str)
def test_program(body: Any, sizes: dict[str, int]) -> None:
    check(differentiable(body)(), sizes=sizes)


def test_derivative_of_a_sum_is_an_array_like_its_input() -> None:
    program = differentiable(lambda x: x.sum(over=(b, t)))(B=2, T=3)
    assert Reference(program.equations).array("gradient").tolist() == [[1, 1, 1], [1, 1, 1]]


def test_derivative_of_what_does_not_matter_is_zero_everywhere() -> None:
    program = differentiable(lambda x: (x > 0.5).sum(over=(b, t)) * 1.0)(B=2, T=3)
    assert Reference(program.equations).array("gradient").tolist() == [[0, 0, 0], [0, 0, 0]]


def test_loss_over_a_dim_is_differentiated_instance_by_instance() -> None:
    @wb.program
    def two_losses(B: int = 2, T: int = 3) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.uniform(over=t)
        loss = (x * x * wb.index(b + 1)).sum(over=t)
        return {"x": x, "loss": loss, "gradient": wb.gradient(loss, x)}

    reference = Reference(two_losses().equations)
    found, x = reference.array("gradient"), reference.array("x")
    np.testing.assert_allclose(found, [2 * x, 4 * x])


def test_stopped_gradient_keeps_the_value_and_drops_the_derivative() -> None:
    program = differentiable(lambda x: (wb.stop_gradient(x) * x).sum(over=(b, t)))()
    reference = Reference(program.equations)
    np.testing.assert_array_equal(reference.array("gradient"), reference.array("x"))


def trained(**update: Any) -> Any:
    @wb.program
    def training(I: int = 3, T: int = 4) -> dict[str, Any]:
        i, t = wb.dims(i=I, t=T)
        cell = nn.linear("cell", 2, 1, gain=1.0)
        theta = nn.parameters(cell, over=i)
        x = wb.normal(shape=2, over=t)
        error = cell(theta, x)[..., 0] - wb.index(t)
        other = cell(theta[0], x)[..., 0]
        loss = ((error + other) ** 2).mean(over=t)
        found = wb.gradient(loss, theta)
        theta.update(optim.sgd(found, 0.1))
        return {"loss": loss, "weight": found["cell.weight_1"], "bias": found["cell.bias_1"]}

    return training


def test_parameters_over_updates_carry_plain_reads_only() -> None:
    """`theta[0]` is another element than `theta`: constant to the gradient at every update."""
    program = trained()()
    reference = Reference(program.equations)
    for i in range(3):
        weight = reference.element("parameters.cell.weight_1", (i,))
        first = reference.element("parameters.cell.weight_1", (0,))
        bias = reference.element("parameters.cell.bias_1", (i,))
        first_bias = reference.element("parameters.cell.bias_1", (0,))
        x = reference.array("x")
        error = (x @ weight + bias)[:, 0] - np.arange(4) + (x @ first + first_bias)[:, 0]
        np.testing.assert_allclose(reference.element("loss", (i,)), (error**2).mean())
        found = reference.element("weight", (i,))
        np.testing.assert_allclose(found, 2 * x.T @ error[:, None] / 4, rtol=1e-12)
        np.testing.assert_allclose(reference.element("bias", (i,)), [2 * error.mean()], rtol=1e-12)
        step = reference.element("parameters.cell.weight_1", (i + 1,))
        np.testing.assert_allclose(step, weight - 0.1 * found)


def test_parameters_over_updates_epochs_and_minibatches() -> None:
    @wb.program
    def training(I: int = 2, E: int = 2, M: int = 3) -> dict[str, Any]:
        i, e, m = wb.dims(i=I, e=E, m=M)
        cell = nn.linear("cell", 2, 1, gain=1.0)
        theta = nn.parameters(cell, over=(i, e, m))
        x = wb.normal(shape=2, over=(i, e, m))
        acted = cell(theta[i, 0, 0], x)[..., 0]
        loss = (cell(theta, x)[..., 0] - acted - 1.0) ** 2
        found = wb.gradient(loss, theta)
        theta.update(optim.sgd(found, 0.1))
        return {"loss": loss, "weight": found["cell.weight_1"]}

    program = training()
    reference = Reference(program.equations)
    bias = reference.element("parameters.cell.bias_1", (0, 0, 0))
    weight = reference.element("parameters.cell.weight_1", (0, 0, 0))
    for i in range(2):
        first, first_bias = weight, bias
        for e in range(2):
            for m in range(3):
                at = (i, e, m)
                np.testing.assert_allclose(
                    reference.element("parameters.cell.weight_1", at), weight, rtol=1e-12
                )
                x = reference.element("x", at)
                error = x @ weight + bias - (x @ first + first_bias) - 1.0
                found = 2 * error * x[:, None]
                np.testing.assert_allclose(reference.element("weight", at), found, rtol=1e-12)
                weight, bias = weight - 0.1 * found, bias - 0.1 * 2 * error
    np.testing.assert_allclose(reference.element("parameters.cell.weight_1", (2, 0, 0)), weight)


def test_recurrent_network_through_time() -> None:
    """Only the parameters of the first update: those after it follow from them."""
    program = recurrent_network(B=2, I=1, T=3)
    plain = Reference(program.equations)
    for name in ("weight_1", "bias_1"):
        array = f"parameters.cell.{name}"
        value = plain.element(array, (0,))
        expected = np.zeros_like(value)
        for inner in np.ndindex(value.shape):
            ends = []
            for sign in (1, -1):
                moved = value.copy()
                moved[inner] += sign * 1e-6
                given = {array: lambda at, moved=moved: moved if at == (0,) else None}
                ends.append(float(Reference(program.equations, given=given).element("loss", (0,))))
            expected[inner] = (ends[0] - ends[1]) / 2e-6
        found = plain.element(f"gradient.cell.{name}", (0,))
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def test_state_carried_over_updates_is_constant_to_the_next_update() -> None:
    """Truncated backpropagation: within an update through time, not into the update before."""

    @wb.program
    def carried(I: int = 2, T: int = 3) -> dict[str, Any]:
        i, t = wb.dims(i=I, t=T)
        x = wb.uniform(over=(i, t))
        s = wb.recurrent("s", (), over=(i, t))
        s[0, 0] = 1.0
        s[i + 1, 0] = s[i, T]
        s[i, t + 1] = s * x
        loss = s[i, T]
        return {"loss": loss, "gradient": wb.gradient(loss, x), "x": x}

    reference = Reference(carried().equations)
    x, loss = reference.array("x"), reference.array("loss")
    np.testing.assert_allclose(reference.array("gradient"), loss[:, None] / x)


def test_reparameterized_normal_is_differentiable_and_a_sample_is_not() -> None:
    def sampled(x: Any) -> Any:
        return (wb.Normal(x, x * x).reparameterized().sample() ** 2).sum(over=(b, t))

    check(differentiable(sampled)())
    plain = differentiable(lambda x: (wb.Normal(x, 1.0).sample() ** 2).sum(over=(b, t)))()
    assert not Reference(plain.equations).array("gradient").any()


def test_gradient_of_a_gradient_of_a_polynomial() -> None:
    def slope(x: Any) -> Any:
        return (wb.gradient((x**3).sum(over=(b, t)), x) * x).sum(over=(b, t))

    check(differentiable(slope)())


@pytest.mark.parametrize("sizes", [{"T": 1}, {"T": 3}], ids=str)
def test_bounds_of_a_piecewise_adjoint_at_small_sizes(sizes: dict[str, int]) -> None:
    check(differentiable(forward)(), sizes=sizes)


def refused(body: Any) -> ProgramError:
    with pytest.raises(ProgramError) as error:
        differentiable(body)()
    return error.value


def test_gradient_refused_of_an_integer() -> None:
    error = refused(lambda x: wb.gradient((x > 0.5).sum(over=(b, t)), x))
    assert error.message == "gradient of sum[]: int32(); expected a float scalar"


def test_gradient_refused_with_respect_to_an_integer() -> None:
    error = refused(lambda x: wb.gradient(x.sum(over=(b, t)), wb.cast(x, int)))
    assert error.message == (
        "gradient with respect to cast(x[b, t], int32): int32(): it is int32, expected float"
    )


def test_gradient_refused_with_respect_to_a_moved_read() -> None:
    error = refused(lambda x: wb.gradient(x.sum(over=(b, t)), x[b, 0]))
    assert error.message == (
        "gradient with respect to x[b, 0]: float(): expected it read at its loop variables"
    )


def _trained(loss: Any, *networks: nn.Network, optimizer: Any = optim.sgd) -> wb.Program:
    """A program that trains networks of two inputs by a loss of the first one's output."""

    @wb.program
    def example(B: int = 3, I: int = 4) -> dict[str, Any]:
        b, i = wb.dims(b=B, i=I)
        theta = nn.parameters(*networks, over=i)
        value = loss(networks[0](theta, wb.uniform(shape=2, over=(b, i))), b)
        theta.update(optimizer(wb.gradient(value, theta), 0.1))
        return {"value": value, "parameters": theta.tensors[f"{networks[-1].name}.weight_1"]}

    return example()


def test_parameters_that_the_loss_does_not_read_stay_as_they_are() -> None:
    actor, critic = nn.linear("actor", 2, 1), nn.linear("critic", 2, 1)
    program = _trained(lambda x, b: (x * x).sum(axis=0).mean(over=b), actor, critic)
    kept = Reference(program.equations, seed=0).array("parameters")
    np.testing.assert_array_equal(kept, np.broadcast_to(kept[:1], kept.shape))
    assert kept.shape == (5, 2, 1)
    assert np.any(kept != 0.0)


@pytest.mark.parametrize("weight", (1.0, 2.5))
def test_a_constant_derivative_is_there_in_every_update(weight: float) -> None:
    @wb.program
    def descent(I: int = 5, B: int = 4) -> dict[str, Any]:
        i, b = wb.dims(i=I, b=B)
        w = wb.recurrent("w", (), over=i)
        w[0] = 1.0
        loss = (weight * w + wb.uniform(over=(i, b))).mean(over=b)
        w[i + 1] = w - 0.1 * wb.gradient(loss, w)
        return {"w": w}

    found = Reference(descent().equations).array("w")
    np.testing.assert_allclose(found, 1.0 - 0.1 * weight * np.arange(len(found)), rtol=1e-12)


def test_a_constant_derivative_of_one_parameter_beside_others() -> None:
    @wb.program
    def linear(I: int = 4, B: int = 3) -> dict[str, Any]:
        i, b = wb.dims(i=I, b=B)
        layer = nn.mlp("layer", 2, (), 1)
        theta = nn.parameters(layer, over=i)
        loss = layer(theta, wb.normal(over=(i, b), shape=(2,)))[..., 0].mean(over=b)
        theta.update(optim.adam(wb.gradient(loss, theta), 0.1, eps=0.0))
        return {"loss": loss}

    found = Reference(linear().equations).array("parameters.layer.bias_1")[:, 0]
    # Adam's step is the learning rate where a derivative is always the same.
    np.testing.assert_allclose(found, found[0] - 0.1 * np.arange(len(found)), rtol=1e-9)


def test_gradient_refused_of_a_loss_that_does_not_depend_on_the_parameters() -> None:
    with pytest.raises(ProgramError) as caught:
        _trained(lambda x, b: wb.stop_gradient(x).sum(axis=0).mean(over=b), nn.linear("net", 2, 1))
    assert caught.value.message == (
        "value[i] does not depend on net.weight_1, net.bias_1, or only through what is constant "
        "to a gradient: stop_gradient, samples, comparisons, parameters of other updates"
    )
    assert caught.value.line is not None
    assert "wb.gradient(value, theta)" in caught.value.line.text


@pytest.mark.parametrize(
    "step",
    [lambda g: 0.1 * g, lambda g: np.float32(0.1) * g, lambda g: g * wb.uniform(), lambda g: -g],
    ids=["number", "number of NumPy", "tensor", "sign"],
)
def test_arithmetic_with_a_gradient_of_parameters(step: Any) -> None:
    with pytest.raises(ProgramError) as caught:
        _trained(
            lambda x, b: x.sum(axis=0).mean(over=b),
            nn.linear("net", 2, 1),
            optimizer=lambda gradient, rate: step(gradient),
        )
    assert caught.value.message == (
        "arithmetic with a gradient, which is a mapping from the names net.weight_1, net.bias_1 to "
        "derivatives; optim.sgd(gradient, 0.1) makes the next parameters of it, "
        "{name: 0.1 * g for name, g in gradient.items()} is a step as numbers"
    )


def test_parameters_updated_twice() -> None:
    @wb.program
    def example(I: int = 3) -> dict[str, Any]:
        i = wb.dim(i=I)
        net = nn.linear("net", 2, 1)
        theta = nn.parameters(net, over=i)
        loss = net(theta, np.ones(2))[..., 0]
        step = optim.sgd(wb.gradient(loss, theta), 0.1)
        theta.update(step)
        theta.update(step)
        return {"loss": loss}

    with pytest.raises(ProgramError) as caught:
        example()
    sentence, _, line = caught.value.message.partition("; their next values are given already by ")
    assert sentence == "net.weight_1, net.bias_1 are updated twice"
    assert line.startswith("theta.update(step)    (test_gradient_of_programs.py, line ")


@pytest.mark.parametrize("optimizer", [optim.sgd, optim.adam, optim.rmsprop])
def test_optimizer_refused_of_a_loss_for_each_instance(optimizer: Any) -> None:
    with pytest.raises(ProgramError) as caught:
        _trained(lambda x, b: x.sum(axis=0), nn.linear("net", 2, 1), optimizer=optimizer)
    assert caught.value.message == (
        "the gradient is of value[b, i], which varies over b: there is one for each of its "
        "values, but the parameters vary over i; sum or average the loss over b first"
    )
    assert caught.value.line is not None
    assert "wb.gradient(value, theta)" in caught.value.line.text


def test_first_element_along_a_dim_of_the_loss_gets_the_first_instance_alone() -> None:
    @wb.program
    def example(B: int = 3, T: int = 2) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.uniform(over=t)
        place = wb.cast(wb.uniform(over=()) * 2.0, int)
        a = wb.recurrent("a", (2,), over=b)
        a[0] = 0.9 * wb.gather(x, t=place)
        a[b + 1] = wb.uniform(shape=2, over=b)
        loss = wb.sin(a.sum(axis=0))
        return {"a": a, "place": place, "gradient": wb.gradient(loss, x)}

    result = wb.run(example(), backend="numpy", dtype="float64", progress=False)
    expected = np.zeros((3, 2))
    expected[0, result["place"]] = 2 * 0.9 * np.cos(2 * result["a"][0, 0])
    np.testing.assert_allclose(result["gradient"], expected, rtol=1e-12)
