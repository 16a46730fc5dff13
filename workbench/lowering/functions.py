"""The table of array functions that lowering emits: one row holds all about one function.

A row says how a call is written, what it reads, writes and costs, and where an array module has it.
Rows are values and text. A function that no array module has is the meaning of an operation, or is
written in Python by the backend that runs it (`backends/arrays/array_functions.py`) under its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from workbench.lowering.loops.records import Apply

Walk = Literal[
    "elements",
    "looked",
    "reduction",
    "product",
    "rows",
    "entries",
    "words",
    "points",
    "segments",
    "factors",
    "equations",
    "triangle",
]
"""The elements that a call works through, by their strides where these matter.

"elements": the result's, to which operands are repeated. "looked": its first operand's, which is
only read. "reduction": its operand's, with fewer results. "product": that of matrices. "rows": the
requested rows of a table. "entries": those of a table that are changed, as many as its last operand
has. "words": random ones, four at a time. "points": the result's, one after
the other; "segments": its first operand's in that way. "factors": the result's, as often as its
smaller side is long. "equations": the operations that solve them, of each matrix a row; "triangle":
those that factorize one.
"""

Reads = Literal["operands", "result", "result and operands"]


@dataclass(frozen=True)
class Cost:
    """A call's cost: the machine's constants called `kind` times the elements it works through.

    An option's name in braces stands for its value. `operations` are those of arithmetic at each
    place. `call`, `row` and `element` (of float32 and of float64) are nanoseconds of a server's
    core under NumPy, used without a measurement; None: those of "elementwise". An `element` is
    given where the work is more than moving it.
    """

    kind: str
    walk: Walk = "elements"
    operations: int = 1
    reads: Reads = "operands"
    writes: bool = True
    converting: str = ""
    """The kind where the operand has another dtype than the result."""
    call: float | None = None
    row: float | None = None
    element: tuple[float, float] | None = None


@dataclass(frozen=True)
class ArrayFunction:
    """A row: the text of a call, its cost, and its place in array modules.

    In `source` a number in braces is that operand, `inputs` are all of them, `rest` all but the
    first, `masked` all but the last, which is the `mask`; `out` is the result, `f` the function's
    local name, and an option's name its value. Behind a colon stands how several are written:
    `list`, `more` (each behind a comma), `tuple`, `pairs` (names with values); `key` is the key of
    an origin's draws.
    """

    name: str
    source: str
    cost: Cost
    path: str = ""
    """The attribute of an array module that is the function; "" where it has none."""
    elementwise: bool = False
    """True if it may write its result over an operand."""
    integers: bool = False
    """True if it computes with integers only."""
    assigns: bool = False
    """True if a call is an assignment to the result, with `source` as the right side."""
    evaluated: bool = False
    """True if no array module has it: the meaning of the operation of that name computes it."""
    scratch: int = 0
    """The elements of scratch memory that an evaluated call takes, per element of its result."""
    masked: ArrayFunction | None = None
    """The row where a mask is one more operand, the last."""
    unmasked: int = 1
    """The operands of a call without a mask, where there may be one."""

    def of(self, operands: int) -> ArrayFunction:
        """Return the row of a call with so many operands."""
        return self.masked if self.masked is not None and operands > self.unmasked else self


ELEMENTWISE = Cost("elementwise", call=270, row=12)
COPY = Cost("copy", operations=0, converting="cast", call=100, row=5)
SUM = Cost("sum", "reduction", call=700, row=18, element=(0.17, 0.18))
EXTREMUM = Cost("extremum", "reduction", call=800, row=40, element=(0.07, 0.25))
POSITION = Cost("argmax", "reduction", call=100, row=14, element=(0.07, 0.2))

GAMMA = Cost("gamma", call=40_000, element=(120, 140))


def _elementwise(
    name: str, element: tuple[float, float] | None = None, integers: bool = False
) -> ArrayFunction:
    """Make a ufunc's row, with nanoseconds per element if it costs more than moving operands."""
    cost = ELEMENTWISE if element is None else Cost(name, element=element)
    source = "{f}({inputs:list}, out={out})"
    return ArrayFunction(name, source, cost, name, elementwise=True, integers=integers)


