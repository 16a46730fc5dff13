"""The kernels of a program as functions and calls, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count

from workbench.codegen.cuda.function_writer import FunctionWriter
from workbench.codegen.cuda.functions import Function, Stages
from workbench.codegen.cuda.small_kernels import in_stages, is_small, small_in_a_row
from workbench.codegen.cuda.tiled_lanes import in_tiles
from workbench.codegen.kernels import ProgramKernels
from workbench.lowering.loops.records import AtOnce, For, If, Launch, Record


def launched(made: ProgramKernels, dtype: str) -> Iterator[Function | Stages]:
    """Yield what the kernels of a program become, in order, for one dtype of floats: each function
    runs where the last of its kernels stands. Small ones in a row are one, and wide ones.
    """
    writer, main = FunctionWriter(made, dtype), _in_main_loop(made)
    for row in small_in_a_row(made):
        kernels = [made.kernels[number] for number in row]
        writer.in_main_loop = row[-1] in main
        if in_stages(kernels[0]):
            yield writer.stages(kernels[0])
        elif len(kernels) > 1 or is_small(kernels[0]):
            yield writer.function(kernels)
        else:
            yield writer.function([in_tiles(kernels[0])])


def functions(made: ProgramKernels, dtype: str) -> Iterator[Function]:
    """Yield all functions of a program, for one dtype of floats."""
    return all_functions(launched(made, dtype))


def all_functions(launched: Iterable[Function | Stages]) -> Iterator[Function]:
    """Yield functions, and those of kernels in stages in their places."""
    for one in launched:
        yield from (one,) if isinstance(one, Function) else one.functions


def _in_main_loop(made: ProgramKernels) -> frozenset[int]:
    """Return the numbers of the kernels in the main loop."""
    main, numbers, inside = made.loops.main_loop, count(), set[int]()

    def visit(body: Iterable[Record], is_inside: bool) -> None:
        for record in body:
            if isinstance(record, Launch) or (isinstance(record, For) and record.apart):
                number = next(numbers)
                if is_inside:
                    inside.add(number)
            elif isinstance(record, (For, If, AtOnce)):
                visit(record.body, is_inside or record is main)

    visit(made.loops.body, False)
    return frozenset(inside)
