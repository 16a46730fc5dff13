"""The check of a variant on a backend: the first law.

A variant is checked twice. In small blocks (its own tree, where blocks of 3 replace larger ones) it
runs at its check sizes, and its outputs are compared with those of the reference evaluator of the
*root* program. In its own blocks it runs in float64 at sizes with tails, and is compared with
NumPy's run of the root program: the reference would be too slow there, and a run of the same
variant would be wrong in the same way where a step or its lowering is. A variant without blocks is
compared with the reference alone. There is one check per variant, backend, dtype and process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from workbench.backends import get
from workbench.backends.protocol import Compiled, Execution
from workbench.datasets.rows import DataIdentity, Rows
from workbench.errors import RunError, WorkbenchError
from workbench.measure.checking.agreement import deviations
from workbench.measure.checking.check_sizes import Truth, truths
from workbench.measure.checking.report import Check, TailCheck, joined
from workbench.measure.checking.sampled_choices import choosing, judged, sampled
from workbench.measure.checking.small_blocks import blocks_text, in_small_blocks
from workbench.measure.checking.tail_sizes import tail_sizes
from workbench.program.sizes import at_sizes, numbers, resolve
from workbench.program.values import Program
from workbench.variants.variant import Variant, on_first_rows

SEED = 0
EXACT = "float64"
"""The dtype of runs in a variant's own blocks: rounding decides no choice there."""


def check(
    variant: Variant,
    backend: str,
    dtype: str = "float32",
    compiled: Compiled | None = None,
    threads: int = 1,
) -> Check:
    """Check the variant on the backend, run by so many threads; remembered for this process.

    `compiled` spares compiling where the caller has done it.
    """
    return _checked(_subject(on_first_rows(variant), compiled), backend, dtype, threads)


@dataclass(frozen=True)
class _Subject:
    """A variant, told apart by its key and its data."""

    key: str
    data: tuple[DataIdentity, ...]
    variant: Variant = field(compare=False)
    compiled: Compiled | None = field(compare=False)


def _subject(variant: Variant, compiled: Compiled | None) -> _Subject:
    known = resolve(variant.program.equations, variant.rows.sizes(None))
    return _Subject(variant.key, variant.rows.identity(known), variant, compiled)


@lru_cache(maxsize=64)
def _checked(subject: _Subject, backend: str, dtype: str, threads: int) -> Check:
    variant = subject.variant
    compiled = subject.compiled or get(backend).compile(variant.program)
    begun = Check("passed", backend, dtype, {}, SEED, threads=threads)
    found = _in_small_blocks(variant, compiled, begun)
    if found.passed:
        found = _in_own_blocks(variant, compiled, found)
    return replace(found, data=variant.rows.note())


def ran(
    compiled: Compiled,
    program: Program,
    sizes: Mapping[str, int],
    seed: int,
    dtype: str,
    rows: Rows,
    threads: int = 1,
) -> Execution:
    """Run once; Ctrl-C during the run is not swallowed."""
    free = {p.name: sizes[p.name] for p in program.parameters if p.definition is None}
    given = rows.tables(sizes, dtype)
    done = compiled.run(free, seed, dtype, given=given, threads=threads)
    if done.completed < done.total:
        raise KeyboardInterrupt
    return done


def _outputs(
    compiled: Compiled,
    program: Program,
    sizes: Mapping[str, int],
    dtype: str,
    rows: Rows,
    threads: int = 1,
) -> Mapping[str, Any]:
    return ran(compiled, program, sizes, SEED, dtype, rows, threads).outputs


# -- in small blocks, against the reference --------------------------------------------------------


def _in_small_blocks(variant: Variant, compiled: Compiled, begun: Check) -> Check:
    """Compare with the reference. Where small blocks are not possible, the own ones run."""
    program, why = variant.program, ""
    try:
        small = in_small_blocks(program)
        if small is not program:
            program, compiled = small, get(begun.backend).compile(small)
    except WorkbenchError as error:
        program, why = variant.program, error.message
    blocks = blocks_text(variant.program, program, why)
    try:
        expected, unmet = truths(variant.root, program, compiled.loop_program, SEED)
    except WorkbenchError as error:
        return replace(begun, verdict="impossible", reason=error.message)
    common = replace(begun, unmet=unmet, blocks=blocks)
    checks: list[Check] = []
    for each in expected:
        empty = replace(common, sizes=each.sizes, untaken=each.untaken)
        checks.append(_against(each, variant, program, compiled, empty))
        if not checks[-1].passed:
            return checks[-1]
    return joined(checks)


def _against(
    expected: Truth, variant: Variant, program: Program, compiled: Compiled, passed: Check
) -> Check:
    """Run a program, and compare its outputs with those of the reference."""
    sizes, dtype = expected.sizes, passed.dtype
    try:
        outputs = _outputs(compiled, program, sizes, dtype, variant.rows, passed.threads)
    except RunError as error:
        return replace(passed, verdict="failed", reason=f"it stops: {error.message}")
    found = _compared(passed, outputs, expected.outputs)
    if not found.passed and dtype == "float32":
        found = _with_its_choices(variant, program, found, outputs)
    if not found.passed and _is_fickle(compiled, program, sizes, outputs, dtype, variant.rows):
        return replace(found, verdict="impossible", reason=_fickle(program))
    return found


