"""Bytes as formulas in the sizes: of one array's storage, and of the peak.

The peak is the maximum over the points of the loop program. A point is left out if another exceeds
it at all sizes (each at least 1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.bytes import FLOAT_BYTES
from workbench.lowering.loops.records import ITEM_BYTES, Allocate, Buffer, Constant, Count, walk
from workbench.polyhedral.expression import Expression, atom, expression
from workbench.polyhedral.expressions.atoms import Atom, Extremum, Product, Size
from workbench.program.sizes import at_sizes

BESIDE = "scratch memory and gaps"
"""The name of memory that compiled kernels hold and that is no array's."""

Monomial = tuple[Atom, ...]
"""A product of atoms, sorted by their text."""

Polynomial = dict[Monomial, int]


@dataclass(frozen=True)
class Formula:
    """The largest of `terms`, in bytes. `written` is its printed form where that says more.
    `beside` says in words what a run holds beside it.
    """

    terms: tuple[Expression, ...]
    written: str = ""
    beside: str = ""

    def evaluate(self, sizes: Mapping[str, int]) -> int:
        """Return the bytes at given sizes."""
        return max(term.evaluate(sizes) for term in self.terms)

    def __str__(self) -> str:
        return ", and ".join(filter(None, (self.written or self._text(), self.beside)))

    def _text(self) -> str:
        first, *others = [_expanded(term) for term in self.terms]
        if not others:
            return f"{_text(first)} bytes"
        shared = {
            m: least for m in first if (least := min(p.get(m, 0) for p in (first, *others))) > 0
        }
        rest = [_text(_sum(p, shared, -1)) for p in (first, *others)]
        common = f"{_text(shared)} + " if shared else ""
        return f"{common}max({', '.join(rest)}) bytes"

    __repr__ = __str__


def footprint(buffer: Buffer, dtype: str, copies: int = 1) -> Formula:
    """Return the bytes of a buffer: its lengths and the bytes of an element, and how many there are
    of it.
    """
    item = _item(buffer, dtype)
    factors = [_factor(n) for n in buffer.shape if n != 1]
    many = [str(copies)] if copies != 1 else []
    written = " * ".join([*many, *factors, str(item)])
    return Formula((buffer.elements * (item * copies),), f"{written} bytes")


def peak(
    loops: LoopProgram,
    sizes: Mapping[str, int],
    dtype: str,
    copies: Mapping[str, int],
    held: int,
) -> Formula:
    """Return the most bytes that arrays hold at one time. `sizes` only say which loops run at all;
    `copies` how many there are of a buffer, where that is not one. A run at these sizes holds
    `held` bytes: the rest, no formula of which is known, is said beside.
    """
    buffers = {
        record.buffer.name: record.buffer
        for record in walk(loops.body)
        if isinstance(record, (Allocate, Constant, Count))
    }
    weight = {
        name: _expanded(buffer.elements * (_item(buffer, dtype) * copies.get(name, 1)))
        for name, buffer in buffers.items()
    }
    polynomials: list[Polynomial] = []
    for names in _fullest(loops, sizes, dtype):
        together: Polynomial = {}
        for name in names:
            together = _sum(together, weight[name])
        polynomials = _largest(polynomials, together)
    found = Formula(tuple(_expression(p) for p in polynomials) or (expression(0),))
    rest = held - found.evaluate(sizes)
    if not rest:
        return found
    return replace(found, beside=f"{rest} bytes of {BESIDE}{at_sizes(sizes)}")


def _fullest(loops: LoopProgram, sizes: Mapping[str, int], dtype: str) -> Iterator[frozenset[str]]:
    """Yield the sets of buffers held just before one of them is given back."""
    held = [frozenset(name for name, _ in p.live) for p in loops.timeline(sizes, dtype)]
    for here, behind in zip(held, [*held[1:], frozenset[str]()], strict=True):
        if len(behind) <= len(here):
            yield here


def _largest(found: list[Polynomial], other: Polynomial) -> list[Polynomial]:
    """Return the polynomials with one more, without those that another always covers."""
    if any(_never_less(p, other) for p in found):
        return found
    return [*(p for p in found if not _never_less(other, p)), other]


