"""What is timed to know a machine: the calls of generated source on next to nothing, on many short
rows, and on many elements. The kinds are those of `lowering/functions.py`.
"""

from __future__ import annotations

from workbench.backends.arrays.checks import Checks
from workbench.backends.tracker import Memory
from workbench.lowering.functions import FUNCTIONS
from workbench.measure.calibration.stopwatch import Stopwatch
from workbench.polyhedral.tree import Block
from workbench.program.values import Program

EMPTY = Program("calibration", (), (), (), (), (), Block(()))

SMALL, LARGE, ROWS, WIDE = 16, 4096, 512, 8
WORKING_SETS = (12_000, 48_000, 192_000, 768_000, 3_000_000, 12_000_000, 48_000_000, 96_000_000)
SHAPES = ((2048, 4, 64), (64, 64, 2), (2048, 64, 1), (512, 64, 64))
"""Rows, summed, columns of products whose operands weigh more than the arithmetic."""

KINDS_OF_CALLS = 200

TWO = "f(a, b, out=c)"
ALONG = "f(a, axis={}, out=c)"
DRAW = "f(k, c, 0, 1, (i, 3))"
TAKE = "f(a, i, 0, c, 'clip')"
SEGMENTS = "f(c, a, (i,), (0,))"
MASKED = "f(c, a, where=m)"
VIEWS = "c = a[k, ...]; c = a[k:2]; c = a.transpose(1, 0)"
COPY = "c[...] = a"
CHECK_INDEX = "f(i, 0, 9, 'x', 'k', 's', [], [])"
CHECK_ALL = "f(m, 's', [], [])"


