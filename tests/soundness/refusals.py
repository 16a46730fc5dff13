"""Refusals met on random walks, and whether what was refused is wrong indeed: `python -m
tests.soundness.refusals --count 1000`.

What a step would have made is executed by hand (`order.py`, `memory.py`). An order must read
something undefined, memory used in turn must be used twice at a time, a copy that comes early
(`early.py`) must miss what is written, blocks that run at once must add to one element
(`apart.py`). Where a step looks for an order, the instances that it would run at once must wait for
themselves: then there is none. What has blocks in any order runs on NumPy too, and is counted where
its numbers are wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.programs import PROGRAMS
from tests.soundness.apart import added_at_once, computes_otherwise
from tests.soundness.early import comes_too_early
from tests.soundness.memory import Shared, clobbered
from tests.soundness.order import Point, accessed, block_orders, given_of, run_at, undefined_read
from tests.soundness.programs import program_called
from tests.soundness.proposals import Dice, often, propose
from tests.soundness.provenance import provenance
from workbench.errors import SizeError
from workbench.lowering.memory.takeover import memory_of
from workbench.polyhedral.dependences.witness import Witness
from workbench.polyhedral.tree import Loop, loop_dims, loops, paths
from workbench.program.sizes import resolve
from workbench.program.values import Program
from workbench.transforms import Swap, Vectorize
from workbench.transforms.step.refusal import Refusal, Refused
from workbench.transforms.step.transform import REGISTRY, Transform, apply

LENGTH = 20
"""Steps that a walk tries."""
Node = tuple[str, Point]


@dataclass(frozen=True)
class Met:
    """A step that was refused because of a dependence."""

    name: str
    program: Program
    step: Transform
    refusal: Refusal

    def __str__(self) -> str:
        return f"{self.name}: {self.refusal.sentence}"


def refusals(
    names: Sequence[str], transforms: Sequence[str], seed: int, of: str | None = None
) -> Iterator[Met]:
    """Distinct ones without end, from a walk of each program after the other: `of` one transform,
    or of all.
    """
    seen: set[tuple[str, str]] = set()
    number = 0
    while True:
        for name in names:
            dice = Dice(f"{name} refusals {seed} {number}")
            program = program_called(name)
            for _ in range(LENGTH):
                step = propose(program, dice, often(transforms, of))
                if step is None:
                    continue
                try:
                    program = apply(program, step).program
                except Refused as refused:
                    found = refused.refusal
                    if of not in (None, type(step).__name__) or found.witness is None:
                        continue
                    if (name, found.sentence) not in seen:
                        seen.add((name, found.sentence))
                        yield Met(name, program, step, found)
        number += 1


def is_wrong(met: Met) -> bool | None:
    """Whether what was refused is wrong, at the witness's sizes; None where these are no sizes of
    the program (one is made of others).
    """
    assert met.refusal.witness is not None
    sizes = sizes_of(met.program, met.refusal.witness)
    if sizes is None:
        return None
    after = met.refusal.attempted
    if after is None:
        assert isinstance(met.step, Vectorize), f"{met} has no order to try"
        return waits_for_itself(met.program, met.step, sizes)
    if isinstance(met.step, Swap):
        return comes_too_early(after, met.refusal.witness, met.step.prefetch, sizes)
    if after.schedule != met.program.schedule and any(
        undefined_read(after, tree, sizes) for tree in block_orders(after.schedule)
    ):
        return True
    if added_at_once(after, sizes):
        return True
    return any(clobbered(shared) for shared in sharing(met.program, after, sizes))


def computed_otherwise(met: Met) -> bool | None:
    """Whether what was refused gives other numbers on NumPy; None where it has no blocks in any
    order, or cannot run.
    """
    after = met.refusal.attempted
    assert met.refusal.witness is not None
    if after is None or not any(loop.apart for loop in loops(after.schedule)):
        return None
    sizes = sizes_of(met.program, met.refusal.witness)
    return None if sizes is None else computes_otherwise(after, given_of(after, sizes))


def sizes_of(program: Program, witness: Witness) -> dict[str, int] | None:
    """The program's sizes at which a witness exists, the others as usual or 1; None where these are
    no sizes of it.
    """
    given = given_of(program, witness.sizes)
    for rest in ({}, given_of(program, {p.name: 1 for p in program.parameters})):
        try:
            sizes = resolve(program.equations, {**rest, **given})
        except SizeError:  # they do not divide
            continue
        if all(sizes[name] == size for name, size in witness.sizes.items()):
            return sizes
    return None


# -- memory ----------------------------------------------------------------------------------------


def sharing(before: Program, after: Program, sizes: Mapping[str, int]) -> Iterator[Shared]:
    """The memory that `after` adds: a dimension with a slot fewer than it has slices, arrays that
    share. All that there was where it adds none: it is the order that does not fit it.
    """
    had, has = (
        {*program.storage.contracted, *program.storage.donated} for program in (before, after)
    )
    added = has - had
    for array, dim in after.storage.contracted:
        k = after.array[array].dims.index(dim)
        lower, upper = (e.evaluate(sizes) for e in after.array[array].extent[k])
        if (not added or (array, dim) in added) and upper - lower > 1:
            yield Shared(after, sizes, {(array, k): upper - lower - 1})
    memory = memory_of(_with_storage_of(before, after))
    for pair in after.storage.donated:
        if added and pair not in added:
            continue
        folds = {
            (array, k): window.evaluate(sizes)
            for array in pair
            for k, window in enumerate(memory.stored(array).windows)
            if window is not None
        }
        if pair[0] != pair[1]:
            yield Shared(after, sizes, folds, frozenset(pair))
        elif added:
            fewer = {where: count - 1 for where, count in folds.items() if count > 1}
            yield from (Shared(after, sizes, folds | {w: c}) for w, c in fewer.items())


def _with_storage_of(before: Program, after: Program) -> Program:
    """The program in its new order with the storage it had, which holds."""
    return replace(after, storage=before.storage)


# -- orders that are looked for --------------------------------------------------------------------


def waits_for_itself(program: Program, step: Vectorize, sizes: Mapping[str, int]) -> bool:
    """Whether some instances that `step` would run at once need, through whatever chain, each
    other.
    """
    loops = loop_dims(program.schedule)
    named = step.statements or tuple(program.statement)
    chosen = {
        s.name
        for s in program.statements
        if step.dim in loops[s.name] and (s.name in named or s.array in named)
    }
    instances = run_at(program, sizes)
    node: dict[Node, Node] = {}
    for name, points in instances.items():
        kept = _told_apart(program, name, step.dim if name in chosen else None)
        for point in points:
            values = dict(zip(program.statement[name].dims, point, strict=True))
            node[name, point] = name, tuple(values[d] // size for d, size in kept)
    writer: dict[tuple[str, Point], Node] = {}
    reads: dict[Node, list[tuple[str, Point]]] = {}
    for name, points in instances.items():
        for point in points:
            found = accessed(program, program.statement[name], point, sizes)
            writer[found.written] = node[name, point]
            reads[name, point] = found.reads
    needs: dict[Node, set[Node]] = defaultdict(set)
    for own, elements in reads.items():
        needs[node[own]] |= {writer[element] for element in elements}
    return _has_cycle(needs)


def _told_apart(program: Program, name: str, axis: str | None) -> list[tuple[str, int]]:
    """The dimensions whose values, or whose blocks of so many values, are told apart when a
    statement's instances run: not those of its axes.
    """
    around = [n for n, _ in paths(program.schedule)[name] if isinstance(n, Loop)]
    axes = {n.dim for n in around if n.kind == "axis"} | ({axis} if axis else set())
    dims = program.statement[name].dims
    blocks = [(n.dim, n.tile) for n in around if n.tile is not None and n.dim in dims]
    return [(d, 1) for d in dims if d not in axes] + blocks


def _has_cycle(needs: Mapping[Node, set[Node]]) -> bool:
    left = {node: set(needed) for node, needed in needs.items()}
    while True:
        free = {node for node, needed in left.items() if not needed & left.keys()}
        if not free:
            return bool(left)
        left = {node: needed for node, needed in left.items() if node not in free}


def main() -> int:
    """Collect, judge, and print what was refused without need."""
    parser = argparse.ArgumentParser(prog="tests.soundness.refusals", description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--program", action="append", help="only these")
    parser.add_argument("--transform", action="append", help="only these")
    parser.add_argument("--of", help="judge those of this one, which is proposed often")
    parser.add_argument("--record", type=Path, help="append a line, where all were wrong")
    given = parser.parse_args()
    names = given.program or [n for n in PROGRAMS if not n.startswith("small")]
    found = refusals(names, given.transform or sorted(REGISTRY), given.seed, given.of)
    start, judged, run = time.time(), Counter[bool | None](), Counter[bool]()
    for met, _ in zip(found, range(given.count), strict=False):
        wrong = is_wrong(met)
        judged[wrong] += 1
        ran = computed_otherwise(met)
        if ran is not None:
            run[ran] += 1
        if wrong is False:
            print(f"WITHOUT NEED {met}\n{met.step}\n", file=sys.stderr, flush=True)
    line = {
        **provenance(),
        "refusals": given.count,
        "of": given.of or "all",
        "programs": names,
        "seed": given.seed,
        "wrong indeed": judged[True],
        "not": judged[False],
        "at no sizes": judged[None],
        "other numbers on NumPy": run[True],
        "the same numbers": run[False],
        "seconds": round(time.time() - start, 1),
    }
    print(json.dumps(line))
    if given.record and not judged[False]:
        with given.record.open("a") as file:
            file.write(f"{json.dumps(line)}\n")
    return bool(judged[False])


if __name__ == "__main__":
    sys.exit(main())
