"""The equations of a trace: it chooses the statements and their bodies, and which are live.

A value is a statement of its own if the user named it, several readers use it, it is read elsewhere
than at the reader's own instance, it varies over fewer dims than its reader, or it reduces or
draws. Everything else is part of its reader's body. A value that is assigned to slices of a
recurrent tensor writes them directly: no statement copies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from workbench.errors import ProgramError, SourceLine
from workbench.language.episodes.ends import conditions
from workbench.language.outside.external_calls import called
from workbench.language.template.array_names import NamedSource, Reader, array_names
from workbench.language.template.window_arrays import (
    Windows,
    by_position,
    extent_by_position,
    moves,
    positions,
    windows_of,
)
from workbench.language.tracing.nodes import IDENTITIES, apply
from workbench.language.tracing.recurrent import Piece, Recurrent
from workbench.language.tracing.tensor import Index, Node, Tensor
from workbench.language.tracing.trace import Trace, current
from workbench.names import unique
from workbench.polyhedral.expression import Expression, variable
from workbench.polyhedral.expressions.atoms import Choice
from workbench.polyhedral.sets.relations import box, extent_of, image, union
from workbench.program.bodies import Body, Call, IndexValue, Literal, Read
from workbench.program.episodes.checked_reads import with_checked_reads
from workbench.program.episodes.starts import with_starts
from workbench.program.operations.table import APART
from workbench.program.values import Array, Dim, End, Equations, Output, Statement

ArrayIndices = dict[str, Index]


@dataclass
class _Use:
    """The use of a node: by how many readers, and whether any needs it as an array of its own."""

    readers: dict[Reader, None] = field(default_factory=dict)
    apart: bool = False
    gathered: bool = False
    """True if some reader's index depends on data."""


def build(trace: Trace, outputs: dict[str, Tensor], description: str) -> Equations:
    """Build the equations that the trace's outputs need."""
    return _Builder(trace, outputs).equations(description)


