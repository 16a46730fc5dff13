"""Sums of products as matrix products for BLAS, by classes of letters.

A letter is a named axis or (with a leading dot) an inner axis; neighbouring axes are flattened. Of
two operands and a result, a letter is *batch* (in all three), *left* or *right* (in one operand and
the result), or *summed* (in both operands only).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.lowering.loops.records import NEW, WHOLE, Entry, Reshape, Symbolic, Transpose
from workbench.lowering.values.intervals import greatest_length, total
from workbench.lowering.values.layout import Layout, Value, dense
from workbench.lowering.values.scope import Scope
from workbench.polyhedral.expression import Expression, expression

Letters = tuple[str, ...]


@dataclass(frozen=True)
class ContractionOperand:
    """A value whose array axes are all letters. As a `Value` it has only inner axes."""

    value: Value
    letters: Letters

    def size(self, letter: str) -> Expression:
        """Return the length of a letter's axis."""
        return self.value.shape[self.letters.index(letter)]


def operand(value: Value, inner: Letters) -> ContractionOperand:
    """Return a value with its named axes and the given inner letters as letters."""
    return ContractionOperand(plain(value), (*value.axes, *inner))


def plain(value: Value) -> Value:
    """Return the same array with all its axes as inner axes."""
    return replace(value, axes=(), counts=(), shape=value.extents)


def contract(
    scope: Scope, left: ContractionOperand, right: ContractionOperand, letters: Letters, out: Value
) -> None:
    """Write out[letters] = sum over all other letters of left * right."""
    left, right = (
        _used(scope, one, other, letters) for one, other in ((left, right), (right, left))
    )
    target = ContractionOperand(plain(out), letters)
    missing = [x for x in letters if x not in left.letters and x not in right.letters]
    if missing:  # the result does not vary there: compute it once, then repeat it
        kept = tuple(x for x in letters if x not in missing)
        once = _temporary(scope, kept, tuple(target.size(x) for x in kept), out.dtype)
        _contract(scope, left, right, once)
        repeat(scope, once, target)
        return
    _contract(scope, left, right, target)


def _contract(
    scope: Scope, left: ContractionOperand, right: ContractionOperand, target: ContractionOperand
) -> None:
    both = [x for x in left.letters if x in right.letters]
    batch = tuple(x for x in target.letters if x in both)
    summed = tuple(x for x in both if x not in target.letters)
    only_left = tuple(x for x in target.letters if x in left.letters and x not in both)
    only_right = tuple(x for x in target.letters if x in right.letters and x not in both)
    if not summed:
        _product(scope, left, right, target)
    elif not batch:
        _matrix_product(scope, left, right, only_left, summed, only_right, target)
    elif only_left or only_right:
        _batched(scope, left, right, (batch, only_left, summed, only_right), target)
    else:
        order = (*batch, *summed)
        product = _temporary(scope, order, tuple(left.size(x) for x in order), target.value.dtype)
        _product(scope, left, right, product)
        reduce(scope, "add", product, target)


def product(
    scope: Scope, left: ContractionOperand, right: ContractionOperand, letters: Letters, dtype: str
) -> ContractionOperand:
    """Return left * right over the union of their letters, in memory of its own."""
    sizes = tuple(left.size(x) if x in left.letters else right.size(x) for x in letters)
    out = _temporary(scope, letters, sizes, dtype)
    _product(scope, left, right, out)
    return out


def kept(
    scope: Scope, one: ContractionOperand, condition: ContractionOperand
) -> ContractionOperand:
    """Return the operand where a condition over its letters holds, else 0, in its own memory."""
    out = _temporary(scope, one.letters, one.value.shape, one.value.dtype)
    zero = scope.workspace.constant(0, one.value.dtype)
    scope.apply("copyto", [zero], out.value)
    scope.apply("copyto", [one.value, spread(scope, condition, one.letters)], out.value)
    return out