def _compared(check: Check, found: Mapping[str, Any], expected: Mapping[str, Any]) -> Check:
    """Return the check with these outputs compared: passed where all agree."""
    compared = deviations(found, expected, check.dtype)
    wrong = next((d for d in compared if not d.agrees), None)
    if wrong is None:
        return replace(check, verdict="passed", compared=compared, reason="")
    return replace(check, verdict="failed", compared=compared, reason=str(wrong))


def _with_its_choices(
    variant: Variant, program: Program, failed: Check, found: Mapping[str, Any]
) -> Check:
    """Judge the run with the sampled choices that it made, where it has any."""
    root, rows = variant.root.program, variant.rows
    names = sampled(root)
    if not names:
        return failed
    program = choosing(program, names)
    compiled = get(failed.backend).compile(program)
    chosen = _outputs(compiled, program, failed.sizes, failed.dtype, rows)
    if not all(d.agrees for d in deviations(chosen, found, failed.dtype)):
        return failed  # these are not the choices of the run that is judged
    free = {p.name for p in root.parameters if p.definition is None}
    sizes = {name: n for name, n in failed.sizes.items() if name in free}
    data = rows.tables(failed.sizes, EXACT)
    judgement = judged(root, sizes, failed.seed, chosen, failed.dtype, data)
    if judgement.unexplained:
        return replace(failed, reason=f"{failed.reason}; {judgement.unexplained}")
    return replace(_compared(failed, found, judgement.outputs), differing=judgement.differing)


def _is_fickle(
    compiled: Compiled,
    program: Program,
    sizes: Mapping[str, int],
    outputs: Mapping[str, Any],
    dtype: str,
    rows: Rows,
) -> bool:
    """Tell whether an external object answers otherwise when the same program runs again."""
    if not program.externals:
        return False
    again = _outputs(compiled, program, sizes, dtype, rows)
    return not all(d.agrees for d in deviations(again, outputs, dtype))


def _fickle(program: Program) -> str:
    names = ", ".join(e.name for e in program.externals)
    return f"{names} answers otherwise in two runs of one program from the same seed"


# -- in its own blocks, against NumPy --------------------------------------------------------------


def _in_own_blocks(variant: Variant, compiled: Compiled, passed: Check) -> Check:
    """Compare at all sizes with tails; ends at the first that does not agree."""
    at, missed = tail_sizes(variant.root.program, variant.program)
    passed = replace(passed, unmet=(*passed.unmet, *missed))
    runs: list[TailCheck] = []
    for one in at:
        empty = TailCheck(one.sizes, tuple(map(str, one.tails)))
        try:
            expected = _as_written(_root(variant), tuple(one.sizes.items()))
        except RunError as error:
            reason = f"as written it stops{at_sizes(one.sizes)}: {error.message}"
            return replace(passed, verdict="impossible", reason=reason)
        run, outputs = _run_with_tails(variant, compiled, empty, expected, passed.threads)
        runs.append(run)
        passed = replace(passed, tails=tuple(runs))
        if not run.reason:
            continue
        rows = variant.rows
        if outputs and _is_fickle(compiled, variant.program, one.sizes, outputs, EXACT, rows):
            return replace(passed, verdict="impossible", reason=_fickle(variant.program))
        where = f"in its own blocks, at {numbers(one.sizes)} in {EXACT}"
        return replace(passed, verdict="failed", reason=f"{where}: {run.reason}")
    return passed


def _run_with_tails(
    variant: Variant,
    compiled: Compiled,
    empty: TailCheck,
    expected: Mapping[str, Any],
    threads: int,
) -> tuple[TailCheck, Mapping[str, Any]]:
    try:
        sizes, rows = empty.sizes, variant.rows
        outputs = _outputs(compiled, variant.program, sizes, EXACT, rows, threads)
    except RunError as error:
        return replace(empty, reason=f"it stops: {error.message}"), {}
    compared = deviations(outputs, expected, EXACT)
    wrong = next((str(d) for d in compared if not d.agrees), "")
    return replace(empty, compared=compared, reason=wrong), outputs


def _root(variant: Variant) -> _Subject:
    return _subject(variant.root, None)


@lru_cache(maxsize=8)
def _as_written(root: _Subject, sizes: tuple[tuple[str, int], ...]) -> Mapping[str, Any]:
    """Return the outputs of NumPy's run of a root program, in float64."""
    variant = root.variant
    return _outputs(_on_numpy(root), variant.program, dict(sizes), EXACT, variant.rows)


@lru_cache(maxsize=8)
def _on_numpy(root: _Subject) -> Compiled:
    return get("numpy").compile(root.variant.program)
