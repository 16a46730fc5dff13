"""The rows of a profile: its parts by scope, kernel or statement."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

from workbench.backends.timed.peaks import Peaks
from workbench.measure.profiles.parts import KEYS, Part
from workbench.measure.profiles.table import Row, html, text


@dataclass(frozen=True, repr=False)
class ProfileRows(Sequence[Row]):
    """The rows of a profile by scope, kernel or statement, the longest first."""

    what: str
    rows: tuple[Row, ...]
    caption: str = ""

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, index: int | slice) -> Row | tuple[Row, ...]:
        return self.rows[index]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def frame(self) -> Any:
        """Return the rows as a pandas table, indexed by name."""
        import pandas as pd

        columns = list(Row.__dataclass_fields__)
        table = pd.DataFrame([vars(row) for row in self.rows], columns=columns)
        return table.rename(columns={"name": self.what}).set_index(self.what)

    def __repr__(self) -> str:
        return f"{self.caption}\n\n{text(self.rows, self.what)}"

    def _repr_html_(self) -> str:
        return html(self.rows, self.what, self.caption)


def touched_at_once(
    parts: Sequence[Part], launches: Mapping[str, int]
) -> dict[tuple[str, int], float]:
    """Return the bytes that a launch touches, by kernel and entry; without kernels, those of an
    execution.
    """
    moved: dict[str, float] = {}
    for part in parts:
        moved[part.kernel] = moved.get(part.kernel, 0.0) + part.bytes
    return {
        (part.kernel, part.entry): (
            moved[part.kernel] / launches[part.kernel]
            if part.kernel in launches
            else part.bytes / max(part.calls, 1)
        )
        for part in parts
    }


def rows(
    parts: Sequence[Part],
    what: str,
    peaks: Peaks | None,
    launches: Mapping[str, int],
    uncertain: Collection[str] = (),
) -> tuple[Row, ...]:
    """Return the parts by scope, kernel or statement, the longest first. Calls of a kernel are its
    `launches`; those of others are executions of all their entries. The peak of bytes is that of
    memory of which a launch touches so many. Rows that share a kernel whose division is `uncertain`
    are so too.
    """
    key = KEYS[what]
    total = sum(part.seconds for part in parts)
    groups: dict[str, list[Part]] = {}
    inside: dict[tuple[str, int], set[str]] = {}
    of_kernel: dict[str, set[str]] = {}
    for part in parts:
        groups.setdefault(key(part), []).append(part)
        inside.setdefault((part.kernel, part.entry), set()).add(key(part))
        of_kernel.setdefault(part.kernel, set()).add(key(part))
    divided = _several(inside.values())
    unsure = _several(of_kernel[kernel] for kernel in uncertain)
    touched = touched_at_once(parts, launches)
    made = [
        _row(name, group, total, peaks, touched, launches.get(name), divided, unsure)
        for name, group in groups.items()
    ]
    return tuple(sorted(made, key=lambda row: -row.seconds))


def _several(together: Iterable[set[str]]) -> set[str]:
    """Return the rows that have something together with others."""
    return {name for names in together if len(names) > 1 for name in names}


def _row(
    name: str,
    group: Iterable[Part],
    total: float,
    peaks: Peaks | None,
    touched: Mapping[tuple[str, int], float],
    launches: int | None,
    approximate: Collection[str],
    uncertain: Collection[str],
) -> Row:
    group = list(group)
    seconds = math.fsum(part.seconds for part in group)
    flops, moved = (math.fsum(getattr(p, each) for p in group) for each in ("flops", "bytes"))
    entries = {(part.kernel, part.entry): part.calls for part in group}
    known = math.nan if name in uncertain else seconds
    bytes_peak = math.nan
    if peaks and moved:
        each = ((part.bytes, touched[part.kernel, part.entry]) for part in group)
        bytes_peak = moved / math.fsum(n / peaks.bytes_per_second(held) for n, held in each)
    return Row(
        name=name,
        seconds=seconds,
        share=seconds / total if total else math.nan,
        calls=sum(entries.values()) if launches is None else launches,
        flops=flops,
        bytes=moved,
        flops_share=_of_peak(flops, known, peaks.flops_per_second if peaks else None),
        bytes_share=_of_peak(moved, known, bytes_peak),
        bytes_peak=bytes_peak,
        approximate=name in approximate,
        uncertain=name in uncertain,
    )


def _of_peak(amount: float, seconds: float, peak: float | None) -> float:
    if not peak or not seconds:
        return math.nan
    return amount / seconds / peak
