"""Linear algebra as records: what an operation on whole matrices leaves in scratch memory.

Every position takes its operations in one order, so that compiled C and CUDA have the same bits.
Which rows are exchanged depends on data: each element is chosen, so that lanes may differ in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.codegen.emitter import Emitter, Index, cast, flat, total
from workbench.codegen.kernel_records import (
    Compute,
    Load,
    Local,
    Number,
    Store,
    Update,
    Value,
    Variable,
)
from workbench.lowering.values.stored import symbolic
from workbench.polyhedral.expression import Expression, expression
from workbench.program.bodies import Body, Call

if TYPE_CHECKING:
    from workbench.codegen.bodies.body_values import Bodies

REAL = "float"

FEW = 8
"""The most unknowns of equations whose elimination is written out, one after the other."""


@dataclass(frozen=True)
class _Matrix:
    """A matrix in scratch memory, row by row from `begin` on."""

    out: Emitter
    buffer: str
    begin: Expression
    columns: int

    def at(self, i: Expression, j: Expression) -> Load:
        """Return the element at a row and a column."""
        return Load(self.buffer, self.begin + i * self.columns + j, REAL)

    def put(self, i: Expression, j: Expression, value: Value) -> None:
        """Write the record that stores an element."""
        self.out.add(Store(self.buffer, self.at(i, j).at, value))

    def fuse(self, i: Expression, j: Expression, one: Value, other: Value) -> None:
        """Write the record that adds a product to an element."""
        self.put(i, j, Compute("fma", (one, other, self.at(i, j)), REAL))

    def exchange(self, when: Value, i: Expression, k: Expression, first: Expression) -> None:
        """Write the loop that exchanges two rows, from a column on, in the lanes where it holds."""

        def visit(j: Expression) -> None:
            upper = self.out.let("upper", self.at(k, j))
            lower = self.out.let("lower", self.at(i, j))
            self.put(k, j, Compute("where", (when, lower, upper), REAL))
            self.put(i, j, Compute("where", (when, upper, lower), REAL))

        _between(self.out, "j", first, self.columns, visit)


def solved(bodies: Bodies, body: Call) -> str:
    """Write the solution of equations by Gaussian elimination with partial pivoting (Golub and Van
    Loan, "Matrix Computations", 3.4.1); return its buffer. A row with a larger element goes up as
    soon as it is met.
    """
    *lead, n, columns = symbolic(body.shape)
    matrices, sides = body.arguments
    of_matrices, of_sides = _copy(bodies, matrices, "matrix"), _copy(bodies, sides, "solution")
    singular = _flag(bodies, "singular")

    def one(index: Index) -> None:
        place = flat(index, lead)
        matrix = _Matrix(bodies.out, of_matrices, place * n * n, n.constant)
        right = _Matrix(bodies.out, of_sides, place * n * columns, columns.constant)
        _one_by_one(bodies.out, n, lambda k: _eliminate(matrix, right, k, singular))
        _one_by_one(bodies.out, n, lambda k: _substitute(matrix, right, n - 1 - k))

    bodies.out.each(lead, one)
    _require_not(bodies, "regular", singular)
    return of_sides


def _eliminate(matrix: _Matrix, right: _Matrix, k: Expression, singular: str) -> None:
    """Write the elimination of an unknown from the equations below."""
    out, n = matrix.out, matrix.columns

    def choose(i: Expression) -> None:
        sizes = (Compute("absolute", (matrix.at(row, k),), REAL) for row in (i, k))
        when = out.let("larger", Compute("greater", tuple(sizes), "bool"))
        matrix.exchange(when, i, k, k)
        right.exchange(when, i, k, expression(0))

    _between(out, "i", k + 1, n, choose)
    pivot = out.let("pivot", matrix.at(k, k))
    _raise(out, singular, Compute("equal", (pivot, Number(0.0, REAL)), "bool"))

    def subtract(i: Expression) -> None:
        share = Compute("divide", (matrix.at(i, k), pivot), REAL)
        factor = out.let("factor", Compute("negative", (share,), REAL))
        for part, first in ((matrix, k + 1), (right, expression(0))):
            _between(out, "j", first, part.columns, _adding(part, i, factor, part, k))

    _between(out, "i", k + 1, n, subtract)


def _substitute(matrix: _Matrix, right: _Matrix, i: Expression) -> None:
    """Write what an unknown is, those behind it being known."""
    out = matrix.out

    def subtract(k: Expression) -> None:
        factor = out.let("factor", Compute("negative", (matrix.at(i, k),), REAL))
        _between(out, "j", expression(0), right.columns, _adding(right, i, factor, right, k))

    _between(out, "k", i + 1, matrix.columns, subtract)
    pivot = out.let("pivot", matrix.at(i, i))

    def divide(j: Expression) -> None:
        right.put(i, j, Compute("divide", (right.at(i, j), pivot), REAL))

    _between(out, "j", expression(0), right.columns, divide)


def _adding(
    to: _Matrix, i: Expression, factor: Value, of: _Matrix, k: Expression
) -> Callable[[Expression], None]:
    """Return what adds an element of a row, times a factor, to one of another row."""
    return lambda j: to.fuse(i, j, factor, of.at(k, j))


def factorized(bodies: Bodies, body: Call) -> str:
    """Write Cholesky factors, column by column (Golub and Van Loan, "Matrix Computations", 4.2.5);
    return their buffer.
    """
    *lead, n, _ = symbolic(body.shape)
    buffer = _copy(bodies, body.arguments[0], "factor")
    indefinite = _flag(bodies, "indefinite")

    def one(index: Index) -> None:
        factor = _Matrix(bodies.out, buffer, flat(index, lead) * n * n, n.constant)
        _one_by_one(bodies.out, n, lambda j: _column(factor, j, indefinite))

    bodies.out.each(lead, one)
    _require_not(bodies, "definite", indefinite)
    return buffer


def _column(factor: _Matrix, j: Expression, indefinite: str) -> None:
    """Write a column of a Cholesky factor, those before it being known."""
    out, zero = factor.out, Number(0.0, REAL)
    square = _rest(factor, j, j)
    positive = Compute("greater", (square, zero), "bool")
    _raise(out, indefinite, Compute("logical_not", (positive,), "bool"))
    diagonal = out.let("diagonal", Compute("sqrt", (square,), REAL))
    factor.put(j, j, diagonal)

    def below(i: Expression) -> None:
        factor.put(i, j, Compute("divide", (_rest(factor, i, j), diagonal), REAL))

    _between(out, "i", j + 1, factor.columns, below)
    _between(out, "i", expression(0), j, lambda i: factor.put(i, j, zero))


def _rest(factor: _Matrix, i: Expression, j: Expression) -> Value:
    """Write an element less what the columns before its own make up of it; return that."""
    out = factor.out
    name = out.name("rest")
    out.add(Variable(name, factor.at(i, j)))

    def subtract(k: Expression) -> None:
        less = Compute("negative", (factor.at(i, k),), REAL)
        product = (less, factor.at(j, k), Local(name, REAL))
        out.add(Update(name, Compute("fma", product, REAL)))

    _between(out, "k", expression(0), j, subtract)
    return Local(name, REAL)


# -- parts of both ---------------------------------------------------------------------------------


def _copy(bodies: Bodies, operand: Body, wish: str) -> str:
    """Write an operand into new scratch memory."""
    shape = symbolic(operand.shape)
    buffer = bodies.out.scratch(wish, REAL, total(shape))

    def store(index: Index, value: Value) -> None:
        bodies.out.add(Store(buffer, flat(index, shape), cast(value, REAL)))

    bodies.positions(operand, store)
    return buffer


def _one_by_one(out: Emitter, n: Expression, visit: Callable[[Expression], None]) -> None:
    """Visit numbers up to one, written out where these are few: then all loops inside have numbers
    as bounds, by which their work is counted exactly.
    """
    if n.constant > FEW:
        _between(out, "k", expression(0), n, visit)
        return
    for k in range(n.constant):
        visit(expression(k))


def _between(
    out: Emitter,
    wish: str,
    first: Expression,
    behind: Expression | int,
    visit: Callable[[Expression], None],
) -> None:
    """Write a loop, none where it has surely no turn."""
    turns = behind - first
    if turns.terms or turns.constant > 0:
        with out.loop(wish, first, expression(behind)) as turn:
            visit(turn)


def _flag(bodies: Bodies, wish: str) -> str:
    """Write a new variable that is false."""
    name = bodies.out.name(wish)
    bodies.out.add(Variable(name, Number(False, "bool")))
    return name


def _raise(out: Emitter, flag: str, when: Value) -> None:
    """Write that a flag is true from here on where something holds."""
    out.add(Update(flag, Compute("logical_or", (Local(flag, "bool"), when), "bool")))


def _require_not(bodies: Bodies, kind: str, flag: str) -> None:
    bodies.require(kind, Compute("logical_not", (Local(flag, "bool"),), "bool"))


BUFFERS: dict[str, Callable[[Bodies, Call], str]] = {"solve": solved, "cholesky": factorized}
"""The writer of an operation's result, into scratch memory of its own, in order."""
