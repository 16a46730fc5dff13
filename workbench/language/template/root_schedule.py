"""The root schedule of a traced program, "as written"; or the shortest cycle that rules out any
order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.errors import CycleError, ProgramError
from workbench.polyhedral.dependences.cycles import Cycle, find_cycle
from workbench.polyhedral.dependences.flow import Dependences
from workbench.polyhedral.ordering.as_written import NoOrder, order
from workbench.program.dependences import dependences
from workbench.program.sizes import numbers
from workbench.program.values import Equations, Program


def scheduled(equations: Equations) -> Program:
    """Return the program of these equations under their greedy root schedule.

    Raises CycleError with the shortest cycle of instances where there is one, ProgramError where no
    order was found.
    """
    needs = dependences(equations)
    try:
        tree = order(
            [s.instances for s in equations.statements], needs, [d.name for d in equations.dims]
        )
    except NoOrder as failure:
        raise _explained(equations, needs, failure.component) from None
    return Program(equations, tree)


def _explained(
    equations: Equations, found: Dependences, component: tuple[str, ...]
) -> ProgramError:
    statements = [equations.statement[name].instances for name in component]
    cycle = find_cycle(statements, found.among(component))
    lines = {name: equations.statement[name].line for name in component}
    if cycle is not None:
        return _cycle_error(cycle, equations)
    listed = "\n".join(f"  {name}: {line or 'no line'}" for name, line in lines.items())
    return ProgramError(
        "no order of loops was found for these equations, although they may have no cycle:\n"
        + listed,
        next(iter(lines.values())),
    )


def _cycle_error(cycle: Cycle, equations: Equations) -> CycleError:
    """Return the error `x[t=0] needs y[t=0] needs x[t=0]` with the lines."""

    def one(name: str, at: Mapping[str, int]) -> str:
        return f"{name}[{numbers(at)}]"

    steps = [one(name, values) for name, values in cycle.instances]
    text = f"a cycle with no delay: {' needs '.join([*steps, steps[0]])}"
    if cycle.sizes:
        text += f" (at {numbers(cycle.sizes)})"
    lines = {name: equations.statement[name].line for name, _ in cycle.instances}
    listed = "".join(f"\n  {name}: {line}" for name, line in lines.items())
    listed += "".join(f"\n  {sentence}" for sentence in dict.fromkeys(_gathers(cycle, equations)))
    instances = [(x, lines[name]) for x, (name, _) in zip(steps, cycle.instances, strict=True)]
    return CycleError(text + listed, instances, cycle.sizes)


def _gathers(cycle: Cycle, equations: Equations) -> Iterator[str]:
    """Yield a sentence for each need that is one only since an index may be anything."""
    names = [name for name, _ in cycle.instances]
    for reader, needed in zip(names, [*names[1:], names[0]], strict=True):
        array = equations.array[equations.statement[needed].array]
        for read in equations.statement[reader].reads:
            if read.array == array.name:
                for d, e in zip(array.dims, read.access.index, strict=True):
                    if e is None:
                        yield (
                            f"{reader} reads {array.called} at a {d} that depends on data, so it "
                            f"needs each {d}: wb.within(index, lower, upper) promises which"
                        )
