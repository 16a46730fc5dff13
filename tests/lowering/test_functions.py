"""The rows of the table of array functions fit what is around it."""

from __future__ import annotations

from string import Formatter

import numpy as np

from tests.backends.small_programs import cases, scheduled
from workbench.backends.arrays.array_functions import functions_of
from workbench.backends.arrays.checks import Checks
from workbench.backends.arrays.compiled import compile_arrays
from workbench.lowering.functions import FUNCTIONS, costs, row_of
from workbench.lowering.loops.records import Apply, walk
from workbench.planning.cost.array_calls import WALKS
from workbench.planning.machine.defaults import NUMPY
from workbench.program.operations.table import OPERATIONS

OF_THE_RUN = {"given", "external"}


def test_every_operation_that_is_one_call_has_a_row() -> None:
    called = {row.ufunc for row in OPERATIONS.values() if row.ufunc is not None}
    assert called == {row.name for row in FUNCTIONS.values() if row.elementwise}
    assert all(row.elementwise for row in OPERATIONS.values() if row.ufunc is not None)


def test_every_row_is_found_by_a_run() -> None:
    program = scheduled(next(cases())[1])
    found = functions_of(np).keys() | Checks(program.equations, np).functions().keys() | OF_THE_RUN
    called = {name for name, row in FUNCTIONS.items() if "{f}" in row.source}
    assert called <= found


def test_every_row_is_priced() -> None:
    assert {row.cost.walk for row in FUNCTIONS.values()} == WALKS.keys()
    for cost in costs().values():
        assert cost.call is None or cost.kind in NUMPY.call
        assert cost.row is None or cost.kind in NUMPY.row
        assert cost.element is None or cost.kind in NUMPY.element


def test_source_names_nothing_that_a_call_lacks() -> None:
    """Each name in braces is an operand or an option of the calls that lowering emits."""
    always = {"f", "out", "inputs", "rest"}
    for _, program, all_axes in cases():
        for axes in all_axes:
            loops = compile_arrays(scheduled(program, axes), np, {}).loop_program
            for record in walk(loops.body):
                if isinstance(record, Apply):
                    names = {field for _, field, _, _ in Formatter().parse(row_of(record).source)}
                    places = {str(k) for k in range(len(record.inputs))}
                    assert names - {None} <= always | places | record.option.keys()
