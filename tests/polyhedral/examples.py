"""Small programs as instances, and what enumeration says of them: nothing here uses isl."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Literal

from hypothesis import strategies as st

from workbench.polyhedral.accesses import Access, Extent, Instances
from workbench.polyhedral.expression import (
    Expression,
    ExpressionLike,
    choice,
    expression,
    size,
    variable,
)
from workbench.polyhedral.sets.relations import box, hull, image, union
from workbench.polyhedral.tree import Leaf, Loop, Tree

B, E, I, M, T = (size(n) for n in "BEIMT")
b, e, i, k, m, t = (variable(n) for n in "beikmt")
RANGES = {"b": B, "e": E, "i": I, "m": M, "t": T}

Instance = tuple[str, tuple[int, ...]]


@dataclass(frozen=True)
class Equation:
    """A statement written down for enumeration: bounds of its dims and reduction dims, accesses."""

    name: str
    bounds: tuple[tuple[str, Expression, Expression], ...]
    write: Access
    reads: tuple[Access, ...] = ()
    reduction: tuple[tuple[str, Expression, Expression], ...] = ()
    may_alias: tuple[str, ...] = ()

    @cached_property
    def instances(self) -> Instances:
        return Instances(
            self.name,
            tuple(n for n, _, _ in self.bounds),
            box(self.bounds),
            self.write,
            self.reads,
            tuple(n for n, _, _ in self.reduction),
            box(self.bounds + self.reduction),
            self.may_alias,
        )

    def points(
        self, sizes: Mapping[str, int], reduced: bool = False
    ) -> Iterator[tuple[tuple[int, ...], dict[str, int]]]:
        """Each instance (or point, with the reduction dims) and the values of its names."""

        def walk(values: dict[str, int], rest: Sequence[tuple[str, Expression, Expression]]):
            if not rest:
                yield dict(values)
                return
            name, lower, upper = rest[0]
            for v in range(lower.evaluate(values), upper.evaluate(values)):
                yield from walk({**values, name: v}, rest[1:])

        bounds = self.bounds + (self.reduction if reduced else ())
        for values in walk(dict(sizes), bounds):
            yield tuple(values[n] for n, _, _ in self.bounds), values


def equation(
    name: str,
    dims: str,
    array: str,
    write: Sequence[ExpressionLike],
    *reads: tuple[str, Sequence[ExpressionLike]],
    reduction: tuple[tuple[str, ExpressionLike, ExpressionLike], ...] = (),
    bounds: Mapping[str, tuple[ExpressionLike, ExpressionLike]] | None = None,
    may_alias: tuple[str, ...] = (),
) -> Equation:
    """`name` over the full range of each letter of `dims` (or `bounds`)."""
    ranges = {d: (expression(0), RANGES[d]) for d in dims} | dict(bounds or {})
    return Equation(
        name,
        tuple((d, expression(ranges[d][0]), expression(ranges[d][1])) for d in dims),
        Access(array, tuple(expression(x) for x in write)),
        tuple(Access(a, tuple(expression(x) for x in index)) for a, index in reads),
        tuple((d, expression(lower), expression(upper)) for d, lower, upper in reduction),
        may_alias,
    )


def instances(equations: Sequence[Equation]) -> list[Instances]:
    return [q.instances for q in equations]


def extents(equations: Sequence[Equation]) -> dict[str, Extent]:
    """Per array the smallest box around what is written."""
    elements: dict[str, str] = {}
    for q in equations:
        index = q.write.index
        names = [f"x{n}" for n in range(len(index))]
        own = image(q.instances.domain, q.instances.dims, index, None, names)
        a = q.write.array
        elements[a] = union(elements[a], own) if a in elements else own
    return {a: hull(text) for a, text in elements.items()}


def element(access: Access, values: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(x.evaluate(values) for x in access.index if x is not None)


def flow_pairs(
    equations: Sequence[Equation], sizes: Mapping[str, int]
) -> set[tuple[Instance, Instance, str, int]]:
    """(source instance, sink instance, array, read number) by enumeration."""
    writes: dict[tuple[str, tuple[int, ...]], list[Instance]] = {}
    for q in equations:
        for at, values in q.points(sizes):
            where = q.write.array, element(q.write, values)
            writes.setdefault(where, []).append((q.name, at))
    found = set()
    for q in equations:
        for at, values in q.points(sizes, reduced=True):
            for number, access in enumerate(q.reads):
                for source in writes.get((access.array, element(access, values)), ()):
                    found.add((source, (q.name, at), access.array, number))
    return found


BlockOrder = Literal["forwards", "backwards", "at once"]


def times(
    tree: Tree,
    equations: Sequence[Equation],
    sizes: Mapping[str, int],
    apart: BlockOrder = "forwards",
) -> dict[Instance, tuple[int, ...]]:
    """When each instance runs: equal for those that one array operation executes together.

    Blocks that are `apart` run forwards, backwards, or "at once": each statement of them in turn.
    """
    dims = {q.name: [n for n, _, _ in q.bounds] for q in equations}
    vectors: dict[str, list[Loop | int]] = {}

    def walk(node: Tree, above: list[Loop | int]) -> None:
        if isinstance(node, Leaf):
            vectors[node.statement] = above
        elif isinstance(node, Loop):
            walk(node.child, above if node.kind == "axis" else [*above, node])
        else:
            for position, child in enumerate(node.children):
                walk(child, [*above, position])

    walk(tree, [])
    result = {}
    for q in equations:
        for at, _ in q.points(sizes):
            vector, last = [], []
            for entry in vectors[q.name]:
                if isinstance(entry, int):
                    vector.append(entry)
                    continue
                value = loop_value(entry, q.name, dict(zip(dims[q.name], at, strict=True)))
                if entry.apart and apart == "at once":
                    last.append(value)
                else:
                    turned = apart == "backwards" if entry.apart else entry.backwards
                    vector.append(-value if turned else value)
            result[q.name, at] = (*vector, *last)
    return result


def loop_value(loop: Loop, statement: str, instance: Mapping[str, int]) -> int:
    """The value of a loop at which an instance runs: of a loop over blocks, which one."""
    counted = f"{loop.dim}_block{loop.tile}"
    if counted in instance:
        return instance[counted] + loop.offset(statement)
    return (instance[loop.dim] + loop.offset(statement)) // (loop.tile or 1)


def all_sizes(names: str, most: int) -> list[dict[str, int]]:
    return [
        dict(zip(names, v, strict=True)) for v in product(range(1, most + 1), repeat=len(names))
    ]


# -- programs --------------------------------------------------------------------------------------


def reinforce() -> list[Equation]:
    """REINFORCE: acting, return-to-go, loss, one update."""
    every = (("b", 0, B), ("t", 0, T))
    return [
        equation("theta_0", "", "theta", [0]),
        equation("state_0", "bi", "state", [b, i, 0]),
        equation("act", "bit", "action", [b, i, t], ("theta", [i]), ("state", [b, i, t])),
        equation(
            "step",
            "bit",
            "state",
            [b, i, t + 1],
            ("state", [b, i, t]),
            ("action", [b, i, t]),
        ),
        equation("reward", "bit", "reward", [b, i, t], ("state", [b, i, t])),
        equation("to_go", "bit", "G", [b, i, t], ("reward", [b, i, k]), reduction=(("k", t, T),)),
        equation(
            "loss", "i", "loss", [i], ("G", [b, i, t]), ("action", [b, i, t]), reduction=every
        ),
        equation("update", "i", "theta", [i + 1], ("theta", [i]), ("loss", [i])),
    ]


def successor() -> list[Expression]:
    """The next (i, e, m) in lexicographic order."""
    last_m, last_e = m - M + 1, e - E + 1
    return [
        choice((last_e, last_m), i + 1, i),
        choice((last_m,), choice((last_e,), 0, e + 1), e),
        choice((last_m,), 0, m + 1),
    ]


def ppo() -> list[Equation]:
    """PPO in outline: rollouts that go on, GAE backwards, epochs of minibatches."""
    whole = (("b", 0, B), ("t", 0, T))
    return [
        equation("theta_0", "", "theta", [0, 0, 0]),
        equation("state_0", "b", "state", [b, 0, 0]),
        equation(
            "state_i", "bi", "state", [b, i + 1, 0], ("state", [b, i, T]), bounds={"i": (0, I - 1)}
        ),
        equation("act", "bit", "action", [b, i, t], ("theta", [i, 0, 0]), ("state", [b, i, t])),
        equation(
            "step",
            "bit",
            "state",
            [b, i, t + 1],
            ("state", [b, i, t]),
            ("action", [b, i, t]),
        ),
        equation("value", "bit", "value", [b, i, t], ("theta", [i, 0, 0]), ("state", [b, i, t])),
        equation("value_T", "bi", "value", [b, i, T], ("theta", [i, 0, 0]), ("state", [b, i, T])),
        equation("gae_T", "bi", "advantage", [b, i, T]),
        equation(
            "gae",
            "bit",
            "advantage",
            [b, i, t],
            ("advantage", [b, i, t + 1]),
            ("value", [b, i, t]),
            ("value", [b, i, t + 1]),
        ),
        equation("shuffle", "ie", "shuffled", [i, e]),
        equation(
            "batch",
            "iem",
            "gradient",
            [i, e, m],
            ("theta", [i, e, m]),
            ("advantage", [b, i, t]),
            ("action", [b, i, t]),
            ("shuffled", [i, e]),
            reduction=whole,
        ),
        equation(
            "update", "iem", "theta", successor(), ("theta", [i, e, m]), ("gradient", [i, e, m])
        ),
    ]


@st.composite
def programs(draw: st.DrawFn) -> list[Equation]:
    """One to three statements over up to three dims, each writing an array of its own."""
    count = draw(st.integers(1, 3))
    shapes = [draw(st.sampled_from(["t", "it", "bt", "bit", "i"])) for _ in range(count)]
    names = ["x", "y", "z"][:count]
    equations = []
    for name, dims in zip(names, shapes, strict=True):
        reads = []
        for _ in range(draw(st.integers(0, 3))):
            target = draw(st.integers(0, count - 1))
            index = [draw(indices(d, dims)) for d in shapes[target]]
            reads.append((names[target], index))
        reduction = ()
        if draw(st.booleans()) and "t" in dims:
            reduction = (draw(st.sampled_from([("k", t, T), ("k", 0, t + 1), ("k", 0, T)])),)
            reads = [(a, [k if draw(st.booleans()) else x for x in ix]) for a, ix in reads]
        shift = draw(st.sampled_from([0, 0, 1]))
        write = [variable(d) + (shift if d == "t" else 0) for d in dims]
        equations.append(equation(f"S_{name}", dims, name, write, *reads, reduction=reduction))
    return equations


def indices(dim: str, dims: str) -> st.SearchStrategy[Expression]:
    """An index for the array dimension `dim` in a statement over `dims`."""
    fixed = st.sampled_from([expression(0), RANGES[dim] - 1])
    if dim not in dims:
        return fixed
    near = st.integers(-2, 2).map(lambda c: variable(dim) + c)
    mirrored = st.just(RANGES[dim] - 1 - variable(dim))
    return st.one_of(near, near, near, fixed, mirrored)
