"""The parts of a run of generated source: statements, one at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.backends.timed.stamps import TimedRun
from workbench.lowering.loop_program import LoopProgram
from workbench.measure.profiles.parts import PYTHON, Part, scope_of
from workbench.planning.cost.counted import CountedArrays
from workbench.planning.cost.prediction import predict
from workbench.planning.cost.seconds import Share
from workbench.planning.machine.calibrated import machine
from workbench.program.accumulating import derived, owner
from workbench.program.values import Program

COUNTING = "numpy"
"""The backend whose constants a prediction has of which only the counts are used."""


def array_parts(
    program: Program,
    loops: LoopProgram,
    statements: Sequence[str],
    timed: TimedRun,
    sizes: Mapping[str, int],
    dtype: str,
) -> tuple[Part, ...]:
    """Return the parts of statements by their numbers, and what was between them. A statement and
    the start of points that it adds up are one.
    """
    counted = predict(CountedArrays(loops), sizes, machine(COUNTING), dtype).by_statement
    known = derived(program).statement
    parts = []
    for entry, (name, seconds, calls) in enumerate(
        zip(statements, timed.net, timed.calls, strict=True)
    ):
        work = counted.get(name, Share())
        statement = program.statement[owner(known[name])]
        parts.append(
            Part(
                kernel="",
                entry=entry,
                statement=statement.name,
                scope=scope_of(statement),
                seconds=seconds,
                calls=calls,
                flops=work.operations,
                bytes=work.bytes,
            )
        )
    between = Part(PYTHON, 0, PYTHON, PYTHON, timed.between, timed.execution.total)
    return (*parts, between)
