"""The report of a check: what was compared with what, at which sizes, and how well it agrees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from workbench.measure.checking.agreement import Deviation
from workbench.program.sizes import numbers

SHOWN = 8
"""The most sentences of a kind in a report."""

Verdict = Literal["passed", "failed", "impossible"]


@dataclass(frozen=True)
class TailCheck:
    """A comparison of the variant in its own blocks with NumPy's run of the program as written,
    both in float64. `tails` are those that the blocks have at these sizes. `reason` says what is
    wrong, "" where nothing is.
    """

    sizes: Mapping[str, int]
    tails: tuple[str, ...]
    compared: tuple[Deviation, ...] = ()
    reason: str = ""

    def __str__(self) -> str:
        how = self.reason or _worst(self.compared)
        return f"{numbers(self.sizes)} ({'; '.join(self.tails)}): {how}"


@dataclass(frozen=True)
class Check:
    """The result of the comparisons with the reference and in the variant's own blocks.

    `sizes`, `compared`, `untaken` and `differing` are of the comparison with the reference, for
    which `blocks` says how large the variant's blocks were ("" where it has none). `covered` are
    the sizes of a run before that one, where the reference could not take as many branches at
    `sizes`. `tails` are the comparisons in the variant's own blocks. `untaken` are branches and
    statements that the check sizes do not reach, `unmet` needs of larger sizes that cannot be
    afforded, `differing` the sampled choices that rounding decided otherwise. `reason` says why a
    check failed or was impossible. `measured` tells how outputs at measured sizes agree with
    another variant's, where they were compared.
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
    covered: Mapping[str, int] = field(default_factory=dict)
    blocks: str = ""
    tails: tuple[TailCheck, ...] = ()
    threads: int = 1
    """The threads of the runs that were compared; 1 where it was not recorded."""
    data: str = ""
    """A sentence on the rows of data sets, where they were drawn; else ""."""

    @property
    def passed(self) -> bool:
        """Tell whether the variant computes the reference's outputs."""
        return self.verdict == "passed"

    @property
    def worst(self) -> float:
        """The largest deviation of a float, relative to its tolerance: 1 is just allowed."""
        compared = [*self.compared, *(d for run in self.tails for d in run.compared)]
        return max((d.worst / d.tolerance for d in compared if d.tolerance), default=0.0)

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON without infinities."""
        record = asdict(self) | {"sizes": dict(self.sizes), "covered": dict(self.covered)}
        for comparison in (record, *record["tails"]):
            for entry in comparison["compared"]:
                entry["worst"] = entry["worst"] if entry["worst"] != float("inf") else None
        return record

    def __str__(self) -> str:
        lines = [self._head()]
        lines += [f"  {self.measured}"] if self.measured else []
        lines += [f"  compared: {_summary(self.compared)}"] if self.compared else []
        lines += [f"  {self.blocks}"] if self.blocks else []
        lines += [f"  {self.data}"] if self.data else []
        lines += _listed("sampled choices that rounding decided otherwise", self.differing)
        title = "in its own blocks, in float64, compared with NumPy's run of the program as written"
        lines += _listed(title, tuple(map(str, self.tails)))
        lines += _listed("not shown at these sizes", self.unmet)
        lines += _listed("not reached at these sizes", self.untaken)
        return "\n".join(lines)

    def _head(self) -> str:
        before = f"{numbers(self.covered)} and at " if self.covered else ""
        at = f"the reference at {before}{numbers(self.sizes)}"
        if self.verdict == "impossible":
            return f"could not be checked: {self.reason}"
        if self.passed:
            return f"agrees with {at} ({self.dtype})"
        if any(run.reason for run in self.tails):
            return f"does not agree with NumPy's run of the program as written: {self.reason}"
        return f"does not agree with {at}: {self.reason}"

    __repr__ = __str__


def joined(checks: Sequence[Check]) -> Check:
    """Return the comparisons with the reference, one or two that agree, as one."""
    *before, last = checks
    for first in before:
        last = replace(
            last,
            compared=(*first.compared, *last.compared),
            untaken=tuple(text for text in first.untaken if text in last.untaken),
            differing=(*first.differing, *last.differing),
            covered=first.sizes,
        )
    return last


def from_json(record: Mapping[str, Any]) -> Check:
    """Read the check that `to_json` wrote. Those of earlier versions have no blocks and tails."""
    texts = {k: tuple(record[k]) for k in ("untaken", "unmet", "differing")}
    tails = tuple(
        TailCheck(**{**run, "tails": tuple(run["tails"]), "compared": _deviations(run["compared"])})
        for run in record.get("tails", ())
    )
    return Check(**{**record, **texts, "compared": _deviations(record["compared"]), "tails": tails})


def _deviations(records: list[Mapping[str, Any]]) -> tuple[Deviation, ...]:
    return tuple(
        Deviation(
            **{
                **record,
                "place": tuple(record["place"]),
                "worst": float("inf") if record["worst"] is None else record["worst"],
            }
        )
        for record in records
    )


def _summary(compared: tuple[Deviation, ...]) -> str:
    """Say how many elements of which arrays were compared, and how far they are off at most."""
    elements = sum(d.elements for d in compared)
    names = ", ".join(dict.fromkeys(d.name for d in compared))
    return f"{elements} elements of {names}; {_worst(compared)}"


def _worst(compared: tuple[Deviation, ...]) -> str:
    worst = max((d.worst for d in compared if d.tolerance), default=0.0)
    return f"worst deviation {worst:.2g}"


def _listed(title: str, texts: tuple[str, ...]) -> list[str]:
    if not texts:
        return []
    more = [f"    … {len(texts) - SHOWN} more"] if len(texts) > SHOWN else []
    return [f"  {title}:", *(f"    {text}" for text in texts[:SHOWN]), *more]
