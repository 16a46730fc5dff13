"""The probes of a machine: the calls of generated source, timed on next to nothing, on many short
rows, and on many elements. The kinds are those of `lowering/functions.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.backends.arrays.calls import call_text
from workbench.backends.arrays.checks import Checks
from workbench.backends.tracker import Memory
from workbench.lowering.functions import FUNCTIONS
from workbench.lowering.loops.records import Apply
from workbench.measure.calibration.stopwatch import Stopwatch
from workbench.polyhedral.tree import Block
from workbench.program.operations.matrices import OF_MATRICES
from workbench.program.values import Equations, Program

EMPTY = Program(Equations("calibration", (), (), (), (), ()), Block(()))

SMALL, LARGE, ROWS, WIDE = 16, 4096, 512, 8
WORKING_SETS = (12_000, 48_000, 192_000, 768_000, 3_000_000, 12_000_000, 48_000_000, 96_000_000)
SHAPES = ((2048, 4, 64), (64, 64, 2), (2048, 64, 1), (512, 64, 64))
"""Rows, summed, columns of products whose operands cost more than the arithmetic."""

KINDS_OF_CALLS = 200

VIEWS = "c = a[k, ...]; c = a[k:2]; c = a.transpose(1, 0)"

Options = Mapping[str, Any]
NOTHING: Options = {}
SOMEWHERE: dict[str, Any] = {"statement": "s", "instance": (), "axes": ()}


def _text(function: str, inputs: Sequence[str], out: str, options: Options) -> str:
    """Return a call as generated source has it, of a function `f`."""
    record = Apply(function, tuple(inputs), out, tuple(options.items()))
    return call_text(record, lambda name: "f")


def _call(w: Stopwatch, function: str, options: Options = NOTHING, **arrays: Any) -> float:
    """Return seconds of a call of a function of the table; `c` is the result, the others are
    operands.
    """
    inputs = [name for name in arrays if name != "c"]
    return w.seconds(_text(function, inputs, "c", options), function, **arrays)


def _check(w: Stopwatch, function: str, f: Any, options: Options = NOTHING, **arrays: Any) -> float:
    """Return seconds of a check, which is `f`."""
    statement = _text(function, list(arrays), "", SOMEWHERE | dict(options))
    return w.seconds(statement, f=f, **arrays)


def _draw(w: Stopwatch, kind: str, coordinate: str | int = "i", **arrays: Any) -> float:
    """Return seconds of drawing into `c` at a coordinate and at 3."""
    options = {"kind": kind, "origin": "x", "coordinates": (coordinate, 3)}
    return _call(w, "random", options, seed=0, **arrays)


def calls(w: Stopwatch) -> dict[str, float]:
    """Return seconds of calls on next to nothing."""
    a, b, c, matrix = w.array(SMALL), w.array(SMALL), w.array(SMALL), w.array(2, 2)
    memory, checks = Memory(w.xp), Checks(EMPTY.equations, w.xp)
    real = w.xp.float32
    length = {"length": 3, "dim": "k", "instance": (("i", 0),)}
    return _on(w, SMALL, "float32") | {
        "elementwise": _call(w, "add", a=a, b=b, c=c),
        "copy": _call(w, "copyto", a=a, c=c),
        "fill": w.seconds(_text("fill", (), "c", {"value": 0}), c=c),
        "dot": _call(w, "dot", a=matrix, b=matrix, c=w.array(2, 2)),
        "matmul": _call(w, "matmul", a=matrix, b=matrix, c=w.array(2, 2)),
        "orthogonalize": _call(w, "orthogonalize", a=w.array(4, 4), c=w.array(4, 4)),
        **_of_matrices(w, 4, 1),
        "check_length": _check(w, "check_length", checks.length, length),
        "view": w.seconds(VIEWS, a=matrix, k=1) / 3,
        "broadcast": w.seconds("c = f(a, (8, 16))", "broadcast_to", a=a),
        "allocate": w.seconds(
            "memory.allocate('x', (16,), d); memory.free('x')", memory=memory, d=real
        ),
        "reserve": w.seconds(
            "memory.reserve('x', (16,), d); memory.free('x')", memory=memory, d=real
        ),
        "constant": w.seconds(
            "memory.constant('x', 1.0, (), d); memory.free('x')", memory=memory, d=real
        ),
        "loop": w.seconds("pass", c=c),
        "condition": w.seconds("if k == 1: pass", k=0),
    }


def rows(w: Stopwatch) -> dict[str, tuple[int, float]]:
    """Return the number of rows of a few elements of a call, and its seconds."""
    a, b, c = (w.array(ROWS, 2 * WIDE)[:, :WIDE] for _ in range(3))
    column, places = w.array(ROWS), w.array(ROWS, dtype="int64")
    index, table, taken = w.array(ROWS, dtype="int64"), w.array(WIDE, WIDE), w.array(ROWS, WIDE)
    cube, product = w.array(ROWS, WIDE, WIDE), w.array(ROWS, WIDE, WIDE)
    many, permuted = w.xp.arange(WIDE), w.array(WIDE, SMALL, dtype="int32")
    seconds = {
        "elementwise": _call(w, "add", a=a, b=b, c=c),
        "copy": _call(w, "copyto", a=a, c=c),
        "sum": _call(w, "add.reduce", {"axis": 1}, a=a, c=column),
        "extremum": _call(w, "maximum.reduce", {"axis": 1}, a=a, c=column),
        "argmax": _call(w, "argmax", {"axis": 1}, a=a, c=places),
        "take": _call(w, "take", a=table, i=index, c=taken),
        "matmul": _call(w, "matmul", a=cube, b=cube, c=product),
    }
    seconds |= _of_matrices(w, 4, 1, ROWS)
    drawn = _draw(w, "permutation", c=permuted, i=many)
    return {kind: (ROWS, t) for kind, t in seconds.items()} | {"permutation": (WIDE, drawn)}


def elements(w: Stopwatch, dtype: str) -> dict[str, tuple[int, float]]:
    """Return the number of elements of a call, and its seconds."""
    a, b, c = (w.array(LARGE, dtype=dtype) for _ in range(3))
    whole = [w.array(LARGE, dtype="int32") for _ in range(3)]
    seconds = _on(w, LARGE, dtype)
    own = [f for f in FUNCTIONS.values() if f.elementwise and f.cost.element is not None]
    for function in sorted(own, key=lambda f: f.name):
        x, y, out = whole if function.integers else (a, b, c)
        two = getattr(w.functions[function.name], "nin", 1) == 2
        operands = {"a": x, "b": y} if two else {"a": x}
        seconds[function.name] = _call(w, function.name, **operands, c=out)
    gaps = w.array(LARGE, 4, dtype=dtype)
    seconds["gaps"] = _call(w, "add", a=gaps[:, 0], b=gaps[:, 1], c=c)
    counted = {name: (LARGE, spent) for name, spent in seconds.items()}
    tall = w.array(ROWS, ROWS, dtype=dtype)
    counted["turned"] = (ROWS * ROWS, _call(w, "copyto", a=tall.T, c=tall.copy()))
    square = w.array(64, 64, dtype=dtype)
    spent = _call(w, "orthogonalize", a=square, c=square.copy())
    for kind, of_matrices in _of_matrices(w, 64, 64, dtype=dtype).items():
        counted[kind] = OF_MATRICES[kind](64, 64), of_matrices
    return counted | {"orthogonalize": (64**3, spent)}


def _of_matrices(
    w: Stopwatch, n: int, columns: int, *many: int, dtype: str = "float32"
) -> dict[str, float]:
    """Return seconds of solving n equations for so many columns, and of factors of n rows."""
    matrix = w.array(*many, n, n, dtype=dtype) + 2 * n * w.xp.eye(n, dtype=dtype)
    right, x = (w.array(*many, n, columns, dtype=dtype) for _ in range(2))
    return {
        "solve": _call(w, "solve", a=matrix, b=right, c=x),
        "cholesky": _call(w, "cholesky", a=matrix, c=matrix.copy()),
    }


def _on(w: Stopwatch, n: int, dtype: str) -> dict[str, float]:
    """Return seconds of a call on n elements, for the kinds worth timing on few and on many."""
    a, c, one = w.array(n, dtype=dtype), w.array(n, dtype=dtype), w.array(dtype=dtype)
    integers, index = w.array(n, dtype="int32"), w.array(n, dtype="int64")
    mask, checks, many = w.array(n, dtype="bool"), Checks(EMPTY.equations, w.xp), w.xp.arange(n)
    inside = {"lower": 0, "upper": 9, "array": "x", "dim": "k"}
    return {
        "cast": _call(w, "copyto", a=integers, c=c),
        "masked copy": _call(w, "copyto", a=a, m=mask, c=c),
        "sum": _call(w, "add.reduce", {"axis": 0}, a=a, c=one),
        "extremum": _call(w, "maximum.reduce", {"axis": 0}, a=a, c=one),
        "accumulate": _call(w, "add.accumulate", {"axis": 0}, a=a, c=c),
        "argmax": _call(w, "argmax", {"axis": 0}, a=a, c=w.array(dtype="int64")),
        "take": _call(w, "take", a=a, i=index, c=c),
        "update": _call(w, "put", i=index, a=a, c=c),
        "gamma": _call(w, "digamma", a=a, c=c),
        "uniform": _draw(w, "uniform", c=c, i=many),
        "normal": _draw(w, "normal", c=c, i=many),
        "permutation": _draw(w, "permutation", 3, c=integers),
        "segment_add": _call(w, "segment_add", {"lower": (0,)}, a=a, i=index, c=c),
        "given": w.seconds("c[...] = a[(i,)]", a=a, c=c, i=index),
        "check_index": _check(w, "check_index", checks.index, inside, i=index),
        "check_all": _check(w, "check_all", checks.nonempty, m=mask | True),
    }


def bytes_moved(w: Stopwatch) -> dict[int, float]:
    """Return seconds of additions by working set."""
    seconds = {}
    for size in WORKING_SETS:
        a, b, c = (w.array(size // 12) for _ in range(3))
        seconds[size] = _call(w, "add", a=a, b=b, c=c)
    return seconds


def products(w: Stopwatch, dtype: str) -> dict[tuple[int, int, int], float]:
    """Return seconds of matrix products by (rows, summed, columns), a large one first."""
    seconds: dict[tuple[int, int, int], float] = {}
    for m, k, n in ((384, 384, 384), *SHAPES):
        a, b, c = (w.array(*shape, dtype=dtype) for shape in ((m, k), (k, n), (m, n)))
        seconds[m, k, n] = _call(w, "dot", a=a, b=b, c=c)
    return seconds


def first_touch(w: Stopwatch) -> tuple[int, float]:
    """Return bytes of a block of new memory, and the extra seconds of filling it for the first
    time.
    """
    k = 1 << 26
    old = w.xp.empty(k, "uint8")
    again = w.seconds("c.fill(0)", c=old)
    fresh = w.seconds("c = xp.empty(k, 'uint8'); c.fill(0)", xp=w.xp, k=k)
    return k, max(0.0, fresh - again)


def cold_calls(w: Stopwatch) -> tuple[float, float]:
    """Return seconds of many different calls one after the other, and after others used the
    caches.
    """
    names = ("add", "multiply", "subtract", "maximum", "minimum", "divide")
    lines, table = [], {f"f{k}": w.functions[name] for k, name in enumerate(names)}
    for k in range(KINDS_OF_CALLS):
        table |= {f"{name}{k}": w.array(SMALL) for name in "abc"}
        lines.append(f"f{k % len(names)}(a{k}, b{k}, out=c{k})")
    size = WORKING_SETS[-3] // 12
    evicting = tuple(w.array(size) for _ in range(3))
    add = w.functions["add"]
    return w.in_turn("; ".join(lines), lambda: add(evicting[0], evicting[1], evicting[2]), table)
