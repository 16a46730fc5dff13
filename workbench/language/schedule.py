"""A traced program under its root schedule, "as written"; or the shortest cycle that rules out any
order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.errors import ProgramError
from workbench.polyhedral.cycles import Cycle, find_cycle
from workbench.polyhedral.dependences import Dependences
from workbench.polyhedral.ordering import NoOrder, order
from workbench.program.dependences import dependences
from workbench.program.values import Program


def scheduled(program: Program) -> Program:
    """The program with the greedy root schedule of its equations.

    Raises ProgramError where there is none: with the shortest cycle of instances if there is a
    cycle, else saying that no order was found.
    """
    found = dependences(program)
    try:
        tree = order(
            [s.instances for s in program.statements], found, [d.name for d in program.dims]
        )
    except NoOrder as failure:
        raise _explained(program, found, failure.component) from None
    return replace(program, schedule=tree)


def _explained(program: Program, found: Dependences, component: tuple[str, ...]) -> ProgramError:
    statements = [program.statement[name].instances for name in component]
    cycle = find_cycle(statements, found.among(component))
    lines = {name: program.statement[name].line for name in component}
    if cycle is not None:
        return ProgramError(_cycle_text(cycle, program), lines[cycle.instances[0][0]])
    listed = "\n".join(f"  {name}: {line or 'no line'}" for name, line in lines.items())
    return ProgramError(
        "no order of loops was found for these equations, although they may have no cycle:\n"
        + listed,
        next(iter(lines.values())),
    )


def _cycle_text(cycle: Cycle, program: Program) -> str:
    """`x[t=0] needs y[t=0] needs x[t=0]` with the lines."""

    def one(name: str, at: Mapping[str, int]) -> str:
        return f"{name}[{', '.join(f'{d}={v}' for d, v in at.items())}]"

    steps = [one(name, values) for name, values in cycle.instances]
    sizes = ", ".join(f"{n}={v}" for n, v in cycle.sizes.items())
    text = f"a cycle with no delay: {' needs '.join([*steps, steps[0]])}" + (
        f" (at {sizes})" if sizes else ""
    )
    names = dict.fromkeys(name for name, _ in cycle.instances)
    lines = "".join(f"\n  {name}: {program.statement[name].line}" for name in names)
    return text + lines
