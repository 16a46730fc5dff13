"""The equations of a trace: its live values become arrays and statements, and bodies of these."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.errors import ProgramError, SourceLine
from workbench.language.episodes.ends import conditions
from workbench.language.outside.external_calls import called
from workbench.language.template.array_names import NamedSource
from workbench.language.template.program_names import Names
from workbench.language.template.uses import ArrayIndices, Uses, array_of, moved
from workbench.language.template.window_arrays import (
    by_position,
    extent_by_position,
    moves,
    positions,
)
from workbench.language.tracing.nodes import IDENTITIES
from workbench.language.tracing.recurrent import Piece, Recurrent
from workbench.language.tracing.tensor import Index, Node, Tensor
from workbench.language.tracing.trace import Trace
from workbench.polyhedral.expression import Expression, variable
from workbench.polyhedral.sets.relations import box, extent_of, image, union
from workbench.program.bodies import Body, Call, IndexValue, Literal, Read
from workbench.program.episodes.checked_reads import with_checked_reads
from workbench.program.episodes.starts import with_starts
from workbench.program.values import Array, Dim, End, Equations, Output, Statement


def build(trace: Trace, outputs: dict[str, Tensor], description: str) -> Equations:
    """Build the equations that the trace's outputs need."""
    return _Builder(trace, outputs).equations(description)


class _Builder:
    def __init__(self, trace: Trace, outputs: dict[str, Tensor]) -> None:
        self.trace = trace
        self.outputs = {name: array_of(x) for name, x in outputs.items()}
        self.uses = Uses(trace.dims, list(self.outputs.values()))
        self.called = Names(self.uses, self.outputs)
        self.names = self.called.arrays

    def equations(self, description: str) -> Equations:
        """Return arrays and statements in textual order."""
        statements: list[tuple[int, NamedSource, Statement]] = []
        arrays: list[Array] = []
        for source in self.uses.live:
            if isinstance(source, Recurrent):
                arrays.append(self._recurrent_array(source))
                for piece in source.pieces:
                    if self.uses.claimed_by(piece) is None:
                        statement = self._piece_statement(source, piece)
                        statements.append((piece.number, source, statement))
            elif self.uses.is_statement(source):
                if source not in self.uses.claims:
                    arrays.append(self._node_array(source))
                statements.append((source.number, source, self._node_statement(source)))
        statements.sort(key=lambda row: row[0])
        written = [(source, statement) for _, source, statement in statements]
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
            statements=with_starts(self.called.statements(written), ends),
            outputs=tuple(Output(name, self.names[x]) for name, x in self.outputs.items()),
            description=description,
            aliases=self.called.aliases(),
            updates=next(iter(self.trace.updates)) if len(self.trace.updates) == 1 else "",
            externals=called(self.trace.calls, self.uses.live),
            data=tuple(self.trace.data.values()),
            ends=ends,
        )
        return with_checked_reads(equations)

    # -- arrays ------------------------------------------------------------------------------------

    def _node_array(self, node: Node) -> Array:
        described = "" if node.line is None else f"a value in `{node.line.text}`"
        has_name = bool(node.name or node.hint) or node in self.uses.kept
        windows = self.uses.windows(node)
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
        if node in self.uses.claims:
            recurrent, piece = self.uses.claims[node]
            write, name, line = piece.index, self.names[recurrent], piece.line
            phase = piece.phase
            scope = recurrent.scope or node.scope
        else:
            name = self.names[array]
        reduction, windows = "", self.uses.windows(node)
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
            guards=()
            if node.everywhere
            else self._guards(node.dims, [name for name, _, _ in node.over], name, line),
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
            guards=()
            if piece.everywhere
            else self._guards(piece.dims, (), self.names[source], piece.line),
        )

    def _guards(
        self, dims: tuple[str, ...], over: Sequence[str], name: str, line: SourceLine | None
    ) -> tuple[Read, ...]:
        """Return the elements that say whether an instance over `dims` is executed."""
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
        return tuple(guards)

    def _existing(self, node: Node, body: Body, at: ArrayIndices) -> Body:
        """Return a body that reads what exists: a value over a range may be of points past the end
        of an episode, where it is read by nothing.
        """
        ranges = [d for d in node.dims if self.trace.dims[d].axis is not None]
        if not ranges or not self.trace.ends:
            return body
        for episodes, place in dict.fromkeys(conditions(Tensor(node), ranges, self.trace.ends)):
            held = self._read(episodes.open, tuple(moved(e, at) for e in place))
            arguments = (held, body, Literal(0, body.dtype))
            body = Call("where", arguments, body.dtype, body.shape)
        return body

    # -- bodies ------------------------------------------------------------------------------------

    def _body(self, x: Tensor, moves: ArrayIndices) -> Body:
        """Return the body that computes `x` with dims replaced by `moves`."""
        source = x.source
        index = tuple(moved(e, moves) for e in x.index)
        if isinstance(source, Node):
            if source in self.uses.claims:
                recurrent, piece = self.uses.claims[source]
                at: ArrayIndices = dict(zip(source.dims, index, strict=True))
                written = tuple(moved(e, at) for e in piece.index)
                return self._read(recurrent, written, x.read_line)
            if not self.uses.is_statement(source):
                return self._call(source, dict(zip(source.dims, index, strict=True)))
        return self._read(source, index, x.read_line)

    def _read(
        self, source: NamedSource, index: tuple[Index, ...], line: SourceLine | None = None
    ) -> Read:
        index = positions(self.uses.windows(source), source.dims, index)
        entries = tuple(e if isinstance(e, Expression) else self._body(e, {}) for e in index)
        return Read(self.names[source], entries, source.dtype, source.shape, line)

    def _call(self, node: Node, moves: ArrayIndices) -> Body:
        if node.operation == "literal":
            return Literal(node.options["value"], node.dtype, node.shape)
        if node.operation == "index":
            value = moved(node.options["expression"], moves)
            assert isinstance(value, Expression), (
                "a gather through an index is resolved when it is made"
            )
            return IndexValue(value, node.dtype)
        if node.operation in IDENTITIES:
            return self._body(node.operands[0], moves)
        arguments = tuple(self._body(x, moves) for x in node.operands)
        attributes = tuple(node.options.items())
        return Call(node.operation, arguments, node.dtype, node.shape, attributes)
