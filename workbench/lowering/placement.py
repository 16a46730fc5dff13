"""Where memory is asked for and given back, and which buffer takes over which.

A buffer is allocated in the body of the innermost loop inside which it lives, before its first use
there, and freed behind its last. What the body of an innermost loop would allocate is allocated
once, in front of that loop. A freed buffer is taken over by the next one of the same dtype and
number of elements in the same body; an elementwise operation writes over an operand that dies
there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from workbench.lowering.bodies import Body, Dated, inner, position, written
from workbench.lowering.hoisting import hoist
from workbench.lowering.records import Allocate, Buffer, For, Free, If, Record
from workbench.lowering.scope import Workspace
from workbench.program.operations import OPERATIONS

ELEMENTWISE = frozenset(row.ufunc for row in OPERATIONS.values() if row.ufunc)


@dataclass(frozen=True)
class Span:
    """First to last use of a chain of buffers, each taking over its predecessor's memory."""

    chain: tuple[Buffer, ...]
    first: int
    last: int


def place(
    body: Sequence[Record], workspace: Workspace, homes: Mapping[str, list[str]]
) -> tuple[Record, ...]:
    """The program with allocations, frees and views in place, what is made once in front.

    `homes` lists for each array's buffer the dimensions of the loops inside which it lives.
    """
    dated = Dated([*workspace.front, *body])
    placer = _Placer(dated, workspace.buffers, homes)
    placer.allocate(dated.root)
    hoist(dated.root, placer.bound, placer.renamed)
    return tuple(written(dated.root))


class _Placer:
    def __init__(
        self, dated: Dated, buffers: Mapping[str, Buffer], homes: Mapping[str, list[str]]
    ) -> None:
        self.dated = dated
        self.buffers = buffers
        self.homes = homes
        self.bound: dict[str, Body] = dict.fromkeys(dated.constants, dated.root)
        self.renamed: dict[str, str] = {}

    def allocate(self, body: Body) -> list[Span]:
        """Place the allocations of a body and all below; the spans that the body's loop hands to
        its parent.
        """
        lifted: list[Span] = []
        for item in inner(body):
            lifted.extend(self.allocate(item))
        if isinstance(body.frame, If):
            return lifted
        spans = [*lifted, *self._own(body)]
        chains = self._chains(spans)
        if isinstance(body.frame, For) and body.innermost:
            return [Span(chain.chain, body.first, body.last) for chain in chains]
        for chain in chains:
            self._emit(body, chain, spans)
        return []

    def _own(self, body: Body) -> Iterator[Span]:
        for name, uses in self.dated.uses.items():
            if name in self.bound or self._home(name) is not body:
                continue
            times = [self._interval(at, where, body) for at, where in uses]
            buffer = self.buffers[name]
            yield Span((buffer,), min(t[0] for t in times), max(t[1] for t in times))

    def _home(self, name: str) -> Body:
        common = self.dated.uses[name][0][1].ancestors()
        for _, body in self.dated.uses[name][1:]:
            other = body.ancestors()
            common = [p for p, q in zip(common, other, strict=False) if p is q]
        if name not in self.homes:
            return common[-1].home
        allowed = list(self.homes[name])
        found = common[0]
        for body in common[1:]:
            if isinstance(body.frame, For):
                if body.frame.dim not in allowed:
                    break
                del allowed[: allowed.index(body.frame.dim) + 1]
                found = body
        return found

    def _interval(self, at: int, where: Body, home: Body) -> tuple[int, int]:
        """The time a use counts for in `home`: a whole loop if it is inside one there."""
        interval = (at, at)
        while where is not home:
            if isinstance(where.frame, For):
                interval = (where.first, where.last)
            assert where.parent is not None
            where = where.parent
        return interval

    def _chains(self, spans: Sequence[Span]) -> list[Span]:
        """Spans joined where one takes over another's memory."""
        order = sorted(range(len(spans)), key=lambda k: (spans[k].first, k))
        chains: list[Span] = []
        for k in order:
            span = spans[k]
            taken = next(
                (n for n in reversed(range(len(chains))) if self._follows(chains[n], span)), None
            )
            if taken is None:
                chains.append(span)
            else:
                old = chains[taken]
                chains[taken] = Span((*old.chain, *span.chain), old.first, span.last)
        return chains

    def _follows(self, old: Span, new: Span) -> bool:
        last, first = old.chain[-1], new.chain[0]
        if last.dtype != first.dtype or last.elements != first.elements:
            return False
        if last.scratch or first.scratch or first.initial or last.initial == "nan":
            return False
        return old.last < new.first or (old.last == new.first and self._in_place(old, new))

    def _in_place(self, old: Span, new: Span) -> bool:
        """Whether the one operation between them may write its result over its operand."""
        apply, operand, result = self.dated.applied.get(new.first), old.chain[-1], new.chain[0]
        if apply is None or apply.function not in ELEMENTWISE or len(new.chain) > 1:
            return False
        if apply.out != result.name or operand.shape != result.shape:
            return False
        seen = [n for n in apply.inputs if self.dated.source.get(n, n) == operand.name]
        return bool(seen) and all(n == operand.name for n in seen)

    def _continues(self, old: Buffer, new: Buffer) -> bool:
        """Whether a temporary is the result of an operation on the one whose memory it takes: one
        name will do.
        """
        if old.shape != new.shape or new.name in self.homes or old.name in self.homes:
            return False
        apply = self.dated.applied.get(self.dated.uses[new.name][0][0])
        return (
            apply is not None
            and apply.out == new.name
            and any(self.renamed.get(n, n) == old.name for n in apply.inputs)
        )

    def _emit(self, body: Body, chain: Span, spans: Sequence[Span]) -> None:
        starts = {b.name: s.first for s in spans for b in s.chain}
        previous: Buffer | None = None
        for buffer in chain.chain:
            if previous is not None and self._continues(previous, buffer):
                self.renamed[buffer.name] = previous.name
                continue
            at = position(body, starts[buffer.name])
            source = previous.name if previous is not None else None
            body.before.setdefault(at, []).append(Allocate(buffer, source))
            self.bound[buffer.name] = body
            previous = buffer
        assert previous is not None
        results = any(b.initial == "nan" for b in chain.chain)
        if results:
            return
        names = dict.fromkeys(
            self.renamed.get(n, n)
            for b in chain.chain
            for n in (b.name, *self.dated.names.get(b.name, []))
        )
        at = position(body, chain.last)
        body.behind.setdefault(at, []).append(Free(previous.name, tuple(names)))
