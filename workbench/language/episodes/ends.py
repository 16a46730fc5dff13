"""Episodes that end: `wb.until`, and what it means for reductions and derivatives.

Along a dimension that ends, an instance is executed where its episode is open. So a reduction takes
only points whose values exist: what it combines stands in a `where` on the open elements. So does
the share of a derivative that another element than its own receives.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from workbench.errors import ProgramError, SourceLine
from workbench.language.tracing.nodes import apply, as_tensor, index, is_literal, literal
from workbench.language.tracing.recurrent import Recurrent
from workbench.language.tracing.tensor import Index, Node, Tensor
from workbench.language.tracing.trace import current, dim_name, inline, user_line
from workbench.language.unobserved import unobserved
from workbench.polyhedral.expression import Expression, expression, maximum, variable
from workbench.polyhedral.sets.relations import box, domain_with, is_empty
from workbench.program.gradients import GRADIENT, TOTAL

OpenIndex = tuple[Expression, ...]


@dataclass(frozen=True, eq=False)
class OpenEpisodes:
    """Episodes along `dim`, each of an instance of the other `dims`, while they are traced.

    `open` is the recurrence, `after` counts its true elements behind the first, `last` is the last
    step.
    """

    dim: str
    dims: tuple[str, ...]
    open: Recurrent
    after: Tensor
    last: Tensor
    line: SourceLine | None

    def covers(self, dims: Collection[str]) -> bool:
        """Tell whether an instance over `dims` belongs to one step of one episode."""
        return set(self.dims) <= set(dims)

    def at(self, place: OpenIndex) -> Tensor:
        """Return the element that says whether an instance is executed."""
        return Tensor(self.open, place)

    @property
    def here(self) -> OpenIndex:
        """The index of that element at the loop variables."""
        return tuple(variable(d) for d in self.dims)


@dataclass(frozen=True)
class AssumedDelay:
    """A promise made when a range of a recurrence was reduced: by how much its writes lead."""

    recurrent: Recurrent
    episodes: OpenEpisodes
    delay: int
    line: SourceLine | None


@unobserved
def until(event: object, over: object) -> Tensor:
    """End each episode along the dim `over` with the first step at which `event` is true.

    `event` is boolean and varies over that dim and over those of which each instance has an episode
    of its own: `end = wb.until(terminated | truncated, over=t)`. A value at `t` then exists for `t`
    up to `end`, what the last step writes at `t + 1` included; one over two dims that end where
    both do. Reductions and ranges take what exists, a mean divides by its number. Any other read of
    what does not exist is an error: while the program is traced if it comes with each end, else
    while it runs, as for `x[0, t]` or `wb.gather(x, t=step)`. Both sides of a `wb.where` have to
    exist. Outputs are NaN (0, False) there, gradients 0. Draws are the same as without an end. It
    is written before reductions over the steps of its episodes and before derivatives.

    Returns the last step (int32): the size of the dim minus 1 where no event comes. It may be an
    index: `x[b, i, end]`. `result.lengths` has the lengths of the episodes.
    """
    x, line, trace = as_tensor(event), user_line(), current()
    dim = dim_name(over)
    if x.shape or x.dtype != "bool":
        raise ProgramError(f"until {x!r}; expected one boolean, found {_kind(x)}", line)
    if dim not in x.dims:
        raise ProgramError(
            f"until {x!r}, which does not vary over {dim}; its dims: {', '.join(x.dims) or 'none'}",
            line,
        )
    own = [d for d in x.dims if not trace.dims[d].declared]
    if own:
        raise ProgramError(f"until {x!r}, which varies over {trace.dims[own[0]].text}", line)
    known = next((e for e in trace.ends if dim in e.dims or e.dim in x.dims), None)
    if known is not None:
        raise ProgramError(f"{dim} has episodes with an end already (of {known.dim})", line)
    refuse_calls(line)
    size = trace.dims[dim].upper
    opened = Recurrent("open", (), x.dims, "bool", trace.scope)
    trace.recurrents.append(opened)
    first = {dim: expression(0)}
    following = {dim: variable(dim) + 1}
    opened.define(_place(x.dims, first), literal(True))
    opened.define(_place(x.dims, following), opened & ~x)
    after = opened[_key(x.dims, dim, slice(1, size + 1))].sum()
    assert isinstance(after.source, Node)
    after.source.hint = f"open_{dim}"
    last = apply("minimum", after, index(size - 1))
    episodes = OpenEpisodes(dim, x.dims, opened, after, last, line)
    _refuse_earlier(episodes)
    trace.ends.append(episodes)
    return last


def _kind(x: Tensor) -> str:
    return x.dtype if not x.shape else f"{x.dtype} of inner shape {x.shape}"


def _place(dims: Sequence[str], moved: dict[str, Expression]) -> OpenIndex:
    return tuple(moved.get(d, variable(d)) for d in dims)


def _key(dims: Sequence[str], dim: str, entry: slice) -> tuple[object, ...]:
    return tuple(entry if d == dim else variable(d) for d in dims)


def _refuse_earlier(episodes: OpenEpisodes) -> None:
    """Refuse a program that has combined values along the episodes before their end was known."""
    trace = current()
    for node in trace.nodes:
        if node is episodes.after.source or node.combiner is None:
            continue
        names = {name for name, _, _ in node.over}
        if list(conditions(node.operands[0], names, [episodes])):
            raise ProgramError(
                f"wb.until comes after a reduction over steps of its episodes ({node.line}); "
                "write it before",
                episodes.line,
            )
    scopes = [*(r.scope for r in trace.recurrents), *(node.scope for node in trace.nodes)]
    if any(GRADIENT in scope or TOTAL in scope for scope in scopes):
        raise ProgramError("wb.until comes after wb.gradient; write it before", episodes.line)


# -- what exists ----------------------------------------------------------------------------------


def existing(x: Tensor, kind: str, names: Collection[str]) -> tuple[Tensor, Tensor | None]:
    """Return what a reduction over `names` combines, and where its points exist (None: all do)."""
    trace = current()
    if not trace.ends:
        return x, None
    places = _needed(list(dict.fromkeys(conditions(x, names, trace.ends))))
    if not places:
        return x, None
    if kind == "collect":
        raise ProgramError(
            f"all values of {x!r} over {', '.join(names)}: their number depends on the end of an "
            "episode",
            user_line(),
        )
    if kind != "sum":
        for episodes, place in places:
            _expect_some(x, kind, names, episodes, place)
    held = all_open(places)
    with inline():
        return apply("where", held, x, _neutral(kind, x.dtype)), held


def all_open(places: Sequence[tuple[OpenEpisodes, OpenIndex]]) -> Tensor:
    """Return the condition that the element at each of some places is true."""
    with inline():
        return reduce(lambda a, b: a & b, (episodes.at(place) for episodes, place in places))


def _needed(places: list[tuple[OpenEpisodes, OpenIndex]]) -> list[tuple[OpenEpisodes, OpenIndex]]:
    """Leave out what is open wherever the point's own step is: earlier steps of its episode."""
    own = [episodes for episodes, place in places if place == episodes.here]
    return [
        (episodes, place)
        for episodes, place in places
        if place == episodes.here or episodes not in own or not _is_earlier(episodes, place)
    ]


