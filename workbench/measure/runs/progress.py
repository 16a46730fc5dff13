"""The progress bar of a run: iterations of the outermost loop, environment steps per second, latest
return.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from workbench.backends import backends, or_default
from workbench.polyhedral.tree import Block, Loop, Tree, statements
from workbench.program.text.units import on_threads
from workbench.program.values import Program
from workbench.variants.progress_line import stream

REFRESH = 0.1
"""Seconds between two updates of the bar."""

Report = Callable[[int, int, Mapping[str, Any]], None]
"""Takes how many iterations of the outermost loop are done, of how many, and the outputs so far:
with none done where the run begins, then after each. The arrays go on changing.
"""


def title(name: str, asked: str | None, threads: int) -> str:
    """Return what runs and where: `ppo on native, 2 threads`. `asked` is the backend that the
    caller named; for None the text says why it is not native, if it is not.
    """
    used = or_default(asked)
    missing = asked is None and used != "native"
    why = f" ({(backends()['native'] or '').split('; ')[0]})" if missing else ""
    return f"{name} on {on_threads(used, threads)}{why}"


@contextlib.contextmanager
def bar(
    program: Program, sizes: Mapping[str, int], title: str, progress: bool | Report
) -> Iterator[Report | None]:
    """Give a function to call after each outermost iteration: it draws a bar until the block ends,
    or it is the caller's.
    """
    if not isinstance(progress, bool):
        progress(0, iterations(program, sizes)[0], {})
        yield progress
        return
    if not progress:
        yield None
        return
    from tqdm import tqdm

    steps = environment_steps(program, sizes)
    total, unit = iterations(program, sizes)
    # Text and not a widget, so that a saved notebook shows where the run ended.
    drawn = tqdm(total=total, unit=unit or "run", mininterval=REFRESH, desc=title, file=stream())
    started = last = time.perf_counter()

    def report(done: int, total: int, outputs: Mapping[str, Any]) -> None:
        nonlocal last
        now = time.perf_counter()
        if now - last < REFRESH and done < total:
            return
        last = now
        drawn.total = total
        drawn.update(done - drawn.n)
        texts = {}
        if steps:
            texts["steps/s"] = f"{steps * done / total / (now - started):,.0f}"
        latest = _latest(outputs.get("episode_return"), done)
        if latest is not None:
            texts["return"] = f"{latest:.1f}"
        drawn.set_postfix(texts, refresh=False)

    try:
        yield report
    finally:
        drawn.close()


def iterations(program: Program, sizes: Mapping[str, int]) -> tuple[int, str]:
    """Return the iterations of the longest of the outermost loops, and the name of one: its dim,
    "update" where that counts updates, "" without a loop.
    """
    loops = []
    for loop in _outermost(program.schedule):
        if loop.dim in program.dim:
            values = program.dim[loop.dim].size.evaluate(sizes)
            loops.append((-(-values // (loop.tile or 1)), loop.name))
    count, name = max(loops, default=(1, ""))
    return count, "update" if name and name == program.updates else name


def environment_steps(program: Program, sizes: Mapping[str, int]) -> int:
    """Count an environment's steps in a whole run; 0 where there is no environment."""
    inside = [s for s in program.statements if "environment" in s.scope]
    if not inside:
        return 0
    most = max(inside, key=lambda s: len(s.dims))
    counts = (program.dim[d].size.evaluate(sizes) for d in most.dims if d in program.dim)
    return math.prod(counts)


def _outermost(tree: Tree) -> list[Loop]:
    if isinstance(tree, Block):
        return [loop for child in tree.children for loop in _outermost(child)]
    if isinstance(tree, Loop):
        if tree.kind == "axis":
            return _outermost(tree.child)
        return [tree] if len(list(statements(tree))) > 1 else []
    return []


def _latest(values: Any, done: int) -> float | None:
    """Return the newest value that is not NaN."""
    if values is None or getattr(values, "ndim", 0) != 1 or not done:
        return None
    for value in reversed(values[:done]):
        if not math.isnan(value):
            return float(value)
    return None
