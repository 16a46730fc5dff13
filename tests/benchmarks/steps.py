"""CPU seconds of the compiler: every candidate of every transform judged on PPO and REINFORCE, as
they are written and as `wb.optimize` makes them; what is legal applied and priced, what helps
looked for where a step is refused; tracing, lowering and predicting the programs.

A processor that others use counts more seconds for the same work: the last line has those of a
loop that always does the same.

python -m tests.benchmarks.steps [--programs ppo reinforce]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import workbench as wb
from tests.benchmarks.measuring import emit, machine, median
from workbench import algorithms
from workbench.transforms.step.refusal import Refusal
from workbench.transforms.step.transform import REGISTRY, Transform

TARGETS = {"step": 0.3, "moves": 3.0, "prices": 25.0, "optimize": 20.0}
PRICES = {"storage": 0.1, "other": 0.3}
STORAGE = {"Contract", "Donate", "Layout", "Swap"}
"""Steps that change where arrays are and nothing else."""

LOOPS = 1_000_000


def cpu_seconds(work: Callable[[], Any]) -> tuple[Any, float]:
    """What `work` returns, and the CPU seconds that it took."""
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def judged(name: str, variant: wb.Variant) -> None:
    """Every candidate is checked in turn, as `moves` does: what is found out once is known then.
    Then every legal one is applied and what it makes is priced, as the Moves view does.
    """
    total = 0.0
    priced = 0.0
    for transform in REGISTRY.values():
        program = variant.program
        found, seconds = cpu_seconds(lambda t=transform, p=program: list(t.candidates(p)))
        taken = {step: cpu_seconds(lambda s=step: variant.check(s)) for step in found}
        total += seconds + sum(spent for _, spent in taken.values())
        if not taken:
            emit(what=f"{name}: {transform.__name__}", candidates=0, finding=seconds)
            continue
        worst = max(taken, key=lambda step: taken[step][1])
        emit(
            what=f"{name}: {transform.__name__}",
            candidates=len(taken),
            legal=sum(refusal is None for refusal, _ in taken.values()),
            finding=seconds,
            median=median([spent for _, spent in taken.values()]),
            worst=taken[worst][1],
            worst_step=str(worst),
            target=TARGETS["step"],
        )
        refused = {step: refusal for step, (refusal, _) in taken.items() if refusal is not None}
        if refused:
            helps(name, transform.__name__, refused)
        legal = [step for step in taken if step not in refused]
        if legal:
            priced += prices(name, variant, transform.__name__, legal)
    emit(what=f"{name}: moves", seconds=total, target=TARGETS["moves"])
    emit(what=f"{name}: prices", seconds=priced, target=TARGETS["prices"])


def helps(name: str, transform: str, refused: dict[Transform, Refusal]) -> None:
    """CPU seconds of what helps against each refusal."""
    taken = {step: cpu_seconds(lambda r=r: r.repairs)[1] for step, r in refused.items()}
    worst = max(taken, key=taken.__getitem__)
    emit(
        what=f"{name}: help {transform}",
        refused=len(refused),
        helped=sum(bool(r.repairs or r.instead) for r in refused.values()),
        median=median(list(taken.values())),
        worst=taken[worst],
        worst_step=str(worst),
    )


def prices(name: str, variant: wb.Variant, transform: str, legal: list[Transform]) -> float:
    """CPU seconds of the prices of all legal steps of a transform, each applied for it."""
    applied, priced = {}, {}
    for step in legal:
        after, applied[step] = cpu_seconds(lambda s=step: variant.apply(s))
        _, priced[step] = cpu_seconds(after.predict)
    for what, taken, target in (
        ("apply", applied, TARGETS["step"]),
        ("price", priced, PRICES["storage" if transform in STORAGE else "other"]),
    ):
        worst = max(taken, key=taken.__getitem__)
        emit(
            what=f"{name}: {what} {transform}",
            steps=len(legal),
            median=median(list(taken.values())),
            worst=taken[worst],
            worst_step=str(worst),
            target=target,
        )
    return sum(priced.values())


def compiled(name: str, variant: wb.Variant) -> None:
    """Lowering once, then predicting twice: the second time at other sizes."""
    _, lowering = cpu_seconds(lambda: variant.loop_program)
    emit(what=f"{name}: lower", seconds=lowering)
    _, first = cpu_seconds(variant.predict)
    size = variant.program.parameters[0].name
    _, again = cpu_seconds(lambda: variant.predict(sizes={size: 8}, backend="numpy"))
    emit(what=f"{name}: predict", seconds=first, again=again)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", nargs="+", default=["ppo", "reinforce"])
    for name in parser.parse_args().programs:
        program, seconds = cpu_seconds(getattr(algorithms, name))
        emit(what=f"{name}: trace", seconds=seconds, statements=len(program.statements))
        root = wb.variant(program)
        compiled(f"{name} as written", root)
        judged(f"{name} as written", root)
        for objective in ("memory", "time"):
            best, seconds = cpu_seconds(
                lambda r=root, o=objective: wb.optimize(r, o, backend="numpy")
            )
            steps = [str(step) for step in best.steps]
            what = f"{name}: optimize for {objective}"
            emit(what=what, seconds=seconds, steps=steps, target=TARGETS["optimize"])
        compiled(f"{name} optimized", best)
        judged(f"{name} optimized", best)
    _, seconds = cpu_seconds(lambda: sum(n * n for n in range(LOOPS)))
    emit(what="machine", **machine(), loop=seconds)


if __name__ == "__main__":
    main()
