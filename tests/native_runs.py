"""Programs as compiled C in tests: compiled quickly, once for all tests of a session.

One in eight of the tests that run a variant runs it as compiled C too, chosen by a hash of its
name, so that the choice stays when others come and go. The hash decides too in which dtype, at
which sizes and for which processor. `make kernels` has all of them run in every way.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.kernels.builds import Build, marches, of_cases
from workbench.backends.native.compiled_program import CompiledProgram
from workbench.backends.numpy import NumPyBackend
from workbench.backends.protocol import Execution
from workbench.codegen.kernels import ProgramKernels, program_kernels
from workbench.datasets.rows import rows_of
from workbench.errors import SizeError
from workbench.folders import CACHE_VARIABLE
from workbench.identity import remembered
from workbench.measure.checking.agreement import TOLERANCE
from workbench.polyhedral.tree import loops
from workbench.program.sizes import resolve
from workbench.program.values import Program

SHARE = 8
RUNS = "PYTEST_CURRENT_TEST"
"""The environment variable in which pytest names the test that runs."""
MATRIX = "WORKBENCH_TEST_MATRIX"
"""The environment variable by which all tests run in every way: JSON of `compilers`, as CC names
them, and of `tally`, the file to which each check appends a line.
"""
DTYPES = ("float64", "float32")
THREADS = (1, 3)
LENGTHS = (None, 17, 31)
"""Of the dims that run in lanes: as the test has them, and with tails of 1 and 15 of 16."""

Sizes = Mapping[str, int]
Outputs = Mapping[str, Any]


@dataclass(frozen=True)
class Way:
    """A way in which a program runs as compiled C."""

    dtype: str
    length: int | None
    build: Build
    threads: int

    def __str__(self) -> str:
        lanes = f", {self.length} in lanes" if self.length else ""
        return f"{self.dtype}{lanes}, {self.threads} threads, {self.build}"


@contextmanager
def shared_cache() -> Iterator[None]:
    """Keep what is compiled beside the homes of the tests, for all of them."""
    if RUNS not in os.environ:  # a recorded search, which has a cache of its own
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE_VARIABLE, str(Path(os.environ["HOME"]).parent / "compiled"))
        yield


QUICKLY = Build()


def compiled(program: Program, build: Build = QUICKLY) -> CompiledProgram:
    """A program as compiled C, at the lowest level of optimization unless said otherwise."""
    return CompiledProgram(program, _kernels(program), build.found())


@remembered(1)
def _kernels(program: Program) -> ProgramKernels:
    return program_kernels(program)


def run_native(
    program: Program,
    sizes: Sizes | None = None,
    seed: int = 0,
    dtype: str = "float64",
    threads: int = 1,
) -> dict[str, Any]:
    """The outputs of a run as compiled C."""
    made = compiled(program)
    with shared_cache():
        made.prepare(dtype)
    return made.run(sizes, seed, dtype, threads=threads).outputs


def run_interrupted(made: CompiledProgram, sizes: Sizes, threads: int = 1) -> Execution:
    """A run in which Ctrl-C is pressed after half a second."""
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        return made.run(sizes, threads=threads)
    finally:
        timer.cancel()


def is_chosen(name: str) -> bool:
    """Whether a run of this name is one of those that run as compiled C too."""
    return sha256(name.encode()).digest()[0] % SHARE == 0


def way_of(name: str) -> Way:
    """The one way in which a run of this name does."""
    _, dtype, length, march, threads, *_ = sha256(name.encode()).digest()
    return Way(
        DTYPES[dtype % len(DTYPES)],
        LENGTHS[length % len(LENGTHS)],
        Build(march=marches()[march % len(marches())]),
        THREADS[threads % len(THREADS)],
    )


def every_way(compilers: Sequence[str], name: str) -> list[Way]:
    """All of them for every third build, as the name decides which: compiling takes most of the
    time. Those of a build are together. Half of them have threads: half of each dtype and length.
    """
    first = sha256(name.encode()).digest()[0] % 3
    return [
        Way(dtype, length, build, THREADS[(k + n) % len(THREADS)])
        for k, build in enumerate(of_cases(compilers)[first::3])
        for n, (dtype, length) in enumerate(product(DTYPES, LENGTHS))
    ]


def _running() -> str:
    """The test that runs, without the group that pytest-xdist writes behind it."""
    test = os.environ[RUNS].rsplit(" ", 1)[0]
    return test.rsplit("@", 1)[0] if test.rfind("@") > test.rfind("]") else test


def check_native(
    program: Program, outputs: Outputs, sizes: Sizes | None, seed: int, name: str = ""
) -> None:
    """Hold runs as compiled C to these outputs of a float64 run: none, one or all of them, as the
    name decides (the test's, if none is given) and as is asked for.
    """
    name = name or _running()
    asked = json.loads(os.environ.get(MATRIX, "null"))
    if asked is None:
        ways = [way_of(name)] if is_chosen(name) else []
    else:
        ways = every_way(asked["compilers"], name)
    wrong = differences(program, outputs, sizes or {}, seed, ways)
    if asked is not None:
        with Path(asked["tally"]).open("a", encoding="utf-8") as file:
            line = {"name": name, "runs": len(ways), "differing": wrong}
            file.write(f"{json.dumps(line)}\n")
    assert not wrong, "\n".join(wrong)


def differences(
    program: Program, outputs: Outputs, sizes: Sizes, seed: int, ways: Sequence[Way]
) -> list[str]:
    """What runs in these ways compute otherwise than the outputs, in float32 also than the first
    of them at the same sizes, bit by bit.
    """
    if not ways:
        return []
    data = rows_of(program.equations, None)

    def rows(at: Sizes, dtype: str) -> dict[str, Any]:
        """Those of the program's data sets, drawn."""
        return data.tables(resolve(program.equations, at), dtype)

    wanted = {None: outputs}
    first: dict[int | None, tuple[Way, Outputs]] = {}
    built: dict[Build, CompiledProgram] = {}
    wrong = []
    for way in ways:
        at = stretched(program, sizes, way.length)
        if way.length not in wanted:
            plain = NumPyBackend().compile(program)
            wanted[way.length] = plain.run(at, seed, "float64", given=rows(at, "float64")).outputs
        made = built.setdefault(way.build, compiled(program, way.build))
        with shared_cache():
            made.prepare(way.dtype)
        given = rows(at, way.dtype)
        found = made.run(at, seed, way.dtype, given=given, threads=way.threads).outputs
        wrong += [f"{way}: {text}" for text in unlike(found, wanted[way.length], way.dtype)]
        if way.dtype == "float32":
            before, same = first.setdefault(way.length, (way, found))
            wrong += [
                f"{way}: {name} has other bits than {before}" for name in other_bits(found, same)
            ]
    return wrong


def stretched(program: Program, sizes: Sizes, length: int | None) -> dict[str, int]:
    """The sizes with dims that run in lanes so long, as far as they are sizes of their own that
    divide what they have to. Those that something else does one after the other stay: 31 updates
    of 31 epochs are so many that float32 computes something else, whatever computes it.
    """
    at = dict(sizes)
    if length is None:
        return at
    free = {p.name for p in program.parameters if p.definition is None}
    every = tuple(loops(program.schedule))
    lanes = {loop.dim for loop in every if loop.kind == "axis" or loop.tile}
    lanes -= {loop.dim for loop in every if loop.kind == "loop" and not loop.tile}
    for dim in program.dims:
        if dim.name in lanes and len(dim.size.sizes) == 1 and set(dim.size.sizes) <= free:
            tried = at | dict.fromkeys(dim.size.sizes, length)
            try:
                resolve(program.equations, tried)
            except SizeError:
                continue
            at = tried
    return at


def unlike(found: Outputs, wanted: Outputs, dtype: str) -> Iterator[str]:
    """What of a run in a dtype is not what one in float64 has."""
    tolerance = TOLERANCE[dtype]
    for name, values in wanted.items():
        finite = np.abs(np.where(np.isfinite(values), values, 0.0))
        scale = finite.max(initial=1.0)
        try:
            if values.dtype.kind == "f":
                np.testing.assert_allclose(
                    found[name], values, rtol=tolerance, atol=tolerance * scale
                )
            else:
                np.testing.assert_array_equal(found[name], values)
        except AssertionError as error:
            yield f"{name}: {' '.join(str(error).split())}"


def other_bits(found: Outputs, wanted: Outputs) -> Iterator[str]:
    """The outputs that have other bits. One NaN is like another."""
    for name, values in wanted.items():
        one, other = (
            np.where(x != x, np.array(np.nan, x.dtype), x) if x.dtype.kind == "f" else x
            for x in (found[name], values)
        )
        if one.dtype != other.dtype or one.tobytes() != other.tobytes():
            yield name
