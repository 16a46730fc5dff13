"""The flow dependences of a program, computed once per set of equations, and its outputs' needs."""

from __future__ import annotations

from functools import lru_cache

from workbench.polyhedral.accesses import Extent, Instances
from workbench.polyhedral.dependences.flow import Dependences, flow
from workbench.program.values import Equations


def dependences(equations: Equations) -> Dependences:
    """Return the exact flow dependences of a program (every element is written once)."""
    return _flow(
        tuple(s.instances for s in equations.statements),
        tuple((a.name, a.extent) for a in equations.arrays),
    )


def needed(equations: Equations) -> frozenset[str]:
    """Return the arrays that some output needs."""
    arrays: set[str] = set()
    todo = [output.array for output in equations.outputs]
    while todo:
        name = todo.pop()
        if name not in arrays:
            arrays.add(name)
            todo += [r.array for s in equations.writers[name] for r in s.reads]
    return frozenset(arrays)


@lru_cache(maxsize=64)
def _flow(
    statements: tuple[Instances, ...], extents: tuple[tuple[str, Extent], ...]
) -> Dependences:
    return flow(statements, dict(extents))
