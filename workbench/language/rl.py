"""Formulas of reinforcement learning, one definition each."""

from __future__ import annotations

import math
from numbers import Real

from workbench.errors import ProgramError
from workbench.language.replay.n_step import n_step_sample
from workbench.language.replay.replay import Batch, Replay
from workbench.language.tracing.functions import absolute, clip, minimum, sqrt, where
from workbench.language.tracing.nodes import apply, as_tensor, cast, index, literal
from workbench.language.tracing.recurrent import Recurrent
from workbench.language.tracing.tensor import Tensor, TensorLike
from workbench.language.tracing.trace import current, dim_name, scope, user_line
from workbench.polyhedral.expression import Expression, expression, variable

__all__ = [
    "Batch",
    "Replay",
    "centered_rank",
    "discounted_sum",
    "episodes",
    "gae",
    "huber",
    "n_step_return",
    "n_step_sample",
    "normalize",
    "running_moments",
    "scaled_rewards",
    "td_lambda",
    "td_residual",
    "vtrace",
]


def discounted_sum(x: TensorLike, gamma: float) -> Tensor:
    """Sum gamma**(k - lower) * x[k] over k, along the range axis `lower:upper` of `x`.

    `wb.discounted_sum(gain[b, i, t:T], gamma)` is the return-to-go (Sutton & Barto 2018, eq. 3.8).
    """
    x = as_tensor(x)
    ranges = [d for d in x.dims if current().dims[d].axis is not None]
    if len(ranges) != 1:
        raise ProgramError(
            f"discounted_sum expects one range axis, as in x[b, t:T]; found {x!r}", user_line()
        )
    if not isinstance(gamma, Real):
        raise ProgramError(f"gamma {gamma!r}; expected a number", user_line())
    bounds = current().dims[ranges[0]]
    if gamma == 1.0:
        return x.sum()
    ahead = cast(index(variable(bounds.name) - bounds.lower), "float")
    return (apply("power", literal(float(gamma)), ahead) * x).sum()


def n_step_return(
    reward: TensorLike, value: Recurrent, done: TensorLike, t: Expression, n: int, gamma: float
) -> Tensor:
    """Return r[t] + … + gamma**(n-1) * r[t+n-1] + gamma**n * V[t+n] (Sutton & Barto 2018, eq. 7.1).

    Neither reward nor value is counted from beyond an episode's end. Within n steps of the horizon
    T the last value, V[T], takes the place of V[t+n].
    """
    if n < 1:
        raise ProgramError(f"n-step return with n = {n}; expected n of at least 1", user_line())
    _expect_fraction("gamma", gamma)
    name, (reward, done) = dim_name(t), (as_tensor(reward), as_tensor(done))
    with scope("returns"):
        episode = _recurrent("episode", _dims_of(reward, value, done), "int32")
        start = tuple(expression(0) if d == name else variable(d) for d in episode.dims)
        episode.define(start, literal(0))
        episode.define(
            tuple(variable(d) + 1 if d == name else variable(d) for d in episode.dims),
            episode + cast(done, "int32"),
        )
        end = minimum(t + n, current().range(name).upper)
        window = episode[tuple(slice(t, end) if d == name else variable(d) for d in episode.dims)]
        (k,) = (d for d in window.dims if current().dims[d].axis is not None)
        # no variable holds what is computed for every step and every k: it would be an array
        return discounted_sum(
            where(window == episode, reward.substitute({name: variable(k)}), 0.0), gamma
        ) + where(
            episode.substitute({name: end}) == episode,
            gamma ** index(end - t) * value.substitute({name: end}),
            0.0,
        )


def td_residual(
    reward: TensorLike, value: Recurrent, done: TensorLike, t: Expression, gamma: float
) -> Tensor:
    """Return r + gamma * (1 - done) * V(next) - V (Sutton & Barto 2018, eq. 6.5); `value` has one
    more slice.
    """
    _expect_fraction("gamma", gamma)
    ahead = value.substitute({dim_name(t): t + 1})
    return as_tensor(reward) + where(as_tensor(done), 0.0, gamma * ahead) - value


def td_lambda(
    reward: TensorLike,
    value: Recurrent,
    done: TensorLike,
    t: Expression,
    gamma: float,
    lam: float,
) -> Tensor:
    """Return the lambda-return, G[t] = r + gamma * ((1 - lam) * V[t+1] + lam * G[t+1]), as a
    backward recurrence from G[T] = V[T] (Sutton & Barto 2018, eq. 12.18).

    Beyond an episode's end (`done`) nothing counts. `lam` = 0 is the one-step target, 1 the
    discounted sum of all rewards up to the episode's end or the horizon.
    """
    _expect_fraction("gamma", gamma)
    _expect_fraction("lambda", lam)
    name, (reward, done) = dim_name(t), (as_tensor(reward), as_tensor(done))
    with scope("returns"):
        target = _recurrent("target", _dims_of(reward, value, done))
        target.define(_at_end(target, name), value.substitute({name: current().range(name).upper}))
        ahead, beyond = value.substitute({name: t + 1}), target.substitute({name: t + 1})
        target.define(
            tuple(variable(d) for d in target.dims),
            reward + where(done, 0.0, gamma * ((1.0 - lam) * ahead + lam * beyond)),
        )
    return target


