"""The flow dependences of a program, computed once per set of equations, and its outputs' needs."""

from __future__ import annotations

from functools import lru_cache

from workbench.polyhedral.accesses import Extent, Instances
from workbench.polyhedral.dependences.flow import Dependences, flow
from workbench.program.values import Program


def dependences(program: Program) -> Dependences:
    """Return the exact flow dependences of a program (every element is written once)."""
    return _flow(
        tuple(s.instances for s in program.statements),
        tuple((a.name, a.extent) for a in program.arrays),
    )


def needed(program: Program) -> frozenset[str]:
    """Return the arrays that some output needs."""
    arrays: set[str] = set()
    todo = [output.array for output in program.outputs]
    while todo:
        name = todo.pop()
        if name not in arrays:
            arrays.add(name)
            todo += [r.array for s in program.writers[name] for r in s.reads]
    return frozenset(arrays)


@lru_cache(maxsize=64)
def _flow(
    statements: tuple[Instances, ...], extents: tuple[tuple[str, Extent], ...]
) -> Dependences:
    return flow(statements, dict(extents))