def calls(w: Stopwatch) -> dict[str, float]:
    """Seconds of a call on next to nothing."""
    a, b, c, matrix = w.array(SMALL), w.array(SMALL), w.array(SMALL), w.array(2, 2)
    memory, checks = Memory(w.xp), Checks(EMPTY, w.xp)
    real = w.xp.float32
    return _on(w, SMALL, "float32") | {
        "elementwise": w.seconds(TWO, "add", a=a, b=b, c=c),
        "copy": w.seconds(COPY, a=a, c=c),
        "fill": w.seconds("c[...] = 0", c=c),
        "dot": w.seconds(TWO, "dot", a=matrix, b=matrix, c=w.array(2, 2)),
        "matmul": w.seconds(TWO, "matmul", a=matrix, b=matrix, c=w.array(2, 2)),
        "orthogonalize": w.seconds("f(a, c)", "orthogonalize", a=w.array(4, 4), c=w.array(4, 4)),
        "check_length": w.seconds("f(3, 'k', 's', [('i', i)], [])", f=checks.length, i=0),
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
    """The number of rows of a few elements of a call, and its seconds."""
    a, b, c = (w.array(ROWS, 2 * WIDE)[:, :WIDE] for _ in range(3))
    column, places = w.array(ROWS), w.array(ROWS, dtype="int64")
    index, table, taken = w.array(ROWS, dtype="int64"), w.array(WIDE, WIDE), w.array(ROWS, WIDE)
    cube, product = w.array(ROWS, WIDE, WIDE), w.array(ROWS, WIDE, WIDE)
    many, permuted = w.xp.arange(WIDE), w.array(WIDE, SMALL, dtype="int32")
    found = {
        "elementwise": w.seconds(TWO, "add", a=a, b=b, c=c),
        "copy": w.seconds(COPY, a=a, c=c),
        "sum": w.seconds(ALONG.format(1), "add.reduce", a=a, c=column),
        "extremum": w.seconds(ALONG.format(1), "maximum.reduce", a=a, c=column),
        "argmax": w.seconds("f(a, 1, c)", "argmax", a=a, c=places),
        "take": w.seconds(TAKE, "take", a=table, i=index, c=taken),
        "matmul": w.seconds(TWO, "matmul", a=cube, b=cube, c=product),
    }
    drawn = w.seconds(DRAW, "random", k="permutation", c=permuted, i=many)
    return {kind: (ROWS, t) for kind, t in found.items()} | {"permutation": (WIDE, drawn)}


def elements(w: Stopwatch, dtype: str) -> dict[str, tuple[int, float]]:
    """The number of elements of a call, and its seconds."""
    a, b, c = (w.array(LARGE, dtype=dtype) for _ in range(3))
    whole = [w.array(LARGE, dtype="int32") for _ in range(3)]
    seconds = _on(w, LARGE, dtype)
    own = [f for f in FUNCTIONS.values() if f.elementwise and f.cost.element is not None]
    for function in sorted(own, key=lambda f: f.name):
        x, y, out = whole if function.integers else (a, b, c)
        two = getattr(w.functions[function.name], "nin", 1) == 2
        statement = TWO if two else "f(a, out=c)"
        seconds[function.name] = w.seconds(statement, function.name, a=x, b=y, c=out)
    gaps = w.array(LARGE, 4, dtype=dtype)
    seconds["gaps"] = w.seconds(TWO, "add", a=gaps[:, 0], b=gaps[:, 1], c=c)
    counted = {name: (LARGE, spent) for name, spent in seconds.items()}
    tall = w.array(ROWS, ROWS, dtype=dtype)
    counted["turned"] = (ROWS * ROWS, w.seconds(COPY, a=tall.T, c=tall.copy()))
    square = w.array(64, 64, dtype=dtype)
    spent = w.seconds("f(a, c)", "orthogonalize", a=square, c=square.copy())
    return counted | {"orthogonalize": (64**3, spent)}


def _on(w: Stopwatch, n: int, dtype: str) -> dict[str, float]:
    """Seconds of a call on n elements, of what is worth knowing on few and on many."""
    a, c, one = w.array(n, dtype=dtype), w.array(n, dtype=dtype), w.array(dtype=dtype)
    integers, index = w.array(n, dtype="int32"), w.array(n, dtype="int64")
    mask, checks, many = w.array(n, dtype="bool"), Checks(EMPTY, w.xp), w.xp.arange(n)
    return {
        "cast": w.seconds(COPY, a=integers, c=c),
        "masked copy": w.seconds(MASKED, "copyto", a=a, c=c, m=mask),
        "sum": w.seconds(ALONG.format(0), "add.reduce", a=a, c=one),
        "extremum": w.seconds(ALONG.format(0), "maximum.reduce", a=a, c=one),
        "accumulate": w.seconds(ALONG.format(0), "add.accumulate", a=a, c=c),
        "argmax": w.seconds("f(a, 0, c)", "argmax", a=a, c=w.array(dtype="int64")),
        "take": w.seconds(TAKE, "take", a=a, i=index, c=c),
        "uniform": w.seconds(DRAW, "random", k="uniform", c=c, i=many),
        "normal": w.seconds(DRAW, "random", k="normal", c=c, i=many),
        "permutation": w.seconds(DRAW, "random", k="permutation", c=integers, i=3),
        "segment_add": w.seconds(SEGMENTS, "segment_add", a=a, i=index, c=c),
        "given": w.seconds("c[...] = a[(i,)]", a=a, c=c, i=index),
        "check_index": w.seconds(CHECK_INDEX, f=checks.index, i=index),
        "check_all": w.seconds(CHECK_ALL, f=checks.nonempty, m=mask | True),
    }


def bytes_moved(w: Stopwatch) -> dict[int, float]:
    """Seconds of additions by working set."""
    found = {}
    for size in WORKING_SETS:
        a, b, c = (w.array(size // 12) for _ in range(3))
        found[size] = w.seconds(TWO, "add", a=a, b=b, c=c)
    return found


def products(w: Stopwatch, dtype: str) -> dict[tuple[int, int, int], float]:
    """Seconds of matrix products by (rows, summed, columns), a large one first."""
    found: dict[tuple[int, int, int], float] = {}
    for m, k, n in ((384, 384, 384), *SHAPES):
        a, b, c = (w.array(*shape, dtype=dtype) for shape in ((m, k), (k, n), (m, n)))
        found[m, k, n] = w.seconds(TWO, "dot", a=a, b=b, c=c)
    return found


def first_touch(w: Stopwatch) -> tuple[int, float]:
    """Bytes of a block of new memory, and the seconds that filling it takes more than again."""
    k = 1 << 26
    old = w.xp.empty(k, "uint8")
    again = w.seconds("c.fill(0)", c=old)
    fresh = w.seconds("c = xp.empty(k, 'uint8'); c.fill(0)", xp=w.xp, k=k)
    return k, max(0.0, fresh - again)


def cold_calls(w: Stopwatch) -> tuple[float, float]:
    """Seconds of many different calls one after the other, and after others used the caches."""
    names = ("add", "multiply", "subtract", "maximum", "minimum", "divide")
    lines, table = [], {f"f{k}": w.functions[name] for k, name in enumerate(names)}
    for k in range(KINDS_OF_CALLS):
        table |= {f"{name}{k}": w.array(SMALL) for name in "abc"}
        lines.append(f"f{k % len(names)}(a{k}, b{k}, out=c{k})")
    size = WORKING_SETS[-3] // 12
    evicting = tuple(w.array(size) for _ in range(3))
    add = w.functions["add"]
    return w.in_turn("; ".join(lines), lambda: add(evicting[0], evicting[1], evicting[2]), table)
