"""The shared memory of a block: functions that ask for more than there is are refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.backends.cuda.building.multiprocessors import KNOWN
from workbench.codegen.cuda.functions import Function
from workbench.errors import RunError
from workbench.polyhedral.tree import Loop, loops, statements
from workbench.program.text.units import bytes_text
from workbench.program.values import Program


def expect_shared(program: Program, functions: Iterable[Function], most: int) -> None:
    """Raise RunError where a function's block asks for more shared memory than `most` bytes."""
    for function in functions:
        if function.shared_bytes > most:
            there = ", ".join(f"{bytes_text(m.block_bytes)} on sm_{n}" for n, m in KNOWN.items())
            steps = " or ".join(dict.fromkeys(_smaller(program, function)))
            way_out = f"; {steps} takes less" if steps else ""
            raise RunError(
                f"{function.name} asks for {bytes_text(function.shared_bytes)} of shared memory "
                f"for each block, and a block has at most {bytes_text(most)} here ({there})"
                f"{way_out}"
            )


def _smaller(program: Program, function: Function) -> Iterator[str]:
    """Yield the steps that make the blocks of a function smaller."""
    computed = {name for kernel in function.kernels for name in kernel.statements}
    for loop in loops(program.schedule):
        if loop.apart and computed & set(statements(loop)):
            yield _half(loop)


def _half(loop: Loop) -> str:
    size = max((loop.tile or 2) // 2, 1)
    more = f", {loop.chunks}" if loop.chunks > 1 else ""
    return f'Persist("{loop.dim}", {size}{more})'
