"""Statements that combine over reduction points: contractions for sums of products, else reduce.

A reduction set that is not a box is computed over its bounding box with a mask: folded into a
factor of a contraction, or by the combiner's identity outside. A sum is over its own points only,
even if values outside of them are infinite. A sum over none is 0, whatever it is multiplied with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from workbench.lowering.instances import contractions
from workbench.lowering.instances.contractions import ContractionOperand, Letters, operand, plain
from workbench.lowering.instances.linearize import Linearizer
from workbench.lowering.instances.operation_rules import ones_only
from workbench.lowering.instances.segment_sums import scattered
from workbench.lowering.loops.records import NEW, WHOLE, Entry
from workbench.lowering.reads.index_arrays import binary, index_value
from workbench.lowering.values.intervals import total
from workbench.lowering.values.layout import Value
from workbench.lowering.values.scope import Scope
from workbench.lowering.values.stored import symbolic
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.program.accumulating import Adding
from workbench.program.bodies import Body, Call
from workbench.program.operations.identities import identity
from workbench.program.operations.table import COMBINES


@dataclass(frozen=True)
class Mask:
    """The mask of a reduction set: its points, the others, and the instances without any.

    A sum does not need the others. Only a sum may have instances without points; None where every
    one has.
    """

    inside: Value
    outside: Value
    empty: Value | None = None


def combine(at: Linearizer, target: Value, over: Letters, mask: Mask | None) -> None:
    """Write the statement's combination over the axes `over` to `target`."""
    combiner, body = at.statement.combiner, at.statement.body
    if combiner == "argmax":
        _argmax(at, target, over[0], mask)
    elif combiner == "collect":
        _collect(at, target, over[0])
    elif combiner == "sum" and mask is None and scattered(at, body, target, over):
        return
    elif combiner == "sum":
        Sum(at, target, over, mask).lower(body)
    else:
        if not isinstance(at.statement, Adding):  # those are points, so there are some
            _check_lengths(at.scope, over)
        value = at.value(body, target.dtype)
        _reduced(at, combiner or "", value, target, over, mask)


# -- sums -----------------------------------------------------------------------------------------


