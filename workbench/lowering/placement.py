"""Where memory is asked for and given back, which buffer takes over which, and where views are taken.

A buffer is allocated in the body of the innermost loop inside which it lives, before its first use there, and freed
behind its last. What the body of an innermost loop would allocate is allocated once, in front of that loop. A freed
buffer is taken over by the next one of the same dtype and number of elements in the same body. A view is taken in the
outermost body where its source and its positions are known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from workbench.lowering.records import (
    Allocate,
    Apply,
    Broadcast,
    Buffer,
    Check,
    Constant,
    Count,
    For,
    Free,
    If,
    Index,
    Range,
    Record,
    Reshape,
    View,
    walk,
)
from workbench.lowering.scope import Workspace
from workbench.polyhedral.expression import Expression
from workbench.program.operations import OPERATIONS

ELEMENTWISE = frozenset(row.ufunc for row in OPERATIONS.values() if row.ufunc)


@dataclass
class Body:
    """The records of a loop's body, of an `if`'s, or of the whole program; `loop` is None for the whole."""

    frame: For | If | None
    parent: Body | None
    items: list[Record | Body] = field(default_factory=list)
    first: int = 0
    last: int = 0
    before: dict[int, list[Record]] = field(default_factory=dict)
    """What goes in front of the item at a position."""
    behind: dict[int, list[Record]] = field(default_factory=dict)
    innermost: bool = True
    dropped: set[int] = field(default_factory=set)
    """Positions of views that were taken elsewhere."""

    @property
    def home(self) -> Body:
        """The loop's body (or the whole program) around: an `if` allocates nothing itself."""
        body = self
        while isinstance(body.frame, If):
            assert body.parent is not None
            body = body.parent
        return body

    def ancestors(self) -> list[Body]:
        """From the whole program to this body."""
        above = [] if self.parent is None else self.parent.ancestors()
        return [*above, self]


@dataclass(frozen=True)
class Span:
    """From first to last use of the buffers of a chain, each taking over its predecessor's memory."""

    chain: tuple[Buffer, ...]
    first: int
    last: int


def place(
    body: Sequence[Record], workspace: Workspace, homes: Mapping[str, list[str]]
) -> tuple[Record, ...]:
    """The program with allocations, frees and views in place, what is made once in front."""
    placer = _Placer(workspace, homes)
    records = [*workspace.front, *body]
    placer.read(_needed(records, _used(records)))
    placer.allocate(placer.root)
    placer.hoist_views()
    return tuple(_written(placer.root))


def _used(records: Sequence[Record]) -> set[str]:
    """The names that operations need, and the sources of views that they need."""
    found: set[str] = set()
    for record in reversed(list(walk(tuple(records)))):
        if isinstance(record, View) and record.name in found:
            found.add(record.source)
        elif isinstance(record, Apply):
            found.update((*record.inputs, record.out))
        elif isinstance(record, Check):
            found.add(record.name)
    return found


def _needed(records: Sequence[Record], used: set[str]) -> list[Record]:
    """The records without views and constants that nothing uses."""
    kept: list[Record] = []
    for record in records:
        if isinstance(record, (For, If)):
            kept.append(replace(record, body=tuple(_needed(record.body, used))))
        elif isinstance(record, (Constant, Count)):
            if record.buffer.name in used:
                kept.append(record)
        elif not isinstance(record, View) or record.name in used:
            kept.append(record)
    return kept


