"""The sentence of a reason, made of its pairs by tables of cases.

A row of a table is for pairs that the same things order: loops or none, and the sequence "inside"
of those along which the step moves, "outside" of them or not at all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

from workbench.polyhedral.tree import Loop, Tree, loop_text, mapped
from workbench.program.storage import Storage
from workbench.program.values import Program
from workbench.transforms.reasons.links import Folded, HandedOn, Link
from workbench.transforms.reasons.moved import Moved
from workbench.transforms.reasons.reason import Ordered, Orderer
from workbench.transforms.step.condition import Condition

NAMED = 3
"""The statements that a sentence names; of more it tells the number."""

Behind = Literal["inside", "outside", ""]
Case = tuple[bool, Behind]
"""Whether loops order some of the pairs, and where the sequence orders others."""

READS: Mapping[Case, str] = {
    (False, "outside"): "{names}, which {is_} complete before",
    (False, "inside"): "{names}, which {comes} before in the same iteration of {inside}",
    (True, ""): "{names} of an earlier iteration of {loops}",
    (True, "outside"): "{names} of an earlier iteration of {loops}, or of this one, where {it} "
    "{is_} complete before",
    (True, "inside"): "{names} of an earlier iteration of {loops}, or of the same, where {it} "
    "{comes} before",
}
"""What a statement reads that the step moves."""

READERS: Mapping[Case, str] = {
    (False, "outside"): "{names}, which {reads} {what}, {comes} behind",
    (False, "inside"): "{names} {reads} {what} behind, in the same iteration of {inside}",
    (True, ""): "{names} {reads} {what} in a later iteration of {loops}",
    (True, "outside"): "{names} {reads} {what} in a later iteration of {loops}, or behind",
    (
        True,
        "inside",
    ): "{names} {reads} {what} in a later iteration of {loops}, or behind in the same",
}
"""What reads the results of a statement that the step moves."""

WHOLE: Mapping[Case, str] = {
    (False, "outside"): "complete before",
    (False, "inside"): "computed before in the same iteration of {inside}",
    (True, ""): "of an earlier iteration of {loops}",
    (True, "outside"): "complete before or of an earlier iteration of {loops}",
    (True, "inside"): "computed before in the same iteration or in an earlier one of {loops}",
}
"""What many statements read, all together."""

OWN: Mapping[tuple[str, str], tuple[str, str]] = {
    ("axis", "apart"): (
        "no {names} reads another along {dims}",
        "none of {names} reads its own results at another {dims}",
    ),
    ("axis", "earlier"): (
        "no {names} reads another along {dims} in one iteration of {loops}",
        "none of {names} reads its own results at another {dims} in one iteration of {loops}",
    ),
    ("loop", "apart"): ("no {names} reads another", "none of {names} reads its own results"),
    ("loop", "earlier"): (
        "{names} reads its own results of an earlier iteration of {loops}",
        "each of {names} reads its own results of an earlier iteration of {loops}",
    ),
}
"""What the instances of one statement that the step moves, or of several, have to do with each
other. It is an "axis" along `dims` or in a "loop"; its instances are "apart", or need results of
"earlier" iterations.
"""


def of_conditions(conditions: Sequence[Condition]) -> str:
    """Return what meets the conditions of a step on equations."""
    met = list(dict.fromkeys(c.met for c in conditions))
    more = len(met) - 2 * NAMED
    return "; ".join([*met[: 2 * NAMED], f"and {more} more"] if more > 0 else met)


# -- order -----------------------------------------------------------------------------------------


def of_order(before: Program, after: Program, moved: Moved, links: Collection[Link]) -> str:
    """Return why instances may run in the order after a step."""
    if _in_blocks_only(before.schedule, after.schedule):
        return (
            f"every instance keeps its place: blocks of {_and(moved.dims)} run one after the "
            "other, and the values in a block too"
        )
    pairs = [link.ordered for link in links if link.ordered.by]
    names = set(moved.statements)
    reads = [p for p in pairs if p.sink in names and p.source != p.sink]
    readers = [p for p in pairs if p.source in names and p.sink not in names]
    others = [p for p in pairs if not names & {p.source, p.sink}]
    clauses = [
        *_own(moved, pairs),
        *_reading(moved, reads),
        *_read_by(moved, readers),
        *_others(moved, others),
    ]
    return "; ".join(clauses) or "nothing that it parts or joins reads what another writes"


def _in_blocks_only(before: Tree, after: Tree) -> bool:
    """Tell whether the step has only put loops over blocks right around the loops in the blocks."""

    def without(node: Tree) -> Tree | None:
        if not isinstance(node, Loop) or node.tile is None or node.apart:
            return None
        inner = node.child
        if not isinstance(inner, Loop) or inner.kind != "loop":
            return None
        alike = (inner.dim, inner.backwards, inner.offsets)
        in_order = alike == (node.dim, node.backwards, node.offsets)
        return mapped(inner, without) if in_order else None

    return after != before and mapped(after, without) == mapped(before, without)


def _own(moved: Moved, pairs: Sequence[Ordered]) -> list[str]:
    groups: dict[tuple[str, str, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for name in moved.statements:
        own = [p for p in pairs if p.source == p.sink == name]
        loops = tuple(dict.fromkeys(o.loop for p in own for o in p.by if o.kind == "loop"))
        dims = moved.axes[name]
        kind = "axis" if dims else "loop"
        apart = not own or (kind == "axis" and name not in moved.crossing)
        key = (kind, "apart", dims, ()) if apart else (kind, "earlier", dims, loops)
        groups.setdefault(key, []).append(name)
    return [
        OWN[kind, how][len(names) > 1].format(
            names=_and(names), dims=_or(dims), loops=_loops(loops)
        )
        for (kind, how, dims, loops), names in groups.items()
    ]


def _reading(moved: Moved, reads: Sequence[Ordered]) -> list[str]:
    """Return what the moved statements read, and why it is there by then."""
    if not reads:
        return []
    sources = {p.source for p in reads}
    if len(sources) > NAMED or len(moved.statements) > NAMED:
        return [f"what they read is {_whole(moved, reads)}"]
    sinks = list(dict.fromkeys(p.sink for p in reads))
    who = f"{sinks[0]} reads" if len(sinks) == 1 else "they read"
    if len(moved.statements) == 1:
        who = "all read" if moved.axes[sinks[0]] else "it reads"
    phrases = [
        _filled(moved, READS[case], names, pairs)
        for case, names, pairs in _cases(moved, reads, "source")
    ]
    return [f"{who} {', and '.join(phrases)}"]


def _sources(moved: Moved, pairs: Sequence[Ordered]) -> str:
    """Return what is read in pairs, and why it is there by then."""
    cases = _cases(moved, pairs, "source")
    return ", and ".join(_filled(moved, READS[case], names, own) for case, names, own in cases)


def _read_by(moved: Moved, readers: Sequence[Ordered]) -> list[str]:
    what = "it" if len({p.source for p in readers}) == 1 else "them"
    return [
        _filled(moved, READERS[case], names, pairs, what)
        for case, names, pairs in _cases(moved, readers, "sink")
    ]


def _others(moved: Moved, others: Sequence[Ordered]) -> list[str]:
    """Return what the step parts or joins without moving either in loops of its own."""
    sinks = dict.fromkeys(p.sink for p in others)
    if len(sinks) > NAMED:
        return [f"what parted or joined loops read of each other is {_whole(moved, others)}"]
    clauses = []
    for sink in sinks:
        own = [p for p in others if p.sink == sink]
        phrases = [
            _filled(moved, READS[case], names, pairs)
            for case, names, pairs in _cases(moved, own, "source")
        ]
        clauses.append(f"{sink} reads {', and '.join(phrases)}")
    return clauses


# -- cases -----------------------------------------------------------------------------------------


def _cases(
    moved: Moved, pairs: Sequence[Ordered], end: Literal["source", "sink"]
) -> list[tuple[Case, list[str], list[Ordered]]]:
    """Return the cases that pairs fall into, each with the names at one end and its pairs."""
    groups: dict[tuple[Case, tuple[str, ...]], list[Ordered]] = {}
    for p in pairs:
        loops = tuple(o.loop for o in p.by if o.kind == "loop")
        groups.setdefault((_case(moved, p), loops), []).append(p)
    return [
        (case, list(dict.fromkeys(getattr(p, end) for p in group)), group)
        for (case, _), group in groups.items()
    ]


def _case(moved: Moved, pair: Ordered) -> Case:
    behind: Behind = ""
    for o in pair.by:
        if o.kind == "sequence":
            behind = "inside" if _shared(moved, o) else "outside"
    return any(o.kind == "loop" for o in pair.by), behind


def _shared(moved: Moved, sequence: Orderer) -> tuple[str, ...]:
    """Return the innermost loop around a sequence of those along which the step moves."""
    loops = sequence.inside
    return tuple(name for name in loops if name in moved.loops or not moved.dims)[-1:]


def _whole(moved: Moved, pairs: Sequence[Ordered]) -> str:
    groups: dict[Case, list[Ordered]] = {}
    for p in pairs:
        groups.setdefault(_case(moved, p), []).append(p)
    for where in ("inside", "outside"):
        if (True, where) in groups:
            groups[True, where] += groups.pop((False, where), []) + groups.pop((True, ""), [])
    return _or(
        _filled(moved, row, [], groups[case]) for case, row in WHOLE.items() if case in groups
    )


def _filled(
    moved: Moved, row: str, names: Sequence[str], pairs: Sequence[Ordered], what: str = ""
) -> str:
    """Fill in a row of a table."""
    one = len(names) == 1
    loops = dict.fromkeys(o.loop for p in pairs for o in p.by if o.kind == "loop")
    inside = dict.fromkeys(name for p in pairs for o in p.by for name in _shared(moved, o))
    return row.format(
        names=_and(names),
        it="it" if one else "they",
        is_="is" if one else "are",
        comes="comes" if one else "come",
        reads="reads" if one else "read",
        what=what,
        loops=_loops(loops),
        inside=_loops(inside),
    )


# -- storage ---------------------------------------------------------------------------------------


def of_folding(found: Sequence[Folded]) -> list[str]:
    """Return why folded dimensions need no more slices."""
    if len(found) > NAMED:
        arrays = dict.fromkeys(one.array for one in found)
        last = "each slice is used for the last time before another takes its place"
        return [f"{len(arrays)} arrays keep what is live: {last}"]
    by_text: dict[str, list[str]] = {}
    for one in found:
        by_text.setdefault(_kept(one), []).append(one.array)
    return [
        text.format(names=_and(names), keeps="keeps" if len(names) == 1 else "keep")
        for text, names in by_text.items()
    ]


def _kept(one: Folded) -> str:
    """Return why one dimension needs no more slices, with room for the names of arrays."""
    kept = f"{{names}} {{keeps}} {one.window} of {one.length} slices of {one.dim}"
    if not one.links:
        return f"{kept}: at no time are more of them live"
    own = {o.loop for link in one.links for o in link.ordered.by if o.kind == "memory"}
    if own and all(o.kind == "memory" for link in one.links for o in link.ordered.by):
        return f"{kept}: each block of {_loops(own)} has memory of its own"
    ahead = f"{one.dim} {'+' if one.way > 0 else '-'} {one.window}"
    behind = f"what is at {one.dim} is used for the last time before what is at {ahead} is written"
    return f"{kept}: {behind}, by {_ways(one.links)}"


def of_handing_on(found: Sequence[HandedOn]) -> list[str]:
    """Return why arrays may lie in the memory of others."""
    if len(found) > NAMED:
        last = "what is in a place is used for the last time before another is written there"
        return [f"{len(found)} arrays take over the memory of others: {last}"]
    return [_handed(one) for one in found]


def _handed(one: HandedOn) -> str:
    if not one.links:
        return f"nothing of {one.to} lies where something of {one.array} does in one iteration"
    if one.takes_turns:
        last = "what is there of the one is used for the last time before the other is written"
        return f"{one.array} and {one.to} take turns in one memory: {last}, by {_ways(one.links)}"
    return (
        f"{one.to} takes over the memory of {one.array}: every use of that comes before {one.to} "
        f"is written in its place, by {_ways(one.links)}"
    )


def _ways(links: Sequence[Link]) -> str:
    """Return what keeps writes behind uses."""
    return _joined(list(dict.fromkeys(str(o) for link in links for o in link.ordered.by)), "and")


def of_places(before: Storage, after: Program) -> list[str]:
    """Return why arrays may live on the host, or lie otherwise in memory."""
    clauses = []
    for array, ahead in after.storage.swapped:
        if (array, ahead) in before.swapped:
            continue
        writers = [s.name for s in after.writers[array]]
        readers = [s.name for s in after.statements if array in {r.array for r in s.reads}]
        back = f", and comes back in front of {_and(readers)}" if readers else ""
        early = f", up to {ahead} iterations early where it is written as long before"
        clauses.append(
            f"nothing runs in another order: a slice of {array} goes to the host behind "
            f"{_and(writers)}{back}" + early * bool(readers and ahead)
        )
    for array, order in after.storage.layouts:
        if (array, order) not in before.layouts:
            clauses.append(
                f"no dependence matters: {array} has the same elements, in memory as "
                f"{', '.join(order)}"
            )
    return clauses


# -- words -----------------------------------------------------------------------------------------


def _and(names: Sequence[str]) -> str:
    if len(names) > NAMED:
        return f"{len(names)} statements"
    return _joined(names, "and")


def _or(names: Iterable[str]) -> str:
    return _joined(list(names), "or")


def _loops(names: Iterable[str]) -> str:
    return _or(loop_text(name) for name in names)


def _joined(names: Sequence[str], word: str) -> str:
    return " ".join([", ".join(names[:-1]), word, names[-1]]) if len(names) > 1 else "".join(names)
