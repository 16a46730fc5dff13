"""Optimizers and target networks against a few lines of NumPy that follow their definitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import count, islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import workbench as wb
from tests.native_runs import check_native
from workbench import nn, optim
from workbench.backends.reference.evaluator import Reference
from workbench.errors import ProgramError
from workbench.program.values import Program
from workbench.transforms import Contract, Donate, Vectorize

Array = npt.NDArray[Any]
RATE, AIM = 0.1, np.array([[1.0], [-2.0]])


def descent(optimizer: Callable[..., Any], **options: Any) -> Program:
    """The descent on a sum of fourth powers from a random start."""

    @wb.program
    def descending(I: int = 7) -> dict[str, Any]:
        i = wb.dim(i=I)
        theta = nn.parameters(nn.linear("net", 2, 1), over=i)
        rest = theta.tensors["net.weight_1"] - AIM
        loss = 0.05 * (rest * rest * rest * rest).sum() + (theta.tensors["net.bias_1"] ** 2).sum()
        theta.update(optimizer(wb.gradient(loss, theta), RATE, **options))
        return {"loss": loss}

    return descending()


def gradient(x: Array) -> Array:
    return 0.2 * (x - AIM) ** 3


def sgd(x: Array, momentum: float = 0.0, nesterov: bool = False) -> Iterator[Array]:
    """As torch.optim.SGD."""
    velocity = np.zeros_like(x)
    while True:
        yield x
        velocity = momentum * velocity + gradient(x)
        x = x - RATE * (gradient(x) + momentum * velocity if nesterov else velocity)


def rmsprop(
    x: Array, decay: float = 0.99, eps: float = 1e-5, momentum: float = 0.0, centered: bool = False
) -> Iterator[Array]:
    """As torch.optim.RMSprop, but for the place of eps."""
    square, mean, velocity = (np.zeros_like(x) for _ in range(3))
    while True:
        yield x
        g = gradient(x)
        square, mean = decay * square + (1 - decay) * g * g, decay * mean + (1 - decay) * g
        velocity = momentum * velocity + g / np.sqrt(square - centered * mean * mean + eps)
        x = x - RATE * velocity


CASES: list[tuple[Any, Any, Mapping[str, Any]]] = [
    (optim.sgd, sgd, {}),
    (optim.sgd, sgd, {"momentum": 0.6}),
    (optim.sgd, sgd, {"momentum": 0.6, "nesterov": True}),
    (optim.rmsprop, rmsprop, {}),
    (optim.rmsprop, rmsprop, {"decay": 0.7, "eps": 1e-3, "momentum": 0.5, "centered": True}),
]


def case_name(given: Any) -> str:
    return str(getattr(given, "__name__", given))


@pytest.mark.parametrize(("ours", "theirs", "options"), CASES, ids=case_name)
def test_optimizer_takes_the_steps_of_its_definition(ours: Any, theirs: Any, options: Any) -> None:
    reference = Reference(descent(ours, **options).equations, seed=2)
    found = reference.array("parameters.net.weight_1")
    for x, expected in zip(found, theirs(found[0], **options), strict=False):
        np.testing.assert_allclose(x, expected, rtol=1e-10)


# -- target networks -------------------------------------------------------------------------------


def adam(x: Array, made: Callable[[int], bool]) -> Iterator[Array]:
    """As torch.optim.Adam, of which `step` is called in some updates only."""
    first, second, steps = np.zeros_like(x), np.zeros_like(x), 0
    for i in count():
        yield x
        if made(i):
            steps += 1
            g = gradient(x)
            first, second = 0.9 * first + 0.1 * g, 0.999 * second + 0.001 * g * g
            mean, square = first / (1 - 0.9**steps), second / (1 - 0.999**steps)
            x = x - RATE * mean / (np.sqrt(square) + 1e-8)


@pytest.mark.parametrize(
    ("when", "made"),
    [
        (lambda i: wb.index(i) >= 3, lambda i: i >= 3),
        (lambda i: wb.index(i) % 2 == 1, lambda i: i % 2 == 1),
    ],
    ids=["late", "every other"],
)
def test_adam_makes_the_updates_that_are_asked_for(when: Any, made: Any) -> None:
    @wb.program
    def descending(I: int = 7) -> dict[str, Any]:
        i = wb.dim(i=I)
        theta = nn.parameters(nn.linear("net", 2, 1), over=i)
        rest = theta.tensors["net.weight_1"] - AIM
        loss = 0.05 * (rest * rest * rest * rest).sum()
        theta.update(optim.adam(wb.gradient(loss, theta), RATE, when=when(i)))
        return {"loss": loss}

    found = Reference(descending().equations, seed=1).array("parameters.net.weight_1")
    wanted = list(islice(adam(found[0], made), 8))
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("options", [{"tau": 0.3}, {"every": 2}], ids=str)
def test_target_follows_after_the_updates_that_are_asked_for(options: Any) -> None:
    @wb.program
    def example(I: int = 7) -> dict[str, Any]:
        i = wb.dim(i=I)
        theta = nn.parameters(nn.vector("x", 1, 1.0), over=i)
        target = nn.target(theta, when=wb.index(i) >= 3, **options)
        theta.update({name: 0.9 * x for name, x in theta.tensors.items()})
        return {"theta": theta.tensors["x.value"] * 1.0, "target": target.tensors["x.value"] * 1.0}

    found = Reference(example().equations).outputs()
    theta, target = found["theta"][:, 0], found["target"][:, 0]
    assert (target[:4] == 1.0).all()
    for i in range(3, 6):
        new = 0.9 * theta[i]
        follows = 0.3 * new + 0.7 * target[i] if "tau" in options else [target[i], new][i % 2]
        assert target[i + 1] == pytest.approx(follows)


@pytest.mark.parametrize("when", [1.0, True, [True, False]], ids=str)
def test_adam_refused_when_what_to_make_is_no_boolean(when: Any) -> None:
    @wb.program
    def descending(I: int = 7) -> dict[str, Any]:
        i = wb.dim(i=I)
        theta = nn.parameters(nn.linear("net", 2, 1), over=i)
        loss = theta.tensors["net.weight_1"].sum()
        theta.update(optim.adam(wb.gradient(loss, theta), RATE, when=when))
        return {"loss": loss}

    with pytest.raises(ProgramError, match=r"^when=.*; expected a boolean scalar over i"):
        descending()


def following(options: Mapping[str, Any], over: int = 1) -> Program:
    """A network that learns its own target's output, over updates or over minibatches of them."""

    @wb.program
    def example(B: int = 3, I: int = 5, M: int = 2) -> dict[str, Any]:
        b, i, m = wb.dims(b=B, i=I, m=M)
        dims = (i, m)[:over]
        network = nn.mlp("q", 2, (3,), 1, output_gain=1.0)
        theta = nn.parameters(network, over=dims)
        follower = nn.target(theta, **options)
        x = wb.normal(shape=2, over=(b, *dims))
        error = network(theta, x)[..., 0] - (0.9 * network(follower, x)[..., 0] + 1.0)
        loss = (error * error).mean(over=b)
        theta.update(optim.sgd(wb.gradient(loss, theta), 0.1))
        return {"loss": loss}

    return example()