class _Placer:
    def __init__(self, workspace: Workspace, homes: Mapping[str, list[str]]) -> None:
        self.workspace = workspace
        self.homes = homes
        self.root = Body(None, None)
        self.source: dict[str, str] = {}  # view -> buffer
        self.uses: dict[str, list[tuple[int, Body]]] = {}
        self.applied: dict[int, Apply] = {}
        self.bound: dict[str, Body] = {}  # name -> body in which it is assigned
        self.names: dict[str, list[str]] = {}  # buffer -> its views
        self.renamed: dict[str, str] = {}
        self.clock = 0

    # -- reading -----------------------------------------------------------------------------

    def read(self, records: Sequence[Record]) -> None:
        """The records as bodies, with every use of a buffer dated."""
        self._read(self.root, records)

    def _read(self, body: Body, records: Sequence[Record]) -> None:
        body.first = self.clock
        for record in records:
            self.clock += 1
            if isinstance(record, (For, If)):
                inner = Body(record, body)
                body.items.append(inner)
                self._read(inner, record.body)
                if isinstance(record, For) or not inner.innermost:
                    body.innermost = False
                continue
            body.items.append(record)
            if isinstance(record, View):
                buffer = self.source.get(record.source, record.source)
                self.source[record.name] = buffer
                self.names.setdefault(buffer, []).append(record.name)
                self._use(buffer, body)
            elif isinstance(record, Apply):
                self.applied[self.clock] = record
                scratch = [v for k, v in record.options if k == "scratch"]
                for name in (*record.inputs, record.out, *scratch):
                    if name:
                        self._use(self.source.get(name, name), body)
            elif isinstance(record, Check):
                self._use(self.source.get(record.name, record.name), body)
            elif isinstance(record, (Constant, Count)):
                self.bound[record.buffer.name] = self.root
        self.clock += 1
        body.last = self.clock

    def _use(self, buffer: str, body: Body) -> None:
        self.uses.setdefault(buffer, []).append((self.clock, body))

    # -- memory ------------------------------------------------------------------------------

    def allocate(self, body: Body) -> list[Span]:
        """Place the allocations of a body and all below; the spans that the body's loop hands to its parent."""
        lifted: list[Span] = []
        for item in _inner(body):
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
        for name, uses in self.uses.items():
            if name in self.bound or self._home(name) is not body:
                continue
            times = [self._interval(at, where, body) for at, where in uses]
            buffer = self.workspace.buffers[name]
            yield Span((buffer,), min(t[0] for t in times), max(t[1] for t in times))

    def _home(self, name: str) -> Body:
        common = self.uses[name][0][1].ancestors()
        for _, body in self.uses[name][1:]:
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
        apply, operand, result = self.applied.get(new.first), old.chain[-1], new.chain[0]
        if apply is None or apply.function not in ELEMENTWISE or len(new.chain) > 1:
            return False
        if apply.out != result.name or operand.shape != result.shape:
            return False
        seen = [n for n in apply.inputs if self.source.get(n, n) == operand.name]
        return bool(seen) and all(n == operand.name for n in seen)

    def _continues(self, old: Buffer, new: Buffer) -> bool:
        """Whether a temporary is the result of an operation on the one whose memory it takes: one name will do."""
        if old.shape != new.shape or new.name in self.homes or old.name in self.homes:
            return False
        apply = self.applied.get(self.uses[new.name][0][0])
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
            at = _position(body, starts[buffer.name])
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
            for n in (b.name, *self.names.get(b.name, []))
        )
        at = _position(body, chain.last)
        body.behind.setdefault(at, []).append(Free(previous.name, tuple(names)))

    # -- views -------------------------------------------------------------------------------

    def hoist_views(self) -> None:
        """Take every view where its source and positions are first known; equal ones once."""
        renamed = self.renamed
        taken: dict[tuple[int, str, object], str] = {}
        self._hoist(self.root, renamed, taken)

    def _hoist(
        self, body: Body, renamed: dict[str, str], taken: dict[tuple[int, str, object], str]
    ) -> None:
        for at, item in enumerate(body.items):
            if isinstance(item, Body):
                self._hoist(item, renamed, taken)
                continue
            item = _renamed(item, renamed)
            body.items[at] = item
            if not isinstance(item, View):
                continue
            where, place_ = self._outermost(body, at, item)
            key = (id(where), item.source, item.how)
            if key in taken:
                renamed[item.name] = taken[key]
                body.dropped.add(at)
                continue
            taken[key] = item.name
            self.bound[item.name] = where
            if where is not body:
                where.before.setdefault(place_, []).append(item)
                body.dropped.add(at)

    def _outermost(self, body: Body, at: int, view: View) -> tuple[Body, int]:
        variables, positions = _variables(view)
        source = self.bound[view.source]
        while body is not source and body.parent is not None:
            frame = body.frame
            if isinstance(frame, If) and positions:
                break
            if isinstance(frame, For) and (
                frame.variable in variables or (positions and not frame.sure)
            ):
                break
            at = body.parent.items.index(body)
            body = body.parent
        return body, at


def _inner(body: Body) -> Iterator[Body]:
    return (item for item in body.items if isinstance(item, Body))


def _position(body: Body, time: int) -> int:
    """The position of the item in `body` that contains a time."""
    clock = body.first
    for at, item in enumerate(body.items):
        clock = item.last if isinstance(item, Body) else clock + 1
        if time <= clock:
            return at
    raise AssertionError("a time outside the body")


def _variables(view: View) -> tuple[set[str], bool]:
    """The variables of a view, and whether it picks positions that depend on some (which may not exist outside)."""
    how = view.how
    found: set[str] = set()
    positions = False
    if isinstance(how, Index):
        for entry in how.entries:
            if isinstance(entry, Expression):
                found |= entry.variables
                positions = positions or bool(entry.variables)
            elif isinstance(entry, Range):
                found |= entry.start.variables | entry.stop.variables
    elif isinstance(how, (Reshape, Broadcast)):
        found = {v for n in how.shape for v in n.variables}
        positions = bool(found)
    return found, positions


def _renamed(record: Record, names: Mapping[str, str]) -> Record:
    if isinstance(record, View):
        return replace(record, source=names.get(record.source, record.source))
    if isinstance(record, Apply):
        options = tuple(
            (k, tuple(names.get(c, c) if isinstance(c, str) else c for c in v))
            if k == "coordinates"
            else (k, v)
            for k, v in record.options
        )
        inputs = tuple(names.get(n, n) for n in record.inputs)
        return Apply(record.function, inputs, names.get(record.out, record.out), options)
    if isinstance(record, Check):
        return replace(record, name=names.get(record.name, record.name))
    return record


def _written(body: Body) -> Iterator[Record]:
    for at, item in enumerate(body.items):
        front = body.before.get(at, [])
        yield from (r for r in front if isinstance(r, Allocate))
        yield from (r for r in front if not isinstance(r, Allocate))
        if isinstance(item, Body):
            assert item.frame is not None
            yield replace(item.frame, body=tuple(_written(item)))
        elif at not in body.dropped:
            yield item
        yield from body.behind.get(at, [])
