"""Small programs that between them use everything the array backend lowers, with dims that may run
as array axes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tests.by_hand import (
    B,
    N,
    T,
    b,
    call,
    equations,
    i,
    k,
    literal,
    n,
    read,
    statement,
    t,
    value,
)
from workbench.polyhedral.expression import Expression, choice, size
from workbench.polyhedral.ordering.as_written import order
from workbench.polyhedral.tree import Block, Leaf, Loop, Tree
from workbench.program.bodies import Body, Literal
from workbench.program.dependences import dependences
from workbench.program.storage import Storage
from workbench.program.values import Equations, Program

SIZES = [{"B": 3, "T": 5, "N": 4}, {"B": 1, "T": 1, "N": 1}, {"B": 2, "T": 7, "N": 3}]
I = size("I")


def scheduled(p: Equations, axes: tuple[str, ...] = ()) -> Program:
    """The program of equations under their root schedule with the dims `axes` as array axes."""
    instances = [s.instances for s in p.statements]
    tree = order(instances, dependences(p), [d.name for d in p.dims])
    return Program(p, as_axes(tree, axes))


def folded(p: Program) -> Program:
    """The program with every array folded and updated in place as far as lifetimes let it."""
    everything = tuple((a.name, d) for a in p.arrays for d in a.dims)
    in_place = tuple((a.name, a.name) for a in p.arrays)
    return replace(p, storage=Storage(contracted=everything, donated=in_place))


def as_axes(tree: Tree, axes: tuple[str, ...]) -> Tree:
    """Every loop over one of the dims as an array axis."""
    if isinstance(tree, Leaf):
        return tree
    if isinstance(tree, Block):
        return Block(tuple(as_axes(child, axes) for child in tree.children))
    kind = "axis" if tree.dim in axes else tree.kind
    return Loop(tree.dim, as_axes(tree.child, axes), kind, tree.backwards, tree.offsets)


def noise(
    array: str, dims: dict[str, Expression], kind: str = "uniform", shape: tuple[int, ...] = ()
):
    """A random array over dims."""
    from workbench.polyhedral.expression import variable

    write = [variable(d) for d in dims]
    return statement(array, write, call(kind, shape=shape), {d: (0, e) for d, e in dims.items()})


def x_(dtype: str = "float") -> Body:
    return read("x", b, t, dtype=dtype)


BT = {"b": (0, B), "t": (0, T)}
DIMS = {"b": B, "t": T}


def make(
    *statements: object, dims: dict[str, Expression] | None = None, **more: object
) -> Equations:
    """Equations over B, T and N."""
    sizes = {"B": 3, "T": 5, "N": 4, "I": 3}
    return equations(*statements, sizes=sizes, dims=dims or DIMS, **more)


def cases() -> Iterator[tuple[str, Equations, tuple[tuple[str, ...], ...]]]:
    """(name, equations, the sets of dims to run as axes)."""
    x = noise("x", {"b": B, "t": T})
    yield (
        "elementwise",
        make(
            x,
            statement(
                "y",
                [b, t],
                call(
                    "where",
                    call("less", x_(), 0.5),
                    call("exp", call("multiply", x_(), 2.0)),
                    call("negative", x_()),
                ),
                BT,
            ),
            statement(
                "z",
                [b, t],
                call("cast", call("floor", call("multiply", x_(), 10.0)), dtype="int32"),
                BT,
            ),
            statement(
                "odd",
                [b, t],
                call("equal", call("remainder", read("z", b, t, dtype="int32"), 2), 1),
                BT,
            ),
            statement(
                "w",
                [b, t],
                call(
                    "add",
                    call("cast", read("z", b, t, dtype="int32"), dtype="float"),
                    value(t * 2 + b),
                ),
                BT,
            ),
        ),
        ((), ("b",), ("b", "t")),
    )
    yield (
        "forwards",
        make(
            x,
            statement("s", [b, 0], 0.0, {"b": (0, B)}),
            statement(
                "s", [b, t + 1], call("add", call("multiply", read("s", b, t), 0.9), x_()), BT
            ),
            statement("last", [b], read("s", b, T), {"b": (0, B)}),
            names={"s": ("b", "t")},
            outputs=["last"],
        ),
        ((), ("b",)),
    )
    yield (
        "forwards_kept",
        make(
            x,
            statement("s", [b, 0], 0.0, {"b": (0, B)}),
            statement(
                "s", [b, t + 1], call("add", call("multiply", read("s", b, t), 0.9), x_()), BT
            ),
            names={"s": ("b", "t")},
        ),
        ((), ("b",)),
    )
    yield (
        "backwards",
        make(
            x,
            statement("g", [b, T], 0.0, {"b": (0, B)}),
            statement(
                "g", [b, t], call("add", call("multiply", read("g", b, t + 1), 0.5), x_()), BT
            ),
            names={"g": ("b", "t")},
        ),
        ((), ("b",)),
    )
    suffix = {"k": (t, T)}
    yield (
        "range_sum",
        make(x, statement("g", [b, t], read("x", b, k), BT, suffix)),
        ((), ("b",), ("b", "t"), ("t",)),
    )
    yield (
        "weighted_suffix",
        make(
            x,
            statement(
                "g",
                [b, t],
                call(
                    "multiply",
                    call("power", 0.9, call("cast", value(k - t), dtype="float")),
                    read("x", b, k),
                ),
                BT,
                suffix,
            ),
        ),
        ((), ("b",), ("b", "t"), ("t",)),
    )
    yield (
        "strict_suffix",
        make(
            x,
            statement(
                "g",
                [b, t],
                call("multiply", read("x", b, k), read("x", b, t)),
                BT,
                {"k": (t + 1, T)},
            ),
        ),
        ((), ("b",), ("b", "t"), ("t",)),
    )
    yield (
        "suffix_max",
        make(
            x,
            statement("g", [b, t], read("x", b, k), BT, suffix, "max"),
            statement("at", [b, t], read("x", b, k), BT, suffix, "argmax"),
            statement(
                "low", [b, t], call("negative", read("x", b, k)), BT, {"k": (0, t + 1)}, "min"
            ),
        ),
        ((), ("b",), ("b", "t"), ("t",)),
    )
    ahead = {"k": (0, 3)}
    yield (
        "window",
        make(
            noise("x", {"b": B, "t": T + 2}),
            statement("g", [b, t], read("x", b, t + k), BT, ahead),
            statement("h", [b, t], read("x", b, T + 1 - t), BT),
        ),
        ((), ("b",), ("b", "t")),
    )
    yield (
        "two_dimensional",
        make(
            x,
            statement("d", [b, 0], 1.0, {"b": (0, B + 1)}),
            statement("d", [0, t + 1], 1.0, {"t": (0, T)}),
            statement(
                "d",
                [b + 1, t + 1],
                call(
                    "add",
                    call("multiply", read("d", b, t + 1), 0.5),
                    call("add", read("d", b + 1, t), x_()),
                ),
                BT,
            ),
            names={"d": ("b", "t")},
        ),
        ((),),
    )
    yield from _tensors()
    yield from _gathers()
    yield from _updates()
    yield from _tables()
    yield from _matrices()


def _tensors() -> Iterator[tuple[str, Equations, tuple[tuple[str, ...], ...]]]:
    x = noise("x", {"b": B, "t": T}, "normal", (4,))
    w = noise("w", {}, "normal", (4, 5))
    xr, wr = read("x", b, t, shape=(4,)), read("w", shape=(4, 5))
    h = call("tanh", call("contract", xr, wr, spec="f,fg->g"))
    hr = read("h", b, t, shape=(5,))
    yield (
        "contractions",
        make(
            x,
            w,
            statement("h", [b, t], h, BT),
            statement("gw", [], call("contract", xr, hr, spec="f,g->fg"), {}, BT),
            statement(
                "gt",
                [],
                call("transpose", call("contract", hr, xr, spec="g,f->gf"), axes=(1, 0)),
                {},
                BT,
            ),
            statement("gb", [], hr, {}, BT),
            statement("back", [b, t], call("contract", hr, wr, spec="g,fg->f"), BT),
            statement("dot", [b, t], call("contract", xr, xr, spec="f,f->"), BT),
            statement("energy", [], call("contract", xr, xr, spec="f,f->"), {}, BT),
            statement(
                "pair",
                [b],
                call("multiply", call("sum", xr, axis=0), call("sum", hr, axis=0)),
                {"b": (0, B)},
                {"t": (0, T)},
            ),
            statement(
                "mean",
                [t],
                call(
                    "negative",
                    call(
                        "divide", call("multiply", xr, 2.0), call("cast", value(B), dtype="float")
                    ),
                ),
                {"t": (0, T)},
                {"b": (0, B)},
            ),
            statement(
                "each", [t], call("contract", xr, hr, spec="f,g->fg"), {"t": (0, T)}, {"b": (0, B)}
            ),
        ),
        ((), ("b",), ("b", "t"), ("t",)),
    )
    first = call("slice", xr, axis=0, start=0, stop=2, step=1)
    back = call("slice", xr, axis=0, start=3, stop=-1, step=-1)
    yield (
        "structure",
        make(
            x,
            statement("a", [b, t], call("sum", call("exp", xr), axis=0), BT),
            statement("m", [b, t], call("max", call("reshape", xr, shape=(2, 2)), axis=1), BT),
            statement("p", [b, t], call("argmax", xr, axis=0), BT),
            statement("c", [b, t], call("cumsum", back, axis=0), BT),
            statement("pad", [b, t], call("pad", first, axis=0, before=1, after=2), BT),
            statement("st", [b, t], call("stack", call("add", first, 1.0), first, axis=1), BT),
            statement(
                "co", [b, t], call("concatenate", back, call("multiply", first, 2.0), axis=0), BT
            ),
            statement("hot", [b, t], call("one_hot", read("p", b, t, dtype="int32"), size=4), BT),
            statement("tk", [b, t], call("take", xr, read("p", b, t, dtype="int32")), BT),
            statement(
                "soft",
                [b, t],
                call(
                    "subtract",
                    xr,
                    call(
                        "broadcast",
                        call("reshape", call("log", read("a", b, t)), shape=(1,)),
                        shape=(4,),
                    ),
                ),
                BT,
            ),
            statement(
                "q",
                [b],
                call("orthogonalize", call("reshape", read("x", b, 0, shape=(4,)), shape=(2, 2))),
                {"b": (0, B)},
            ),
        ),
        ((), ("b",), ("b", "t")),
    )


def _gathers() -> Iterator[tuple[str, Equations, tuple[tuple[str, ...], ...]]]:
    x = noise("x", {"b": B, "t": T}, "normal", (3,))
    perm = statement("perm", [], call("permutation", shape=(N,)), {})
    pick = call(
        "remainder", call("take", read("perm", dtype="int32", shape=(N,)), value(n)), value(T)
    )
    chosen = call("remainder", read("pick", n, dtype="int32"), value(B))
    row = {"n": (0, N)}
    yield (
        "gather",
        make(
            x,
            perm,
            statement("pick", [n], pick, row),
            statement("y", [n], read("x", chosen, read("pick", n, dtype="int32"), shape=(3,)), row),
            statement(
                "z",
                [b, n],
                read("x", b, read("pick", n, dtype="int32"), shape=(3,)),
                {"b": (0, B), **row},
            ),
            statement(
                "gx",
                [t],
                call(
                    "where",
                    call("equal", read("pick", n, dtype="int32"), value(t)),
                    call("sum", read("y", n, shape=(3,)), axis=0),
                    0.0,
                ),
                {"t": (0, T)},
                row,
            ),
            statement(
                "gs",
                [b, t],
                call(
                    "where",
                    call(
                        "logical_and",
                        call("equal", read("pick", n, dtype="int32"), value(t)),
                        call("equal", value(b), call("subtract", chosen, 1)),
                    ),
                    read("y", n, shape=(3,)),
                    0.0,
                ),
                BT,
                row,
            ),
            statement("half", [b, t], read("x", b, t // 2, shape=(3,)), BT),
            dims={"b": B, "t": T, "n": N},
        ),
        ((), ("n",), ("n", "b", "t")),
    )


def _updates() -> Iterator[tuple[str, Equations, tuple[tuple[str, ...], ...]]]:
    IB = {"i": (0, I), "b": (0, B)}
    theta = read("theta", i, shape=(3,))
    grad = statement(
        "g",
        [i],
        call("multiply", call("subtract", theta, read("x", i, b, shape=(3,))), read("c", i, b)),
        {"i": (0, I)},
        {"b": (0, B)},
    )
    yield (
        "adam",
        make(
            noise("x", {"i": I, "b": B}, "normal", (3,)),
            statement("c", [i, b], call("add", value(b), 1.0), IB),
            statement("theta", [0], call("normal", shape=(3,)), {}),
            statement(
                "m",
                [0],
                call("broadcast", 0.0, shape=(3,)),
                {},
            ),
            grad,
            statement(
                "m",
                [i + 1],
                call(
                    "add",
                    call("multiply", read("m", i, shape=(3,)), 0.9),
                    call("multiply", read("g", i, shape=(3,)), 0.1),
                ),
                {"i": (0, I)},
            ),
            statement(
                "theta",
                [i + 1],
                call("subtract", theta, call("multiply", read("m", i + 1, shape=(3,)), 0.05)),
                {"i": (0, I)},
            ),
            statement(
                "loss", [i], call("sum", call("multiply", theta, theta), axis=0), {"i": (0, I)}
            ),
            dims={"i": I, "b": B},
            names={"theta": ("i",), "m": ("i",)},
            outputs=["loss"],
        ),
        ((), ("b",)),
    )
    successor = (choice((t - T + 1,), i + 1, i), choice((t - T + 1,), 0, t + 1))
    yield (
        "successor",
        make(
            statement("p", [0, 0], 1.0, {}),
            statement(
                "p",
                list(successor),
                call("multiply", read("p", i, t), 1.5),
                {"i": (0, I), "t": (0, T)},
            ),
            statement("y", [i, t], read("p", i, t), {"i": (0, I), "t": (0, T)}),
            dims={"i": I, "t": T},
            names={"p": ("i", "t")},
            outputs=["y"],
        ),
        ((),),
    )


def _tables() -> Iterator[tuple[str, Equations, tuple[tuple[str, ...], ...]]]:
    s, a = read("s", b, t, dtype="int32"), read("a", b, t, dtype="int32")
    x, q, m = (read("x", b, t), *(read(name, b, t, shape=(5, 4)) for name in "qm"))
    n = read("n", b, t, dtype="int32", shape=(2, 3))
    half = call("multiply", call("take", q, s, a), 0.5)
    nothing = call("broadcast", 0.0, shape=(5, 4))
    row = call("add", call("take", m, a), call("take", q, s))
    turned = call("slice", row, axis=0, start=3, stop=-1, step=-1)
    before = [read(name, b, k, dtype="int32") for name in "sa"]
    first = {"b": (0, B)}
    put = (
        noise("x", DIMS, "normal"),
        statement("s", [b, t], call("remainder", value(b + t * 2), 5), BT),
        statement("a", [b, t], call("remainder", value(b * 3 + t), 4), BT),
        statement("q", [b, 0], call("broadcast", 0.5, shape=(5, 4)), first),
        statement("q", [b, t + 1], call("put", q, call("add", half, x), s, a), BT),
    )
    added = (
        statement("m", [b, 0], call("broadcast", 2.0, shape=(5, 4)), first),
        statement("m", [b, t + 1], call("put", call("add_at", m, turned, s), half, a, a), BT),
    )
    yield (
        "tables",
        make(
            *put,
            statement("n", [b, 0], call("broadcast", literal(1, "int32"), shape=(2, 3)), first),
            statement(
                "n",
                [b, t + 1],
                call("add_at", n, 2, call("remainder", s, 2), call("remainder", a, 3)),
                BT,
            ),
            *added,
            statement("y", [b, t], call("add_at", q, x, a, call("remainder", s, 4)), BT),
            statement(
                "v",
                [b, t],
                call("take", q, *(Literal(k, "int32", (3,)) for k in ((0, 2, 4), (1, 1, 3)))),
                BT,
            ),
            statement("z", [b], call("add_at", nothing, x, s, a), first, {"t": (0, T)}),
            statement("zz", [], call("add_at", nothing, x, s, a), {}, BT),
            statement("zr", [t], call("add_at", nothing, row, s), {"t": (0, T)}, first),
            statement(
                "zt",
                [b, t],
                call("add_at", nothing, read("x", b, k), *before),
                BT,
                {"k": (0, t + 1)},
            ),
            dims=DIMS,
            names={"q": ("b", "t"), "n": ("b", "t"), "m": ("b", "t")},
        ),
        ((), ("b",)),
    )
    yield (
        "tables_in_place",
        make(
            *put,
            *added,
            statement(
                "last", [b], call("add", *(read(c, b, T, shape=(5, 4)) for c in "qm")), first
            ),
            dims=DIMS,
            names={"q": ("b", "t"), "m": ("b", "t")},
            outputs=["last"],
        ),
        ((), ("b",)),
    )


def _matrices() -> Iterator[tuple[str, Equations, tuple[tuple[str, ...], ...]]]:
    x, y, v = read("x", b, t, shape=(2, 2)), read("y", b, t, shape=(2, 2)), read("v", b, shape=(9,))
    square = call("contract", x, x, spec="ik,jk->ij")
    pair = call("stack", call("add", square, _diagonal(2)), _diagonal(2), axis=0)
    large = call("add", call("contract", v, v, spec="i,j->ij"), _diagonal(9))
    yield (
        "matrices",
        make(
            noise("x", DIMS, "normal", (2, 2)),
            noise("v", {"b": B}, "normal", (9,)),
            statement("y", [b, t], call("solve", x, call("transpose", x, axes=(1, 0))), BT),
            statement("l", [b, t], call("cholesky", pair), BT),
            statement("sum", [b], call("solve", x, y), {"b": (0, B)}, {"t": (0, T)}),
            statement("all", [b], call("solve", large, call("cholesky", large)), {"b": (0, B)}),
        ),
        ((), ("b",), ("b", "t")),
    )


def _diagonal(n: int) -> Body:
    rows = tuple(tuple(1.5 * (row == column) for column in range(n)) for row in range(n))
    return Literal(rows, "float", (n, n))
