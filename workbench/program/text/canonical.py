"""A program as exact text: all that decides its results, and nothing else.

`str(program)` is for reading and leaves things out (large constants, casts, origins of draws). Two
programs with equal canonical text compute the same. Users' lines and descriptions are not part of
it.
"""

from __future__ import annotations

from dataclasses import replace

from workbench.program.values import Program


def canonical(program: Program) -> str:
    """Return the text that keys are made from: one line a record."""
    equations = program.equations
    groups = (
        [replace(p, line=None) for p in equations.parameters],
        [replace(d, line=None) for d in equations.dims],
        equations.arrays,
        [replace(s, line=None) for s in equations.statements],
        equations.outputs,
        [replace(e, line=None) for e in equations.externals],
        [replace(d, line=None) for d in equations.data],
        [replace(e, line=None) for e in equations.ends],
        [(s.name, guard) for s in equations.statements for guard in s.guards],
    )
    lines = [equations.name, *(repr(record) for group in groups for record in group)]
    return "\n".join([*lines, repr(program.schedule), repr(equations.aliases)])
