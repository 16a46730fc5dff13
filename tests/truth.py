"""Evaluate what programs mean once for all tests of a process that ask for the same."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.backends.reference.evaluator import Reference
from workbench.identity import remembered
from workbench.program.values import Equations, Program


def truth(program: Program, sizes: Mapping[str, int] | None = None, seed: int = 0) -> Reference:
    """The reference evaluator of a program, with whatever it has evaluated already."""
    return _reference(program.equations, tuple(sorted((sizes or {}).items())), seed)


@remembered(64)
def _reference(equations: Equations, sizes: tuple[tuple[str, int], ...], seed: int) -> Reference:
    return Reference(equations, dict(sizes), seed)
