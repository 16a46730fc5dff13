"""PPO on CartPole in JAX, all updates in one scan: the algorithm of `workbench.algorithms.ppo`.

Run as `python -m tests.benchmarks.rivals.jax_ppo --B 2048 --updates 20`; prints a JSON line. With
given draws and first parameters its losses are those of the workbench's program (`same_losses`).
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

Parameters = Mapping[str, Any]

GAMMA, LAMBDA, CLIP, RATE = 0.99, 0.95, 0.2, 2.5e-4
ENTROPY_WEIGHT, VALUE_WEIGHT, LARGEST_NORM, EPS = 0.01, 0.5, 0.5, 1e-5
BETAS = 0.9, 0.999
TIME_LIMIT = 500.0


class Draws(NamedTuple):
    """Random numbers of an update: for actions (T, B), new episodes (T, B, 4), orders (E, B T)."""

    actions: Any
    resets: Any
    orders: Any


class Carried(NamedTuple):
    """What an update hands on."""

    parameters: Parameters
    means: Parameters
    squares: Parameters
    count: Any
    state: Any
    gained: Any


def network(parameters: Parameters, name: str, x: Any, depth: int, precision: Any) -> Any:
    """A perceptron with tanh between its layers."""
    for k in range(1, depth + 2):
        weight, bias = parameters[f"{name}.weight_{k}"], parameters[f"{name}.bias_{k}"]
        x = jnp.matmul(x, weight, precision=precision) + bias
        if k <= depth:
            x = jnp.tanh(x)
    return x


def step(state: Any, action: Any) -> tuple[Any, Any, Any]:
    """The following state, and whether an episode is over or cut off."""
    x, velocity, angle, turning, elapsed = (state[:, k] for k in range(5))
    force = jnp.where(action == 1, 10.0, -10.0)
    cosine, sine = jnp.cos(angle), jnp.sin(angle)
    pushed = (force + 0.05 * (turning * turning) * sine) / 1.1
    faster = (9.8 * sine - cosine * pushed) / (0.5 * (4.0 / 3.0 - 0.1 * (cosine * cosine) / 1.1))
    acceleration = pushed - 0.05 * faster * cosine / 1.1
    following = jnp.stack(
        [
            x + 0.02 * velocity,
            velocity + 0.02 * acceleration,
            angle + 0.02 * turning,
            turning + 0.02 * faster,
            elapsed + 1.0,
        ],
        axis=1,
    )
    limit = 12 * 2 * math.pi / 360
    over = (jnp.abs(following[:, 0]) > 2.4) | (jnp.abs(following[:, 2]) > limit)
    return following, over, following[:, 4] >= TIME_LIMIT


def begun(draws: Any) -> Any:
    """First states, from numbers in [0, 1)."""
    start = draws * 0.1 - 0.05
    return jnp.concatenate([start, jnp.zeros((len(draws), 1), start.dtype)], axis=1)


def update(
    carried: Carried, draws: Draws, minibatches: int, depth: int, precision: Any
) -> tuple[Carried, Mapping[str, Any]]:
    """One update: a rollout, advantages, and epochs of minibatches."""
    acting = carried.parameters

    def act(at: tuple[Any, Any], drawn: tuple[Any, Any]) -> tuple[tuple[Any, Any], Any]:
        state, gained = at
        uniform, reset = drawn
        observation = state[:, :4]
        logits = network(acting, "actor", observation, depth, precision)
        value = network(acting, "critic", observation, depth, precision)[:, 0]
        below = jax.nn.softmax(logits)[:, 0]
        action = (below <= uniform).astype(jnp.int32)
        chosen = jax.nn.log_softmax(logits)[jnp.arange(len(action)), action]
        following, over, cut = step(state, action)
        done = over | cut
        gained = gained + 1.0
        ended = jnp.where(done, gained, 0.0).sum(), done.sum()
        after = jnp.where(done[:, None], begun(reset), following)
        return (after, jnp.where(done, 0.0, gained)), (
            observation, action, chosen, value, done, ended,
        )  # fmt: skip

    (state, gained), rollout = jax.lax.scan(
        act, (carried.state, carried.gained), (draws.actions, draws.resets)
    )
    observation, action, chosen, value, done, (total, episodes) = rollout
    last = network(acting, "critic", state[:, :4], depth, precision)[:, 0]

    def back(advantage: Any, at: Any) -> tuple[Any, Any]:
        value, ahead, done = at
        residual = 1.0 + jnp.where(done, 0.0, GAMMA * ahead) - value
        advantage = residual + jnp.where(done, 0.0, GAMMA * LAMBDA * advantage)
        return advantage, advantage

    ahead = jnp.concatenate([value[1:], last[None]])
    _, advantage = jax.lax.scan(back, jnp.zeros_like(last), (value, ahead, done), reverse=True)
    # rows of samples as the workbench counts them: environment by environment
    samples = tuple(
        jnp.swapaxes(x, 0, 1).reshape(-1, *x.shape[2:])
        for x in (observation, action, chosen, value, advantage, advantage + value)
    )

    def loss_of(parameters: Parameters, batch: Any) -> Any:
        observation, action, chosen, before, advantage, target = batch
        logits = jax.nn.log_softmax(network(parameters, "actor", observation, depth, precision))
        ratio = jnp.exp(logits[jnp.arange(len(action)), action] - chosen)
        a = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        clipped = jnp.clip(ratio, 1 - CLIP, 1 + CLIP)
        policy_loss = jnp.maximum(-a * ratio, -a * clipped).mean()
        estimate = network(parameters, "critic", observation, depth, precision)[:, 0]
        near = before + jnp.clip(estimate - before, -CLIP, CLIP)
        error = jnp.maximum((estimate - target) ** 2, (near - target) ** 2)
        entropy = -(jnp.exp(logits) * logits).sum(axis=1).mean()
        return policy_loss - ENTROPY_WEIGHT * entropy + VALUE_WEIGHT * 0.5 * error.mean()

    def learn(at: Any, order: Any) -> tuple[Any, Any]:
        parameters, means, squares, count = at
        loss, gradient = jax.value_and_grad(loss_of)(parameters, tuple(x[order] for x in samples))
        norm = jnp.sqrt(sum((g * g).sum() for g in gradient.values()))
        scale = jnp.minimum(1.0, LARGEST_NORM / (norm + 1e-6))
        count = count + 1
        first, second = (1.0 - beta**count for beta in BETAS)
        new: list[dict[str, Any]] = [{}, {}, {}]
        for name, g in gradient.items():
            g = g * scale
            mean = BETAS[0] * means[name] + (1 - BETAS[0]) * g
            square = BETAS[1] * squares[name] + (1 - BETAS[1]) * (g * g)
            change = RATE * (mean / first / (jnp.sqrt(square / second) + EPS))
            for part, values in zip(new, (parameters[name] - change, mean, square), strict=True):
                part[name] = values
        return (*new, count), loss

    orders = draws.orders.reshape(-1, draws.orders.shape[1] // minibatches)
    (parameters, means, squares, count), losses = jax.lax.scan(
        learn, (acting, carried.means, carried.squares, carried.count), orders
    )
    shown = {
        "loss": losses.reshape(-1, minibatches),
        "episode_return": total.sum() / episodes.sum(),
        "episodes": episodes.sum(),
    }
    return Carried(parameters, means, squares, count, state, gained), shown


def first_parameters(key: Any, hidden: Sequence[int]) -> dict[str, Any]:
    """Orthogonal weights, biases of 0."""
    parameters = {}
    for name, outputs, gain in (("actor", 2, 0.01), ("critic", 1, 1.0)):
        widths = (4, *hidden, outputs)
        for k, (rows, columns) in enumerate(pairwise(widths), 1):
            key, own = jax.random.split(key)
            of_layer = gain if k == len(widths) - 1 else math.sqrt(2.0)
            make = jax.nn.initializers.orthogonal(of_layer)
            parameters[f"{name}.weight_{k}"] = make(own, (rows, columns))
            parameters[f"{name}.bias_{k}"] = jnp.zeros(columns)
    return parameters


def carried_at_first(parameters: Parameters, first: Any) -> Carried:
    """What the first update begins with; `first` are numbers in [0, 1) for the first states."""
    zeros = {name: jnp.zeros_like(x) for name, x in parameters.items()}
    return Carried(parameters, zeros, zeros, 0.0, begun(first), jnp.zeros(len(first)))


def trained(B: int, I: int, T: int, E: int, M: int, hidden: Sequence[int], precision: Any) -> Any:
    """A function of a key that trains, all updates in one scan."""

    def train(key: Any) -> Any:
        key, of_parameters, of_states = jax.random.split(key, 3)
        start = jax.random.uniform(of_states, (B, 4))
        carried = carried_at_first(first_parameters(of_parameters, hidden), start)

        def one(at: tuple[Carried, Any], _: Any) -> Any:
            carried, key = at
            key, actions, resets, orders = jax.random.split(key, 4)
            draws = Draws(
                jax.random.uniform(actions, (T, B)),
                jax.random.uniform(resets, (T, B, 4)),
                jax.vmap(lambda k: jax.random.permutation(k, B * T))(jax.random.split(orders, E)),
            )
            carried, shown = update(carried, draws, M, len(hidden), precision)
            return (carried, key), shown

        return jax.lax.scan(one, (carried, key), None, length=I)[1]

    return jax.jit(train)


def same_losses(
    parameters: Mapping[str, Any], first: Any, draws: Sequence[Draws], minibatches: int
) -> Any:
    """The losses of updates with given draws, over epochs and minibatches."""
    carried = carried_at_first({n: jnp.asarray(x) for n, x in parameters.items()}, first)
    depth = sum(name.startswith("actor.weight") for name in parameters) - 1
    one = jax.jit(update, static_argnums=(2, 3, 4))
    losses = []
    for of_update in draws:
        carried, shown = one(carried, of_update, minibatches, depth, jax.lax.Precision.HIGHEST)
        losses.append(np.asarray(shown["loss"]))
    return np.stack(losses)


def measured(B: int, I: int, rounds: int, precision: str) -> dict[str, Any]:
    """The least seconds of so many updates of some rounds, and the compiler's."""
    chosen = {"highest": jax.lax.Precision.HIGHEST, "default": None}[precision]
    train = trained(B, I, 128, 4, 4, (64, 64), chosen)
    start = time.perf_counter()
    compiled = train.lower(jax.random.key(0)).compile()
    compiling = time.perf_counter() - start
    seconds = []
    for seed in range(rounds + 1):
        start = time.perf_counter()
        jax.block_until_ready(compiled(jax.random.key(seed)))
        seconds.append(time.perf_counter() - start)
    memory = compiled.memory_analysis()
    peak = memory.temp_size_in_bytes + memory.output_size_in_bytes + memory.argument_size_in_bytes
    return {
        "program": "jax ppo",
        "device": jax.devices()[0].device_kind,
        "precision": precision,
        "B": B,
        "updates": I,
        "seconds": round(min(seconds[1:]), 4),
        "steps_per_second": round(B * 128 * I / min(seconds[1:])),
        "compiling": round(compiling, 2),
        "peak_bytes": peak,
    }


def main() -> None:
    """Measure, and print a JSON line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--B", type=int, default=64)
    parser.add_argument("--updates", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--precision", choices=("highest", "default"), default="highest")
    given = parser.parse_args()
    print(json.dumps(measured(given.B, given.updates, given.rounds, given.precision)))


if __name__ == "__main__":
    main()