def followed(theta: Array, tau: float | None = None, every: int | None = None) -> Array:
    """The target's values beside theta's, both over the updates."""
    target = [theta[0]]
    for k, after in enumerate(theta[1:], 1):
        share = tau if tau is not None else float(every is not None and k % every == 0)
        target.append(share * after + (1 - share) * target[-1])
    return np.array(target)


@pytest.mark.parametrize("over", [1, 2])
@pytest.mark.parametrize("options", [{"tau": 0.3}, {"every": 3}, {"every": 1}], ids=str)
def test_target_follows_the_parameters(options: Any, over: int) -> None:
    program = following(options, over)
    reference = Reference(program.equations, seed=4)
    at = [(i,) for i in range(6)] if over == 1 else [(i, m) for i in range(5) for m in range(2)]
    for name in ("q.weight_1", "q.bias_2"):
        theta, found = (
            np.array([reference.element(f"{scope}.{name}", e) for e in at])
            for scope in ("parameters", "target")
        )
        np.testing.assert_allclose(found, followed(theta, **options), rtol=1e-12)
        assert len(np.unique(theta, axis=0)) == len(at)


def test_loss_is_constant_in_the_target() -> None:
    """Its derivative is that of the squared error to a fixed value."""
    reference = Reference(following({"tau": 1.0}).equations, seed=4)
    for i in range(5):
        weight, bias, out, shift = (
            reference.element(f"parameters.q.{name}", (i,))
            for name in ("weight_1", "bias_1", "weight_2", "bias_2")
        )
        x = np.array([reference.element("x", (b, i)) for b in range(3)])
        hidden = np.tanh(x @ weight + bias)
        y = (hidden @ out + shift)[:, 0]
        error = y - (0.9 * y + 1.0)  # with tau = 1 both have the same parameters
        step = reference.element("parameters.q.weight_2", (i + 1,)) - out
        expected = -0.1 * 2.0 * (hidden * error[:, None]).mean(axis=0)[:, None]
        np.testing.assert_allclose(step, expected, rtol=1e-9)


@pytest.mark.parametrize("options", [{"tau": 0.3}, {"every": 3}], ids=str)
def test_target_is_printed_with_the_equations_and_kept_for_one_update(options: Any) -> None:
    program = following(options)
    lines = [line.strip() for line in str(program).splitlines()]
    (first,) = (line for line in lines if line.startswith("target.q.bias_2[0]"))
    (after,) = (line for line in lines if line.startswith("target.q.bias_2[i + 1]"))
    assert first == "target.q.bias_2[0]: float(1,) = parameters.q.bias_2[0]"
    expected = {
        "tau": "0.3 * parameters.q.bias_2[i + 1] + 0.7 * target.q.bias_2[i]",
        "every": "where((i + 1) % 3 == 0, parameters.q.bias_2[i + 1], target.q.bias_2[i])",
    }
    assert after == f"target.q.bias_2[i + 1] = {expected[next(iter(options))]}"
    wanted = Reference(program.equations, seed=4).outputs()["loss"]
    small = wb.variant(program).apply(Vectorize("b")).apply(Contract()).apply(Donate())
    found = wb.run(small, seed=4, dtype="float64", progress=False, backend="numpy")
    np.testing.assert_allclose(found["loss"], wanted, rtol=1e-9)
    check_native(small.program, found.outputs, None, 4)
    few, many = (
        sum(small.predict({"I": n}, backend="numpy").peak_bytes.values()) for n in (10, 1000)
    )
    assert many - few < 990 * 13 * 4  # a target has 13 numbers