def reduce(
    scope: Scope, function: str, source: ContractionOperand, target: ContractionOperand
) -> None:
    """Write target = source reduced over the letters that the target lacks."""
    gone = tuple(x for x in source.letters if x not in target.letters)
    kept = tuple(x for x in source.letters if x in target.letters)
    if not gone:
        repeat(scope, source, target)
        return
    out = (
        target
        if kept == target.letters
        else _temporary(scope, kept, tuple(source.size(x) for x in kept), target.value.dtype)
    )
    value, letters = source.value, list(source.letters)
    run = _merged_run(source, gone)
    if run is not None:
        first, last = run
        merged = total(value.shape[first : last + 1])
        shape = (*value.shape[:first], merged, *value.shape[last + 1 :])
        value = _reshaped(scope, value, shape)
        letters[first : last + 1] = ["+"]
        gone = ("+",)
    axes = tuple(letters.index(x) for x in gone)
    scope.apply(f"{function}.reduce", [value], out.value, axis=axes[0] if len(axes) == 1 else axes)
    if out is not target:
        repeat(scope, out, target)


def _merged_run(source: ContractionOperand, gone: Letters) -> tuple[int, int] | None:
    """Return first and last position of the reduced letters, or None.

    None where they are no neighbours that merge without a copy.
    """
    places = sorted(source.letters.index(x) for x in gone)
    first, last = places[0], places[-1]
    if len(places) < 2 or last - first + 1 != len(places):
        return None
    return (first, last) if all(source.value.layout.joined[first:last]) else None


def _used(
    scope: Scope, one: ContractionOperand, other: ContractionOperand, letters: Letters
) -> ContractionOperand:
    """Return `one` summed over the letters that nobody else has."""
    alone = [x for x in one.letters if x not in other.letters and x not in letters]
    if not alone:
        return one
    kept = tuple(x for x in one.letters if x not in alone)
    summed = _temporary(scope, kept, tuple(one.size(x) for x in kept), one.value.dtype)
    reduce(scope, "add", one, summed)
    return summed


# -- the cases ------------------------------------------------------------------------------------


def _product(
    scope: Scope, left: ContractionOperand, right: ContractionOperand, target: ContractionOperand
) -> None:
    """Write an elementwise product with broadcasting: no letter is summed."""
    ready = [spread(scope, one, target.letters) for one in (left, right)]
    scope.apply("multiply", ready, target.value)


def _matrix_product(
    scope: Scope,
    left: ContractionOperand,
    right: ContractionOperand,
    rows: Letters,
    summed: Letters,
    columns: Letters,
    target: ContractionOperand,
) -> None:
    for one, other in ((left, right), (right, left)):
        if set(other.letters) == set(summed) and _summed_inside(one, summed):
            _stacked(scope, one, other, summed, target)
            return
    if rows and columns and target.letters == (*columns, *rows):
        left, right, rows, columns = right, left, columns, rows
    summed = _summed_order(left, right, summed)
    a = _matrix(scope, left, rows, summed)
    b = _matrix(scope, right, summed, columns)
    order = (*rows, *columns)
    sizes = (*(left.size(x) for x in rows), *(right.size(x) for x in columns))
    direct = target.letters == order and target.value.layout.dense
    out = target if direct else _temporary(scope, order, sizes, target.value.dtype, flat=True)
    shape = tuple(
        total(sizes[start:stop])
        for start, stop in ((0, len(rows)), (len(rows), len(order)))
        if stop > start
    )
    function = "dot" if _contiguous(a) and _contiguous(b) else "matmul"  # dot would copy
    scope.apply(function, [a, b], _reshaped(scope, out.value, shape))
    if not direct:
        repeat(scope, out, target)


