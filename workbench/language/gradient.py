"""Reverse-mode differentiation over symbolic dependences.

A read of `x` at index f(p) by points p contributes to the adjoint of element e the sum over all p
with f(p) = e. Where f can be solved for p, the contribution is a plain read at p(e), on the
elements with such a p; other indices are summed over. Contributions are added in the order of the
reading statements. Where they exist on different parts of the array, the adjoint is a recurrent
tensor with one piece per part; so the adjoint of a forward recurrence is a backward recurrence.

The derivative is taken instance by instance: of `loss` at its loop variables with respect to `x` at
its own loop variables (a total one is that of a sum of the loss). Only reads that keep the loss's
dims where they are carry it: `theta[i, 0, 0]` is another element than `theta`, and constant to the
gradient with respect to `theta`. A loss that depends on the instance's own element in another way
too, as by a sum over a dim of the loss, is refused: that part would be left out. The first element
of an array along such a dim is in place.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping
from functools import reduce
from typing import Any, NoReturn

from workbench.errors import ProgramError
from workbench.language.episodes.ends import (
    ends_along,
    executed,
    exists_with,
    is_open,
    where_executed,
    zero_elsewhere,
)
from workbench.language.inverse import Contribution, SourceRead, pull
from workbench.language.sources import (
    Part,
    Source,
    bounds_of,
    elements_of,
    name_of,
    parts_of,
    reads_of,
)
from workbench.language.tracing.functions import broadcast_to, reshape
from workbench.language.tracing.nodes import apply, as_tensor, cast, index, is_literal, literal
from workbench.language.tracing.quoting import element_text, made_by
from workbench.language.tracing.recurrent import Piece, Recurrent
from workbench.language.tracing.reductions import reduce_over
from workbench.language.tracing.tensor import Node, Tensor
from workbench.language.tracing.trace import current, everywhere, inline, scope, user_line
from workbench.language.unobserved import unobserved
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.polyhedral.sets.relations import (
    box,
    domain_with,
    intersect,
    is_empty,
    is_subset,
    pieces,
    subtract,
    union,
)
from workbench.program.bodies import Shape
from workbench.program.gradients import GRADIENT, TOTAL
from workbench.program.operations.table import OPERATIONS


class Gradient(dict[str, Tensor]):
    """The derivatives of a loss by parameter name, and their parameters; an estimate of derivatives
    is of no loss.
    """

    def __init__(self, values: Mapping[str, Tensor], parameters: Any, loss: Tensor | None) -> None:
        super().__init__(values)
        self.parameters, self.loss = parameters, loss

    def _refused(self, *_: object) -> NoReturn:
        raise ProgramError(
            f"arithmetic with a gradient, which is a mapping from the names {', '.join(self)} to "
            "derivatives; optim.sgd(gradient, 0.1) makes the next parameters of it, "
            "{name: 0.1 * g for name, g in gradient.items()} is a step as numbers",
            user_line(),
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __neg__ = _refused
    __array_ufunc__ = None  # NumPy's numbers leave it to the gradient


@unobserved
def gradient(loss: Tensor, wrt: Any, total: bool = False) -> Any:
    """Differentiate `loss` (a float scalar) with respect to `wrt`.

    `wrt` is a tensor read plainly, or the parameters of `nn.parameters`; for those the result is a
    mapping from name to derivative. The result varies over the dims of `wrt` and of the loss. It is
    zero where the loss does not depend on `wrt`, or on one of several parameters; a loss that
    depends on no parameter is a ProgramError.

    The derivative is direct: along the dims that the loss shares with `wrt` it is of each instance
    of the loss with respect to its own element, all other instances held as they are. Of a cost[t]
    of state[t] and control[t] it is what the control costs at its step. With `total` it is the
    derivative of the sum of the loss over these dims, through everything that depends on the
    element: what the control costs at all steps, through the states that follow. The statements of
    the first are in the scope `gradient`, those of the second in `total_gradient`.

    To a direct derivative an element that is read at given indices or found by data is another one,
    and constant (`theta[i, 0, 0]`; `wb.gather(x, t=sample)`), also where it happens to be the
    instance's own. Raises ProgramError for a loss that depends on its own element in other ways
    than by a plain read: through a sum over a dim of the loss, a range, `x[wb.maximum(t - 1, 0)]`;
    and for one over a dim that `wrt` lacks, whose instances depend on it through one another's
    values: of `(value - value[t + 1]) ** 2` sum or average over t first.
    """
    loss = as_tensor(loss)
    if loss.shape or loss.dtype != "float":
        raise ProgramError(
            f"gradient of {loss!r}; expected a float scalar{made_by(loss)}", user_line()
        )
    members: Mapping[str, Tensor] | None = getattr(wrt, "tensors", None)
    targets = list(members.values()) if members is not None else [as_tensor(wrt)]
    for x in targets:
        if x.dtype != "float":
            raise ProgramError(
                f"gradient with respect to {x!r}: it is {x.dtype}, expected float", user_line()
            )
        if not x.is_plain:
            raise ProgramError(
                f"gradient with respect to {x!r}: expected it read at its loop variables",
                user_line(),
            )
    with scope(TOTAL if total else GRADIENT):
        shared = [d for d in loss.dims if any(d in x.dims for x in targets)] if total else []
        if shared:
            loss = loss.sum(over=tuple(map(variable, shared)))
        reverse = _Reverse(loss, [x.source for x in targets], total)
        if members is not None and not any(x in reverse.relevant for x in reverse.targets):
            raise _independent(loss, members)
        adjoints = reverse.run()
    current().derivatives.append(reverse)
    if members is None:
        return adjoints[0]
    return Gradient(dict(zip(members, adjoints, strict=True)), wrt, loss)


def _independent(loss: Tensor, members: Mapping[str, Tensor]) -> ProgramError:
    return ProgramError(
        f"{element_text(loss)} does not depend on {', '.join(members)}, or only through what is "
        "constant to a gradient: stop_gradient, samples, comparisons, parameters of other updates",
        user_line(),
    )


class _Reverse:
    """One reverse pass. Seed dims are the loss's dims: every adjoint varies over them."""

    def __init__(self, loss: Tensor, targets: list[Source], total: bool) -> None:
        self.line = user_line()
        self.loss = loss if isinstance(loss.source, Node) and loss.is_plain else apply("copy", loss)
        self.seeds = self.loss.dims
        self.first = current().written
        self.targets = dict.fromkeys(targets)
        self.ends: Collection[Source] = () if total else self.targets
        """The sources at which the pass ends. A total derivative goes on: an element matters to
        later ones too.
        """
        self.seen: dict[Source, None] = {}
        self.relevant = self._relevant()
        self._expect_own_reads()
        self.past_ends = self._past_ends()
        self.contributions: dict[Source, list[Contribution]] = {}
        self.adjoints: dict[Source, Recurrent] = {}
        self.totals: dict[Source, Tensor] = {}

    def run(self) -> list[Tensor]:
        """Return the adjoints of the targets."""
        results: dict[Source, Tensor] = {}
        root = self.loss.source
        self.contributions[root] = [Contribution(literal(1.0), None)]
        arrays = [s for s in self.relevant if isinstance(s, Recurrent) and s not in self.ends]
        for array in arrays:
            self._seed_pieces(array)
        nodes = [s for s in self.relevant if isinstance(s, Node) and s not in self.ends]
        for node in sorted(nodes, key=lambda n: -n.number):
            depends = any(x.source in self.relevant for x in node.operands)
            if depends and node in self.contributions:
                with everywhere() if node in self.past_ends else contextlib.nullcontext():
                    self._propagate(node, self._total(node))
        for array in arrays:
            self._define(self.adjoints[array], array, elements_of(array, self.seeds))
        for target in self.targets:
            results[target] = self._whole(target)
            results[target].source.past_end = 0
        return [results[t] for t in self.targets]

    # -- relevant sources --------------------------------------------------------------------

    def _relevant(self) -> dict[Source, None]:
        """Return the sources between a target and the loss, by float reads that keep seed dims."""
        readers: dict[Source, list[Source]] = {}
        self.seen = self._reached([self.loss.source], readers)
        reached: set[Source] = set()
        todo: list[Source] = [t for t in self.targets if t in self.seen]
        while todo:
            source = todo.pop()
            if source not in reached:
                reached.add(source)
                todo.extend(readers.get(source, []))
        return {s: None for s in self.seen if s in reached}

    def _reached(
        self, todo: list[Source], readers: dict[Source, list[Source]]
    ) -> dict[Source, None]:
        """Return the sources that some depend on, by such reads, and enter who reads them."""
        seen: dict[Source, None] = {}
        while todo:
            source = todo.pop()
            if source in seen:
                continue
            seen[source] = None
            if source in self.ends:
                continue
            for read in reads_of(source):
                if self._carries(read, source):
                    readers.setdefault(read.tensor.source, []).append(source)
                    todo.append(read.tensor.source)
        return seen

    def _past_ends(self) -> set[Source]:
        """Return the values that are computed past the end of an episode too: a derivative's, and
        what is part of them but for that which is computed up to the end only.
        """
        steps = {episodes.dim for episodes in current().ends}
        found, todo = set[Source](), list[Tensor]()
        for source in self.relevant if steps else ():
            if isinstance(source, Recurrent):
                todo += [piece.value for piece in source.pieces if piece.everywhere]
            elif source.everywhere:
                found.add(source)
                todo += source.operands
        while todo:
            node = todo.pop().source
            if isinstance(node, Node) and node.inline and node not in found:
                found.add(node)
                up_to_end = node.operation == "where" and is_open(node.operands[0])
                todo += node.operands[2:] if up_to_end else node.operands
        return {source for source in found if steps.intersection(source.dims)}

    def misses(self, array: Recurrent, piece: Piece) -> bool:
        """Tell whether a piece that an array gets after the pass would have mattered to it."""
        if array not in self.seen or array in self.ends:
            return False
        at = dict(zip(array.dims, piece.index, strict=True))
        if any(d in at and d in at[d].variables and at[d] != variable(d) for d in self.seeds):
            return False  # from another update to this one
        read = SourceRead(piece.value, ())
        if not self._carries(read, None):
            return False
        known = {*self.targets, *self.relevant}
        return not known.isdisjoint(self._reached([piece.value.source], {}))

    def _expect_own_reads(self) -> None:
        """Refuse a loss whose instances depend on the targets through one another's elements, as by
        a mean over a dim of the loss: such a part of the derivative would be left out.
        """
        known = {*self.targets, *self.relevant}
        for consumer in self.seen:
            if consumer in self.ends:
                continue
            for read in reads_of(consumer):
                if self._carries(read, consumer) or not _is_differentiable(read, consumer):
                    continue
                through = self._missed_along(read, consumer)
                if through and not known.isdisjoint(self._reached([read.tensor.source], {})):
                    raise self._missed(element_text(read.tensor), through)
            for piece in consumer.pieces if isinstance(consumer, Recurrent) else ():
                through = self._moved_along(consumer, piece)
                if through and not known.isdisjoint(self._reached([piece.value.source], {})):
                    raise self._missed(element_text(Tensor(consumer, piece.index)), through)

    def _moved_along(self, array: Source, piece: Piece) -> list[str]:
        """Return the dims of the loss that the targets lack, along which a piece is made of other
        instances: `s[t + 1] = …`.
        """
        pairs = zip(array.dims, piece.index, strict=True)
        moved = [d for d, e in pairs if d in self.seeds and e != variable(d) and e.variables]
        return [d for d in moved if not self._is_of_targets(d)]

    def _is_of_targets(self, d: str) -> bool:
        return any(d in target.dims for target in self.targets)

    def _missed_along(self, read: SourceRead, consumer: Source) -> list[str]:
        """Return the dims of the loss along which what is read counts, and is not the instance's
        own, or not known to be another's; none where it is constant.
        """
        x = read.tensor
        over = [name for name, _, _ in consumer.over] if isinstance(consumer, Node) else []
        found = [name for name in over if name in self.seeds and name in x.dims]
        own: list[tuple[Expression, Expression]] = []
        for d, e in zip(x.source.dims, x.index, strict=True):
            if d not in self.seeds or (isinstance(e, Expression) and e == variable(d)):
                continue
            found.append(d)
            if not self._is_of_targets(d):
                continue
            if isinstance(e, Tensor) or not e.variables:
                return []  # an element that is given, or found by data, is another one
            own.append((e, variable(d)))
        if not found or not own:
            return found
        at_least = [(e, expression(0)) for e in read.at_least]
        met = domain_with(box(read.bounds), [*read.equal, *own], at_least)
        return [] if is_empty(met) else found

    def _missed(self, text: str, along: list[str]) -> ProgramError:
        listed = ", ".join(along)
        instead = (
            "write total=True for the derivative through all of them"
            if all(map(self._is_of_targets, along))
            else f"sum or average the loss over {listed} first"
        )
        return ProgramError(
            f"the gradient is of each instance of {element_text(self.loss)} along {listed}, which "
            f"depends through {text} on those of others, or on its own in another "
            f"place: {instead}, or wb.stop_gradient(…) of it where it is a constant",
            self.line,
        )

    def _carries(self, read: SourceRead, consumer: Source | None) -> bool:
        x = read.tensor
        if not _is_differentiable(read, consumer):
            return False
        if isinstance(consumer, Node) and any(name in self.seeds for name, _, _ in consumer.over):
            return False
        return all(
            d not in self.seeds or (isinstance(e, Expression) and e == variable(d))
            for d, e in zip(x.source.dims, x.index, strict=True)
        )

    # -- adjoints ------------------------------------------------------------------------------

    def _over(self, source: Source) -> tuple[str, ...]:
        return current().ordered({*source.dims, *self.seeds})

    def _seed_pieces(self, array: Recurrent) -> None:
        adjoint = Recurrent(array.name, array.shape, self._over(array), "float", current().scope)
        current().recurrents.append(adjoint)
        self.adjoints[array] = adjoint
        for piece in array.pieces:
            at = dict(zip(array.dims, piece.index, strict=True))
            moved = {d: at[d] for d in self.seeds if d in at and at[d] != variable(d)}
            if any(d in e.variables for d, e in moved.items()):
                continue  # from another update to this one
            starts = tuple((variable(d), e) for d, e in moved.items())
            value = adjoint.substitute({d: e for d, e in at.items() if d not in moved})
            parts: list[Part] = [(bounds_of(piece.dims), (), ())]
            if piece.domain is not None:
                parts = parts_of(piece.dims, piece.domain)
            for bounds, equal, at_least in parts:
                read = SourceRead(piece.value, bounds, (*equal, *starts), at_least)
                self._contribute(read, value, piece.dims, piece.everywhere)

    def _propagate(self, node: Node, adjoint: Tensor) -> None:
        reads = reads_of(node)
        if node.operation in ("copy",):
            self._contribute(reads[0], adjoint, node.dims, node in self.past_ends)
        elif node.combiner is not None:
            share = _through_reduction(node, adjoint)
            self._contribute(reads[0], share, node.dims, node in self.past_ends)
        else:
            self._propagate_to_operands(node, adjoint)

    def _propagate_to_operands(self, node: Node, adjoint: Tensor) -> None:
        """Contribute to the operands of an operation, at the points at which its value is asked
        for: a value that is part of its readers may be so beyond the ranges of its dims, or in a
        part of them only.
        """
        rule, elements = OPERATIONS[node.operation].gradient, self._elements(node)
        assert rule is not None, node.operation
        own = elements_of(node, self.seeds)
        whole = is_subset(elements, own) and is_subset(own, elements)
        parts: list[Part] = [(node.ranges, (), ())]
        if not whole:
            parts = parts_of(self._over(node), elements)
        with contextlib.nullcontext() if whole else inline():
            inputs = [Tensor(x.source, x.index) for x in node.operands]
            # a condition on data need not exist where an instance is not executed: that comes first
            held, inner = executed(adjoint) if node.operation == "where" else ([], adjoint)
            shares = rule(_do, inputs, Tensor(node), inner, **node.options)
            for x, share in zip(node.operands, shares, strict=True):
                if share is None or x.dtype != "float":
                    continue
                for part in parts:
                    value = zero_elsewhere(held, _summed_to(share, x.shape))
                    past_ends = node in self.past_ends
                    self._contribute(SourceRead(x, *part), value, node.dims, past_ends)

    def _contribute(
        self, read: SourceRead, value: Tensor, reader: tuple[str, ...], past_ends: bool
    ) -> None:
        """Add the value of a read by instances over `reader`, which are executed up to the end of
        an episode or `past_ends`, to the adjoint of what is read.
        """
        source = read.tensor.source
        if source not in self.relevant or is_literal(value, 0):
            return
        if self._carries(read, None):
            beyond = source in self.past_ends
            if not past_ends and (beyond or not exists_with(read.tensor, reader)):
                value = where_executed(value, reader)
            inside = isinstance(source, Node) and source.inline
            extent = None if inside else elements_of(source, self.seeds)
            beyond = beyond or (isinstance(source, Recurrent) and ends_along(source.dims))
            with everywhere() if beyond else contextlib.nullcontext():
                contributions = pull(read, value, self._over(source), self.seeds, extent)
            self.contributions.setdefault(source, []).insert(0, contributions)

    def _elements(self, source: Source) -> str:
        """Return the elements of which the adjoint is asked: all of an array. Of a value that is
        part of its readers those that are read.
        """
        domains = [c.domain for c in self.contributions.get(source, [])]
        known = [domain for domain in domains if domain is not None]
        if isinstance(source, Node) and source.inline and known and len(known) == len(domains):
            return reduce(union, known)
        return elements_of(source, self.seeds)

    def _total(self, source: Source) -> Tensor:
        if source not in self.totals:
            self.totals[source] = self._named_sum(source)
        return self.totals[source]

    def _named_sum(self, source: Source) -> Tensor:
        total = self._summed(source)
        made_here = isinstance(total.source, Node) and total.source.number > self.first
        if isinstance(total.source, Node) and made_here and total.source.hint is None:
            total.source.hint = name_of(source)
        return total

    def _summed(self, source: Source) -> Tensor:
        parts = self.contributions[source]
        domain = self._elements(source)
        whole = [c.value for c in parts if c.domain is None or is_subset(domain, c.domain)]
        within = len(parts) == 1 or is_subset(domain, box(bounds_of(self._over(source))))
        if len(whole) == len(parts) and within:
            return _added(whole, source.shape)
        name = name_of(source) or "adjoint"
        adjoint = Recurrent(name, source.shape, self._over(source), "float", current().scope)
        current().recurrents.append(adjoint)
        self._define(adjoint, source, domain)
        return adjoint

    def _define(self, adjoint: Recurrent, source: Source, extent: str) -> None:
        """Define one piece per part of the array on which the same contributions exist."""
        parts = self.contributions.get(source, [])
        whole = [c for c in parts if c.domain is None or is_subset(extent, c.domain)]
        cells: list[tuple[str, list[Contribution]]] = [(extent, [])]
        for c in parts:
            if c in whole:
                cells = [(cell, [*terms, c]) for cell, terms in cells]
                continue
            assert c.domain is not None
            split = []
            for cell, terms in cells:
                inside, outside = intersect(cell, c.domain), subtract(cell, c.domain)
                split += [(inside, [*terms, c])] if not is_empty(inside) else []
                split += [(outside, terms)] if not is_empty(outside) else []
            cells = split
        here = tuple(variable(d) for d in adjoint.dims)
        for cell, terms in cells:
            for part in pieces(cell):
                with inline():  # the values may exist on this part only
                    value = _added([c.value for c in terms], source.shape)
                    beyond = isinstance(source, Recurrent) or source in self.past_ends
                    adjoint.define(here, value, part, everywhere=beyond)

    def _whole(self, target: Source) -> Tensor:
        """Return the adjoint of a target, over all its elements whatever it depends on."""
        if target in self.adjoints:
            return self.adjoints[target]
        beyond = isinstance(target, Recurrent) and ends_along(target.dims)
        with inline() if beyond else contextlib.nullcontext():
            total = self._total(target) if target in self.contributions else None
        extent = elements_of(target, self.seeds)
        dims = self._over(target)
        every = box(bounds_of(dims))
        coming = every  # wherever it is, or comes to be, as by an update
        for contribution in self.contributions.get(target, []):
            if contribution.domain is not None:
                coming = intersect(coming, contribution.domain)
        source = None if total is None else total.source
        if isinstance(source, Recurrent):  # another's adjoint may have elements that it has not
            within = is_subset(elements_of(source, self.seeds), union(extent, coming))
        else:
            within = is_subset(extent, every)
        if total is not None and set(total.dims) == set(dims) and within and not beyond:
            return total
        name = name_of(target) or "adjoint"
        adjoint = Recurrent(name, target.shape, dims, "float", current().scope)
        current().recurrents.append(adjoint)
        if total is None:  # nothing of the loss reads it
            total = literal(0.0)
        here = tuple(variable(d) for d in dims)
        everywhere = isinstance(target, Recurrent)
        adjoint.define(here, total, union(extent, coming), everywhere=everywhere)
        return adjoint


