"""The runs that a profile is made of: undisturbed ones in turn with others that are timed inside.

Anything delays a run, and nothing makes it shorter: of each kind the shortest counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from workbench.backends.arrays.compiled import CompiledArrays
from workbench.backends.cuda.compiled_program import CudaProgram
from workbench.backends.native.compiled_program import CompiledProgram
from workbench.backends.protocol import Execution
from workbench.backends.timed.stamped_program import StampedProgram
from workbench.backends.timed.stamps import MOST_LAUNCHES, TimedLaunch, TimedRun
from workbench.backends.timed.timed_arrays import timed_arrays
from workbench.backends.timed.timed_functions import timed_functions
from workbench.codegen.cuda.kernel_functions import all_functions
from workbench.codegen.stamps.segments import stamped
from workbench.measure.profiles.arrays import array_parts
from workbench.measure.profiles.effort import RunRequest
from workbench.measure.profiles.kernels import KernelTimes
from workbench.measure.profiles.parts import KernelTime, Part
from workbench.program.sizes import resolve

Listener = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Timing:
    """What the runs told: the parts of one, its kernels where it has some, and an undisturbed run.
    `launches` are the first, of kernels or else statements, by their numbers among `names`.
    """

    parts: tuple[Part, ...]
    undisturbed: Execution
    kernels: tuple[KernelTime, ...] = ()
    launches: tuple[TimedLaunch, ...] = field(default=(), repr=False)
    names: tuple[str, ...] = ()


def native_timing(
    compiled: CompiledProgram,
    request: RunRequest,
    rounds: int,
    report: Listener,
) -> Timing:
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
    undisturbed = list[Execution]()
    timed, alone, inside = list[TimedRun](), list[TimedRun](), list[TimedRun]()
    for turn in range(rounds):
        report("profiling", turn, rounds)
        undisturbed.append(request.run(compiled))
        launches = 0 if timed else MOST_LAUNCHES
        timed.append(plain.timed(*arguments, request.threads, launches))
        if segments:
            inside.append(divided.timed(*arguments))
        if segments and request.threads > 1:
            alone.append(plain.timed(*arguments))
    names = compiled.text(request.dtype).kernels
    times = KernelTimes(
        compiled.program,
        compiled.kernels,
        {name: (k,) for name, k in zip(names, compiled.kernels.kernels, strict=True)},
        resolve(compiled.program.equations, request.sizes),
        request.dtype,
        _shortest(timed),
        segments,
        _shortest(alone or timed) if segments else None,
        _shortest(inside) if segments else None,
    )
    return Timing(
        times.parts(),
        _least(undisturbed),
        times.kernels(),
        timed[0].launches,
        times.names,
    )


def cuda_timing(
    compiled: CudaProgram,
    request: RunRequest,
    rounds: int,
    report: Listener,
) -> Timing:
    """Time the functions of a program on a GPU; statements share them by counted work."""
    undisturbed, timed = list[Execution](), list[TimedRun]()
    for turn in range(rounds):
        report("profiling", turn, rounds)
        undisturbed.append(request.run(compiled))
        timed.append(timed_functions(compiled, request.sizes, request.seed, request.dtype))
    functions = list(all_functions(compiled.launched(request.dtype)))
    times = KernelTimes(
        compiled.program,
        compiled.kernels,
        {function.name: function.kernels for function in functions},
        resolve(compiled.program.equations, request.sizes),
        request.dtype,
        _shortest(timed),
    )
    return Timing(
        times.parts(), _least(undisturbed), times.kernels(), timed[0].launches, times.names
    )


def array_timing(
    compiled: CompiledArrays,
    request: RunRequest,
    rounds: int,
    report: Listener,
) -> Timing:
    """Time generated source, statement by statement."""
    inside = timed_arrays(compiled)
    undisturbed, timed = list[Execution](), list[TimedRun]()
    for turn in range(rounds):
        report("profiling", turn, rounds)
        undisturbed.append(request.run(compiled))
        timed.append(inside.timed(request.sizes, request.seed, request.dtype, request.threads))
    parts = array_parts(
        compiled.program,
        compiled.loop_program,
        inside.timers.statements,
        _shortest(timed),
        resolve(compiled.program.equations, request.sizes),
        request.dtype,
    )
    return Timing(
        parts,
        _least(undisturbed),
        launches=inside.begun(request.sizes, request.seed, request.dtype, request.threads),
        names=tuple(part.statement for part in parts),
    )


def _shortest(runs: Sequence[TimedRun]) -> TimedRun:
    _least([run.execution for run in runs])
    return min(runs, key=lambda run: run.total)


def _least(runs: Sequence[Execution]) -> Execution:
    """Return the shortest run. Raises KeyboardInterrupt where one was interrupted."""
    if any(run.completed < run.total for run in runs):
        raise KeyboardInterrupt
    return min(runs, key=lambda run: run.seconds)