def _summed_inside(one: ContractionOperand, summed: Letters) -> bool:
    """Tell whether summed letters stand between others, each group merging without a copy."""
    first = min(one.letters.index(x) for x in summed)
    last = first + len(summed)
    if first == 0 or last == len(one.letters) or set(one.letters[first:last]) != set(summed):
        return False
    joined = one.value.layout.joined
    within = [j for k, j in enumerate(joined, 1) if k not in (first, last)]
    return all(within) and one.value.layout.unit


def _stacked(
    scope: Scope,
    one: ContractionOperand,
    vector: ContractionOperand,
    summed: Letters,
    target: ContractionOperand,
) -> None:
    """Multiply a vector with each matrix of a stack, summing between the result's letters."""
    first = min(one.letters.index(x) for x in summed)
    last = first + len(summed)
    groups = (one.letters[:first], one.letters[first:last], one.letters[last:])
    a = _matrix(scope, vector, (), groups[1])
    shape = tuple(total([one.size(x) for x in group]) for group in groups)
    b = _reshaped(scope, one.value, shape)
    order = (*groups[0], *groups[2])
    sizes = tuple(one.size(x) for x in order)
    direct = target.letters == order and target.value.layout.dense
    out = target if direct else _temporary(scope, order, sizes, target.value.dtype, flat=True)
    scope.apply("matmul", [a, b], _reshaped(scope, out.value, (shape[0], shape[2])))
    if not direct:
        repeat(scope, out, target)


def _contiguous(value: Value) -> bool:
    """Tell whether a value is in C or Fortran order."""
    return value.layout.dense or (value.rank == 2 and value.layout == _TURNED)


_TURNED = Layout((True,), False)
"""The layout of a contiguous matrix's transpose."""


def _batched(
    scope: Scope,
    left: ContractionOperand,
    right: ContractionOperand,
    groups: tuple[Letters, Letters, Letters, Letters],
    target: ContractionOperand,
) -> None:
    batch, rows, summed, columns = groups
    summed = _summed_order(left, right, summed)
    a = _matrices(scope, left, batch, rows, summed)
    b = _matrices(scope, right, batch, summed, columns)
    order = (*batch, *rows, *columns)
    sizes = (
        *(left.size(x) for x in (*batch, *rows)),
        *(right.size(x) for x in columns),
    )
    direct = target.letters == order and target.value.layout.dense
    out = target if direct else _temporary(scope, order, sizes, target.value.dtype, flat=True)
    n, m = len(batch), len(batch) + len(rows)
    shape = (*sizes[:n], total(sizes[n:m]), total(sizes[m:]))
    scope.apply("matmul", [a, b], _reshaped(scope, out.value, shape))
    if not direct:
        repeat(scope, out, target)


def _summed_order(left: ContractionOperand, right: ContractionOperand, summed: Letters) -> Letters:
    """Return the order of the summed letters with the fewest copies: that of the larger operand."""
    larger = left if len(left.letters) >= len(right.letters) else right
    return tuple(x for x in larger.letters if x in summed)


# -- operands as matrices -------------------------------------------------------------------------


def _matrix(scope: Scope, one: ContractionOperand, first: Letters, second: Letters) -> Value:
    """Return the operand as a matrix (first, second), or as a vector where a group is empty."""
    for lead, trail in ((first, second), (second, first)):
        order = (*lead, *trail)
        if one.letters == order and _blas_takes(one.value, len(lead)):
            shape = tuple(total([one.size(x) for x in group]) for group in (lead, trail) if group)
            value = _reshaped(scope, one.value, shape)
            if len(shape) == 2 and lead != first:
                turned = _transposed(scope, value, (1, 0))
                return replace(turned, layout=_TURNED) if value.layout.dense else turned
            return value
    copy = _copied(scope, one, (*first, *second))
    shape = tuple(total([one.size(x) for x in group]) for group in (first, second) if group)
    return _reshaped(scope, copy.value, shape)


def _blas_takes(value: Value, split: int) -> bool:
    """Tell whether both groups of axes merge and the rows are contiguous."""
    joined = value.layout.joined
    inside = all(j for k, j in enumerate(joined) if k != split - 1)
    return inside and value.layout.unit


