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
    plain = replace(
        program,
        description="",
        parameters=tuple(replace(p, line=None) for p in program.parameters),
        dims=tuple(replace(d, line=None) for d in program.dims),
        statements=tuple(replace(s, line=None) for s in program.statements),
        externals=tuple(replace(e, line=None) for e in program.externals),
    )
    groups = (
        plain.parameters,
        plain.dims,
        plain.arrays,
        plain.statements,
        plain.outputs,
        plain.externals,
    )
    lines = [plain.name, *(repr(record) for group in groups for record in group)]
    return "\n".join([*lines, repr(plain.schedule), repr(plain.aliases)])