def _along(name: str, cost: Cost) -> ArrayFunction:
    """Make the row of a ufunc's method along axes."""
    return ArrayFunction(name, "{f}({0}, axis={axis}, out={out})", cost, name)


def _position(name: str) -> ArrayFunction:
    return ArrayFunction(name, "{f}({0}, {axis}, {out})", POSITION, f"ndarray.{name}")


def _product(name: str, call: float, row: float | None = None) -> ArrayFunction:
    cost = Cost(name, "product", 2, call=call, row=row)
    return ArrayFunction(name, "{f}({inputs:list}, out={out})", cost, name)


WHERE = '"{statement}", {instance:pairs}, {axes:pairs}'
"""The statement and the instance that a check names, as arguments of its call."""


def _check(name: str, arguments: str, cost: Cost) -> ArrayFunction:
    """Make the row of a check; its arguments are the value, the expected one and the instance."""
    return ArrayFunction(name, f"{{f}}({arguments}, {WHERE})", cost)


def _values_check(name: str, operands: int = 1, expected: str = "") -> ArrayFunction:
    """Make the row of a check of values, which may be masked."""
    masked = f"{{f}}({{masked:list}}{expected}, {WHERE}, {{mask}})"
    row = _check(name, f"{{inputs:list}}{expected}", INSIDE)
    return replace(row, masked=replace(row, source=masked), unmasked=operands)


def _looked(
    kind: str,
    call: float | None = None,
    element: tuple[float, float] | None = None,
) -> Cost:
    return Cost(kind, "looked", 0, writes=False, call=call, element=element)


UPDATE = Cost("update", "entries", operations=0, call=300, element=(4, 4))
INSIDE = _looked("check_index", 2_300, (0.2, 0.2))