def gae(
    reward: TensorLike,
    value: Recurrent,
    done: TensorLike,
    t: Expression,
    gamma: float,
    lam: float,
) -> Tensor:
    """Return generalised advantage estimates (Schulman et al. 2016, eq. 16), as a backward
    recurrence over `t`: the TD residual plus gamma * lam times the advantage one step later, 0 at
    an episode's end and at the horizon.
    """
    _expect_fraction("lambda", lam)
    name, (reward, done) = dim_name(t), (as_tensor(reward), as_tensor(done))
    with scope("advantage"):
        advantage = _recurrent("advantage", _dims_of(reward, value, done))
        advantage.define(_at_end(advantage, name), literal(0.0))
        residual = td_residual(reward, value, done, t, gamma)
        ahead = advantage.substitute({name: t + 1})
        advantage.define(
            tuple(variable(d) for d in advantage.dims),
            residual + where(done, 0.0, (gamma * lam) * ahead),
        )
    return advantage


def vtrace(
    reward: TensorLike,
    value: Recurrent,
    done: TensorLike,
    ratio: TensorLike,
    t: Expression,
    gamma: float,
    lam: float = 1.0,
    clip_rho: float = 1.0,
    clip_c: float = 1.0,
) -> tuple[Tensor, Tensor]:
    """Return V-trace targets v, as a backward recurrence from v[T] = V[T] (Espeholt et al. 2018,
    remark 1), and the advantages rho * (r + gamma * v[t+1] - V) of its policy gradient.

    `ratio` is how much likelier the action is to the policy that learns than to the one that acted.
    Cut at `clip_rho` it is rho, which weighs TD residuals; cut at `clip_c`, times `lam`, it is the
    trace c. Beyond an episode's end (`done`) nothing counts.
    """
    _expect_fraction("gamma", gamma)
    _expect_fraction("lambda", lam)
    for what, most in (("clip_rho", clip_rho), ("clip_c", clip_c)):
        if not isinstance(most, Real) or not most > 0.0:
            raise ProgramError(f"{what} = {most!r}; expected a number above 0", user_line())
    if clip_rho < clip_c:
        raise ProgramError(
            f"clip_rho = {clip_rho} and clip_c = {clip_c}; expected clip_rho of at least clip_c",
            user_line(),
        )
    name, (reward, done) = dim_name(t), (as_tensor(reward), as_tensor(done))
    ratio = as_tensor(ratio)
    with scope("returns"):
        target = _recurrent("target", _dims_of(reward, value, done, ratio))
        target.define(_at_end(target, name), value.substitute({name: current().range(name).upper}))
        rho = minimum(ratio, float(clip_rho))
        trace = lam * minimum(ratio, float(clip_c))
        beyond = target.substitute({name: t + 1})
        ahead = trace * (beyond - value.substitute({name: t + 1}))
        target.define(
            tuple(variable(d) for d in target.dims),
            value
            + rho * td_residual(reward, value, done, t, gamma)
            + where(done, 0.0, gamma * ahead),
        )
        advantage = rho * (reward + where(done, 0.0, gamma * beyond) - value)
    return target, advantage


def _recurrent(name: str, dims: tuple[str, ...], dtype: str = "float") -> Recurrent:
    recurrent = Recurrent(name, (), dims, dtype, current().scope)
    current().recurrents.append(recurrent)
    return recurrent


def _dims_of(*xs: Tensor) -> tuple[str, ...]:
    return current().ordered({d for x in xs for d in x.dims})


def _at_end(x: Recurrent, name: str) -> tuple[Expression, ...]:
    return tuple(current().range(name).upper if d == name else variable(d) for d in x.dims)


def _expect_fraction(what: str, value: float) -> None:
    """Refuse a `value` not from 0 to 1 (NaN is not)."""
    if not 0.0 <= value <= 1.0:
        raise ProgramError(f"{what} = {value}; expected a number from 0 to 1", user_line())


def normalize(x: Tensor, over: Expression | tuple[Expression, ...], eps: float = 1e-8) -> Tensor:
    """Return (x - mean) / (standard deviation + eps) over dims."""
    return (x - x.mean(over=over)) / (x.std(over=over) + eps)


