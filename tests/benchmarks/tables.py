"""Tabular Q-learning from a log of FrozenLake: updates a second of compiled C, beside loops of
plain Python over NumPy arrays, and of Numba where it is installed.

Each of W workers goes through its slice of the log in order, some times; the log is of draws at
random. In float32, or in fixed point with --fixed. `tables.jsonl` has a run.

    python -m tests.benchmarks.tables --rows 200000 --passes 5 --workers 1 125 --threads 1 2
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import workbench as wb
from tests.benchmarks.measuring import emit, interleaved, machine, median, ratio_of_rounds
from workbench.language import fixed
from workbench.processor import usable_cores
from workbench.variants.variant import Variant

ALPHA, GAMMA, PLACES, ACTIONS = 0.1, 0.95, 16, 4
Log = dict[str, np.ndarray[Any, Any]]


@wb.program
def learning(W: int = 1, P: int = 2, K: int = 100, whole: bool = False) -> dict[str, Any]:
    """Q-learning in a table a worker, in order, pass after pass."""
    w, p, k = wb.dims(w=W, p=P, k=K)
    integers = dict.fromkeys(("state", "action", "following"), ("int32", ()))
    columns = {**integers, "reward": ("int32" if whole else "float", ())}
    bounds = {"state": (0, PLACES), "action": (0, ACTIONS), "following": (0, PLACES)}
    log = wb.data("log", columns, over=(w, k), bounds=bounds)
    state, action, following, reward = (log[name] for name in (*integers, "reward"))
    q = wb.recurrent("q", (PLACES, ACTIONS), over=(w, p, k), dtype=int if whole else float)
    here, best = q[..., state, action], q[..., following, :].max()
    if whole:
        error = reward + fixed.product(best, fixed.fixed(GAMMA)) - here
        change = fixed.product(error, fixed.fixed(ALPHA))
    else:
        change = ALPHA * (reward + GAMMA * best - here)
    q[w, 0, 0] = 0
    q[w, p + 1, 0] = q[w, p, K]
    q[w, p, k + 1] = wb.put(q, (state, action), here + change)
    return {"q": q[w, P, 0]}


def walked(rows: int) -> Log:
    """A log of actions at random in FrozenLake."""
    import gymnasium

    table, rng = gymnasium.make("FrozenLake-v1").unwrapped.P, np.random.default_rng(0)
    actions, draws, s = rng.integers(0, ACTIONS, rows), rng.integers(0, 3, rows), 0
    log = {name: np.zeros(rows, np.int32) for name in ("state", "action", "following")}
    log["reward"] = np.zeros(rows, np.float32)
    for n, (a, draw) in enumerate(zip(actions.tolist(), draws.tolist(), strict=True)):
        _, after, reward, over = table[s][a][draw % len(table[s][a])]
        for name, value in zip(log, (s, a, after, reward), strict=True):
            log[name][n] = value
        s = 0 if over else after
    return log


def plain(
    q: Any, state: Any, action: Any, following: Any, reward: Any, passes: int
) -> None:  # pragma: no cover
    """The same in loops, by one worker."""
    for _ in range(passes):
        for n in range(len(state)):
            s, a, after = state[n], action[n], following[n]
            best = q[after, 0]
            for other in range(1, q.shape[1]):
                best = max(best, q[after, other])
            q[s, a] = q[s, a] + ALPHA * (reward[n] + GAMMA * best - q[s, a])


def looped(function: Callable[..., None], log: Log, passes: int) -> Callable[[], float]:
    """The seconds of loops."""

    def once() -> float:
        q = np.zeros((PLACES, ACTIONS), np.float32)
        start = time.perf_counter()
        function(q, *log.values(), passes)
        return time.perf_counter() - start

    return once


def compiled(chosen: Variant, log: Log, sizes: dict[str, int], threads: int) -> Callable[[], float]:
    """The seconds of a run of compiled C."""
    given = {"data": {"log": log}, "sizes": sizes, "threads": threads}

    def once() -> float:
        done = wb.run(chosen, "native", progress=False, **given)
        return float(done.seconds)

    once()
    return once


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 125])
    parser.add_argument("--threads", type=int, nargs="+", default=[usable_cores()])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--fixed", action="store_true")
    given = parser.parse_args()
    log = walked(given.rows)
    if given.fixed:
        log["reward"] = np.round(log["reward"] * fixed.SCALE).astype(np.int32)
    ways: dict[str, Callable[[], float]] = {}
    updates: dict[str, int] = {}
    for workers in given.workers:
        rows = given.rows // workers * workers
        sizes = {"W": workers, "P": given.passes, "K": rows // workers}
        own = {name: column[:rows] for name, column in log.items()}
        root = wb.variant(learning(whole=given.fixed))
        for threads in given.threads:
            found = wb.optimize(root, backend="native", sizes=sizes, threads=threads)
            name = f"native, {workers} workers, {threads} threads"
            emit(what=f"{name}: steps", steps=[str(step) for step in found.steps])
            ways[name] = compiled(found, own, sizes, threads)
            updates[name] = rows * given.passes
    if not given.fixed:
        few = {name: column[:2000] for name, column in log.items()}
        ways["plain loops"], updates["plain loops"] = looped(plain, few, 1), 2000
        try:
            import numba
        except ImportError:
            emit(what="numba", missing="it is not installed")
        else:
            fast = numba.njit(plain)
            looped(fast, few, 1)()
            ways["numba"], updates["numba"] = (
                looped(fast, log, given.passes),
                given.rows * given.passes,
            )
    emit(what="machine", **machine())
    taken = interleaved(ways, given.rounds)
    for name, samples in taken.items():
        million = updates[name] / median(samples) / 1e6
        emit(what=name, million_updates_a_second=round(million, 3), samples=samples)
    for workers in given.workers:
        one, *others = (f"native, {workers} workers, {n} threads" for n in given.threads)
        for other in others:
            faster, interval = ratio_of_rounds(taken[one], taken[other])
            emit(what=f"{other} beside {given.threads[0]}", faster=faster, interval=interval)


if __name__ == "__main__":
    main()