def _is_differentiable(read: SourceRead, consumer: Source | None) -> bool:
    """Tell whether a derivative goes from what reads to what is read, whichever element that is."""
    if read.tensor.dtype != "float":
        return False
    if not isinstance(consumer, Node):
        return True
    if consumer.operation == "stop_gradient" or consumer.dtype != "float":
        return False
    by_rule = consumer.combiner is None and consumer.operation != "copy"
    return not by_rule or OPERATIONS[consumer.operation].gradient is not None


# -- rules ----------------------------------------------------------------------------------------


def _do(name: str, *arguments: Any, **options: Any) -> Tensor:
    return apply(name, *arguments, **options)


def _through_reduction(node: Node, adjoint: Tensor) -> Tensor:
    """Return the adjoint of a reduction point: all of it (sum), or all at the first extremum."""
    if node.combiner == "sum":
        return adjoint
    if node.combiner == "collect":
        return apply("take", adjoint, index(variable(node.over[0][0])))
    x = node.operands[0] if node.combiner == "max" else apply("negative", node.operands[0])
    share = adjoint
    for bound in reversed(node.over):  # the first point in lexicographic order that attains it
        constraints = (node.equal, node.at_least) if len(node.over) == 1 else ((), ())
        first = reduce_over(x, "argmax", (bound,), *constraints)
        share = apply("where", apply("equal", first, index(variable(bound[0]))), share, 0.0)
        x = reduce_over(x, "max", (bound,), *constraints)
    return share


def _summed_to(share: Tensor, shape: Shape) -> Tensor:
    """Sum an adjoint over the inner axes that broadcasting had added."""
    while len(share.shape) > len(shape):
        share = share.sum(axis=0)
    for axis, (n, wide) in enumerate(zip(shape, share.shape, strict=True)):
        if n == 1 and wide != 1:
            kept = share.sum(axis=axis)
            share = reshape(kept, (*share.shape[:axis], 1, *share.shape[axis + 1 :]))
    return share if share.shape == tuple(shape) else broadcast_to(share, shape)


def _added(values: list[Tensor], shape: Shape) -> Tensor:
    total = values[0] if values else literal(0.0)
    for value in values[1:]:
        total = apply("add", total, value)
    return total if total.shape == tuple(shape) else broadcast_to(cast(total, "float"), shape)
