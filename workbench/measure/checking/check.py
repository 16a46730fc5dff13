"""The check of a variant on a backend against the reference: the first law.

The variant runs at its check sizes, which are small. Its outputs are compared with those of the
reference evaluator of the *root* program. There is one check per variant, backend, dtype and
process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

from workbench.backends import get
from workbench.backends.protocol import Compiled, Execution
from workbench.errors import RunError, WorkbenchError
from workbench.measure.checking.agreement import Deviation, deviations
from workbench.measure.checking.check_sizes import truth
from workbench.measure.checking.sampled_choices import choosing, judged, sampled
from workbench.program.sizes import numbers
from workbench.program.values import Program
from workbench.variants.variant import Variant

SEED = 0
SHOWN = 8
"""The most sentences of a kind in a report."""

Verdict = Literal["passed", "failed", "impossible"]


@dataclass(frozen=True)
class Check:
    """The result of a comparison with the reference.

    `untaken` are branches and statements that the check sizes do not reach, `unmet` needs of larger
    sizes that the reference cannot afford, `differing` the sampled choices that rounding decided
    otherwise. `reason` says why a check failed or was impossible. `measured` tells how outputs at
    measured sizes agree with another variant's, where they were compared.
    """

    verdict: Verdict
    backend: str
    dtype: str
    sizes: Mapping[str, int]
    seed: int
    compared: tuple[Deviation, ...] = ()
    untaken: tuple[str, ...] = ()
    unmet: tuple[str, ...] = ()
    differing: tuple[str, ...] = ()
    reason: str = ""
    measured: str = ""

    @property
    def passed(self) -> bool:
        """Tell whether the variant computes the reference's outputs."""
        return self.verdict == "passed"

    @property
    def worst(self) -> float:
        """The largest deviation of a float, relative to its tolerance: 1 is just allowed."""
        return max((d.worst / d.tolerance for d in self.compared if d.tolerance), default=0.0)

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON without infinities."""
        record = asdict(self) | {"sizes": dict(self.sizes)}
        for entry in record["compared"]:
            entry["worst"] = entry["worst"] if entry["worst"] != float("inf") else None
        return record

    def __str__(self) -> str:
        head = {
            "passed": f"agrees with the reference at {numbers(self.sizes)} ({self.dtype})",
            "failed": f"does not agree with the reference at {numbers(self.sizes)}: {self.reason}",
            "impossible": f"could not be checked: {self.reason}",
        }[self.verdict]
        lines = [head]
        if self.compared:
            elements = sum(d.elements for d in self.compared)
            names = ", ".join(d.name for d in self.compared)
            worst = max((d.worst for d in self.compared if d.tolerance), default=0.0)
            lines.append(f"  compared: {elements} elements of {names}; worst deviation {worst:.2g}")
        lines += _listed("sampled choices that rounding decided otherwise", self.differing)
        lines += _listed("not shown at these sizes", self.unmet)
        lines += _listed("never taken", self.untaken)
        lines += [f"  {self.measured}"] if self.measured else []
        return "\n".join(lines)

    __repr__ = __str__


def from_json(record: Mapping[str, Any]) -> Check:
    """Read the check that `to_json` wrote."""
    compared = tuple(_deviation(d) for d in record["compared"])
    texts = {k: tuple(record[k]) for k in ("untaken", "unmet", "differing")}
    return Check(**{**record, **texts, "compared": compared})


def _deviation(record: Mapping[str, Any]) -> Deviation:
    worst = float("inf") if record["worst"] is None else record["worst"]
    return Deviation(**{**record, "place": tuple(record["place"]), "worst": worst})


def check(
    variant: Variant,
    backend: str = "numpy",
    dtype: str = "float32",
    compiled: Compiled | None = None,
) -> Check:
    """Check the variant on the backend against the reference; remembered for this process.

    `compiled` spares compiling where the caller has done it.
    """
    return _checked(_Subject(variant.key, variant, compiled), backend, dtype)


@dataclass(frozen=True)
class _Subject:
    """A variant, told apart by its key."""

    key: str
    variant: Variant = field(compare=False)
    compiled: Compiled | None = field(compare=False)


@lru_cache(maxsize=64)
def _checked(subject: _Subject, backend: str, dtype: str) -> Check:
    variant = subject.variant
    compiled = subject.compiled or get(backend).compile(variant.program)
    try:
        said, unmet = truth(variant, compiled.loop_program, SEED)
    except WorkbenchError as error:
        return Check("impossible", backend, dtype, {}, SEED, reason=error.message)
    passed = Check("passed", backend, dtype, said.sizes, SEED, (), said.untaken, unmet)
    try:
        outputs = ran(compiled, variant.program, said.sizes, SEED, dtype).outputs
    except RunError as error:
        return replace(passed, verdict="failed", reason=f"it stops: {error.message}")
    judged = _compared(passed, outputs, said.outputs)
    if not judged.passed and dtype == "float32":
        judged = _with_its_choices(variant, judged, outputs)
    if not judged.passed and variant.program.externals:
        again = ran(compiled, variant.program, said.sizes, SEED, dtype).outputs
        if not all(d.agrees for d in deviations(again, outputs, dtype)):
            names = ", ".join(e.name for e in variant.program.externals)
            reason = f"{names} answers otherwise in two runs of one program from the same seed"
            return replace(judged, verdict="impossible", reason=reason)
    return judged


def ran(
    compiled: Compiled, program: Program, sizes: Mapping[str, int], seed: int, dtype: str
) -> Execution:
    """Run once; Ctrl-C during the run is not swallowed."""
    free = {p.name: sizes[p.name] for p in program.parameters if p.definition is None}
    done = compiled.run(free, seed, dtype)
    if done.completed < done.total:
        raise KeyboardInterrupt
    return done


def _compared(check: Check, found: Mapping[str, Any], expected: Mapping[str, Any]) -> Check:
    """Return the check with these outputs compared: passed where all agree."""
    compared = deviations(found, expected, check.dtype)
    wrong = next((d for d in compared if not d.agrees), None)
    if wrong is None:
        return replace(check, verdict="passed", compared=compared, reason="")
    return replace(check, verdict="failed", compared=compared, reason=str(wrong))


def _with_its_choices(variant: Variant, failed: Check, found: Mapping[str, Any]) -> Check:
    """Judge the run with the sampled choices that it made, where it has any."""
    root = variant.root.program
    names = sampled(root)
    if not names:
        return failed
    program = choosing(variant.program, names)
    compiled = get(failed.backend).compile(program)
    chosen = ran(compiled, program, failed.sizes, failed.seed, failed.dtype).outputs
    if not all(d.agrees for d in deviations(chosen, found, failed.dtype)):
        return failed  # these are not the choices of the run that is judged
    free = {p.name for p in root.parameters if p.definition is None}
    sizes = {name: n for name, n in failed.sizes.items() if name in free}
    said = judged(root, sizes, failed.seed, chosen, failed.dtype)
    if said.unexplained:
        return replace(failed, reason=f"{failed.reason}; {said.unexplained}")
    return replace(_compared(failed, found, said.outputs), differing=said.differing)


def _listed(title: str, texts: tuple[str, ...]) -> list[str]:
    if not texts:
        return []
    more = [f"    … {len(texts) - SHOWN} more"] if len(texts) > SHOWN else []
    return [f"  {title}:", *(f"    {text}" for text in texts[:SHOWN]), *more]
