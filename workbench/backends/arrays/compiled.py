"""The array backend: generated Python source over an array module, with every byte tracked."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from types import CodeType
from typing import Any

import numpy as np

from workbench.backends import philox
from workbench.backends.arrays.array_functions import Functions
from workbench.backends.arrays.checks import Checks
from workbench.backends.arrays.infinities import Infinities
from workbench.backends.arrays.source import ENTRY, generate
from workbench.backends.externals import Externals
from workbench.backends.protocol import Execution, Progress
from workbench.backends.run_progress import RunProgress
from workbench.backends.tracker import Capacity, spaces
from workbench.lowering.attribution import attributed
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.lower import lower
from workbench.program.sizes import resolve
from workbench.program.values import Program
from workbench.program.wellformed.index_ranges import check_indices

GENERATED = "<generated from "
"""The beginning of the file names of generated functions."""


@dataclass(frozen=True)
class CompiledArrays:
    """A program as source over an array module."""

    program: Program
    loop_program: LoopProgram
    xp: Any = field(repr=False)
    functions: Functions = field(repr=False)
    around: Callable[[int], contextlib.AbstractContextManager[Any]] = field(
        repr=False, default=contextlib.nullcontext
    )
    """A context manager that is active while a run lasts."""

    @cached_property
    def source(self) -> str:
        """The generated source text."""
        return generate(self.loop_program)

    @cached_property
    def _plain(self) -> Callable[..., None]:
        return _function(self.source, self.program.name)

    def prepare(self, dtype: str = "float32") -> None:
        """Generate and load the function that runs: one for all dtypes."""
        _ = self._plain

    def checks_finite(self, code: CodeType) -> bool:
        """Tell whether the code is that of the checking function, for every statement's result."""
        checking = vars(self).get("_checking")
        return checking is not None and checking.__code__ is code

    @cached_property
    def _checking(self) -> Callable[..., None]:
        return _function(generate(self.loop_program, check_finite=True), self.program.name)

    def run(
        self,
        sizes: Mapping[str, int] | None = None,
        seed: int = 0,
        dtype: str = "float32",
        on_progress: Progress | None = None,
        check_finite: bool = False,
        capacity: Capacity = None,
        given: Mapping[str, Any] | None = None,
        threads: int = 1,
    ) -> Execution:
        """Run once; see `protocol.Compiled`."""
        known = resolve(self.program.equations, sizes)
        check_indices(self.program.equations, known)
        tables = {name: self.xp.asarray(values) for name, values in (given or {}).items()}
        described = partial(attributed, self.loop_program, self.program)
        memory = spaces(self.xp, capacity, described)
        results: dict[str, Any] = {}
        run = RunProgress(self.loop_program, known, on_progress, results)
        function = self._checking if check_finite else self._plain
        seed = philox.checked_seed(seed)
        externals = Externals(self.program.equations, known, seed)
        start = time.perf_counter()
        try:
            with externals, np.errstate(all="ignore"), self.around(threads):
                function(
                    self.xp,
                    self._functions(tables, externals, check_finite),
                    memory.device,
                    memory.host,
                    seed,
                    getattr(self.xp, dtype),
                    tuple(known.values()),
                    results,
                    run.step,
                )
            run.finish()
        except KeyboardInterrupt:
            pass
        return run.execution(time.perf_counter() - start, memory.peak, dtype)

    def _functions(
        self, tables: Mapping[str, Any], externals: Externals, check_finite: bool
    ) -> Functions:
        """Return the table of functions of one run."""
        functions = self.functions | {
            "given": partial(_given, tables),
            "external": externals.call,
        }
        if not check_finite:
            return functions | Checks(self.program.equations, self.xp).functions()
        infinities = Infinities(self.xp)
        return (
            infinities.watching(functions)
            | Checks(self.program.equations, self.xp, infinities).functions()
        )


def compile_arrays(
    program: Program,
    xp: Any,
    functions: Functions,
    around: Callable[[int], contextlib.AbstractContextManager[Any]] = contextlib.nullcontext,
) -> CompiledArrays:
    """Lower a program and generate its source over an array module."""
    return CompiledArrays(program, lower(program), xp, functions, around)


def _given(tables: Mapping[str, Any], name: str, out: Any, at: tuple[Any, ...]) -> None:
    """Fill in the values given under a name, at the instances `at`."""
    out[...] = tables[name][at]


def _function(source: str, name: str) -> Callable[..., None]:
    space: dict[str, Any] = {}
    exec(compile(source, f"{GENERATED}{name}>", "exec"), space)
    generated: Callable[..., None] = space[ENTRY]
    return generated
