"""SwiftRL (Gogineni et al. 2024, arXiv 2405.03967): tables learned from a log by workers, each with
a slice of the log and a table of its own, which are averaged after some passes.
"""

from __future__ import annotations

from typing import Any

import workbench as wb
from workbench import environments
from workbench.errors import ProgramError, nearest
from workbench.language.tracing.trace import user_line


@wb.program
def swiftrl(
    W: int = 4,  # workers
    I: int = 20,  # averages
    P: int = 5,  # passes between two averages: the paper's tau
    K: int = 1000,  # rows of a slice
    environment: Any = "FrozenLake-v1",
    rule: str = "Q",
    order: str = "SEQ",
    numbers: str = "FP32",
    average: str = "plain",
    alpha: float = 0.1,
    gamma: float = 0.95,
    epsilon: float = 0.1,
    stride: int = 4,
) -> dict[str, Any]:
    """SwiftRL: tables learned from a log by workers, and averaged.

    `rule`, `order` and `numbers` are the paper's twelve variants: "Q" or "SARSA", whose next action
    is epsilon-greedy; "SEQ", "RAN" or "STR"; "FP32" or "INT32", which counts ten-thousandths.

    The log has the columns of `environments.Tabular.log`. Worker `w` learns from the `K` rows of
    its slice. A pass takes them in sequence; or as many at random; or every `stride`-th from the
    first on, then from the second on. After `P` passes all tables become their mean. With
    `average="visits"` a mean is weighted, entry by entry, by how many rows of a slice are of it.

    `table` (S, A) is the last mean, `change` over `i` the most that a mean differs from the last.
    """
    _expect("rule", rule, "rules", ("Q", "SARSA"))
    _expect("order", order, "orders", ("SEQ", "RAN", "STR"))
    _expect("numbers", numbers, "numbers", ("FP32", "INT32"))
    _expect("average", average, "averages", ("plain", "visits"))
    w, i, p, k = wb.dims(w=W, i=I, p=P, k=K)
    env = environments.tabular(environment)
    places, actions = env.observation_count, env.action_count
    whole = numbers == "INT32"
    log = wb.data(
        "log",
        {
            **dict.fromkeys(("state", "action", "following"), ("int32", ())),
            "reward": ("float", ()),
            "terminated": (bool, ()),
        },
        over=(w, k),
        bounds={"state": (0, places), "action": (0, actions), "following": (0, places)},
    )

    def times(x: wb.Tensor, y: float) -> wb.Tensor:
        """Return the product of a number of the table with another one."""
        return wb.fixed.product(x, wb.fixed.fixed(y)) if whole else x * y

    with wb.scope("reading", named=False):
        reward = wb.fixed.fixed(log["reward"]) if whole else log["reward"]
        columns = {**log, "reward": reward}
        if order != "SEQ":
            over = (w, i, p, k) if order == "RAN" else k
            row = wb.recurrent("row", (), over=over, dtype=int)
            row[over] = _at_random(over, K) if order == "RAN" else _strided(k, K, stride)
            columns = {name: wb.gather(column, k=row) for name, column in columns.items()}
        state, action, following = (columns[name] for name in ("state", "action", "following"))

    q = wb.recurrent("q", (places, actions), over=(w, i, p, k), dtype=int if whole else float)
    learned = wb.recurrent("learned", (places, actions), over=i, dtype=int if whole else float)
    with wb.scope("learning", named=False):
        if rule == "Q":
            worth = q[..., following, :].max()
        else:
            explores = wb.uniform(over=(w, i, p, k)) < epsilon
            anything = wb.cast(wb.uniform(over=(w, i, p, k)) * float(actions), int)
            best = q[..., following, :].argmax(axis=0)
            worth = q[..., following, wb.where(explores, anything, best)]
        worth = wb.where(columns["terminated"], 0, worth)
        error = columns["reward"] + times(worth, gamma) - q[..., state, action]
        q[w, i, 0, 0] = learned
        q[w, i, p + 1, 0] = q[w, i, p, K]
        q[w, i, p, k + 1] = wb.add_at(q, (state, action), times(error, alpha))

    with wb.scope("averaging", named=False):
        learned[0] = 0
        if average == "visits":
            visits = wb.recurrent("visits", (places, actions), over=(w, k), dtype=int)
            visits[w, 0] = 0
            visits[w, k + 1] = wb.add_at(visits, (log["state"], log["action"]), 1)
            learned[i + 1] = _mean(q[w, i, P, 0], w, W, visits[w, K])
        else:
            learned[i + 1] = _mean(q[w, i, P, 0], w, W)
        table, change = learned[I], wb.absolute(learned[i + 1] - learned).max()
    if whole:
        table, change = wb.fixed.floating(table), wb.fixed.floating(change)
    return {"table": table, "change": change}


def _mean(x: wb.Tensor, w: Any, workers: Any, weight: wb.Tensor | None = None) -> wb.Tensor:
    """Return the mean of tables over workers: of whole numbers rounded down, with sums in 64 bits;
    of an entry without weight 0.
    """
    if x.dtype == "float":
        if weight is None:
            return x.mean(over=w)
        number = wb.cast(weight, float)
        total: wb.Tensor = wb.maximum(number.sum(over=w), 1.0)
        return (number * x).sum(over=w) / total
    wide = wb.cast(x, "int64")
    if weight is None:
        return wb.cast(wide.sum(over=w) // workers, int)
    number = wb.cast(weight, "int64")
    total = wb.maximum(number.sum(over=w), 1)
    return wb.cast((number * wide).sum(over=w) // total, int)


def _at_random(over: Any, rows: Any) -> wb.Tensor:
    """Return one of the rows at random for each instance."""
    return wb.cast(wb.uniform(over=over) * wb.cast(wb.index(rows), float), int)


def _strided(k: Any, rows: Any, stride: int) -> wb.Tensor:
    """Return every `stride`-th row from each of the first `stride` ones on. As many of these as are
    left over by the division have a row more behind them.
    """
    n, short, longer = wb.index(k), wb.index(rows // stride), wb.index(rows % stride)
    ahead, least = longer * (short + 1), wb.maximum(short, 1)
    rest = n - ahead
    row: wb.Tensor = wb.where(
        n < ahead,
        n % (short + 1) * stride + n // (short + 1),
        rest % least * stride + longer + rest // least,
    )
    return row


def _expect(name: str, value: object, kind: str, known: tuple[str, ...]) -> None:
    """Require one of the known words."""
    if value not in known:
        raise ProgramError(f"{name}={value!r}: {nearest(str(value), known, kind)}", user_line())