def _matrices(
    scope: Scope, one: ContractionOperand, batch: Letters, first: Letters, second: Letters
) -> Value:
    """Return the operand as a stack of matrices (batch…, first, second).

    Empty groups have length 1.
    """
    wanted = (*batch, *first, *second)
    n = len(batch)
    swapped = one.letters == (*batch, *second, *first) and one.value.layout.unit
    if swapped and len(first) == len(second) == 1:
        return _transposed(scope, one.value, (*range(n), n + 1, n))
    if one.letters != wanted or not _blas_takes_stack(one.value, n, n + len(first)):
        one = _copied(scope, one, wanted)
    sizes = [one.size(x) for x in wanted]
    m = n + len(first)
    if len(first) == 1 and len(second) == 1:
        return one.value
    shape = (*sizes[:n], total(sizes[n:m]), total(sizes[m:]))
    if len(first) <= 1 and len(second) <= 1:
        entries: list[Entry] = [*[WHOLE] * n, WHOLE if first else NEW, WHOLE if second else NEW]
        return scope.index(one.value, entries, (), shape)
    if not one.value.layout.dense:
        one = _copied(scope, one, wanted)
    return _reshaped(scope, one.value, shape)


def _blas_takes_stack(value: Value, n: int, m: int) -> bool:
    joined = value.layout.joined
    inside = all(joined[n : m - 1]) and all(joined[m:])
    return inside and value.layout.unit


def _copied(scope: Scope, one: ContractionOperand, order: Letters) -> ContractionOperand:
    copy = _temporary(scope, order, tuple(one.size(x) for x in order), one.value.dtype, flat=True)
    repeat(scope, one, copy)
    return copy


def _temporary(
    scope: Scope, letters: Letters, shape: Symbolic, dtype: str, flat: bool = False
) -> ContractionOperand:
    """Allocate contiguous memory over letters."""
    full = tuple(greatest_length(n, scope.ranges) for n in shape)
    draft = Value("", "", (), (), shape, dtype, dense(len(shape)))
    if full == shape:
        return ContractionOperand(scope.temporary((), shape, dtype), letters)
    return ContractionOperand(scope.flat_copy(draft), letters)


def repeat(scope: Scope, source: ContractionOperand, target: ContractionOperand) -> None:
    """Write target = source, permuted and repeated along the letters that the source lacks."""
    scope.apply("copyto", [spread(scope, source, target.letters)], target.value)


def spread(scope: Scope, one: ContractionOperand, letters: Letters) -> Value:
    """View the operand with its axes in the order of `letters`.

    Letters that it lacks become axes of length 1.
    """
    present = tuple(x for x in letters if x in one.letters)
    value = _transposed(scope, one.value, tuple(one.letters.index(x) for x in present))
    entries: list[Entry] = []
    for x in letters:
        if x in present:
            entries.append(WHOLE)
        elif entries:
            entries.append(NEW)
    if NEW not in entries or not present:
        return value
    shape = tuple(one.size(x) if x in present else expression(1) for x in letters)
    return scope.index(value, entries, (), shape[-len(entries) :])


def _reshaped(scope: Scope, value: Value, shape: Symbolic) -> Value:
    if shape == value.shape:
        return value
    joined = value.layout.unit and len(shape) == 2
    layout = (
        dense(len(shape)) if value.layout.dense else Layout((False,) * (len(shape) - 1), joined)
    )
    return scope.view(value, Reshape(shape), (), shape, layout)


def _transposed(scope: Scope, value: Value, axes: Sequence[int]) -> Value:
    if list(axes) == list(range(value.rank)):
        return value
    shape = tuple(value.shape[a] for a in axes)
    return (
        scope.permuted(value, axes, (), shape)
        if value.rank
        else scope.view(value, Transpose(tuple(axes)), (), shape, value.layout)
    )
