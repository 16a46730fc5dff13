"""The flow dependences of a program, computed once per set of equations."""

from __future__ import annotations

from functools import lru_cache

from workbench.polyhedral.dependences import Dependences, flow
from workbench.polyhedral.instances import Extent, Instances
from workbench.program.values import Program


def dependences(program: Program) -> Dependences:
    """Which instance needs which, exactly (every element is written once)."""
    return _flow(
        tuple(s.instances for s in program.statements),
        tuple((a.name, a.extent) for a in program.arrays),
    )


@lru_cache(maxsize=64)
def _flow(
    statements: tuple[Instances, ...], extents: tuple[tuple[str, Extent], ...]
) -> Dependences:
    return flow(statements, dict(extents))