class _Builder:
    def __init__(self, trace: Trace, outputs: dict[str, Tensor]) -> None:
        self.trace = trace
        self.outputs = {name: _array_of(x) for name, x in outputs.items()}
        self.kept = set(self.outputs.values())
        self.uses: dict[Node, _Use] = {}
        self.constant: dict[Node, bool] = {}
        self.live: dict[NamedSource, None] = {}
        self._mark_live()
        self.claims = self._claims()
        self._count()
        self.names, self.origins = self._names()

    def equations(self, description: str) -> Equations:
        """Return arrays and statements in textual order."""
        statements: list[tuple[int, Statement]] = []
        arrays: list[Array] = []
        for source in self.live:
            if isinstance(source, Recurrent):
                arrays.append(self._recurrent_array(source))
                for piece in source.pieces:
                    if self._claimed_by(piece) is None:
                        statements.append((piece.number, self._piece_statement(source, piece)))
            elif self._is_statement(source):
                if source not in self.claims:
                    arrays.append(self._node_array(source))
                statements.append((source.number, self._node_statement(source)))
        statements.sort(key=lambda pair: pair[0])
        ends = tuple(
            End(e.dim, self.names[e.open], self.names[e.after.source], e.line)
            for e in self.trace.ends
        )
        equations = Equations(
            name=self.trace.name,
            parameters=tuple(self.trace.sizes.values()),
            dims=tuple(
                Dim(r.name, r.upper, r.line) for r in self.trace.dims.values() if r.declared
            ),
            arrays=tuple(arrays),
            statements=with_starts(_named([s for _, s in statements], self.origins), ends),
            outputs=tuple(Output(name, self.names[x]) for name, x in self.outputs.items()),
            description=description,
            aliases=self._aliases(),
            updates=next(iter(self.trace.updates)) if len(self.trace.updates) == 1 else "",
            externals=called(self.trace.calls, self.live),
            data=tuple(self.trace.data.values()),
            ends=ends,
        )
        return with_checked_reads(equations)

    # -- live values and their uses ----------------------------------------------------------------

    def _mark_live(self) -> None:
        todo: list[NamedSource] = list(self.outputs.values())[::-1]
        while todo:
            source = todo.pop()
            if source in self.live:
                continue
            self.live[source] = None
            if isinstance(source, Recurrent):
                if not source.pieces:
                    name = ".".join((*source.scope, source.name))
                    raise ProgramError(f"nothing defines the recurrent tensor {name}", source.line)
                operands = [p.value for p in source.pieces]
            else:
                operands = list(source.operands)
            todo.extend(s for x in operands for s in _sources(x))

    def _claims(self) -> dict[Node, tuple[Recurrent, Piece]]:
        """Return the nodes whose value is exactly one piece's: they write the piece's slices."""
        claims: dict[Node, tuple[Recurrent, Piece]] = {}
        for source in self.live:
            if not isinstance(source, Recurrent):
                continue
            for piece in source.pieces:
                node = piece.value.source
                if (
                    isinstance(node, Node)
                    and not node.inline
                    and not self._is_constant(node)
                    and node not in self.kept
                    and node not in claims
                    and piece.domain is None
                    and piece.value.is_plain
                    and set(node.dims) == set(piece.dims)
                ):
                    claims[node] = (source, piece)
        return claims

    def _claimed_by(self, piece: Piece) -> Node | None:
        node = piece.value.source
        if isinstance(node, Node) and node in self.claims and self.claims[node][1] is piece:
            return node
        return None

    def _count(self) -> None:
        for source in self.live:
            if isinstance(source, Recurrent):
                for piece in source.pieces:
                    self._count_operand(piece.value, piece, piece.dims, piece.domain is not None)
            elif not source.inline and not self._is_constant(source):
                for x in source.operands:
                    self._count_operand(x, source, source.points)

    def _count_operand(
        self, x: Tensor, reader: Reader, points: tuple[str, ...], restricted: bool = False
    ) -> None:
        """Count one use, looking through nodes that are always part of their reader."""
        for e in x.index:
            if isinstance(e, Tensor):
                self._count_operand(e, reader, points)
        node = x.source
        if not isinstance(node, Node):
            return
        if node.inline or self._is_constant(node):
            for y in node.operands:
                inner = y if x.is_plain else _composed(y, node, x)
                self._count_operand(inner, reader, points, restricted)
            return
        use = self.uses.setdefault(node, _Use())
        use.readers[reader] = None
        fewer = not set(points) <= set(node.dims)
        use.apart |= not x.is_plain or fewer
        use.gathered |= any(isinstance(e, Tensor) for e in x.index)

    def _is_constant(self, node: Node) -> bool:
        """Tell whether the node needs no array: made of literals and index expressions only."""
        if node not in self.constant:
            self.constant[node] = (
                node.combiner is None
                and node.operation not in APART
                and (node.operation != "copy")
                and all(
                    isinstance(x.source, Node)
                    and all(isinstance(e, Expression) for e in x.index)
                    and self._is_constant(x.source)
                    for x in node.operands
                )
            )
        return self.constant[node]

    def _is_statement(self, node: Node) -> bool:
        if node in self.kept or node in self.claims:
            return True
        if node.inline or self._is_constant(node) or node not in self.uses:
            return False
        if node.combiner is not None or node.operation in APART or node.operation == "copy":
            return True
        use = self.uses[node]
        return use.apart or len(use.readers) > 1 or node.name is not None

    def _windows(self, source: NamedSource) -> Windows:
        """Return the windows along which a stored value's array has positions."""
        if not isinstance(source, Node) or source in self.kept or source in self.claims:
            return {}
        if source.operation in APART or self.uses[source].gathered:
            return {}
        return windows_of(source, self.trace.dims)

    # -- names -------------------------------------------------------------------------------------

    def _names(self) -> tuple[dict[NamedSource, str], dict[str, str]]:
        """Return the arrays' names, and by them the names without scopes. Origins use the latter,
        so that a value's draws stay when it is grouped otherwise.
        """
        stored: list[tuple[int, NamedSource]] = []
        for source in self.live:
            if isinstance(source, Recurrent):
                stored.append((source.pieces[0].number, source))
            elif source not in self.claims and self._is_statement(source):
                stored.append((source.number, source))
        stored.sort(key=lambda pair: pair[0])
        owners = {p: s for _, s in stored if isinstance(s, Recurrent) for p in s.pieces}
        readers = {node: self._readers(use) for node, use in self.uses.items()}
        outputs = {source: name for name, source in reversed(self.outputs.items())}
        sources = [source for _, source in stored]
        names = array_names(sources, readers, owners, outputs)
        plain = array_names(sources, readers, owners, outputs, scoped=False)
        return names, {names[source]: plain[source] for source in sources}

    def _readers(self, use: _Use) -> list[Reader]:
        """Return the readers in textual order; a node that writes a piece stands for the piece."""
        readers = [
            self.claims[r][1] if isinstance(r, Node) and r in self.claims else r
            for r in use.readers
        ]
        return sorted(readers, key=lambda reader: reader.number)

    def _aliases(self) -> tuple[tuple[str, str], ...]:
        """Return the user's names of arrays that are called otherwise."""
        aliases: dict[str, str] = {}
        for node, (array, _) in self.claims.items():
            for name in node.aliases:
                aliases.setdefault(name, self.names[array])
        for source, array_name in self.names.items():
            for name in source.aliases:
                aliases.setdefault(name, array_name)
        return tuple((a, n) for a, n in aliases.items() if a != n)

    # -- arrays ------------------------------------------------------------------------------------

    def _node_array(self, node: Node) -> Array:
        described = "" if node.line is None else f"a value in `{node.line.text}`"
        has_name = bool(node.name or node.hint) or node in self.kept
        windows = self._windows(node)
        extent = extent_of(box(by_position(windows, node.ranges)))
        return Array(
            name=self.names[node],
            dims=node.dims,
            extent=extent_by_position(windows, node.dims, extent),
            dtype=node.dtype,
            shape=node.shape,
            scope=node.scope,
            described="" if has_name else described,
        )

    def _recurrent_array(self, source: Recurrent) -> Array:
        written: str | None = None
        for piece in source.pieces:
            domain = piece.domain or self._domain(piece.dims)
            part = image(domain, piece.dims, piece.index, None, source.dims)
            written = part if written is None else union(written, part)
        assert written is not None
        return Array(
            name=self.names[source],
            dims=source.dims,
            extent=extent_of(written),
            dtype=source.dtype,
            shape=source.shape,
            scope=source.scope,
        )

    def _domain(self, dims: tuple[str, ...]) -> str:
        ranges = (self.trace.dims[d] for d in dims)
        return box([(r.name, r.lower, r.upper) for r in ranges])

    # -- statements --------------------------------------------------------------------------------

    def _node_statement(self, node: Node) -> Statement:
        array, write, name = node, tuple(variable(d) for d in node.dims), ""
        line, scope, phase = node.line, node.scope, node.phase
        if node in self.claims:
            recurrent, piece = self.claims[node]
            write, name, line = piece.index, self.names[recurrent], piece.line
            phase = piece.phase
            scope = recurrent.scope or node.scope
        else:
            name = self.names[array]
        reduction, windows = "", self._windows(node)
        at = moves(windows)
        if node.combiner is not None:
            points = {d: e for d, e in at.items() if isinstance(e, Expression)}
            reduction = box(
                by_position(windows, [*node.ranges, *node.over]),
                equal=[(a.substitute(points), b.substitute(points)) for a, b in node.equal],
                at_least=[(e.substitute(points), Expression(0)) for e in node.at_least],
            )
        return Statement(
            name=name,
            dims=node.dims,
            domain=box(by_position(windows, node.ranges)),
            array=name,
            write=write,
            body=self._existing(
                node,
                self._body(node.operands[0], at)
                if node.combiner is not None
                else self._call(node, at),
                at,
            ),
            reduction_dims=tuple(n for n, _, _ in node.over),
            reduction=reduction,
            combiner=node.combiner,
            scope=scope,
            phase=phase,
            line=line,
            guard=None
            if node.everywhere
            else self._guard(node.dims, [name for name, _, _ in node.over], name, line),
        )

    def _piece_statement(self, source: Recurrent, piece: Piece) -> Statement:
        return Statement(
            name=self.names[source],
            dims=piece.dims,
            domain=piece.domain or self._domain(piece.dims),
            array=self.names[source],
            write=piece.index,
            body=self._body(piece.value, {}),
            scope=source.scope,
            phase=piece.phase,
            line=piece.line,
            guard=None
            if piece.everywhere
            else self._guard(piece.dims, (), self.names[source], piece.line),
        )

    def _guard(
        self, dims: tuple[str, ...], over: Sequence[str], name: str, line: SourceLine | None
    ) -> Read | None:
        """Return the element that says whether an instance over `dims` is executed."""
        guards = []
        for episodes in self.trace.ends:
            if episodes.dim not in dims:
                continue
            reduced = {d for d in episodes.dims for n in over if n == d or n.startswith(f"{d}_")}
            lacking = [d for d in episodes.dims if d not in dims and d not in reduced]
            if lacking:
                listed = ", ".join(lacking)
                raise ProgramError(
                    f"{name} varies over {episodes.dim}, along which each {listed} has an episode "
                    f"of its own that ends, but not over {listed}: say for which {listed}, or "
                    "reduce over it",
                    line,
                )
            if episodes.covers(dims):
                guards.append(self._read(episodes.open, episodes.here))
        return guards[0] if guards else None

    def _existing(self, node: Node, body: Body, at: ArrayIndices) -> Body:
        """Return a body that reads what exists: a value over a range may be of points past the end
        of an episode, where it is read by nothing.
        """
        ranges = [d for d in node.dims if self.trace.dims[d].axis is not None]
        if not ranges or not self.trace.ends:
            return body
        for episodes, place in dict.fromkeys(conditions(Tensor(node), ranges, self.trace.ends)):
            held = self._read(episodes.open, tuple(_moved(e, at) for e in place))
            arguments = (held, body, Literal(0, body.dtype))
            body = Call("where", arguments, body.dtype, body.shape)
        return body

    # -- bodies ------------------------------------------------------------------------------------

    def _body(self, x: Tensor, moves: ArrayIndices) -> Body:
        """Return the body that computes `x` with dims replaced by `moves`."""
        source = x.source
        index = tuple(_moved(e, moves) for e in x.index)
        if isinstance(source, Node):
            if source in self.claims:
                recurrent, piece = self.claims[source]
                at: ArrayIndices = dict(zip(source.dims, index, strict=True))
                written = tuple(_moved(e, at) for e in piece.index)
                return self._read(recurrent, written)
            if not self._is_statement(source):
                return self._call(source, dict(zip(source.dims, index, strict=True)))
        return self._read(source, index)

    def _read(self, source: NamedSource, index: tuple[Index, ...]) -> Read:
        index = positions(self._windows(source), source.dims, index)
        entries = tuple(e if isinstance(e, Expression) else self._body(e, {}) for e in index)
        return Read(self.names[source], entries, source.dtype, source.shape)

    def _call(self, node: Node, moves: ArrayIndices) -> Body:
        if node.operation == "literal":
            return Literal(node.options["value"], node.dtype, node.shape)
        if node.operation == "index":
            value = _moved(node.options["expression"], moves)
            assert isinstance(value, Expression), (
                "a gather through an index is resolved when it is made"
            )
            return IndexValue(value, node.dtype)
        if node.operation in IDENTITIES:
            return self._body(node.operands[0], moves)
        arguments = tuple(self._body(x, moves) for x in node.operands)
        attributes = tuple(node.options.items())
        return Call(node.operation, arguments, node.dtype, node.shape, attributes)


