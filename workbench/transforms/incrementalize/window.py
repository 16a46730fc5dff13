"""A reduction over a sliding window from two scans over blocks of the window's length: from each
element to the end of its block, and from the beginning of the block to each element. Every window
is the end of one block and the beginning of the next, so nothing is ever subtracted (van Herk 1992;
Gil and Werman 1993).
"""

from __future__ import annotations

from dataclasses import dataclass

from workbench.polyhedral.expression import Expression, expression, variable
from workbench.polyhedral.sets.moving_ranges import (
    Window,
    fixed,
    shifted,
    single,
    split,
    with_neighbour,
)
from workbench.polyhedral.sets.relations import (
    domain_with,
    is_empty,
    project_out,
    subtract,
    with_dims,
)
from workbench.program.bodies import Body
from workbench.program.values import Array
from workbench.transforms.incrementalize.factors import scaled
from workbench.transforms.incrementalize.pieces import Pieces, read
from workbench.transforms.incrementalize.recurrence import Reduction


@dataclass(frozen=True)
class _Sliding:
    """The shared data of the rewrite's parts. An element of the scans is the value for the instance
    whose window begins at the element (`to_end`) or at the element's block (`from_start`).
    """

    found: Reduction
    window: Window
    pieces: Pieces
    names: tuple[str, str]
    limits: str
    """The limits of reads, over the other dimensions and the moving one."""
    domain: str
    """The instances whose window has any points."""

    @property
    def size(self) -> int:
        """The length of the window and of the blocks."""
        return self.window.length

    @property
    def k(self) -> Expression:
        """Return an element by its block and position."""
        return variable(self.names[0]) * self.size + variable(self.names[1])

    def begins(self, k: Expression) -> Expression:
        """Return the instance whose whole window begins at an element."""
        return k - self.window.start

    def start_of(self, k: Expression) -> Expression:
        """Return the first position of an element's block."""
        return k // self.size * self.size

    def value(self, t: Expression, k: Expression) -> Body:
        """Return an element's part in an instance."""
        return self.found.summand.at({self.found.dim: t, self.found.over: k})

    def element(self, array: Array, k: Expression, seen: Expression, t: Expression) -> Body:
        """Return an element of a scan made for the instance `seen`, as it counts in `t`."""
        dim = self.found.dim
        ratio = self.found.summand.ratio({dim: t}, {dim: seen})
        index = (*(variable(d) for d in self.found.others), k)
        return scaled(ratio, read(array, index))


def sliding(found: Reduction, window: Window, pieces: Pieces, names: tuple[str, str]) -> None:
    """Add both scans, then each instance from one element of either or both."""
    limits = with_dims(project_out(found.points, (found.dim,)), (*found.others, found.over))
    domain = project_out(found.points, (found.over,))
    at = _Sliding(found, window, pieces, names, limits, domain)
    to_end = _scan(at, "to_end", -1)
    from_start = _scan(at, "from_start", 1)
    _whole_windows(at, to_end, from_start)
    _cut_windows(at, to_end, from_start)
    empty = subtract(found.domain, domain)
    pieces.add(found.array, empty, found.dims, found.write, found.nothing)


