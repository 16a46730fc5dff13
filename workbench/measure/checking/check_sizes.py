"""The sizes at which a variant is checked against the reference. They are small, yet at least two
tiles and a tail, two chunks of tiles, more than each window, and more than each constant in a
comparison of a domain or a read. Both ways of every `where` are taken, as far as the reference can
afford.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count as count_from
from typing import Any

from workbench.backends.reference.evaluator import Reference
from workbench.datasets.rows import DataIdentity, Rows
from workbench.lowering.loop_program import LoopProgram
from workbench.measure.checking.coverage import Branches, untaken
from workbench.polyhedral.expression import Expression, size
from workbench.polyhedral.sets.isl_names import dim_name, size_name
from workbench.polyhedral.sets.relations import count
from workbench.polyhedral.tree import blocks
from workbench.polyhedral.tree import loops as tree_loops
from workbench.program.fitting import Need, Sizes, dividing, fitting
from workbench.program.sizes import resolve
from workbench.program.values import Program
from workbench.variants.variant import Variant

LEAST = 3
"""Instances along every dimension: the first, the last, and one between."""
UPDATES = 2
"""Updates, each of which reads the results of the one before."""
BUDGET = 40_000
"""The most points (instances, and their reduction points) that the reference evaluates: a few
seconds."""
GROWTH = 3
"""The factor by which sizes grow when a branch was not taken."""
ROUNDS = 2
"""The growths without a newly taken branch after which growing ends."""
NUMBER = re.compile(r"(?<!\w)\d+")
WORD = re.compile(r"\w+")
PART = re.compile(r"\band\b|\bor\b|;|:")
"""The separators between the constraints of a set's text."""


@dataclass(frozen=True, eq=False)
class Truth:
    """The reference's outputs at check sizes, and the branches and statements not reached there."""

    sizes: Sizes
    seed: int
    outputs: Mapping[str, Any]
    untaken: tuple[str, ...]


@dataclass(frozen=True)
class _Root:
    """A root program, told apart by its variant's key and its data: equal ones compute the same."""

    key: str
    data: tuple[DataIdentity, ...]
    program: Program = field(compare=False)
    rows: Rows = field(compare=False)


def truths(
    root: Variant, program: Program, loops: LoopProgram, seed: int = 0
) -> tuple[tuple[Truth, ...], tuple[str, ...]]:
    """Return the reference's outputs of the root at the check sizes of a program that steps have
    made of it, and the needs left unmet because the reference could not afford larger ones.

    Where one run of the reference cannot take all branches and meet the program's own needs, there
    are two: one for each.
    """
    known = resolve(root.program.equations, root.rows.sizes(None))
    written = _Root(root.key, root.rows.identity(known), root.program, root.rows)
    base = _covering(written, seed)
    own = list(needs(program, loops))
    covering = [Need(e, n, "") for e, n in _floors(root.program, base.sizes)]
    sizes = fitting(root.program, [*covering, *own])
    if sizes == base.sizes:
        found: tuple[Truth, ...] = (base,)
    elif points(root.program, sizes) <= BUDGET:
        found = (_truth(written, tuple(sizes.items()), seed),)
    else:
        sizes = _affordable(root.program, own)
        found = (base, _truth(written, tuple(sizes.items()), seed))
    left = (need.reason for need in own if not any(need.met(each.sizes) for each in found))
    return found, tuple(dict.fromkeys(left))


# -- what a variant needs --------------------------------------------------------------------------


def needs(program: Program, loops: LoopProgram) -> Iterator[Need]:
    """Yield the least lengths of dimensions that tiles, windows and constants ask for."""
    yield from least_lengths(program)
    for dim, tile in blocks(program.schedule).values():
        if dim in program.dim:
            text = f"no two tiles of {tile} and a tail along {dim}"
            yield Need(program.dim[dim].size, 2 * tile + 1, text)
    for loop in tree_loops(program.schedule):
        if loop.tile is not None and loop.chunks > 1 and loop.dim in program.dim:
            text = f"no two chunks of tiles of {loop.tile} along {loop.dim}"
            yield Need(program.dim[loop.dim].size, 4 * loop.tile + 1, text)
    for stored in loops.stored.values():
        for position, window in enumerate(stored.windows):
            if window is None or window.sizes or window.variables:
                continue
            lower, upper = stored.array.extent[position]
            text = f"{stored.array.name} fits its window of {window}"
            yield Need(upper - lower, int(window.constant) + 1, text)
    yield from constants(program)


