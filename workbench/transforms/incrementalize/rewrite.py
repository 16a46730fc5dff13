"""The statements that replace one along a dimension, or the reason why there are none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

from workbench.names import free
from workbench.polyhedral.expression import variable
from workbench.polyhedral.sets import moving_ranges
from workbench.polyhedral.sets.relations import (
    hull,
    image,
    is_box,
    is_empty,
    is_equal,
    project_out,
    subtract,
    union,
    with_dims,
)
from workbench.polyhedral.tree import block_dim
from workbench.program.bodies import Body, Literal
from workbench.program.values import Array, Equations, Program, Statement
from workbench.transforms.incrementalize.factors import (
    NotAWeight,
    Summand,
    call,
    factored,
    inlined,
)
from workbench.transforms.incrementalize.pieces import Pieces, partial, read
from workbench.transforms.incrementalize.recurrence import Reduction, blocked, recurrence
from workbench.transforms.incrementalize.window import sliding
from workbench.transforms.step.refusal import Kind


class Unfit(Exception):
    """An error for a statement that cannot be rewritten: the sentence behind the step's name."""

    def __init__(self, kind: Kind, sentence: str) -> None:
        self.kind = kind
        self.sentence = sentence
        super().__init__(sentence)


@dataclass(frozen=True)
class Rewrite:
    """The statement's pieces, the formulas without readers, and the new dimensions."""

    pieces: Pieces
    unused: tuple[Statement, ...]
    names: tuple[str, str]


def rewritten(program: Program, old: Statement, dim: str, size: int | None) -> Rewrite:
    """Lift the statement along `dim`, or block it if it combines `dim`. Raises Unfit."""
    pieces = Pieces(program, old)
    taken = (*old.dims, *old.reduction_dims)
    if dim in old.reduction_dims:
        assert size is not None
        name = block_dim(dim, size)
        if name in taken:
            raise Unfit("no effect", f"{old.name} is a part of blocks of {size} of {dim} already")
        partial(old, dim, size, name, pieces)
        ((first, last),) = hull(project_out(pieces.statements[0].domain, old.dims))
        if last - first == 1:
            raise Unfit("no effect", f"all that {old.name} combines of {dim} is one block")
        return Rewrite(pieces, (), (name, ""))
    length = _lift(program, old, dim, size, pieces)
    _assert_complete(program, old, pieces)
    size = length if size is None else size
    names = ("", "") if size is None else _names(old, dim, size)
    return Rewrite(pieces, _unused(program, old, pieces), names)


def _names(old: Statement, dim: str, size: int) -> tuple[str, str]:
    """Return the names for blocks of the dimension and positions in them."""
    taken = (*old.dims, *old.reduction_dims)
    return free(block_dim(dim, size), taken), free(f"{dim}_in{size}", taken)


def moving_dims(old: Statement, dim: str) -> list[str]:
    """Return the reduction dimensions whose range differs between neighbours along `dim`."""
    return [
        d
        for d in old.reduction_dims
        if moving_ranges.moves(
            old.domain,
            project_out(old.reduction, tuple(e for e in old.reduction_dims if e != d)),
            dim,
        )
    ]


def slides(old: Statement, dim: str) -> bool:
    """Tell whether the statement combines a window that slides with `dim`."""
    moving = moving_dims(old, dim)
    if len(moving) != 1:
        return False
    rest = tuple(d for d in old.reduction_dims if d != moving[0])
    points = with_dims(project_out(old.reduction, rest), (*old.dims, moving[0]))
    growing = moving_ranges.recurrence(old.domain, points, dim)
    return growing is None and moving_ranges.window(old.domain, points, dim) is not None


