"""The compilation of variants: the seconds of generating code, and those of a compiler apart."""

from __future__ import annotations

import time

from workbench.backends.protocol import Backend, Compiled, CompilerWork
from workbench.program.text.units import seconds_text
from workbench.program.values import Program


def compiled(
    backend: Backend, program: Program, dtype: str, prepare: bool = True
) -> tuple[Compiled, float, CompilerWork | None]:
    """Return a program that is ready to run, the seconds that this took, and the compiler's work
    in them, None where no compiler is needed. Without `prepare` the program gets ready when it is
    run.
    """
    start = time.perf_counter()
    ready = backend.compile(program)
    work = ready.prepare(dtype) if prepare else None
    return ready, time.perf_counter() - start, work


def compile_text(seconds: float, work: CompilerWork | None) -> str:
    """Return the seconds of a compilation, all of them and a compiler's, as part of a sentence."""
    if work is None:
        return f"compiled in {seconds_text(seconds)}"
    generated = f"C generated in {seconds_text(max(0.0, seconds - work.seconds))}"
    if not work.seconds:
        return f"{generated}, compiled before"
    return (
        f"{generated}, compiled in {seconds_text(work.seconds)} "
        f"({seconds_text(work.cpu_seconds)} of CPU)"
    )
