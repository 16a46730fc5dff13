"""The runs that a profile is made of: undisturbed ones in turn with others that are timed inside.

Anything delays a run, and nothing makes it shorter: of each kind the shortest counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.backends.arrays.compiled import CompiledArrays
from workbench.backends.native.compiled_program import CompiledProgram
from workbench.backends.protocol import Execution
from workbench.backends.timed.stamped_program import StampedProgram
from workbench.backends.timed.stamps import TimedLaunch, TimedRun
from workbench.backends.timed.timed_arrays import timed_arrays
from workbench.codegen.stamps.segments import stamped
from workbench.measure.profiles.arrays import array_parts
from workbench.measure.profiles.native import NativeTimes
from workbench.measure.profiles.parts import KernelTime, Part

Listener = Callable[[str, int, int], None]


@dataclass(frozen=True)
class RunRequest:
    """What is run: sizes that are all given, the seed, the dtype, threads."""

    sizes: Mapping[str, int]
    seed: int
    dtype: str
    threads: int

    @property
    def arguments(self) -> dict[str, object]:
        """The arguments of `Compiled.run`."""
        return {"seed": self.seed, "dtype": self.dtype, "threads": self.threads}


@dataclass(frozen=True)
class Timing:
    """What the runs told: the parts of a run, its kernels where it has some, and the seconds of an
    undisturbed one. `launches` are the first, by their kernels' numbers among `names`.
    """

    parts: tuple[Part, ...]
    undisturbed: Execution
    kernels: tuple[KernelTime, ...] = ()
    launches: tuple[TimedLaunch, ...] = field(default=(), repr=False)
    names: tuple[str, ...] = ()


def native_timing(
    compiled: CompiledProgram,
    request: RunRequest,
    sizes: Mapping[str, int] | None,
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
    seed, dtype = request.seed, request.dtype
    undisturbed, timed, inside = list[Execution](), list[TimedRun](), list[TimedRun]()
    for turn in range(rounds):
        report("profiling", turn, rounds)
        undisturbed.append(compiled.run(sizes, **request.arguments))  # type: ignore[arg-type]
        timed.append(plain.timed(sizes, seed, dtype, request.threads))
        if segments:
            inside.append(divided.timed(sizes, seed, dtype))
    times = NativeTimes(
        compiled,
        request.sizes,
        dtype,
        _shortest(timed),
        segments,
        _shortest(inside) if inside else None,
    )
    return Timing(
        times.parts(),
        whole(min(undisturbed, key=lambda run: run.seconds)),
        times.kernels(),
        times.plain.launches,
        tuple(compiled.text(dtype).kernels),
    )


def array_timing(
    compiled: CompiledArrays,
    request: RunRequest,
    sizes: Mapping[str, int] | None,
    rounds: int,
    report: Listener,
) -> Timing:
    """Time generated source, statement by statement."""
    inside = timed_arrays(compiled)
    undisturbed, timed = list[Execution](), list[TimedRun]()
    for turn in range(rounds):
        report("profiling", turn, rounds)
        undisturbed.append(compiled.run(sizes, **request.arguments))  # type: ignore[arg-type]
        timed.append(inside.timed(sizes, request.seed, request.dtype, request.threads))
    parts = array_parts(
        compiled.program,
        compiled.loop_program,
        inside.timers.statements,
        _shortest(timed),
        request.sizes,
        request.dtype,
    )
    return Timing(parts, whole(min(undisturbed, key=lambda run: run.seconds)))


def _shortest(runs: Sequence[TimedRun]) -> TimedRun:
    for run in runs:
        whole(run.execution)
    return min(runs, key=lambda run: run.total)


def whole(execution: Execution) -> Execution:
    """Return a run that came to its end. Raises KeyboardInterrupt: a part of one is no profile."""
    if execution.completed < execution.total:
        raise KeyboardInterrupt
    return execution
