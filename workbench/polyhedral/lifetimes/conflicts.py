"""Conflicts: pairs of elements that are live at one time under a schedule.

Element e is overwritten by e' if e' is written before the last use of e (or during it, where the
two may not share). Two elements conflict if each is overwritten by the other, whichever came first.
Elements without conflict may take turns in one place in memory. Where a loop's blocks are apart,
instances in two blocks have no order, so each may come first. But an array that lives inside such a
loop has a copy for each block: then instances in two blocks never meet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import islpy as isl

from workbench.polyhedral.accesses import Access, Extent, Instances
from workbench.polyhedral.dependences.flow import (
    AccessKey,
    instance_touches,
    pair_order,
    read_key,
    write_key,
)
from workbench.polyhedral.dependences.legality import PathStep, StepKind, shared_steps
from workbench.polyhedral.dependences.witness import Witness, smallest, written_element
from workbench.polyhedral.sets.as_text import context, parse_map, sizes_in
from workbench.polyhedral.tree import Path, Standing


class Use(NamedTuple):
    """An access to an array: its statement, and whether that one's own write may take its place."""

    statement: str
    access: Access
    key: AccessKey
    is_write: bool
    shares: bool


class Conflict(NamedTuple):
    """The key of a relation {element -> element written before the use of the first}."""

    use: AccessKey
    write: AccessKey
    steps: tuple[PathStep, ...]
    shares: bool


class Encounter(NamedTuple):
    """A use of an element and a write that may overwrite it."""

    use: Use
    write: Use
    conflict: Conflict


def uses(
    extents: Mapping[str, Extent], statements: Mapping[str, Instances]
) -> dict[str, list[Use]]:
    """Return the accesses to each array."""
    by_array: dict[str, list[Use]] = {array: [] for array in extents}
    for name, s in statements.items():
        if s.write.array in by_array:
            by_array[s.write.array].append(Use(name, s.write, write_key(s), True, True))
        for access in s.reads:
            if access.array in by_array:
                key = read_key(s, access, extents)
                shares = access.array in s.may_alias
                by_array[access.array].append(Use(name, access, key, False, shares))
    return by_array


def encounters(
    used: Sequence[Use],
    writing: Sequence[Use],
    statements: Mapping[str, Instances],
    found: Mapping[str, Path],
    own: int = 0,
) -> Iterator[Encounter]:
    """Yield every use of one array with every write among the uses `writing`.

    Inside the first `own` of the loops whose blocks are apart, each block has its own copies.
    """
    for write in writing:
        if write.is_write:
            for use in used:
                yield encounter(use, write, statements, found, own)


def encounter(
    use: Use,
    write: Use,
    statements: Mapping[str, Instances],
    found: Mapping[str, Path],
    own: int = 0,
) -> Encounter:
    """Return a use with a write, as `encounters` does."""
    steps = shared_steps(statements[write.statement], statements[use.statement], found)
    conflict = Conflict(use.key, write.key, _without_blocks(steps), use.shares)
    return Encounter(use, write, with_own_copies(conflict, own))


def _without_blocks(steps: Sequence[PathStep]) -> tuple[PathStep, ...]:
    """Drop each loop over blocks that stands right around the loop in the block.

    One block after the other, each in order, is in order: such a loop changes no question.
    """
    if len(steps) < 3:  # two loops, and what ends the path
        return tuple(steps)
    following = (*steps[1:], None)
    return tuple(
        step
        for step, inner in zip(steps, following, strict=True)
        if inner is None
        or step.kind != inner.kind
        or step.kind not in ("forwards", "backwards")
        or not (_counts(step.source, inner.source) and _counts(step.sink, inner.sink))
    )


def with_own_copies(conflict: Conflict, own: int) -> Conflict:
    """Return the conflict where the first `own` loops whose blocks are apart hold the arrays."""
    if not own:
        return conflict
    return conflict._replace(steps=with_copies(conflict.steps, own))


def with_copies(steps: Sequence[PathStep], own: int) -> tuple[PathStep, ...]:
    """Return the steps where the first `own` loops whose blocks are apart hold the arrays."""
    apart = [k for k, step in enumerate(steps) if step.kind == "apart"][:own]
    return tuple(step._replace(kind="own") if k in apart else step for k, step in enumerate(steps))


def _counts(outer: Standing, inner: Standing) -> bool:
    """Tell whether the outer loop counts blocks of the inner one's values."""
    same = (outer.position, outer.shift) == (inner.position, inner.shift)
    return same and outer.divisor % inner.divisor == 0


