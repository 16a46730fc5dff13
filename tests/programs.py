"""Small programs in the language, each with sizes to try: what every backend and step is tested on.

Between them they have every kind of read, piece and reduction. Sizes are odd, and some are 1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import workbench as wb
from tests.returns import returns
from workbench import environments, nn, optim, rl
from workbench.language.template.template import Template
from workbench.language.tracing.tensor import Tensor
from workbench.program.values import Program

Outputs = dict[str, Any]
Sizes = dict[str, int]


@wb.program
def leaky_sum(B: int = 3, T: int = 5) -> Outputs:
    """A forward recurrence from a random start."""
    b, t = wb.dims(b=B, t=T)
    x = wb.normal(over=(b, t))
    s = wb.recurrent("s", (), over=(b, t))
    s[b, 0] = wb.uniform(over=b)
    s[b, t + 1] = 0.5 * s + x
    last = s[b, T]
    return {"s": s, "last": last}


@wb.program
def ranges(T: int = 7, n: int = 3) -> Outputs:
    """Suffixes, prefixes, windows and whole ranges, combined in every way."""
    t = wb.dim(t=T)
    x = wb.normal(over=t)
    return {
        "suffix": x[t:T].sum(),
        "later": x[t + 1 : T].sum(),
        "prefix_mean": x[0 : t + 1].mean(),
        "highest": x[0 : t + 1].max(),
        "lowest": x[t : wb.minimum(t + n, T)].min(),
        "where_highest": x[t:T].argmax(),
        "spread": x[t : wb.minimum(t + n, T)].std(),
        "steps": ((x[t + 1 : T] - x[t : T - 1]) ** 2).sum(),
        "all": x[0:T].sum(),
    }


@wb.program
def n_step(B: int = 3, T: int = 7, n: int = 3, gamma: float = 0.9) -> Outputs:
    """n-step returns that bootstrap from a value at the end of their window."""
    b, t = wb.dims(b=B, t=T)
    reward = wb.uniform(over=(b, t))
    value = wb.recurrent("value", (), over=(b, t))
    value[b, t] = wb.normal(over=(b, t))
    value[b, T] = 0.5
    ahead = wb.minimum(t + n, T)
    far = gamma ** wb.index(ahead - t) * value[b, ahead]
    return {"target": wb.discounted_sum(reward[b, t:ahead], gamma) + far}


@wb.program
def alignment(P: int = 4, Q: int = 6) -> Outputs:
    """A two-dimensional recurrence: the longest common subsequence of two random words."""
    p, q = wb.dims(p=P, q=Q)
    left = wb.cast(wb.uniform(0.0, 3.0, over=p), int)
    right = wb.cast(wb.uniform(0.0, 3.0, over=q), int)
    y = wb.recurrent("y", (), over=(p, q), dtype=int)
    y[0, 0] = 0
    y[p + 1, 0] = 0
    y[0, q + 1] = 0
    skipped = wb.maximum(y[p, q + 1], y[p + 1, q])
    y[p + 1, q + 1] = wb.where(left == right, y[p, q] + 1, skipped)
    return {"y": y, "length": y[P, Q]}


@wb.program
def statistics(B: int = 5, T: int = 3) -> Outputs:
    """Reductions over dims, one and two, of scalars and vectors."""
    b, t = wb.dims(b=B, t=T)
    x = wb.normal(shape=2, over=(b, t))
    y = x[..., 0]
    return {
        "total": x.sum(over=(b, t)),
        "mean": x.mean(over=(b, t)),
        "std": x.std(over=(b, t)),
        "highest": y.max(over=b),
        "lowest": x.min(over=(b, t)),
        "best": y.argmax(over=t),
        "normal": rl.normalize(y, over=(b, t)),
        "nested": y.max(over=t).mean(over=b),
        "positive": (y > 0.0).sum(over=(b, t)),
    }


@wb.program
def shuffled(I: int = 2, N: int = 7) -> Outputs:
    """A permutation an update, a gather through it, its inverse by comparison."""
    i, n, m = wb.dims(i=I, n=N, m=N)
    order = wb.permutation(N, over=i)
    x = wb.normal(over=n)
    place = order[n]
    back = wb.where(place == wb.index(m), wb.index(n), 0).sum(over=n)
    return {"order": place, "chosen": wb.gather(x, n=place), "inverse": back}


@wb.program
def repeated(N: int = 7, K: int = 5) -> Outputs:
    """A gather that reads some elements twice and some not, and its gradient."""
    n, k = wb.dims(n=N, k=K)
    x = wb.normal(over=n)
    place = wb.cast(wb.uniform(0.0, 3.0, over=k), int) % N
    y = wb.gather(x, n=place)
    return {"y": y, "gradient": wb.gradient((y * y * y).sum(over=k), x)}


@wb.program
def drawn(B: int = 3, T: int = 5) -> Outputs:
    """Every kind of draw, with inner shapes and without dims."""
    b, t = wb.dims(b=B, t=T)
    logits = wb.normal(shape=3, over=(b, t))
    policy = wb.Categorical(logits=logits)
    action = policy.sample()
    torque = wb.Normal(logits[..., :2], 0.5).reparameterized().sample()
    return {
        "action": action,
        "log_probability": policy.log_probability(action),
        "entropy": policy.entropy().mean(over=(b, t)),
        "torque": torque,
        "seed": wb.uniform(-1.0, 1.0, shape=(2, 3)),
        "counted": (action == 1).sum(over=t),
    }


@wb.program
def carried(B: int = 3, I: int = 2, T: int = 4) -> Outputs:
    """State carried over updates: the next rollout goes on where the last one stopped."""
    b, i, t = wb.dims(b=B, i=I, t=T)
    state = wb.recurrent("state", 2, over=(b, i, t))
    push = wb.normal(over=(b, i, t))
    state[b, 0, 0] = wb.uniform(shape=2, over=b)
    state[b, i + 1, 0] = state[b, i, T]
    position, speed = wb.unstack(state)
    state[b, i, t + 1] = wb.stack([position + 0.1 * speed, 0.9 * speed + push])
    return {"state": state, "far": position.max(over=t).mean(over=b)}


@wb.program
def delayed(T: int = 9) -> Outputs:
    """Two arrays that read each other with delays, one of them two slices back."""
    t = wb.dim(t=T)
    x = wb.recurrent("x", (), over=t)
    y = wb.recurrent("y", (), over=t)
    x[0] = 1.0
    x[1] = 2.0
    x[t + 2] = 0.5 * x[t] + y[t]
    y[t] = wb.sin(x[t + 1]) - 0.1 * wb.index(t)
    return {"x": x, "y": y}


@wb.program
def table(S: int = 5, A: int = 2, I: int = 6, gamma: float = 0.9) -> Outputs:
    """Q-learning on a ring of S places: tabular lookup with gather, written back by comparison."""
    i, s, a, o = wb.dims(i=I, s=S, a=A, o=A)
    q = wb.recurrent("q", (), over=(i, s, a))
    place = wb.recurrent("place", (), over=i, dtype=int)
    place[0] = 0
    move = wb.cast(wb.uniform(over=i) < 0.5, int)
    following = (place + 2 * move - 1 + wb.index(S)) % S
    place[i + 1] = following
    reward = wb.where(following == 0, 1.0, 0.0)
    best = wb.gather(q[i, s, o], s=following).max(over=o)
    error = reward + gamma * best - wb.gather(q, s=place[i], a=move)
    q[0, s, a] = 0.0
    here = (place == wb.index(s)) & (move == wb.index(a))
    q[i + 1, s, a] = q + wb.where(here, 0.5 * error, 0.0)
    return {"q": q, "place": place, "greedy": q[I, s, a].argmax(over=a)}


@wb.program
def tables(W: int = 2, I: int = 5, K: int = 3) -> Outputs:
    """Q-learning of workers with a table each, that count visits and add errors to one table; a
    derivative with respect to a table.
    """
    w, i, k = wb.dims(w=W, i=I, k=K)
    place = wb.cast(wb.uniform(over=(w, i)) * 5.0, int)
    move = wb.cast(wb.uniform(over=(w, i)) * 4.0, int)
    after = wb.cast(wb.uniform(over=(w, i, k)) * 5.0, int)
    reward = wb.normal(over=(w, i, k))
    q = wb.recurrent("q", (5, 4), over=(w, i))
    visits = wb.recurrent("visits", (5, 4), over=(w, i), dtype=int)
    shared = wb.recurrent("shared", (5, 4), over=i)
    error = reward + 0.9 * q[..., after, :].max() - q[..., place, move]
    q[w, 0] = 0.0
    q[w, i + 1] = wb.put(q, (place, move), q[..., place, move] + 0.5 * error.mean(over=k))
    visits[w, 0] = 0
    visits[w, i + 1] = wb.add_at(visits, (place, move), 1)
    shared[0] = 1.0
    shared[i + 1] = wb.add_at(shared, (after, move), error, over=(w, k))
    loss = (shared[..., place, move] * reward.mean(over=k)).sum(over=(w, i))
    return {
        "last": q[w, I],
        "counts": visits[w, I],
        "loss": loss,
        "slope": wb.gradient(loss, shared),
    }


@wb.program
def recurrent_network(B: int = 3, I: int = 3, T: int = 5) -> Outputs:
    """Truncation-free training of a recurrent cell by gradient descent: a gradient through time."""
    b, i, t = wb.dims(b=B, i=I, t=T)
    cell = nn.linear("cell", 3, 2, gain=1.0)
    theta = nn.parameters(cell, over=i)
    x = wb.normal(over=(b, t))
    h = wb.recurrent("h", 2, over=(b, i, t))
    h[b, i, 0] = 0.0
    h[b, i, t + 1] = wb.tanh(cell(theta, wb.concatenate([h, wb.reshape(x, (1,))])))
    target = wb.stack([1.0, -0.5])
    loss = ((h[b, i, T] - target) ** 2).sum().mean(over=b)
    theta.update(optim.sgd(wb.gradient(loss, theta), 0.1))
    return {"loss": loss}


@wb.program
def small_reinforce(
    B: int = 3, I: int = 2, T: int = 5, gamma: float = 0.9, learning_rate: float = 0.05
) -> Outputs:
    """REINFORCE on CartPole with a time limit inside the episode, and Adam."""
    b, i, t = wb.dims(b=B, i=I, t=T)
    env = environments.CartPole(time_limit=4)
    network = nn.mlp("policy", env.observation_size, (3,), env.action_count, output_gain=1.0)
    theta = nn.parameters(network, over=i)
    state = wb.recurrent("state", env.state_size, over=(b, i, t))
    alive = wb.recurrent("alive", (), over=(b, i, t), dtype=bool)
    policy = wb.Categorical(logits=network(theta, env.observe(state)))
    action = policy.sample()
    following, reward, terminated, truncated = env.step(state, action)
    state[b, i, 0] = env.reset(over=(b, i))
    state[b, i, t + 1] = following
    alive[b, i, 0] = True
    alive[b, i, t + 1] = alive & ~(terminated | truncated)
    gain = wb.where(alive, reward, 0.0)
    to_go = wb.discounted_sum(gain[b, i, t:T], gamma)
    chosen = policy.log_probability(action)
    masked = wb.where(alive, chosen * wb.stop_gradient(to_go), 0.0)
    loss = -masked.sum(over=t).mean(over=b)
    theta.update(optim.adam(wb.gradient(loss, theta), learning_rate))
    return {"loss": loss, "episode_return": gain.sum(over=t).mean(over=b)}


@wb.program
def small_ppo(
    B: int = 2,
    I: int = 2,
    T: int = 4,
    E: int = 2,
    M: int = 2,
    gamma: float = 0.99,
    lam: float = 0.95,
    eps: float = 0.2,
) -> Outputs:
    """PPO: acting with the first parameters of an update, minibatches by a permutation an epoch."""
    b, i, t, e, m = wb.dims(b=B, i=I, t=T, e=E, m=M)
    env = environments.CartPole(time_limit=3)
    actor = nn.mlp("actor", env.observation_size, (3,), env.action_count, output_gain=1.0)
    critic = nn.linear("critic", env.observation_size, 1, gain=1.0)
    theta = nn.parameters(actor, critic, over=(i, e, m))

    state = wb.recurrent("state", env.state_size, over=(b, i, t))
    observation = env.observe(state)
    policy = wb.Categorical(logits=actor(theta[i, 0, 0], observation))
    action = policy.sample()
    following, reward, terminated, truncated = env.step(state, action)
    done = terminated | truncated
    state[b, 0, 0] = env.reset(over=b)
    state[b, i + 1, 0] = state[b, i, T]
    state[b, i, t + 1] = wb.where(done, env.reset(over=(b, i, t)), following)

    value = wb.recurrent("value", (), over=(b, i, t))
    value[b, i, t] = critic(theta[i, 0, 0], observation)[..., 0]
    value[b, i, T] = critic(theta[i, 0, 0], env.observe(state[b, i, T]))[..., 0]
    advantage = rl.gae(reward, value, done, t, gamma, lam)
    target = advantage + value

    K = wb.size(B * T // M)
    k = wb.dim(k=K)
    sample = wb.permutation(B * T, over=(i, e))[m * K + k]

    def batch(x: Tensor) -> Tensor:
        return wb.gather(x, b=sample // T, t=sample % T)

    new = wb.Categorical(logits=actor(theta, batch(observation)))
    old = batch(policy.log_probability(action))
    ratio = wb.exp(new.log_probability(batch(action)) - old)
    a = rl.normalize(batch(advantage), over=k)
    policy_loss = wb.maximum(-a * ratio, -a * wb.clip(ratio, 1 - eps, 1 + eps)).mean(over=k)
    error = critic(theta, batch(observation))[..., 0] - batch(target)
    loss = policy_loss + 0.5 * (error * error).mean(over=k) - 0.01 * new.entropy().mean(over=k)
    gradient = optim.clip_by_global_norm(wb.gradient(loss, theta), 0.5)
    theta.update(optim.sgd(gradient, 0.01))
    return {"loss": loss, "advantage": advantage, "reward": reward.sum(over=t).mean(over=b)}


@wb.program
def replay(T: int = 9, H: int = 4, K: int = 3) -> Outputs:
    """A ring buffer: every step learns from K of the last H, drawn at random."""
    t, k = wb.dims(t=T, k=K)
    state = wb.recurrent("state", 2, over=t)
    state[0] = 1.0
    oldest = wb.maximum(t - H + 1, 0)
    held = wb.cast(wb.index(t + 1 - oldest), float)
    draw = wb.cast(wb.uniform(over=(t, k)) * held, int)
    seen = state * 2.0
    sample = wb.gather(seen, t=wb.within(wb.index(oldest) + draw, oldest, t + 1))
    state[t + 1] = 0.5 * state + 0.1 * sample.mean(over=k)
    return {"last": state[T], "total": sample.sum(over=k)}


@wb.program
def staggered(B: int = 2, T: int = 8) -> Outputs:
    """Delays of two and five, a read ahead and one backwards: offsets that no block divides."""
    b, t = wb.dims(b=B, t=T)
    x = wb.normal(over=(b, t))
    y = wb.recurrent("y", (), over=(b, t))
    for start in range(5):
        y[b, start] = 0.1 * start
    y[b, t + 5] = 0.5 * y[b, t] - 0.2 * y[b, t + 3] + x
    ahead = y[b, t + 2] * x[b, T - 1 - t]
    halves = x[b, t // 2] + y[b, (t + 3) // 2]
    return {"end": y[b, T + 4], "total": ahead.sum(over=t), "halves": halves}


_TEMPLATES: dict[str, tuple[Template, list[Sizes]]] = {
    "leaky_sum": (leaky_sum, [{}, {"T": 1}, {"B": 1, "T": 3}]),
    "returns": (returns, [{}, {"T": 1}, {"B": 1, "T": 2}]),
    "ranges": (ranges, [{}, {"T": 2}, {"T": 3}, {"T": 11}]),
    "n_step": (n_step, [{}, {"T": 1}, {"B": 1, "T": 2}]),
    "alignment": (alignment, [{}, {"P": 1, "Q": 1}, {"P": 5, "Q": 1}]),
    "statistics": (statistics, [{}, {"B": 1, "T": 1}, {"T": 1}]),
    "shuffled": (shuffled, [{}, {"I": 1, "N": 1}, {"I": 3, "N": 5}]),
    "repeated": (repeated, [{}, {"N": 1}, {"N": 3, "K": 1}]),
    "drawn": (drawn, [{}, {"B": 1, "T": 1}]),
    "carried": (carried, [{}, {"B": 1, "I": 1, "T": 1}, {"I": 3, "T": 1}]),
    "delayed": (delayed, [{}, {"T": 1}, {"T": 2}]),
    "table": (table, [{}, {"S": 1, "I": 1}, {"S": 3, "A": 3}]),
    "tables": (tables, [{}, {"W": 1, "I": 1, "K": 1}, {"W": 3, "I": 3}]),
    "recurrent_network": (recurrent_network, [{}, {"B": 1, "T": 1}, {"I": 1, "T": 3}]),
    "small_reinforce": (small_reinforce, [{}, {"T": 1}, {"B": 1, "I": 1, "T": 7}]),
    "replay": (replay, [{}, {"T": 1}, {"T": 3, "H": 7}, {"H": 1, "K": 1}]),
    "staggered": (staggered, [{}, {"B": 1, "T": 1}, {"T": 11}]),
    "small_ppo": (small_ppo, [{}, {"B": 1, "M": 1}, {"B": 3, "T": 3, "M": 3}, {"T": 1, "E": 1}]),
}

PROGRAMS: dict[str, tuple[Callable[[], Program], list[Sizes]]] = {
    name: (cache(template), sizes) for name, (template, sizes) in _TEMPLATES.items()
}
"""Each traced once: programs are values, and most tests take the same ones."""


@cache
def automatic(name: str) -> wb.Variant:
    """One of them under the automatic recipe for this machine, searched for once. Not for tests
    that make this machine another one.
    """
    return wb.optimize(wb.variant(PROGRAMS[name][0]()), backend="numpy")