# -- what a user can get wrong ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "takes either tau=, the share of the new parameters in each update, or every=, the "
         "number of updates between copies; found neither"),
        ({"tau": 0.1, "every": 2}, "takes either tau=, the share of the new parameters in each "
         "update, or every=, the number of updates between copies; found tau=0.1 and every=2"),
        ({"tau": 1.5}, "with tau=1.5; expected a number from 0 to 1"),
        ({"tau": 0}, "with tau=0; expected a number from 0 to 1"),
        ({"every": 0}, "with every=0; expected a whole number from 1 on"),
        ({"every": 2.5}, "with every=2.5; expected a whole number from 1 on"),
    ],
)  # fmt: skip
def test_target_refused_when_how_it_follows_is_unclear(options: Any, told: str) -> None:
    with pytest.raises(ProgramError) as refused:
        following(options)
    assert refused.value.message == f"nn.target {told}"
    assert refused.value.line is not None and "nn.target(theta" in refused.value.line.text


def test_target_refused_of_what_is_never_updated() -> None:
    @wb.program
    def example() -> dict[str, Any]:
        return {"y": nn.target(nn.parameters(nn.linear("q", 2, 1)), tau=0.1)}

    with pytest.raises(ProgramError, match=r"expected nn\.parameters over the dims that count"):
        example()


@pytest.mark.parametrize(
    ("optimizer", "options", "told"),
    [
        (optim.sgd, {"momentum": 1.0}, "momentum=1.0; expected a number from 0 to below 1"),
        (optim.rmsprop, {"momentum": "0.9"}, "momentum='0.9'; expected a number from 0 to below 1"),
        (optim.sgd, {"nesterov": True}, "optim.sgd with nesterov=True; expected momentum= too"),
    ],
)
def test_optimizer_refused_when_its_momentum_is_none(
    optimizer: Any, options: Any, told: str
) -> None:
    with pytest.raises(ProgramError) as refused:
        descent(optimizer, **options)
    assert refused.value.message == told


def test_estimate_is_taken_in_the_place_of_a_gradient() -> None:
    @wb.program
    def descending(I: int = 4) -> dict[str, Any]:
        i = wb.dim(i=I)
        theta = nn.parameters(nn.linear("net", 2, 1), over=i)
        loss = sum((x * x).sum() for x in theta.tensors.values())
        by_hand = optim.estimate(theta, {name: 2.0 * x for name, x in theta.tensors.items()})
        exact = wb.gradient(loss, theta)
        assert list(by_hand) == list(exact)
        theta.update(optim.adam(optim.clip_by_global_norm(by_hand, 0.5), RATE))
        beside = sum(((by_hand[name] - exact[name]) ** 2).sum() for name in exact)
        return {"loss": loss, "beside": beside}

    found = Reference(descending().equations, {}, 0).outputs()
    assert (found["beside"] == 0.0).all() and (np.diff(found["loss"]) < 0.0).all()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            lambda theta, b: {},
            "optim.estimate of nothing; expected net.weight_1, net.bias_1",
        ),
        (
            lambda theta, b: dict(theta.tensors) | {"net.bias_1": wb.uniform(over=b)},
            "optim.estimate of net.bias_1: uniform[b]: float(); expected a float(1,) over i",
        ),
        (
            lambda theta, b: dict(theta.tensors) | {"net.bias_1": wb.uniform(shape=1, over=b)},
            "optim.estimate of net.bias_1: uniform[b]: float(1,); expected a float(1,) over i",
        ),
    ],
)
def test_estimate_refused_that_does_not_fit_the_parameters(values: Any, message: str) -> None:
    @wb.program
    def descending(I: int = 4, B: int = 2) -> dict[str, Any]:
        i, b = wb.dims(i=I, b=B)
        theta = nn.parameters(nn.linear("net", 2, 1), over=i)
        return optim.estimate(theta, values(theta, b))

    with pytest.raises(ProgramError) as error:
        descending()
    assert error.value.message == message


def test_update_refused_by_a_gradient_of_which_no_optimizer_made_parameters() -> None:
    with pytest.raises(ProgramError) as error:
        descent(lambda gradient, rate: gradient)
    assert error.value.message == (
        "update of net.bias_1, net.weight_1 by a gradient; expected the next parameters, which an "
        "optimizer makes of it: optim.sgd(gradient, 0.1)"
    )
    assert error.value.line is not None and "theta.update(" in error.value.line.text