def _never_less(left: Polynomial, right: Polynomial) -> bool:
    """Tell whether `left >= right` is certain at all sizes: the difference has no negative
    coefficient in terms of how much each atom exceeds 1. Where a minimum counts against that,
    either of its parts may replace it.
    """
    difference = _sum(left, right, -1)
    minima = {
        a: (a.left, a.right)
        for m, c in difference.items()
        for a in m
        if c < 0 and isinstance(a, Extremum) and a.kind == "min"
    }
    choices: list[list[tuple[Atom, Expression]]] = [
        [(a, part) for part in parts] for a, parts in minima.items()
    ]
    return any(_positive(_bounded(difference, dict(c))) for c in product(*choices))


def _bounded(difference: Polynomial, instead: Mapping[Atom, Expression]) -> Polynomial:
    bounded: Polynomial = {}
    for monomial, c in difference.items():
        factors: Polynomial = {(): c}
        for a in monomial:
            part = instead.get(a, atom(a)) if c < 0 else atom(a)
            factors = _multiplied(factors, _expanded(part))
        bounded = _sum(bounded, factors)
    return bounded


def _positive(difference: Polynomial) -> bool:
    shifted: Polynomial = {}
    for monomial, c in difference.items():
        factors: Polynomial = {(): c}
        for a in monomial:
            factors = _multiplied(factors, {(a,): 1, (): 1} if _at_least_one(a) else {(a,): 1})
        shifted = _sum(shifted, factors)
    return all(c >= 0 for c in shifted.values())


def _at_least_one(a: Atom) -> bool:
    """Tell whether an atom is at least 1 at all sizes. (Every atom is at least 0.)"""
    if isinstance(a, Size):
        return True
    if not isinstance(a, Extremum):
        return False
    both = [
        (e.constant >= 1 and not e.terms)
        or (len(e.terms) == 1 and e.constant >= 0 and _at_least_one(e.terms[0][0]))
        for e in (a.left, a.right)
    ]
    return all(both) if a.kind == "min" else any(both)


# -- polynomials -----------------------------------------------------------------------------------


def _expanded(e: Expression) -> Polynomial:
    polynomial: Polynomial = {(): e.constant} if e.constant else {}
    for a, c in e.terms:
        if isinstance(a, Product):
            part = _multiplied(_expanded(a.left), _expanded(a.right))
        else:
            part = {(a,): 1}
        polynomial = _sum(polynomial, part, c)
    return polynomial


def _sum(left: Polynomial, right: Polynomial, factor: int = 1) -> Polynomial:
    total = dict(left)
    for monomial, c in right.items():
        total[monomial] = total.get(monomial, 0) + factor * c
    return {m: c for m, c in total.items() if c}


def _multiplied(left: Polynomial, right: Polynomial) -> Polynomial:
    terms: Polynomial = {}
    for (m, c), (n, d) in product(left.items(), right.items()):
        monomial = tuple(sorted((*m, *n), key=lambda a: str(atom(a))))
        terms[monomial] = terms.get(monomial, 0) + c * d
    return terms


def _expression(p: Polynomial) -> Expression:
    total = expression(0)
    for monomial, c in p.items():
        part = expression(c)
        for a in monomial:
            part = part * atom(a)
        total = total + part
    return total


def _text(p: Polynomial) -> str:
    """Print a polynomial, highest powers first."""
    ordered = sorted(p.items(), key=lambda item: (-len(item[0]), [str(atom(a)) for a in item[0]]))
    parts = []
    for monomial, c in ordered:
        factors = [str(abs(c))] if abs(c) != 1 or not monomial else []
        factors += [_factor(atom(a)) for a in monomial]
        parts.append(("- " if c < 0 else "+ ") + " * ".join(factors))
    text = " ".join(parts) or "+ 0"
    return text.removeprefix("+ ") if text.startswith("+") else "-" + text[2:]


def _factor(e: Expression) -> str:
    single = not e.terms or (len(e.terms) == 1 and not e.constant and e.terms[0][1] == 1)
    plain = single and (not e.terms or isinstance(e.terms[0][0], Size | Extremum))
    return str(e) if plain else f"({e})"


def _item(buffer: Buffer, dtype: str) -> int:
    return ITEM_BYTES.get(buffer.dtype) or FLOAT_BYTES[dtype]