def _is_earlier(episodes: OpenEpisodes, place: OpenIndex) -> bool:
    at = dict(zip(episodes.dims, place, strict=True))
    dims = current().ordered({v for e in place for v in e.variables})
    ranges = [(d, current().dims[d].lower, current().dims[d].upper) for d in dims]
    later = (at[episodes.dim], variable(episodes.dim) + 1)
    others = all(at[d] == variable(d) for d in episodes.dims if d != episodes.dim)
    return others and is_empty(domain_with(box(ranges), at_least=[later]))


def ends_along(dims: Collection[str]) -> bool:
    """Tell whether instances over `dims` belong to steps of episodes that end."""
    return any(episodes.covers(dims) for episodes in current().ends)


def where_executed(value: Tensor, dims: Collection[str]) -> Tensor:
    """Return a value of instances over `dims` where they are executed, and 0 elsewhere."""
    with inline():
        for episodes in current().ends:
            if episodes.covers(dims):
                value = _zero_elsewhere(value, episodes)
    return value


def _zero_elsewhere(value: Tensor, episodes: OpenEpisodes) -> Tensor:
    """Put a value in a `where`. The factors of a product are values of the step's own: backends
    make them 0 and have the product as it is.
    """
    node, held = value.source, episodes.at(episodes.here)
    product = isinstance(node, Node) and node.operation == "contract" and value.is_plain
    if isinstance(node, Node) and product and all(episodes.covers(x.dims) for x in node.operands):
        factors = (x if exists_with(x, node.dims) else _stored(x) for x in node.operands)
        value = apply("contract", *factors, **node.options)
    return apply("where", held, value, 0.0)


