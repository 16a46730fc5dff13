"""The uses of a trace's values: which are live, and which of them are statements of their own.

A value is one if the user named it, several readers use it, it is read elsewhere than at the
reader's own instance, it varies over fewer dims than its reader, it reduces or draws, or it nests
as many operations as one body may. Everything else is part of its reader's body. A value that is
assigned to slices of a recurrent tensor writes them directly: no statement copies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from workbench.errors import ProgramError
from workbench.language.sources import bounds_of, elements_of
from workbench.language.template.array_names import NamedSource, Reader
from workbench.language.template.window_arrays import Windows, windows_of
from workbench.language.tracing.indexing import position_of
from workbench.language.tracing.nodes import apply, as_tensor
from workbench.language.tracing.recurrent import Piece, Recurrent
from workbench.language.tracing.tensor import Index, Node, Tensor
from workbench.language.tracing.trace import Range, current
from workbench.polyhedral.expression import Expression, variable
from workbench.polyhedral.sets.relations import box, is_subset
from workbench.program.operations.table import APART

ArrayIndices = dict[str, Index]

MOST_NESTED = 100
"""The most operations that a body nests: whoever walks one has a call for each."""


@dataclass
class Use:
    """The use of a node: by how many readers, and whether any needs it as an array of its own."""

    readers: dict[Reader, None] = field(default_factory=dict)
    apart: bool = False
    gathered: dict[str, None] = field(default_factory=dict)
    """The dims along which some reader's index depends on data."""


class Uses:
    """The live values behind `outputs`, by how they are used. `claims` are the nodes whose value is
    exactly one piece's, with it; `of` has the use of each node that is no part of all its readers.
    """

    def __init__(self, dims: Mapping[str, Range], outputs: Sequence[NamedSource]) -> None:
        self._dims = dims
        self.kept = set(outputs)
        self.of: dict[Node, Use] = {}
        self._constant: dict[Node, bool] = {}
        self.live: dict[NamedSource, None] = {}
        self._mark_live(outputs)
        self._count()
        self.claims = self._claims()
        self._deep: set[Node] = set()
        """Those that are statements so that no body nests more than it may."""
        self._cut()

    def _mark_live(self, outputs: Sequence[NamedSource]) -> None:
        todo = list(outputs)[::-1]
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
                    and not self.is_constant(node)
                    and node not in self.kept
                    and node not in claims
                    and all(_spans(source, d) for d in self.of[node].gathered)
                    and piece.domain is None
                    and piece.value.is_plain
                    and set(node.dims) == set(piece.dims)
                ):
                    claims[node] = (source, piece)
        return claims

    def claim(self, source: NamedSource | Piece) -> tuple[Recurrent, Piece] | None:
        """Return the recurrent tensor and its piece that a value writes itself, if it does."""
        return self.claims.get(source) if isinstance(source, Node) else None

    def claimed_by(self, piece: Piece) -> Node | None:
        """Return the node that writes a piece's slices itself, if one does."""
        node = piece.value.source
        if isinstance(node, Node) and node in self.claims and self.claims[node][1] is piece:
            return node
        return None

    def _count(self) -> None:
        for source in self.live:
            if isinstance(source, Recurrent):
                for piece in source.pieces:
                    self._count_operand(piece.value, piece, piece.dims, piece.domain is not None)
            elif not source.inline and not self.is_constant(source):
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
        if node.inline or self.is_constant(node):
            for y in node.operands:
                inner = y if x.is_plain else _composed(y, node, x)
                self._count_operand(inner, reader, points, restricted)
            return
        use = self.of.setdefault(node, Use())
        use.readers[reader] = None
        fewer = not set(points) <= set(node.dims)
        use.apart |= not x.is_plain or fewer
        pairs = zip(node.dims, x.index, strict=True)
        use.gathered |= dict.fromkeys(d for d, e in pairs if isinstance(e, Tensor))

    def is_constant(self, node: Node) -> bool:
        """Tell whether the node needs no array: made of literals and index expressions only."""
        todo = [node]
        while todo:
            one = todo[-1]
            if one in self._constant:
                todo.pop()
                continue
            below = [x.source for x in one.operands if isinstance(x.source, Node)]
            before = [] if _needs_array(one) else [s for s in below if s not in self._constant]
            todo.extend(before)
            if not before:
                self._constant[one] = not _needs_array(one) and all(
                    self._constant[s] for s in below
                )
        return self._constant[node]

    def is_statement(self, node: Node) -> bool:
        """Tell whether a live node is a statement of its own."""
        if node in self.kept or node in self.claims:
            return True
        if node.inline or self.is_constant(node) or node not in self.of:
            return False
        if node.combiner is not None or node.operation in APART or node.operation == "copy":
            return True
        use = self.of[node]
        named = node.name is not None
        return use.apart or len(use.readers) > 1 or named or node in self._deep

    def _cut(self) -> None:
        """Make statements of values where bodies would nest too many operations."""
        depth: dict[Node, int] = {}
        todo = [source for source in self.live if isinstance(source, Node)]
        while todo:
            node = todo[-1]
            if node in depth:
                todo.pop()
                continue
            read = [s for x in node.operands for s in _sources(x) if isinstance(s, Node)]
            before = [s for s in read if s not in depth]
            todo.extend(before)
            if not before:
                nested = (0 if self.is_statement(s) else depth[s] for s in read)
                depth[node] = 1 + max(nested, default=0)
                if depth[node] >= MOST_NESTED and node in self.of:
                    self._deep.add(node)

    def windows(self, source: NamedSource) -> Windows:
        """Return the windows along which a stored value's array has positions."""
        if not isinstance(source, Node) or source in self.kept or source in self.claims:
            return {}
        if source.operation in APART or self.of[source].gathered:
            return {}
        return windows_of(source, self._dims)