def constants(program: Program) -> Iterator[Need]:
    """Yield the needs of constants. A dimension passes a constant that a domain compares it with
    (`t_1 <= t + 7`). A size holds a constant beside it twice with a rest (`16 t_block16 <= T -
    17`).
    """
    for statement in program.statements:
        for part in PART.split(f"{statement.domain} and {statement.reduction}"):
            largest = max((int(n) for n in NUMBER.findall(part)), default=0)
            if not largest:
                continue
            words = set(WORD.findall(part))
            for name in statement.dims:
                if dim_name(name) in words and name in program.dim:
                    text = f"{name} does not pass the {largest} of {statement.name}"
                    yield Need(program.dim[name].size, largest + 2, text)
            for parameter in program.parameters:
                if size_name(parameter.name) in words:
                    text = f"{parameter.name} is no two times the {largest} of {statement.name}"
                    yield Need(size(parameter.name), 2 * largest + 1, text)


# -- what the reference can afford -----------------------------------------------------------------


def points(program: Program, sizes: Mapping[str, int]) -> int:
    """Count instances and reduction points of all statements: the most that the reference
    evaluates.
    """
    return sum(
        count(s.domain, sizes) if s.combiner is None else count(s.reduction, sizes)
        for s in program.statements
    )


def _affordable(program: Program, wanted: Sequence[Need]) -> Sizes:
    """Meet the needs one after the other, the least first, as long as the reference can pay."""
    met = list(least_lengths(program))
    sizes = fitting(program, met)
    for need in sorted(wanted, key=lambda need: need.least):
        tried = fitting(program, [*met, need])
        if points(program, tried) <= BUDGET:
            met.append(need)
            sizes = tried
    return sizes


def _floors(program: Program, sizes: Mapping[str, int]) -> Iterator[tuple[Expression, int]]:
    """Yield the sizes themselves as lower bounds."""
    for p in program.parameters:
        if p.definition is None:
            yield size(p.name), sizes[p.name]


@lru_cache(maxsize=32)
def _covering(root: _Root, seed: int) -> Truth:
    """Return the truth at sizes where the root takes as many branches as the reference can afford
    to see.
    """
    program = root.program
    sizes = _first(program)
    best = reached = _truth(root, tuple(sizes.items()), seed)
    for _ in range(ROUNDS):
        sizes = _grown(program, reached.sizes)
        if not best.untaken or sizes == reached.sizes or points(program, sizes) > BUDGET:
            break
        reached = _truth(root, tuple(sizes.items()), seed)
        if len(reached.untaken) < len(best.untaken):
            best = reached
    return best


def _first(program: Program) -> Sizes:
    """Return the smallest sizes, pairwise different if that can be afforded: equal lengths would
    hide two dimensions taken for each other.
    """
    plain = fitting(program, list(least_lengths(program)))
    wanted = [*least_lengths(program), *constants(program)]
    passing = fitting(program, wanted)
    for sizes in (fitting(program, [*wanted, *_different(program, passing)]), passing):
        if points(program, sizes) <= BUDGET // GROWTH:
            return sizes
    return plain


def _different(program: Program, sizes: Sizes) -> Iterator[Need]:
    """Yield needs that make each size larger until none before has its value."""
    used: set[int] = set()
    for p in program.parameters:
        if p.definition is None:
            n = next(n for n in count_from(sizes[p.name]) if n not in used)
            used.add(n)
            yield Need(size(p.name), n, "")


def least_lengths(program: Program, others: int = LEAST) -> Iterator[Need]:
    """Yield the needs of two updates, and of so many values of every other dimension."""
    for dim in program.dims:
        least = UPDATES if dim.name == program.updates else others
        yield Need(dim.size, least, f"fewer than {least} values of {dim.name}")


def _grown(program: Program, sizes: Sizes) -> Sizes:
    """Return sizes larger along the dimensions of recurrences, updates excepted; without
    recurrences, along all.
    """
    recurrent = {
        n
        for array in program.arrays
        for dim, (_, upper) in zip(array.dims, array.extent, strict=True)
        if dim in program.dim and dim != program.updates and upper != program.dim[dim].size
        for n in program.dim[dim].size.sizes
    }
    free = [p.name for p in program.parameters if p.definition is None]
    fixed = {n for d in program.dims if d.name == program.updates for n in d.size.sizes}
    growing = [n for n in free if n in recurrent] or [n for n in free if n not in fixed]
    larger = {n: sizes[n] * (GROWTH if n in growing else 1) for n in free}
    return dividing(program, larger)


@lru_cache(maxsize=64)
def _truth(root: _Root, sizes: tuple[tuple[str, int], ...], seed: int) -> Truth:
    free = {p.name for p in root.program.parameters if p.definition is None}
    given = {name: n for name, n in sizes if name in free}
    branches = Branches()
    data = root.rows.tables(resolve(root.program.equations, given), "float64")
    reference = Reference(root.program.equations, given, seed, watch=branches, data=data)
    outputs = reference.outputs()
    return Truth(dict(reference.sizes), seed, outputs, untaken(reference, branches))