@lru_cache(maxsize=16384)
def overwritten(conflict: Conflict) -> isl.Map:
    """Return { element -> element written before (or, not sharing, while) it is used }."""
    use, write = instance_touches(conflict.use), instance_touches(conflict.write)
    earlier = _before(conflict.write.rank, conflict.use.rank, conflict.steps, conflict.shares)
    pairs = use.reverse().apply_range(earlier.reverse()).apply_range(write)
    return pairs.intersect_params(context(sizes_in(pairs))).coalesce()


_EARLIER: Mapping[StepKind, str] = {"forwards": ">", "backwards": "<", "apart": "<>", "own": ""}
"""The relations of the later instance's value to the earlier one's, by kind of step."""


@lru_cache(maxsize=4096)
def _before(sources: int, sinks: int, steps: tuple[PathStep, ...], shares: bool) -> isl.Map:
    """Return { source instance -> sink instance that does not run before it }.

    Instances at the same time (in one array operation) count. Where it `shares`, an instance and
    itself do not.
    """
    together = _any(sources, sinks)
    earlier = isl.Map.empty(together.get_space())
    for step in steps:
        if step.kind == "before":
            return earlier.union(together)
        if step.kind == "after":
            return earlier
        if step.kind == "same":
            at_once = together
            if shares:
                at_once = at_once.subtract(isl.Map.identity(together.get_space()))
            return earlier.union(at_once)
        place = (sources, sinks, step.source, step.sink)
        for sign in _EARLIER[step.kind]:
            earlier = earlier.union(together.intersect(pair_order(*place, sign)))
        together = together.intersect(pair_order(*place, "="))
    raise AssertionError("steps end in before, after or same")


def _any(sources: int, sinks: int) -> isl.Map:
    p = ", ".join(f"p{k}" for k in range(sources))
    q = ", ".join(f"q{k}" for k in range(sinks))
    return parse_map(f"{{ [{p}] -> [{q}] }}")


# -- the instances that show a conflict ------------------------------------------------------------


class Clash(NamedTuple):
    """Two conflicting elements, with the instances that show it.

    `witness` names the instance that writes element `written` of `array`, and the one that uses the
    other element, the witness's, not earlier.
    """

    witness: Witness
    array: str
    written: tuple[int, ...]
    is_read: bool


def clash(
    met: Sequence[Encounter],
    statements: Mapping[str, Instances],
    bad: isl.Map,
    sizes: Sequence[str] = (),
) -> Clash | None:
    """Return the smallest instances that show one of the pairs `bad`; reads are preferred.

    `sizes` are said in the witness even where it does not depend on them.
    """
    for encounter in sorted(met, key=lambda e: e.use.is_write):
        pairs = overwritten(encounter.conflict).intersect(bad)
        if not pairs.is_empty():
            return _shown(encounter, statements, pairs, sizes)
    return None


def _shown(
    met: Encounter, statements: Mapping[str, Instances], pairs: isl.Map, sizes: Sequence[str]
) -> Clash:
    conflict = met.conflict
    use, write = instance_touches(conflict.use), instance_touches(conflict.write)
    earlier = _before(conflict.write.rank, conflict.use.rank, conflict.steps, conflict.shares)
    # { user -> (writer, element) : the user uses the element, the writer overwrites it earlier }
    both = earlier.reverse().flat_range_product(use)
    overwriting = pairs.apply_range(write.reverse()).reverse().wrap().flatten()
    point = smallest(both.intersect_range(overwriting).wrap().flatten())
    assert point is not None
    least, values = point
    user, writer = statements[met.use.statement], statements[met.write.statement]
    at, rest = values[: len(user.dims)], values[len(user.dims) :]
    by, element = rest[: len(writer.dims)], rest[len(writer.dims) :]
    known = {**dict.fromkeys(sizes, 1), **least}
    for e in writer.write.index:
        known = {**({} if e is None else dict.fromkeys(e.sizes, 1)), **known}
    known = dict(sorted(known.items()))
    instances = (
        dict(zip(writer.dims, by, strict=True)),
        dict(zip(user.dims, at, strict=True)),
    )
    witness = Witness(
        (writer.name, user.name), instances, met.use.access.array, tuple(element), known
    )
    element_written = written_element(writer, instances[0], known)
    return Clash(witness, writer.write.array, element_written, not met.use.is_write)