_ROWS = [
    _elementwise("negative"),
    _elementwise("absolute"),
    _elementwise("sign"),
    _elementwise("exp", (0.5, 0.8)),
    _elementwise("log", (0.4, 0.8)),
    _elementwise("log1p", (0.45, 1)),
    _elementwise("sqrt", (0.35, 1.2)),
    _elementwise("tanh", (0.45, 1.7)),
    _elementwise("sin", (0.5, 8)),
    _elementwise("cos", (0.5, 8)),
    _elementwise("floor", (0.08, 0.15)),
    _elementwise("isfinite"),
    _elementwise("logical_not"),
    _elementwise("add"),
    _elementwise("subtract"),
    _elementwise("multiply"),
    _elementwise("divide", (0.15, 0.4)),
    _elementwise("floor_divide", (1.7, 1.7), integers=True),
    _elementwise("remainder", (1.7, 1.7), integers=True),
    _elementwise("power", (0.9, 2.3)),
    _elementwise("minimum"),
    _elementwise("maximum"),
    _elementwise("equal"),
    _elementwise("not_equal"),
    _elementwise("less"),
    _elementwise("less_equal"),
    _elementwise("greater"),
    _elementwise("greater_equal"),
    _elementwise("logical_and"),
    _elementwise("logical_or"),
    ArrayFunction(
        "copyto",
        "{0}",
        COPY,
        "copyto",
        assigns=True,
        masked=ArrayFunction(
            "copyto",
            "{f}({out}, {0}, where={1})",
            Cost("masked copy", operations=0, call=300, element=(0.9, 0.9)),
            "copyto",
        ),
    ),
    ArrayFunction("to_device", "{f}({0}, {out})", COPY),
    ArrayFunction("to_host", "{f}({0}, {out})", COPY),
    ArrayFunction("fill", "{value}", Cost("fill", operations=0, call=150, row=5), assigns=True),
    _along("add.reduce", SUM),
    _along("maximum.reduce", EXTREMUM),
    _along("minimum.reduce", EXTREMUM),
    _along("logical_or.reduce", EXTREMUM),
    _along("add.accumulate", Cost("accumulate", call=340, element=(3.3, 3.4))),
    _position("argmax"),
    _position("argmin"),
    _product("dot", call=400),
    _product("matmul", call=850, row=30),
    ArrayFunction(
        "take",
        '{f}({0}, {1}, 0, {out}, "clip")',
        Cost("take", "rows", operations=0, call=180, row=1, element=(0.6, 0.9)),
        "ndarray.take",
    ),
    ArrayFunction("put", "{f}({out}, {0}, {1})", UPDATE),
    ArrayFunction(
        "add_at", "{f}({out}, {0}, {1})", replace(UPDATE, operations=1, reads="result and operands")
    ),
    ArrayFunction(
        "random",
        '{f}("{kind}", {out}, seed, {origin:key}, {coordinates:tuple})',
        Cost("{kind}", "words"),
    ),
    ArrayFunction(
        "segment_add",
        "{f}({out}, {0}, {rest:tuple}, {lower:tuple})",
        Cost("segment_add", "segments", call=6_300, element=(3, 5)),
    ),
    ArrayFunction(
        "sum_inside",  # always looks whether all sums are finite
        '{f}("{spec}", {out}, {inputs:list})',
        Cost("sum", "looked", reads="result", writes=False),
    ),
    _values_check("check_index", expected=', {lower}, {upper}, "{array}", "{dim}"'),
    _values_check("check_within", 3),
    _values_check("check_possible"),
    _values_check("check_positive"),
    _values_check("check_existing", 2, ', "{array}", "{dim}"'),
    _values_check("check_regular", 2),
    _values_check("check_definite"),
    _check("check_length", '{length}, "{dim}"', _looked("check_length", 100)),
    _check("check_all", "{inputs:list}", _looked("check_all", 1_000, (0.03, 0.03))),
    *(
        ArrayFunction(name, "{f}({inputs:list}, {out})", GAMMA, evaluated=True, scratch=20)
        for name in ("lgamma", "digamma", "trigamma")
    ),
    ArrayFunction(
        "orthogonalize",
        "{f}({inputs:list}, {out})",
        Cost("orthogonalize", "factors", 4, call=18_000, element=(0.32, 0.32)),
        evaluated=True,
        scratch=6,
    ),
    ArrayFunction(
        "solve",
        "{f}({inputs:list}, {out})",
        Cost("solve", "equations", call=8_000, row=500, element=(0.15, 0.13)),
        evaluated=True,
    ),
    ArrayFunction(
        "cholesky",
        "{f}({inputs:list}, {out})",
        Cost("cholesky", "triangle", call=7_000, row=330, element=(0.2, 0.08)),
        evaluated=True,
    ),
    ArrayFunction(
        "given",
        '{f}("{name}", {out}, {coordinates:tuple})',
        Cost("given", "points", 0, reads="result and operands", call=220, element=(1, 1.4)),
    ),
    ArrayFunction(
        "external",
        '{f}("{name}", "{method}", "{statement}", {instance:pairs}, {out}{inputs:more})',
        Cost("external", "points", operations=0, call=100_000),
    ),
]

FUNCTIONS: dict[str, ArrayFunction] = {row.name: row for row in _ROWS}


def row_of(record: Apply) -> ArrayFunction:
    """Return the row of a call."""
    return FUNCTIONS[record.function].of(len(record.inputs))


def costs() -> Mapping[str, Cost]:
    """Return the costs of all rows by kind: the first that gives a kind's nanoseconds."""
    kinds: dict[str, Cost] = {}
    for row in FUNCTIONS.values():
        for one in (row, row.masked):
            if one is not None:
                kinds.setdefault(one.cost.kind, one.cost)
    return kinds