def _lift(
    program: Program, old: Statement, dim: str, size: int | None, pieces: Pieces
) -> int | None:
    """Collect the pieces; return the length of a sliding window."""
    over = _moving(old, dim)
    summand = summand_of(program, old, dim)
    along = _reduction(program, old, dim, over, summand, pieces)
    grows = moving_ranges.recurrence(along.domain, along.points, dim)
    if grows is not None:
        _positive(along)
        if size is None:
            recurrence(along, grows, pieces)
        else:
            _contiguous(along, old)
            _enters(along, grows)
            blocked(along, grows, pieces, size, _names(old, dim, size))
        _scaled(old, along, summand, pieces)
        return None
    window = moving_ranges.window(along.domain, along.points, dim)
    if window is None:
        raise Unfit(
            "capability",
            f"the range of {old.name} over {over} neither grows by one point from a neighbour "
            f"along {dim} to the next, nor is it a window of one length that slides with {dim}",
        )
    if size not in (None, window.length):
        raise Unfit(
            "capability",
            f"{old.name} combines windows of {window.length}, which need blocks of "
            f"{window.length}, not of {size}",
        )
    _positive(along)
    sliding(along, window, pieces, _names(old, dim, window.length))
    _scaled(old, along, summand, pieces)
    return window.length


def _moving(old: Statement, dim: str) -> str:
    """Return the one reduction dimension that moves with `dim`."""
    moving = moving_dims(old, dim)
    listed = ", ".join(old.reduction_dims)
    if not moving:
        raise Unfit(
            "no effect",
            f"the range of {old.name} over {listed} does not move with {dim}: there is nothing "
            "that one instance could take over from its neighbour",
        )
    rest = tuple(d for d in old.reduction_dims if d != moving[0])
    if len(moving) > 1 or not moving_ranges.apart(old.reduction, dim, rest):
        raise Unfit(
            "capability",
            f"the range of {old.name} moves with {dim} along more than one of {listed}",
        )
    return moving[0]


def summand_of(program: Program, old: Statement, dim: str) -> Summand:
    """Return the factors of what a statement combines. Raises Unfit where it has others."""
    body = inlined(program, old.body, dim, old.reduction_dims)
    if old.combiner == "sum" and body.dtype == "bool":
        body = call("cast", body, dtype="int32")
    try:
        summand = factored(body, dim, old.reduction_dims)
    except NotAWeight as error:
        over = ", ".join(old.reduction_dims)
        raise Unfit(
            "capability",
            f"{error.text} in {old.name} depends on both {dim} and {over}, and is not a power "
            f"whose exponent is affine in them, so one instance cannot go on from another",
        ) from None
    if summand.outer and old.combiner != "sum":
        raise Unfit(
            "capability",
            f"a {old.combiner} of {old.name} is scaled by what depends on {dim}, which may be "
            "negative: only sums can be scaled afterwards",
        )
    return summand


def _reduction(
    program: Program, old: Statement, dim: str, over: str, summand: Summand, pieces: Pieces
) -> Reduction:
    """Return the reduction to lift: the statement without its other reduction dimensions (combined
    for each point first) and without the instance's own factors (multiplied on last).
    """
    rest = tuple(d for d in old.reduction_dims if d != over)
    others = tuple(d for d in old.dims if d != dim)
    inner = summand.rest
    if rest:
        points = project_out(old.reduction, (dim,))
        points = with_dims(points, (*others, over, *rest))
        elements = project_out(points, rest)
        held = pieces.array("combined", _summed(old, inner), elements, (*others, dim))
        own = tuple(variable(d) for d in (*others, over))
        pieces.add(held, elements, (*others, over), own, inner, rest, points)
        inner = read(held, own)
    array, write = program.array[old.array], old.write
    if summand.outer:
        own = tuple(variable(d) for d in old.dims)
        elements = image(old.domain, old.dims, own, None, old.dims)
        array = pieces.array("running", _summed(old, summand.rest), elements, old.dims)
        write = own
    points = with_dims(project_out(old.reduction, rest), (*old.dims, over))
    return Reduction(
        array,
        write,
        old.dims,
        old.domain,
        points,
        dim,
        over,
        replace(summand, rest=inner, outer=()),
        str(old.combiner),
    )


