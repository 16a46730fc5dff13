"""Formulas of reinforcement learning, each one definition."""

from __future__ import annotations

import math

from workbench.errors import ProgramError
from workbench.language.functions import clip, sqrt, where
from workbench.language.recurrent import Recurrent
from workbench.language.tensor import Tensor, TensorLike, apply, as_tensor, cast, index, literal
from workbench.language.trace import current, dim_name, scope, user_line
from workbench.polyhedral.expression import Expression, variable


def discounted_sum(x: Tensor, gamma: float) -> Tensor:
    """sum over k of gamma**(k - lower) * x[k] over the range axis `lower:upper` of `x`.

    `wb.discounted_sum(gain[b, i, t:T], gamma)` is the return-to-go (Sutton & Barto 2018, eq. 3.8).
    """
    ranges = [d for d in x.dims if current().dims[d].axis is not None]
    if len(ranges) != 1:
        raise ProgramError(
            f"discounted_sum expects one range axis, as in x[b, t:T]; found {x!r}", user_line()
        )
    bounds = current().dims[ranges[0]]
    if gamma == 1.0:
        return x.sum()
    ahead = cast(index(variable(bounds.name) - bounds.lower), "float")
    return (apply("power", literal(float(gamma)), ahead) * x).sum()


def td_residual(
    reward: Tensor, value: Recurrent, done: TensorLike, t: Expression, gamma: float
) -> Tensor:
    """r + gamma * (1 - done) * V(next) - V (Sutton & Barto 2018, eq. 6.5); `value` has one slice
    more.
    """
    name = dim_name(t)
    ahead = value.substitute({name: t + 1})
    return reward + where(as_tensor(done), 0.0, gamma * ahead) - value


def gae(
    reward: Tensor, value: Recurrent, done: TensorLike, t: Expression, gamma: float, lam: float
) -> Tensor:
    """Generalised advantage estimation (Schulman et al. 2016, eq. 16), as a backward recurrence
    over `t`.
    """
    name = dim_name(t)
    trace = current()
    with scope("advantage"):
        dims = trace.ordered({*reward.dims, *value.dims})
        advantage = Recurrent("advantage", (), dims, "float", trace.scope)
        trace.recurrents.append(advantage)
        end = tuple(trace.range(name).upper if d == name else variable(d) for d in dims)
        advantage.define(end, literal(0.0))
        residual = td_residual(reward, value, done, t, gamma)
        ahead = advantage.substitute({name: t + 1})
        advantage.define(
            tuple(variable(d) for d in dims),
            residual + where(as_tensor(done), 0.0, (gamma * lam) * ahead),
        )
    return advantage


def normalize(x: Tensor, over: Expression | tuple[Expression, ...], eps: float = 1e-8) -> Tensor:
    """(x - mean) / (standard deviation + eps) over dims."""
    return (x - x.mean(over=over)) / (x.std(over=over) + eps)


def episodes(
    reward: Tensor, done: Tensor, b: Expression, i: Expression, t: Expression
) -> tuple[Tensor, Tensor]:
    """Mean return of the episodes that end in update `i` (NaN where none does), and their number.

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
    """Rewards divided by the running deviation of the discounted return so far, cut to [-10, 10].

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
    """Mean and variance, entry by entry, of all `x` up to and including step t of update i.

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
