"""Copies that come some iterations early, by hand: what they bring has to be written by then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tests.soundness.order import accessed, run_at, time_in
from workbench.polyhedral.dependences.witness import Witness
from workbench.polyhedral.tree import Loop, paths
from workbench.program.values import Program


def comes_too_early(
    program: Program, witness: Witness, ahead: int, sizes: Mapping[str, int]
) -> bool:
    """Whether some instance of the witness's reader reads what its writer writes at or after the
    start of the iteration, `ahead` before the reader's own, that copies it.

    The copy stands in the innermost loop around the reader, or in front of that.
    """
    writer, reader = (program.statement[name] for name in witness.statements)
    around = paths(program.schedule)
    loops = [n for n, _ in around[reader.name] if isinstance(n, Loop) and n.kind == "loop"]
    shared = [n for n, _ in around[writer.name] if any(n is loop for loop in loops)]
    if not loops or shared[-1:] != loops[-1:]:
        return False
    instances = run_at(program, sizes)
    written = {
        accessed(program, writer, point, sizes).written: point for point in instances[writer.name]
    }

    def distances() -> Iterator[list[int]]:
        for point in instances[reader.name]:
            for element in accessed(program, reader, point, sizes).reads:
                if element in written:
                    source = written[element]
                    yield [
                        abs(time_in(loop, reader, point) - time_in(loop, writer, source))
                        for loop in loops
                    ]

    return any(not any(outer) and last <= ahead for *outer, last in distances())