def _stored(x: Tensor) -> Tensor:
    """Return a value as an array of its own."""
    trace = current()
    outer, trace.inline = trace.inline, False
    try:
        return apply("copy", x)
    finally:
        trace.inline = outer


def executed(x: Tensor) -> tuple[list[Tensor], Tensor]:
    """Return the conditions on what is open outside of which `x` is 0, and what it is there."""
    held: list[Tensor] = []
    while isinstance(node := x.source, Node) and node.operation == "where":
        at = {d: e for d, e in zip(node.dims, x.index, strict=True) if isinstance(e, Expression)}
        condition, inner, otherwise = (operand.substitute(at) for operand in node.operands)
        if not is_open(condition) or not is_literal(otherwise, 0):
            break
        held, x = [*held, condition], inner
    return held, x


def zero_elsewhere(held: Sequence[Tensor], value: Tensor) -> Tensor:
    """Return a value where conditions on what is open hold, the first of them asked first."""
    for condition in reversed(held):
        value = apply("where", condition, value, 0.0)
    return value


def is_open(x: Tensor) -> bool:
    """Tell whether a condition is on elements of what is open alone."""
    source = x.source
    if isinstance(source, Node):
        return source.operation == "logical_and" and all(map(is_open, source.operands))
    return any(source is episodes.open for episodes in current().ends)


def exists_with(x: Tensor, dims: Collection[str]) -> bool:
    """Tell whether the element that `x` reads exists just where its reader, over `dims`, does."""
    source = x.source
    for episodes in current().ends:
        if not episodes.covers(dims):
            continue
        if not isinstance(source, Node) or not episodes.covers(source.dims):
            return False
        at = dict(zip(source.dims, x.index, strict=True))
        if not all(isinstance(at[d], Expression) and at[d] == variable(d) for d in episodes.dims):
            return False
    return True


def conditions(
    x: Tensor, names: Collection[str], ends: Sequence[OpenEpisodes]
) -> Iterator[tuple[OpenEpisodes, OpenIndex]]:
    """Yield the open elements, over the reduced dims `names`, on which the points' values depend.

    Those over none of these are the reader's own, or refused where they are not.
    """
    for episodes in ends:
        reduced = set(names) & set(episodes.dims)
        if not reduced or episodes.dim not in {*names, *x.dims}:
            continue
        lacking = [d for d in episodes.dims if d not in {*names, *x.dims}]
        if lacking and (x.dims or not _is_constant(x)):
            raise ProgramError(
                f"{x!r} over {', '.join(sorted(reduced))}: its episodes end at an own step for "
                f"each {', '.join(lacking)}, over which it does not vary; say for which "
                f"{', '.join(lacking)}",
                user_line(),
            )
        yield episodes, episodes.here
    trace = current()
    todo = [x]
    while todo:
        y = todo.pop()
        source = y.source
        todo += [e for e in y.index if isinstance(e, Tensor)]
        if isinstance(source, Node) and any(trace.dims[d].axis is not None for d in source.dims):
            at = dict(zip(source.dims, y.index, strict=True))
            todo += [_read_at(operand, at) for operand in source.operands]
            if _is_constant(y):
                yield from _of_constant(y, at, ends)
            continue
        for episodes in ends:
            if source is episodes.open or not episodes.covers(source.dims):
                continue
            place = _open_index(y, episodes)
            if place is not None and any(e.variables & set(names) for e in place):
                yield episodes, place


def _is_constant(x: Tensor) -> bool:
    return isinstance(x.source, Node) and x.source.operation == "literal"


def _of_constant(
    x: Tensor, at: dict[str, Index], ends: Sequence[OpenEpisodes]
) -> Iterator[tuple[OpenEpisodes, OpenIndex]]:
    """Yield the open elements of a constant read along a range: a reward of 1.0 at `[b, i, t:T]` is
    one of each step.
    """
    assert isinstance(x.source, Node)
    moves = {d: e for d, e in at.items() if isinstance(e, Expression)}
    places = tuple(e.substitute(moves) for e in x.source.options["places"])
    for episodes in ends:
        if len(places) != len(episodes.dims):
            raise ProgramError(
                f"{x!r} is the same at all steps of the episodes over {', '.join(episodes.dims)}: "
                "read it at an index for each of these",
                user_line(),
            )
        yield episodes, places


def _read_at(x: Tensor, at: dict[str, Index]) -> Tensor:
    moves = {d: e for d, e in at.items() if isinstance(e, Expression)}
    return Tensor(x.source, tuple(e.substitute(moves) for e in x.index))


