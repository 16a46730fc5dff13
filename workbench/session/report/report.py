"""`wb.report`: a page about what steps brought."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench.measure.compare import Comparison
from workbench.measure.rounds.measurement import Measurement
from workbench.measure.store import store
from workbench.program.values import Program
from workbench.session.outputs.page import write
from workbench.session.protocol.measurements import belonging, measurement_views
from workbench.session.report.document import document
from workbench.session.report.facts import Setting, facts
from workbench.variants.variant import Variant
from workbench.variants.variant import variant as variant_of


def report(
    variant: Variant,
    path: str | Path,
    before: Program | Variant | None = None,
    notes: str = "",
    *,
    measured: Comparison | Sequence[Measurement] | None = None,
    sizes: Mapping[str, int] | None = None,
    backend: str | None = None,
    dtype: str = "float32",
    lengths: Mapping[str, Any] | None = None,
) -> None:
    """Write a page about a variant beside another one, the program as written unless given: the
    result in a line, both in time and memory, the steps with their reasons, the check, both graphs,
    and the author's `notes` (text; empty lines part paragraphs). It has no scripts, and reads well
    on paper.

    `measured` is what was measured of the two, everything in `wb.store()` unless given; what was
    run in turn comes first, the newest before others. Where nothing was measured, the page says
    so, and predicts a run at `sizes` on `backend` in `dtype`, with episodes of these `lengths`, as
    `Variant.predict` takes them. Variants have the names that a comparison was given.

    Raises WorkbenchError for variants of two programs, for a variant beside itself, and where
    `path` cannot be written.
    """
    after = variant_of(variant)
    first = after.root if before is None else variant_of(before)
    compared = tuple(measured) if isinstance(measured, Comparison) else ()
    found = measured.measurements if isinstance(measured, Comparison) else measured
    told = facts(
        first,
        after,
        measurement_views(belonging(after.root, store().read() if found is None else found)),
        {r.measurement.key: r.name for r in compared if r.name != r.measurement.label},
        notes,
        Setting(sizes or {}, backend, dtype, lengths),
    )
    write(path, document(told))