@dataclass
class Sum:
    """A sum over points. Linear operations around a product are looked through by renaming."""

    at: Linearizer
    target: Value
    over: Letters
    mask: Mask | None
    letters_made: int = 0
    lengths: dict[str, Expression] = field(default_factory=dict)
    """The lengths of the summed inner axes, by letter."""

    def lower(self, body: Body) -> None:
        """Write the sum of `body` to the target."""
        letters = tuple(f".{p}" for p in range(len(self.target.shape)))
        out = ContractionOperand(plain(self.target), (*self.target.axes, *letters))
        inner, root, negative = letters, body, False
        while isinstance(root, Call):
            if root.operation == "negative":
                negative, root = not negative, root.arguments[0]
                continue
            seen = self._through(root, inner)
            if seen is None:
                break
            root, inner = seen
        self._product(root, inner, out)
        if negative:
            self.at.scope.apply("negative", [out.value], out.value)

    def _fresh(self) -> str:
        self.letters_made += 1
        return f".new{self.letters_made}"

    def _through(self, root: Call, inner: Letters) -> tuple[Body, Letters] | None:
        """Return the operand of a linear operation, with its letters."""
        if root.operation == "transpose":
            back = dict(zip(root.options["axes"], inner, strict=True))
            return root.arguments[0], tuple(back[k] for k in range(len(inner)))
        if root.operation == "sum":
            axis = root.options["axis"]
            if root.arguments[0].dtype != root.dtype:
                return None
            letter = self._fresh()
            self.lengths[letter] = symbolic(root.arguments[0].shape)[axis]
            return root.arguments[0], (*inner[:axis], letter, *inner[axis:])
        if root.operation == "broadcast":
            argument = root.arguments[0]
            lead = len(inner) - len(argument.shape)
            kept = zip(argument.shape, root.shape[lead:], inner[lead:], strict=True)
            return argument, tuple(x if n == m else self._fresh() for n, m, x in kept)
        if root.operation == "reshape":
            argument = root.arguments[0]
            entries = ones_only(symbolic(argument.shape), symbolic(root.shape))
            return None if entries is None else (argument, self._ones(entries, inner))
        return None

    def _ones(self, entries: Sequence[Entry], inner: Letters) -> Letters:
        result, position = [], 0
        for entry in entries:
            if entry == WHOLE:
                result.append(inner[position])
                position += 1
            elif entry == NEW:
                position += 1
            else:
                result.append(self._fresh())
        return tuple(result)

    def _product(self, root: Body, inner: Letters, out: ContractionOperand) -> None:
        at, scope = self.at, self.at.scope
        factors, divisors = _factors(root)
        summed = set(self.over) | (set(inner) - set(out.letters))

        def is_inside(factor: Body) -> bool:
            letters = inner[len(inner) - len(factor.shape) :]
            return not summed.isdisjoint((*at.axes_of(factor), *letters))

        varying = [f for f in factors if is_inside(f)]
        fixed = [f for f in factors if f not in varying]
        if not varying or any(map(is_inside, divisors)):
            varying, fixed, divisors = [root], [], []
        contraction = next((f for f in varying if _is_contract(f)), None)
        others = [f for f in varying if f is not contraction]
        if contraction is not None and all(not f.shape for f in others):
            operands = self._contraction(contraction, inner)
            operands += [self._operand(f, root, inner) for f in others]
        elif len(varying) == 1 and not self.mask:
            self._plain(varying[0], root, inner, out)
            operands = []
        else:
            operands = [self._operand(f, root, inner) for f in varying]
        if operands:
            self._contract(operands, out)
        for name, bodies in (("multiply", fixed), ("divide", divisors)):
            for body in bodies:
                factor = self._operand(body, root, inner)
                self._beside(name, factor, out)
        if self.mask is not None and self.mask.empty is not None and (fixed or divisors):
            nothing = contractions.spread(scope, operand(self.mask.empty, ()), out.letters)
            scope.apply("copyto", [scope.workspace.constant(0, "float"), nothing], out.value)

    def _beside(self, name: str, factor: ContractionOperand, out: ContractionOperand) -> None:
        """Multiply or divide the sum by a factor, which may be infinite or 0."""
        self.at.needs_points = True
        ready = contractions.spread(self.at.scope, factor, out.letters)
        self.at.scope.apply(name, [out.value, ready], out.value)

    def _repeated(self, operands: Sequence[ContractionOperand], out: ContractionOperand) -> None:
        """Multiply the sum by the lengths of summed axes, inner ones too, that no operand has."""
        scope = self.at.scope
        lengths = {axis: scope.length(axis) for axis in self.over} | self.lengths
        for axis, length in lengths.items():
            if length != 1 and all(axis not in one.letters for one in operands):
                n = index_value(scope, length, "int64")
                self._beside("multiply", operand(scope.cast(n, out.value.dtype), ()), out)

    def _plain(self, body: Body, root: Body, inner: Letters, out: ContractionOperand) -> None:
        """Reduce a sum of one factor without a mask."""
        one = self._operand(body, root, inner)
        contractions.reduce(self.at.scope, "add", one, out)
        self._repeated([one], out)

    def _operand(self, body: Body, root: Body, inner: Letters) -> ContractionOperand:
        """Return a factor with the root's letters, right-aligned; repeated axes of length 1 go."""
        value = self.at.value(body, self.target.dtype)
        lead = len(inner) - len(value.shape)
        entries: list[Entry] = []
        letters = []
        for n, m, x in zip(value.shape, symbolic(root.shape)[lead:], inner[lead:], strict=True):
            repeated = n == 1 and m != 1
            entries.append(expression(0) if repeated else WHOLE)
            if not repeated:
                letters.append(x)
        shape = tuple(n for n, e in zip(value.shape, entries, strict=True) if e == WHOLE)
        return operand(self.at.scope.inner(value, entries, shape), tuple(letters))

    def _contraction(self, body: Body, inner: Letters) -> list[ContractionOperand]:
        assert isinstance(body, Call)
        inputs, output = body.options["spec"].split("->")
        known = dict(zip(output, inner, strict=True))
        operands = []
        for letters, argument in zip(inputs.split(","), body.arguments, strict=True):
            for c in letters:
                if c not in known:
                    known[c] = self._fresh()
            value = self.at.value(argument, self.target.dtype)
            operands.append(operand(value, tuple(known[c] for c in letters)))
        return operands

    def _contract(self, operands: list[ContractionOperand], out: ContractionOperand) -> None:
        scope, factors, mask = self.at.scope, operands, None
        if self.mask is not None:
            mask = operand(self.mask.inside, ())
            operands = _kept_inside(scope, operands, mask)
            factors = _with_mask(scope, operands, mask, out)
        left, right = _two(scope, factors, out)
        contractions.contract(scope, left, right, out.letters, out.value)
        if mask is not None and not all(_covers(one, mask) for one in operands):
            _without_infinities_outside(scope, operands, mask, out)
        self._repeated(factors, out)