def _open_index(x: Tensor, episodes: OpenEpisodes) -> OpenIndex | None:
    """Return the open element on which the element that `x` reads depends; None: on another."""
    at = dict(zip(x.source.dims, x.index, strict=True))
    places = [at[d] for d in episodes.dims]
    if not all(isinstance(e, Expression) for e in places):
        return None
    delay = 0
    if isinstance(x.source, Recurrent):
        if any(piece.everywhere for piece in x.source.pieces):
            return None  # a derivative, which is 0 past the end
        delay = delay_of(x.source, episodes, assumed=True)
        promise = AssumedDelay(x.source, episodes, delay, user_line())
        if promise not in current().assumed:
            current().assumed.append(promise)
    moved = dict(zip(episodes.dims, places, strict=True))
    along = moved[episodes.dim]
    assert isinstance(along, Expression)
    moved[episodes.dim] = maximum(along - delay, 0) if delay > 0 else along - delay
    return tuple(e for e in moved.values() if isinstance(e, Expression))


def delay_of(recurrent: Recurrent, episodes: OpenEpisodes, assumed: bool = False) -> int:
    """Return by how many steps the elements lead the step that writes them: `x[t + 1] = …` by 1."""
    delays = set()
    for piece in recurrent.pieces:
        at = dict(zip(recurrent.dims, piece.index, strict=True))
        if not episodes.covers(piece.dims):
            continue
        by = at[episodes.dim] - variable(episodes.dim)
        others = (at[d] == variable(d) for d in episodes.dims if d != episodes.dim)
        if by.terms or not all(others):
            raise ProgramError(
                f"{recurrent.name} is written at {at[episodes.dim]}: a range over steps of "
                f"episodes that end needs it written at {episodes.dim} plus a number",
                piece.line,
            )
        delays.add(by.constant)
    if not delays and assumed:
        along = recurrent.dims.index(episodes.dim)
        starts = any(piece.index[along] == expression(0) for piece in recurrent.pieces)
        return 1 if starts else 0
    if len(delays) > 1:
        raise ProgramError(
            f"{recurrent.name} is written at {episodes.dim} plus several numbers, which a range "
            "over steps of episodes that end cannot take",
            recurrent.line,
        )
    return delays.pop() if delays else 0


def refuse_calls(line: SourceLine | None) -> None:
    """Refuse external objects, which would be called for lanes that have ended too."""
    for calls in current().calls:
        raise ProgramError(
            f"wb.until beside {calls.external.name}: an external object would be called past an "
            "end too, which is not possible yet",
            line,
        )


def check_assumed() -> None:
    """Refuse a range of a recurrence whose pieces, written later, are not as they seemed."""
    for promise in current().assumed:
        if delay_of(promise.recurrent, promise.episodes) != promise.delay:
            raise ProgramError(
                f"a range of {promise.recurrent.name} is reduced before its steps are defined; "
                f"define {promise.recurrent.name} first",
                promise.line,
            )


def _expect_some(
    x: Tensor, kind: str, names: Collection[str], episodes: OpenEpisodes, place: OpenIndex
) -> None:
    """Refuse a mean, maximum or minimum that may have no point: all episodes may have ended."""
    trace, along = current(), place[episodes.dims.index(episodes.dim)]
    if episodes.dim in names:
        return
    low = along.substitute({n: trace.dims[n].lower for n in names if n in along.variables})
    others = [e for e, d in zip(place, episodes.dims, strict=True) if d != episodes.dim]
    own = [variable(d) for d in episodes.dims if d != episodes.dim]
    own_step = episodes.covers(set(x.dims) - set(names))
    least = variable(episodes.dim) if own_step else expression(0)
    outer = trace.ordered({*low.variables, *least.variables})
    ranges = [(d, trace.dims[d].lower, trace.dims[d].upper) for d in outer]
    later = domain_with(box(ranges), at_least=[(low, least + 1)])
    if others != own or not is_empty(later):
        raise ProgramError(
            f"{kind} over {', '.join(trace.dims[n].text for n in names)} of {x!r}: there may be "
            f"no step that is executed, as episodes along {episodes.dim} end; take a sum, or "
            f"reduce over {episodes.dim} too",
            user_line(),
        )


def _neutral(kind: str, dtype: str) -> Tensor:
    if kind == "sum":
        return literal(0, dtype)
    greatest = kind == "min"
    if dtype == "float":
        return literal(math.inf if greatest else -math.inf, dtype)
    limits = np.iinfo(dtype)
    return literal(int(limits.max if greatest else limits.min), dtype)
