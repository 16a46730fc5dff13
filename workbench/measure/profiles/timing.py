"""The runs that a profile is made of: untimed ones in turn with others that are timed inside.

Anything delays a run, and nothing makes it shorter: of each kind the shortest counts. After each
round there is what gives the timing of the finished ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from workbench.backends.arrays.compiled import CompiledArrays
from workbench.backends.cuda.compiled_program import CudaProgram
from workbench.backends.native.compiled_program import CompiledProgram
from workbench.backends.protocol import Execution
from workbench.backends.timed.stamped_program import StampedProgram
from workbench.backends.timed.stamps import MOST_LAUNCHES, Logged, TimedRun
from workbench.backends.timed.timed_arrays import timed_arrays
from workbench.backends.timed.timed_functions import timed_functions
from workbench.codegen.cuda.kernel_functions import all_functions
from workbench.codegen.stamps.segments import stamped
from workbench.measure.profiles.arrays import array_parts
from workbench.measure.profiles.course import Held, Place, kernel_places, statement_places
from workbench.measure.profiles.effort import RunRequest
from workbench.measure.profiles.kernels import KernelTimes
from workbench.measure.profiles.parts import KernelTime, Part
from workbench.program.sizes import resolve

Listener = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Timing:
    """What the runs told: the parts of one, its kernels where it has some, and an untimed run.
    The `log` has the first launches, of kernels or else statements, by their numbers among `names`,
    and the iterations around them, where `places` tell the loops.
    """

    parts: tuple[Part, ...]
    untimed: Execution
    kernels: tuple[KernelTime, ...] = ()
    log: tuple[Logged, ...] = field(default=(), repr=False)
    names: tuple[str, ...] = ()
    places: tuple[Place, ...] = field(default=(), repr=False)


Finished = Callable[[], Timing]
"""Gives the timing of the rounds that are finished."""


def native_timing(
    compiled: CompiledProgram,
    request: RunRequest,
    rounds: int,
    report: Listener,
) -> Iterator[Finished]:
    """Time a compiled program: kernels as they are launched, and in a build of their own what is
    inside of those that serve several statements, by one thread.
    """
    plain = StampedProgram(compiled.program, compiled.kernels, compiled.compiler)
    report("compiling", 0, 1)
    plain.prepare(request.dtype)
    divided_kernels, segments = stamped(compiled.kernels)
    divided = StampedProgram(compiled.program, divided_kernels, compiled.compiler)
    if segments:
        divided.prepare(request.dtype)
    arguments = request.sizes, request.seed, request.dtype
    untimed = list[Execution]()
    timed, alone, inside = list[TimedRun](), list[TimedRun](), list[TimedRun]()
    names = compiled.text(request.dtype).kernels
    launched = {name: (k,) for name, k in zip(names, compiled.kernels.kernels, strict=True)}
    sizes = resolve(compiled.program.equations, request.sizes)
    run = sizes, request.dtype, request.threads
    held = Held.of(compiled.loop_program, *run, compiled.peak(*run))
    places = kernel_places(compiled.loop_program, tuple(launched), held)

    def finished() -> Timing:
        times = KernelTimes(
            compiled.program,
            compiled.kernels,
            launched,
            sizes,
            request.dtype,
            _shortest(timed),
            segments,
            _shortest(alone or timed) if segments else None,
            _shortest(inside) if segments else None,
        )
        return Timing(
            times.parts(), _least(untimed), times.kernels(), timed[0].log, times.names, places
        )

    for turn in range(rounds):
        report("profiling", turn, rounds)
        untimed.append(request.run(compiled))
        launches = 0 if timed else MOST_LAUNCHES
        timed.append(plain.timed(*arguments, request.threads, launches, request.given))
        if segments:
            inside.append(divided.timed(*arguments, given=request.given))
        if segments and request.threads > 1:
            alone.append(plain.timed(*arguments, given=request.given))
        yield finished


def cuda_timing(
    compiled: CudaProgram,
    request: RunRequest,
    rounds: int,
    report: Listener,
) -> Iterator[Finished]:
    """Time the functions of a program on a GPU; statements share them by counted work."""
    untimed, timed = list[Execution](), list[TimedRun]()
    arguments = request.sizes, request.seed, request.dtype

    def finished() -> Timing:
        functions = list(all_functions(compiled.launched(request.dtype)))
        times = KernelTimes(
            compiled.program,
            compiled.kernels,
            {function.name: function.kernels for function in functions},
            resolve(compiled.program.equations, request.sizes),
            request.dtype,
            _shortest(timed),
        )
        places = tuple(Place(name, 0, number) for number, name in enumerate(times.names))
        return Timing(
            times.parts(), _least(untimed), times.kernels(), timed[0].log, times.names, places
        )

    for turn in range(rounds):
        report("profiling", turn, rounds)
        untimed.append(request.run(compiled))
        timed.append(timed_functions(compiled, *arguments, request.given))
        yield finished


def array_timing(
    compiled: CompiledArrays,
    request: RunRequest,
    rounds: int,
    report: Listener,
) -> Iterator[Finished]:
    """Time generated source, statement by statement."""
    inside = timed_arrays(compiled)
    arguments = request.sizes, request.seed, request.dtype, request.threads, request.given
    untimed, timed, logs = list[Execution](), list[TimedRun](), list[tuple[Logged, ...]]()
    sizes = resolve(compiled.program.equations, request.sizes)
    statements = inside.timers.statements

    def finished() -> Timing:
        parts = array_parts(
            compiled.program,
            compiled.loop_program,
            statements,
            _shortest(timed),
            sizes,
            request.dtype,
        )
        names = tuple(part.statement for part in parts)
        numbers = {name: number for number, name in enumerate(statements)}
        places = statement_places(compiled.loop_program, numbers, names, sizes, request.dtype)
        return Timing(parts, _least(untimed), log=logs[0], names=names, places=places)

    for turn in range(rounds):
        report("profiling", turn, rounds)
        untimed.append(request.run(compiled))
        timed.append(inside.timed(*arguments))
        if not logs:
            logs.append(inside.begun(*arguments))
        yield finished


def _shortest(runs: Sequence[TimedRun]) -> TimedRun:
    _least([run.execution for run in runs])
    return min(runs, key=lambda run: run.total)


def _least(runs: Sequence[Execution]) -> Execution:
    """Return the shortest run. Raises KeyboardInterrupt where one was interrupted."""
    if any(run.completed < run.total for run in runs):
        raise KeyboardInterrupt
    return min(runs, key=lambda run: run.seconds)