def _moved(e: Index, moves: ArrayIndices) -> Index:
    if isinstance(e, Tensor):
        return Tensor(e.source, tuple(_moved(x, moves) for x in e.index))
    for d, value in moves.items():
        if isinstance(value, Tensor) and e == variable(d):
            return value
    return e.substitute({d: v for d, v in moves.items() if isinstance(v, Expression)})


def _composed(y: Tensor, node: Node, x: Tensor) -> Tensor:
    """Return the operand `y` of `node` as read when `node` is read as `x`."""
    moves: ArrayIndices = dict(zip(node.dims, x.index, strict=True))
    return Tensor(y.source, tuple(_moved(e, moves) for e in y.index))


def _sources(x: Tensor) -> list[NamedSource]:
    sources: list[NamedSource] = [x.source]
    for e in x.index:
        if isinstance(e, Tensor):
            sources.extend(_sources(e))
    return sources


def _array_of(x: Tensor) -> NamedSource:
    """Return the source with the output `x`; anything but a plain, stored value is copied."""
    node = x.source
    stored = isinstance(node, Recurrent) or not (
        node.inline or node.operation in ("literal", "index")
    )
    if x.is_plain and stored:
        return node
    copy = apply("copy", x).source
    assert isinstance(copy, Node)
    copy.line = current().returned or copy.line
    return copy


def _named(statements: list[Statement], origins: Mapping[str, str]) -> tuple[Statement, ...]:
    """Name each after its array, or after its piece of it: `state[0]`, `state[t+1]`. Its origin
    uses the array's name in `origins` in the same way.
    """
    pieces = Counter(s.array for s in statements)
    names: set[str] = set()
    taken: set[str] = set()
    named = []
    for s in statements:
        piece = "" if pieces[s.array] == 1 else _piece_text(s)
        origin = unique(origins[s.array] + piece, taken)
        named.append(replace(s, name=unique(s.array + piece, names), origin=origin))
    return tuple(named)


def _piece_text(statement: Statement) -> str:
    """Return the indices of the left side that are not the loop variables, without spaces."""
    if any(isinstance(a, Choice) for e in statement.write for a in e.atoms()):
        return "[next]"
    told = [e for e in statement.write if e not in [variable(d) for d in statement.dims]]
    return f"[{','.join(str(e).replace(' ', '') for e in told)}]" if told else ""