def _needs_array(node: Node) -> bool:
    """Tell whether a node needs an array whatever its operands are that need none."""
    return (
        node.combiner is not None
        or node.operation in APART
        or node.operation == "copy"
        or not all(
            isinstance(x.source, Node) and all(isinstance(e, Expression) for e in x.index)
            for x in node.operands
        )
    )


def _spans(recurrent: Recurrent, dim: str) -> bool:
    """Tell whether a recurrent tensor has no elements along a dim but those at its values. An index
    that depends on data would find others where the value itself has none.
    """
    entries = zip(*(piece.index for piece in recurrent.pieces), strict=True)
    return any(all(e == variable(dim) for e in entry) for entry in entries)


def moved(e: Index, moves: ArrayIndices) -> Index:
    """Return an index with dims replaced by `moves`, all at one time."""
    if isinstance(e, Tensor):
        return Tensor(e.source, tuple(moved(x, moves) for x in e.index))
    there = {d: value for d, value in moves.items() if d in e.variables}
    if any(isinstance(value, Tensor) for value in there.values()):
        return position_of(e, {d: as_tensor(value) for d, value in there.items()})
    return e.substitute({d: v for d, v in there.items() if isinstance(v, Expression)})


def _composed(y: Tensor, node: Node, x: Tensor) -> Tensor:
    """Return the operand `y` of `node` as read when `node` is read as `x`."""
    moves: ArrayIndices = dict(zip(node.dims, x.index, strict=True))
    return Tensor(y.source, tuple(moved(e, moves) for e in y.index))


def _sources(x: Tensor) -> list[NamedSource]:
    sources: list[NamedSource] = [x.source]
    for e in x.index:
        if isinstance(e, Tensor):
            sources.extend(_sources(e))
    return sources


def array_of(x: Tensor) -> NamedSource:
    """Return the source with the output `x`; anything but a plain, stored value is copied. So is a
    read of a recurrent array that has more elements than it has at its loop variables.
    """
    node = x.source
    if isinstance(node, Recurrent):
        within = box(bounds_of(node.dims))
        stored = isinstance(x, Recurrent) or not node.pieces  # which is refused later
        stored = stored or is_subset(elements_of(node, ()), within)
    else:
        stored = not (node.inline or node.operation in ("literal", "index"))
    if x.is_plain and stored:
        return node
    copy = apply("copy", x).source
    assert isinstance(copy, Node)
    copy.line = x.read_line or current().returned or copy.line
    return copy
