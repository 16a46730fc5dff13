"""The places of allocations and frees, and the buffers that take over each other's memory.

A buffer is allocated in the body of the innermost loop inside which it lives, before its first use
there, and freed behind its last. Buffers of an innermost loop's body are allocated once, in front
of that loop. An array takes over another's memory if that was donated. A temporary takes over a
buffer that dies in the operation that makes it, if that works in place. In the body of an innermost
loop it also takes any free buffer of its dtype and number of elements; elsewhere free memory is
given back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.lowering.functions import row_of
from workbench.lowering.loops.records import Allocate, Buffer, For, Free, If, Record
from workbench.lowering.memory.bodies import Body, Dated, inner, position, written
from workbench.lowering.memory.hoisting import hoist
from workbench.lowering.values.scope import Workspace


@dataclass(frozen=True)
class Span:
    """The time from first to last use of buffers that are one piece of memory all that time."""

    chain: tuple[Buffer, ...]
    first: int
    last: int


Chain = list[Span]
"""Spans one after the other in one piece of memory."""


def place(
    body: Sequence[Record],
    workspace: Workspace,
    homes: Mapping[str, list[str]],
    donated: Sequence[tuple[str, str]] = (),
) -> tuple[Record, ...]:
    """Return the program with allocations, frees, views, and the records made once in front.

    `homes` lists for each array's buffer the dimensions of the loops inside which it lives, equal
    for each pair of buffers `donated`. Of such a pair the second takes over the memory of the
    first.
    """
    dated = Dated([*workspace.front, *body])
    placer = _Placer(dated, workspace.buffers, homes, _groups(homes, donated))
    placer.allocate(dated.root)
    hoist(dated.root, placer.bound, placer.renamed)
    return tuple(written(dated.root))


def _kind(chain: Chain) -> object:
    """Return what all buffers in one piece of memory must have in common."""
    buffer = chain[0].chain[0]
    return buffer.dtype, buffer.elements


def _around(run: Chain, chain: Chain) -> tuple[int, Chain, Chain]:
    """Return how many spans of a chain begin before a run, and the last of them and the next."""
    at, first = 0, run[0].first
    for other in chain:
        if other.first <= first:
            at += 1
    return at, chain[at - 1 : at] if at else [], chain[at : at + 1]


def _touching(run: Chain, before: Chain, behind: Chain) -> int:
    """Count the ends at which a run would write over its neighbour, or be written over."""
    return sum(other.last == run[0].first for other in before) + sum(
        other.first == run[-1].last for other in behind
    )


def _groups(
    homes: Mapping[str, list[str]], donated: Sequence[tuple[str, str]]
) -> list[tuple[str, ...]]:
    """Group the arrays' buffers by pieces of memory, in the order in which they hold it."""
    heir = dict(donated)
    heads = [name for name in homes if name not in heir.values()]
    groups = []
    for name in heads:
        group = [name]
        while group[-1] in heir:
            group.append(heir[group[-1]])
        groups.append(tuple(group))
    return groups