def _scan(at: _Sliding, what: str, way: int) -> Array:
    """Scan all blocks in step, each from one of its ends to the other."""
    combined, size, (block, position) = at.found, at.size, at.names
    over, others = combined.over, combined.others
    own = (*(variable(d) for d in others),)
    first = 0 if way > 0 else size - 1
    example = combined.summand.at({})
    array = at.pieces.array(what, example, at.limits, (*others, combined.dim))

    def value(k: Expression, start: Expression) -> Body:
        return at.value(at.begins(start if way > 0 else k), k)

    in_blocks = split(at.limits, over, size, at.names)
    ends = fixed(in_blocks, {position: first})
    c = variable(block) * size
    k = c + first
    dims = (*others, block)
    at.pieces.add(array, with_dims(ends, dims), dims, (*own, k), value(k, c))
    edge = subtract(at.limits, with_neighbour(at.limits, over, -way))
    edge = subtract(edge, _equal(edge, variable(over) - at.start_of(variable(over)) - first))
    if not is_empty(edge):
        k_edge = single(edge, over)
        moves = k_edge is None or k_edge.variables
        if k_edge is None or moves:  # a write at a place that moves could not be a slice
            k_edge = variable(over)
        body = value(k_edge, at.start_of(k_edge))
        if moves:
            at.pieces.add(array, edge, (*others, over), (*own, k_edge), body)
        else:
            at.pieces.add(array, project_out(edge, (over,)), others, (*own, k_edge), body)
    inner = split(with_neighbour(at.limits, over, -way), over, size, at.names)
    inner = subtract(inner, _equal(inner, variable(position) - first))
    dims = (*others, block, position)
    here, there = at.begins(at.k), at.begins(at.k - way)
    entered = value(at.k, c)
    seen = (at.begins(c), at.begins(c)) if way > 0 else (here, there)
    kept = at.element(array, at.k - way, seen[1], seen[0])
    body = combined.both(kept, entered) if way > 0 else combined.both(entered, kept)
    at.pieces.add(array, with_dims(inner, dims), dims, (*own, at.k), body)
    return array


def _whole_windows(at: _Sliding, to_end: Array, from_start: Array) -> None:
    """Add windows that no limit cuts: those that are a block, and those that begin within one."""
    combined, size, (block, position) = at.found, at.size, at.names
    t = variable(combined.dim)
    first, last = t + at.window.start, t + at.window.start + size - 1
    domain = domain_with(
        at.domain, at_least=[(first, at.window.lower), (at.window.upper - 1, last)]
    )
    if is_empty(domain):
        return
    by_first = split(shifted(domain, combined.dim, -at.window.start), combined.dim, size, at.names)
    c = variable(block) * size
    dims = (*combined.others, block)
    here = at.begins(c)
    body = at.element(to_end, c, here, here)
    aligned = with_dims(fixed(by_first, {position: 0}), dims)
    at.pieces.add(combined.array, aligned, dims, combined.index({combined.dim: here}), body)
    dims = (*dims, position)
    inner = subtract(by_first, _equal(by_first, variable(position)))
    here = at.begins(at.k)
    body = combined.both(
        at.element(to_end, at.k, here, here),
        at.element(from_start, at.k + size - 1, at.begins(c + size), here),
    )
    at.pieces.add(
        combined.array, with_dims(inner, dims), dims, combined.index({combined.dim: here}), body
    )


def _cut_windows(at: _Sliding, to_end: Array, from_start: Array) -> None:
    """Add windows that begin before the first element, end behind the last, or both."""
    combined, size = at.found, at.size
    lower, upper = at.window.lower, at.window.upper
    t = variable(combined.dim)
    begin, end = t + at.window.start, t + at.window.start + size - 1
    before, behind = (lower - 1, begin), (end, upper)
    inside, within = (begin, lower), (upper - 1, end)
    for first, last, conditions in (
        (begin, upper - 1, [inside, behind]),
        (lower, end, [before, within]),
        (lower, upper - 1, [before, behind]),
    ):
        domain = domain_with(at.domain, at_least=conditions)
        crossing = last // size - first // size
        for apart in (0, 1):
            part = domain_with(domain, [(crossing, expression(apart))])
            if is_empty(part):
                continue
            body = _cut(at, to_end, from_start, (first, last), apart)
            at.pieces.add(combined.array, part, combined.dims, combined.write, body)


def _cut(
    at: _Sliding,
    to_end: Array,
    from_start: Array,
    between: tuple[Expression, Expression],
    apart: int,
) -> Body:
    """Return a window's value: it ends with its block, begins with it, or crosses into the next."""
    (first, last), t = between, variable(at.found.dim)
    start = at.start_of(first)
    if not apart and last == at.window.upper - 1:
        return at.element(to_end, first, at.begins(first), t)
    if not apart:
        return at.element(from_start, last, at.begins(start), t)
    return at.found.both(
        at.element(to_end, first, at.begins(first), t),
        at.element(from_start, last, at.begins(at.start_of(first) + at.size), t),
    )


def _equal(domain: str, zero: Expression) -> str:
    return domain_with(domain, [(zero, expression(0))])
