"""Counts against what NumPy's functions are really called with, and against running the loops."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from tests.planning.cost.variants import cases
from tests.programs import PROGRAMS
from workbench.backends.arrays.array_functions import functions_of
from workbench.lowering.functions import FUNCTIONS
from workbench.lowering.loops.records import Apply, Enter, For, If, Record, walk
from workbench.planning.cost.array_calls import ArrayCall
from workbench.planning.cost.seconds import Share, cost
from workbench.planning.cost.work import CostItem, CostLoop, steps_of
from workbench.planning.machine.defaults import NUMPY
from workbench.program.sizes import resolve

NAMES = sorted(PROGRAMS)
UNSEEN = (
    "copyto",
    "fill",
    "check_index",
    "check_within",
    "check_possible",
    "check_existing",
    "check_length",
    "check_all",
    "given",
)
"""Functions that a run does not call through its table."""


@dataclass
class Seen:
    """What the functions of a table are called with: calls, operations and bytes by function."""

    launches: Counter[str] = field(default_factory=Counter)
    operations: Counter[str] = field(default_factory=Counter)
    bytes: Counter[str] = field(default_factory=Counter)

    def watched(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, counted."""

        def call(*arguments: Any, **options: Any) -> Any:
            arrays = [a for a in arguments if isinstance(a, np.ndarray)]
            for a in arguments:
                if isinstance(a, tuple):
                    arrays += [b for b in a if isinstance(b, np.ndarray)]
            if name == "sum_inside":  # the sums are looked at; what they are of, where not finite
                arrays = arrays[:1]
            out = options.get("out", arrays[-1])
            if "out" in options:
                arrays.append(out)
            self.launches[name] += 1
            self.operations[name] += operations_of(name, arrays, out)
            self.bytes[name] += sum(moved(a) for a in arrays)
            if name in ("put", "add_at"):  # only the entries that are changed are touched
                table, entries, _ = arrays
                each = table.itemsize * entries.size * math.prod(table.shape[1:])
                self.bytes[name] += each * (1 + (name == "add_at")) - moved(table)
            if name == "take":  # only the rows that are asked for are read
                self.bytes[name] += moved(out) - moved(arrays[0])
            return function(*arguments, **options)

        return call


def moved(a: Any) -> int:
    """Bytes of the elements of an array that differ."""
    lengths: list[tuple[int, int]] = list(zip(a.shape, a.strides, strict=True))
    return int(a.nbytes) // math.prod(n for n, stride in lengths if not stride and n > 1)


def operations_of(name: str, arrays: Sequence[Any], out: Any) -> int:
    """By the function's definition."""
    if name in ("dot", "matmul"):
        return 2 * int(out.size) * int(arrays[0].shape[-1])
    if name in ("take", "put", "to_host", "to_device"):
        return 0
    if name == "add_at":
        return int(arrays[1].size) * math.prod(arrays[0].shape[1:])
    if name == "random":
        return int(arrays[0].size)
    if name == "segment_add":
        return int(arrays[1].size)
    if name == "orthogonalize":
        return 4 * int(out.size) * int(min(out.shape[-2:]))
    reduced = name.endswith(".reduce") or name in ("argmax", "argmin")
    return int(arrays[0].size if reduced else out.size)


def only(steps: Sequence[CostItem], function: str) -> tuple[CostItem, ...]:
    """The calls of one function, in their loops."""
    found: list[CostItem] = []
    for step in steps:
        if isinstance(step, CostLoop):
            found.append(replace(step, steps=only(step.steps, function)))
        elif isinstance(step, ArrayCall) and step.function == function:
            found.append(step)
    return tuple(found)


def sums(shares: Mapping[str, Share]) -> tuple[int, int, int]:
    """(launches, operations, bytes) of all."""
    whole = sum(shares.values(), Share())
    return whole.launches, whole.operations, whole.bytes


def executed(
    body: tuple[Record, ...], values: dict[str, int], statement: str = ""
) -> Iterator[str]:
    """The statement of every array operation, by running the loops."""
    for record in body:
        if isinstance(record, Enter):
            statement = record.statement
        elif isinstance(record, Apply):
            yield statement
        elif isinstance(record, If):
            if record.condition.holds(lambda e: e.evaluate(values)):
                yield from executed(record.body, values, statement)
        elif isinstance(record, For):
            for k in range(record.lower.evaluate(values), record.upper.evaluate(values)):
                yield from executed(record.body, {**values, record.variable: k})


@pytest.mark.parametrize("name", NAMES)
def test_counts_are_those_of_the_functions_called(name: str) -> None:
    for compiled, sizes in cases(name):
        seen = Seen()
        table = {k: seen.watched(k, f) for k, f in compiled.functions.items() if f is not None}
        table["broadcast_to"] = compiled.functions["broadcast_to"]
        replace(compiled, functions=table).run(sizes)
        steps, known = steps_of(compiled.loop_program), resolve(compiled.program.equations, sizes)
        called = {r.function for r in walk(compiled.loop_program.body) if isinstance(r, Apply)}
        for function in called.difference(UNSEEN):
            found = sums(cost(only(steps, function), known, "float32", NUMPY))
            truth = seen.launches[function], seen.operations[function], seen.bytes[function]
            assert found == truth, (function, compiled.source, sizes)


@pytest.mark.parametrize("name", NAMES)
def test_launches_of_each_statement_are_those_of_the_loops(name: str) -> None:
    for compiled, sizes in cases(name):
        loops, known = compiled.loop_program, resolve(compiled.program.equations, sizes)
        truth = Counter(executed(loops.body, dict(known)))
        found = cost(steps_of(loops), known, "float32", NUMPY)
        assert {s: share.launches for s, share in found.items() if share.launches} == truth


def test_every_function_of_generated_source_is_counted() -> None:
    views = {"broadcast_to"}
    assert functions_of(np).keys() - views <= FUNCTIONS.keys()