class _Placer:
    def __init__(
        self,
        dated: Dated,
        buffers: Mapping[str, Buffer],
        homes: Mapping[str, list[str]],
        groups: Sequence[tuple[str, ...]],
    ) -> None:
        self.dated = dated
        self.buffers = buffers
        self.homes = homes
        self.bound: dict[str, Body] = dict.fromkeys(dated.constants, dated.root)
        self.renamed: dict[str, str] = {}
        self._arrays = self._by_home(groups)
        self._temporaries = self._by_home([(name,) for name in dated.uses if name not in homes])

    def allocate(self, body: Body) -> list[Span]:
        """Place the allocations of a body and all below; return the spans for its loop's parent."""
        lifted: list[Span] = []
        for item in inner(body):
            lifted.extend(self.allocate(item))
        if isinstance(body.frame, If):
            return lifted
        chains = self._chains(body, lifted)
        if body.hoisted:
            return [
                Span(tuple(b for span in chain for b in span.chain), body.first, body.last)
                for chain in chains
            ]
        for chain in chains:
            self._emit(body, chain)
        return []

    def _chains(self, body: Body, lifted: Sequence[Span]) -> list[Chain]:
        """Return the chains that a body allocates: donated arrays, temporaries where they fit."""
        arrays = [self._together(group, body) for group in self._arrays.get(id(body), ())]
        arrays += [[span] for span in lifted if self._holds_array(span)]
        chains = sorted(arrays, key=lambda chain: chain[0].first)
        temporaries = [span for span in lifted if not self._holds_array(span)]
        temporaries += [self._span(name, body) for (name,) in self._temporaries.get(id(body), ())]
        alike: dict[object, list[Chain]] = {}
        for chain in chains:
            alike.setdefault(_kind(chain), []).append(chain)
        for run in self._runs(temporaries):
            others = alike.setdefault(_kind(run), [])
            best, at = self._best(run, others, -1 if body.hoisted else 0)
            if best is not None:
                best[at:at] = run
            else:
                chains.append(run)
                others.append(run)
        return chains

    def _best(self, run: Chain, chains: Sequence[Chain], most: int) -> tuple[Chain | None, int]:
        """Return the last chain in which a run has room and touches most neighbours, more than
        `most`, and its place there.
        """
        best: Chain | None = None
        place = 0
        for chain in reversed(chains):
            at, before, behind = _around(run, chain)
            ends = _touching(run, before, behind)
            if ends > most and self._fits(run, before, behind):
                best, place, most = chain, at, ends
        return best, place

    def _runs(self, temporaries: Sequence[Span]) -> list[Chain]:
        """Return chains of temporaries: each operation hands one on in place."""
        runs: list[Chain] = []
        for span in sorted(temporaries, key=lambda span: span.first):
            for run in runs:
                if run[-1].last == span.first and self._follows(run[-1], span):
                    run.append(span)
                    break
            else:
                runs.append([span])
        return runs

    def _together(self, group: tuple[str, ...], body: Body) -> Chain:
        """Return the spans of arrays in one piece of memory, in the order in which they hold it.

        A later step may have reversed that order; arrays that take turns in it are one span.
        """
        chain: Chain = []
        spans = [self._span(name, body) for name in group if name in self.dated.uses]
        for span in sorted(spans, key=lambda span: (span.first, span.last)):
            if chain and not self._follows(chain[-1], span):
                before = chain.pop()
                first, last = min(before.first, span.first), max(before.last, span.last)
                span = Span((*before.chain, *span.chain), first, last)
            chain.append(span)
        return chain

    def _span(self, name: str, body: Body) -> Span:
        times = [self._interval(at, where, body) for at, where in self.dated.uses[name]]
        first, last = min(t[0] for t in times), max(t[1] for t in times)
        return Span((self.buffers[name],), first, last)

    def _by_home(self, groups: Sequence[tuple[str, ...]]) -> dict[int, list[tuple[str, ...]]]:
        """Return the used buffers by the body (its id) of their life, grouped by pieces of memory.

        Constants live outside all loops as they are.
        """
        by_home: dict[int, list[tuple[str, ...]]] = {}
        for group in groups:
            used = [n for n in group if n in self.dated.uses and n not in self.bound]
            if used:
                by_home.setdefault(id(self._home(used)), []).append(group)
        return by_home

    def _holds_array(self, span: Span) -> bool:
        return any(buffer.name in self.homes for buffer in span.chain)

    def _home(self, names: Sequence[str]) -> Body:
        places = dict.fromkeys(body for name in names for _, body in self.dated.uses[name])
        first, *rest = places
        common = first.ancestors
        for body in rest:
            pairs = zip(common, body.ancestors, strict=False)
            common = tuple(p for p, q in pairs if p is q)
        if names[0] not in self.homes:
            return common[-1].home
        allowed = list(self.homes[names[0]])
        home = common[0]
        for body in common[1:]:
            if isinstance(body.frame, For):
                if body.frame.dim not in allowed:
                    break
                del allowed[: allowed.index(body.frame.dim) + 1]
                home = body
        return home

    def _interval(self, at: int, where: Body, home: Body) -> tuple[int, int]:
        """Return the time a use counts for in `home`: a whole loop if it is inside one there."""
        interval = (at, at)
        while where is not home:
            if isinstance(where.frame, For):
                interval = (where.first, where.last)
            assert where.parent is not None
            where = where.parent
        return interval

    def _fits(self, run: Chain, before: Chain, behind: Chain) -> bool:
        """Tell whether there is room between the one before and the one behind."""
        return all(self._follows(span, run[0]) for span in before) and all(
            self._follows(run[-1], span) for span in behind
        )

    def _follows(self, old: Span, new: Span) -> bool:
        last, first = old.chain[-1], new.chain[0]
        if (last.dtype, last.space) != (first.dtype, first.space):
            return False
        if last.elements != first.elements:
            return False
        if last.scratch or first.scratch or first.initial or last.initial == "nan":
            return False
        return old.last < new.first or (old.last == new.first and self._in_place(old, new))

    def _in_place(self, old: Span, new: Span) -> bool:
        """Tell whether the one operation between them may write its result over its operand."""
        apply, operand, result = self.dated.applied.get(new.first), old.chain[-1], new.chain[0]
        if apply is None or not row_of(apply).elementwise or len(new.chain) > 1:
            return False
        if apply.out != result.name or operand.shape != result.shape:
            return False
        seen = [n for n in apply.inputs if self.dated.source.get(n, n) == operand.name]
        return bool(seen) and all(n == operand.name for n in seen)

    def _continues(self, old: Buffer, new: Buffer) -> bool:
        """Tell whether a temporary is made from the very buffer whose memory it takes.

        Then one name will do.
        """
        if old.shape != new.shape or new.name in self.homes or old.name in self.homes:
            return False
        apply = self.dated.applied.get(self.dated.uses[new.name][0][0])
        return (
            apply is not None
            and apply.out == new.name
            and any(self.renamed.get(n, n) == old.name for n in apply.inputs)
        )

    def _emit(self, body: Body, chain: Chain) -> None:
        starts = {buffer.name: span.first for span in chain for buffer in span.chain}
        buffers = [buffer for span in chain for buffer in span.chain]
        previous: Buffer | None = None
        for buffer in buffers:
            if previous is not None and self._continues(previous, buffer):
                self.renamed[buffer.name] = previous.name
                continue
            at = position(body, starts[buffer.name])
            source = previous.name if previous is not None else None
            body.before.setdefault(at, []).append(Allocate(buffer, source))
            self.bound[buffer.name] = body
            previous = buffer
        assert previous is not None
        if any(buffer.initial == "nan" for buffer in buffers):
            return
        names = dict.fromkeys(
            self.renamed.get(n, n)
            for b in buffers
            for n in (b.name, *self.dated.names.get(b.name, []))
        )
        at = position(body, max(span.last for span in chain))
        body.behind.setdefault(at, []).append(Free(previous.name, tuple(names)))