def centered_rank(x: TensorLike, among: Tensor) -> Tensor:
    """Return the rank of x along the range axis of `among`, from -1/2 for the least to 1/2 for the
    greatest; x is one of them: `rl.centered_rank(fitness[b, i], fitness[0:B, i])`.

    Equal values have the mean of their ranks: where all are equal, it is 0 (Wierstra et al. 2014,
    section 3.1, with evenly spaced utilities).
    """
    x, among = as_tensor(x), as_tensor(among)
    ranges = [d for d in among.dims if current().dims[d].axis is not None]
    if len(ranges) != 1 or x.shape or among.shape:
        raise ProgramError(
            f"centered_rank of {x!r} among {among!r}; expected a scalar among those of one range "
            "axis, as in x[0:B]",
            user_line(),
        )
    bounds = current().dims[ranges[0]]
    with scope("ranks"):
        below = (cast(among < x, "float") + 0.5 * cast(among == x, "float")).sum() - 0.5
        others = apply("maximum", index(bounds.upper - bounds.lower - 1), 1)
        return below / cast(others, "float") - 0.5


def huber(x: TensorLike) -> Tensor:
    """Return x**2 / 2 where |x| is at most 1, and |x| - 1/2 elsewhere (Huber 1964): its slope is x,
    cut to [-1, 1].
    """
    x = as_tensor(x)
    size = absolute(x)
    return where(size <= 1.0, 0.5 * (x * x), size - 0.5)


def episodes(
    reward: Tensor, done: Tensor, b: Expression, i: Expression, t: Expression
) -> tuple[Tensor, Tensor]:
    """Return the mean return of the episodes that end in update `i` (NaN where none does), and
    their number.

    Episodes go on from one update to the next: the return so far is carried over like the state.
    """
    with scope("episodes"):
        names = dim_name(b), dim_name(i), dim_name(t)
        steps = current().range(names[2]).upper
        so_far = Recurrent("return_so_far", (), names, "float", current().scope)
        current().recurrents.append(so_far)
        so_far[b, 0, 0] = 0.0
        so_far[b, i + 1, 0] = so_far[b, i, steps]
        gained = so_far + reward
        so_far[b, i, t + 1] = where(done, 0.0, gained)
        number = cast(done, "int32").sum(over=(b, t))
        total = where(done, gained, 0.0).sum(over=(b, t))
        episode_return = where(number > 0, total / apply("maximum", number, 1), math.nan)
        return episode_return, number


def scaled_rewards(
    reward: Tensor, done: Tensor, b: Expression, i: Expression, t: Expression, gamma: float
) -> Tensor:
    """Divide rewards by the running deviation of the discounted return so far, cut to [-10, 10].

    As Gymnasium's NormalizeReward; the return starts anew with each episode.
    """
    with scope("statistics"):
        names = dim_name(b), dim_name(i), dim_name(t)
        steps = current().range(names[2]).upper
        discounted = Recurrent("discounted_return", (), names, "float", current().scope)
        current().recurrents.append(discounted)
        discounted[b, 0, 0] = 0.0
        discounted[b, i + 1, 0] = discounted[b, i, steps]
        now = gamma * discounted + reward
        discounted[b, i, t + 1] = where(done, 0.0, now)
        _, variance = running_moments(now, b, i, t)
        return clip(reward / sqrt(variance + 1e-8), -10.0, 10.0)


def running_moments(
    x: Tensor, b: Expression, i: Expression, t: Expression
) -> tuple[Tensor, Tensor]:
    """Return mean and variance, entry by entry, of all `x` up to and including step t of update i.

    The batch over `b` is merged with what came before (Chan et al. 1979), as Gymnasium's
    normalisation wrappers do; like theirs it starts from mean 0, variance 1 and a count of 1e-4.
    """
    with scope("statistics"):
        over = (dim_name(i), dim_name(t))
        steps = current().range(over[1]).upper
        shape = x.shape
        arrays = {
            name: Recurrent(name, shape, over, "float", current().scope)
            for name in ("mean", "variance")
        }
        current().recurrents.extend(arrays.values())
        mean, variance = arrays["mean"], arrays["variance"]
        for array, start in ((mean, 0.0), (variance, 1.0)):
            array[0, 0] = start
            array[i + 1, 0] = array[i, steps]
        batch = cast(index(current().range(dim_name(b)).upper), "float")
        seen = cast(index(variable(over[0]) * steps + variable(over[1])), "float") * batch + 1e-4
        now = x.mean(over=b)
        spread = (x - now) * (x - now)
        delta, total = now - mean, seen + batch
        merged = (
            variance * seen + spread.mean(over=b) * batch + delta * delta * (seen * batch / total)
        )
        mean[i, t + 1] = mean + delta * (batch / total)
        variance[i, t + 1] = merged / total
        return mean[i, t + 1], variance[i, t + 1]