def _summed(old: Statement, inner: Body) -> Body:
    """Return a stand-in with the type of a combination of `inner`."""
    if old.combiner == "sum" and inner.dtype == "bool":
        return call("cast", inner, dtype="int32")
    return inner


def _scaled(old: Statement, found: Reduction, summand: Summand, pieces: Pieces) -> None:
    """Multiply by the instance's own factors, if any; a sum over none is 0 whatever they are."""
    if not summand.outer:
        return
    value: Body = read(found.array, found.write)
    for outer in summand.outer:
        value = outer.around(value)
    array, some = pieces.program.array[old.array], old.domain
    if any(outer.operation != "where" for outer in summand.outer):
        some = project_out(old.reduction, old.reduction_dims)
    nothing = replace(found, array=array).nothing
    pieces.add(array, some, old.dims, old.write, value)
    pieces.add(array, subtract(old.domain, some), old.dims, old.write, nothing)


# -- conditions ------------------------------------------------------------------------------------


def _positive(found: Reduction) -> None:
    """Refuse to scale a maximum from instance to instance by anything but a positive number."""
    if found.combiner == "sum":
        return
    for power in found.summand.powers:
        if not (isinstance(power.base, Literal) and power.base.value > 0):
            raise Unfit(
                "capability",
                f"a {found.combiner} with weights needs a base that is a positive number",
            )


def _contiguous(found: Reduction, old: Statement) -> None:
    if not is_box(found.domain, (found.dim,)):
        raise Unfit("capability", f"the instances of {old.name} have gaps along {found.dim}")


def _enters(found: Reduction, grows: moving_ranges.Recurrence) -> None:
    """Refuse a maximum where nothing may enter in a block."""
    if found.combiner == "sum" or is_empty(grows.still):
        return
    raise Unfit(
        "capability",
        f"in some blocks nothing enters the range of {found.array.name}, and a "
        f"{found.combiner} of nothing has no value",
    )


def _assert_complete(program: Program, old: Statement, pieces: Pieces) -> None:
    """Assert that the pieces write what the statement wrote."""
    dims = program.array[old.array].dims
    wanted = image(old.domain, old.dims, old.write, None, dims)
    writers = [s for s in pieces.statements if s.array == old.array]
    written = [image(s.domain, s.dims, s.write, None, dims) for s in writers]
    assert is_equal(reduce(union, written), wanted), f"the pieces of {old.name} leave gaps"


# -- formulas without readers ----------------------------------------------------------------------


def _unused(program: Program, old: Statement, pieces: Pieces) -> tuple[Statement, ...]:
    """Return formulas that the old statement read and no statement reads any more."""
    kept = [s for s in program.statements if s is not old] + pieces.statements
    returned = {o.array for o in program.outputs}
    gone: list[Statement] = []
    before = {r.array for r in old.reads}
    while True:
        needed = {r.array for s in kept for r in s.reads} | returned
        idle = [s for s in kept if s.array in before and s.array not in needed]
        if not idle:
            return tuple(gone)
        gone += idle
        before |= {r.array for s in idle for r in s.reads}
        kept = [s for s in kept if s not in idle]


def equations_with(equations: Equations, old: Statement, rewrite: Rewrite) -> Equations:
    """Return the equations with the pieces in the statement's place."""
    gone = {s.name for s in rewrite.unused}
    statements = tuple(
        new
        for s in equations.statements
        if s.name not in gone
        for new in (rewrite.pieces.guarded if s is old else (s,))
    )
    idle = {s.array for s in rewrite.unused}
    arrays: list[Array] = []
    for array in equations.arrays:
        if array.name == old.array:
            arrays += rewrite.pieces.arrays
        if array.name not in idle:
            arrays.append(array)
    return replace(equations, statements=statements, arrays=tuple(arrays))