def _covers(one: ContractionOperand, mask: ContractionOperand) -> bool:
    """Tell whether an operand varies over all axes of a mask."""
    return set(mask.letters) <= set(one.letters)


def _kept_inside(
    scope: Scope, operands: list[ContractionOperand], mask: ContractionOperand
) -> list[ContractionOperand]:
    """Replace operands by 0 outside of the reduction set if they vary over all axes of the mask.

    Such a factor is computed at other points too, and may be infinite there (0.5 ** (k - t) for k
    far behind t). So it is replaced by 0, not multiplied with it.
    """
    return [contractions.kept(scope, x, mask) if _covers(x, mask) else x for x in operands]


def _with_mask(
    scope: Scope,
    operands: list[ContractionOperand],
    mask: ContractionOperand,
    out: ContractionOperand,
) -> list[ContractionOperand]:
    """Return factors of a product that is 0 outside of the reduction set, if all are finite."""
    if any(_covers(one, mask) for one in operands):
        return operands
    return [*operands, ContractionOperand(scope.cast(mask.value, out.value.dtype), mask.letters)]


def _without_infinities_outside(
    scope: Scope,
    operands: list[ContractionOperand],
    mask: ContractionOperand,
    out: ContractionOperand,
) -> None:
    """Compute sums that are not finite again, over the points of the reduction set alone.

    Outside of it 0 times an infinite value is no number.
    """
    if out.value.dtype != "float":
        return
    gone = [x for x in mask.letters if x not in out.letters]
    everything = dict.fromkeys(x for one in (mask, *operands, out) for x in one.letters)
    short = {x: chr(ord("a") + k) for k, x in enumerate(everything)}
    inputs, result = (
        ",".join("".join(short[x] for x in one.letters) for one in group)
        for group in ((mask, *operands), (out,))
    )
    points = total([scope.longest(mask.size(x)) for x in gone])
    picked = points * (1 + 2 * len(gone))  # ones, and positions of eight bytes
    for one in operands:
        rest = [x for x in one.letters if x not in mask.letters]
        along = points if set(gone) & set(one.letters) else expression(1)
        picked = picked + along * total([scope.longest(one.size(x)) for x in rest])
    scope.apply(
        "sum_inside",
        [mask.value, *(one.value for one in operands)],
        out.value,
        spec=f"{inputs}->{result}",
        scratch=scope.scratch("float", (picked,)),
    )


def _is_contract(body: Body) -> bool:
    return isinstance(body, Call) and body.operation == "contract"


def _factors(root: Body) -> tuple[list[Body], list[Body]]:
    """Return a product's factors and divisors."""
    if isinstance(root, Call) and root.operation == "multiply" and root.dtype == "float":
        parts = [_factors(a) for a in root.arguments]
        return [f for p, _ in parts for f in p], [d for _, q in parts for d in q]
    if isinstance(root, Call) and root.operation == "divide":
        factors, divisors = _factors(root.arguments[0])
        return factors, [*divisors, root.arguments[1]]
    return [root], []


def _two(
    scope: Scope, operands: list[ContractionOperand], out: ContractionOperand
) -> tuple[ContractionOperand, ContractionOperand]:
    """Make two operands from several: the largest with all that vary no further, and the others."""
    if len(operands) == 1:
        one = scope.workspace.constant(1.0, out.value.dtype)
        return operands[0], operand(one, ())
    ordered = sorted(operands, key=lambda o: -len(o.letters))
    first = [o for o in ordered if set(o.letters) <= set(ordered[0].letters)]
    second = [o for o in ordered if not set(o.letters) <= set(ordered[0].letters)]
    if not second:
        second = [first.pop()]
    return _multiplied(scope, first, out), _multiplied(scope, second, out)


