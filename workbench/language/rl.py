"""Formulas of reinforcement learning, each one definition."""

from __future__ import annotations

from workbench.errors import ProgramError
from workbench.language.functions import where
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