def _multiplied(
    scope: Scope, operands: list[ContractionOperand], out: ContractionOperand
) -> ContractionOperand:
    result = operands[0]
    for other in operands[1:]:
        letters = _union(result.letters, other.letters, scope)
        result = contractions.product(scope, result, other, letters, out.value.dtype)
    return result


def _union(left: Letters, right: Letters, scope: Scope) -> Letters:
    both = {*left, *right}
    inner = [x for x in (*left, *right) if x not in scope.axes]
    return (*scope.ordered(both), *dict.fromkeys(inner))


# -- other combiners ------------------------------------------------------------------------------


def _collect(at: Linearizer, target: Value, axis: str) -> None:
    """Collect the values along an axis, which becomes the leading inner one."""
    value = at.value(at.statement.body)
    inner = tuple(f".{p}" for p in range(len(value.shape)))
    out = ContractionOperand(plain(target), (*target.axes, axis, *inner))
    contractions.repeat(at.scope, operand(value, inner), out)


def _check_lengths(scope: Scope, over: Letters) -> None:
    """Check that there is something to combine, before any read: an element may not exist then."""
    for axis in over:
        scope.check("check_length", length=scope.length(axis), dim=axis)


def check_points(scope: Scope, over: Letters, mask: Mask | None) -> None:
    """Check that every instance has points, where these have been combined before."""
    _check_lengths(scope, over)
    if mask is not None:
        _check_some(scope, over, mask)


def _check_some(scope: Scope, over: Letters, mask: Mask) -> None:
    """Check that the mask holds somewhere for every instance."""
    kept = tuple(a for a in mask.inside.axes if a not in over)
    some = scope.temporary(kept, (), "bool")
    contractions.reduce(
        scope, "logical_or", operand(mask.inside, ()), ContractionOperand(plain(some), kept)
    )
    scope.check("check_all", some)


def _reduced(
    at: Linearizer, combiner: str, value: Value, target: Value, over: Letters, mask: Mask | None
) -> None:
    scope = at.scope
    if mask is not None:
        value = _masked(at, value, target, over, mask, combiner)
    inner = tuple(f".{p}" for p in range(len(value.shape)))
    one = operand(value, inner)
    gone = [a for a in over if a in one.letters]
    letters = (*target.axes, *inner)
    out = ContractionOperand(plain(target), letters)
    if gone:
        contractions.reduce(scope, COMBINES[combiner], one, out)
    else:
        contractions.repeat(scope, one, out)


def _masked(
    at: Linearizer, value: Value, target: Value, over: Letters, mask: Mask, combiner: str
) -> Value:
    """Return the value with the combiner's identity outside the (non-empty) reduction set."""
    scope = at.scope
    axes = scope.ordered({*value.axes, *mask.inside.axes, *over})
    copy = scope.temporary(axes, value.shape, value.dtype)
    rank = len(value.shape)
    scope.apply("copyto", [scope.aligned(value, axes, rank)], copy)
    start = identity("max" if combiner == "argmax" else combiner, value.dtype)
    outside = scope.aligned(mask.outside, axes, rank)
    scope.apply("copyto", [scope.workspace.constant(start, value.dtype), outside], copy)
    _check_some(scope, over, mask)
    return copy


def _argmax(at: Linearizer, target: Value, axis: str, mask: Mask | None) -> None:
    scope = at.scope
    _check_lengths(scope, (axis,))
    value = at.value(at.statement.body)
    rank = len(value.shape)
    if mask is not None:
        value = _masked(at, value, target, (axis,), mask, "argmax")
    axes = scope.ordered({*value.axes, axis})
    value = scope.broadcast(value, axes, value.shape)
    kept = tuple(a for a in axes if a != axis)
    wide = scope.temporary(kept, value.shape, "int64")
    scope.apply("argmax", [value], wide, axis=axes.index(axis))
    first = at.placed(variable(axis)).substitute({axis: scope.axes[axis][0]})
    if first != 0:
        begin = index_value(scope, first, "int64")
        if set(begin.axes) <= set(kept):
            scope.apply("add", [wide, scope.aligned(begin, kept, rank)], wide)
        else:
            wide = binary(scope, "add", wide, begin)
    scope.apply("copyto", [scope.aligned(wide, target.axes, rank)], target)
