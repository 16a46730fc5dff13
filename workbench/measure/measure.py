"""`wb.measure`: one variant, compiled, checked, warmed up, repeated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.backends import get, or_default
from workbench.measure.calibration.first_measurement import learn_scale
from workbench.measure.rounds.measurement import Measurement
from workbench.measure.rounds.rounds import (
    MeasureRequest,
    RoundsListener,
    alternate,
    prepare,
    reporting,
)
from workbench.measure.runs.progress import title
from workbench.program.values import Program
from workbench.variants.variant import Data, Variant, optimize, variant


def measure(
    program: Program | Variant,
    backend: str | None = None,
    *,
    sizes: Mapping[str, int] | None = None,
    seed: int = 0,
    dtype: str = "float32",
    repeats: int | None = None,
    warmup: int = 1,
    force: bool = False,
    progress: bool | RoundsListener = True,
    threads: int | None = None,
    data: Data = None,
    lengths: Mapping[str, Any] | None = None,
) -> Measurement:
    """Check a variant, then time whole runs of it.

    It is checked against the reference at small sizes, in blocks of 3 where it has larger ones; and
    in its own blocks, in float64, against NumPy's run of the program as written.

    A `Variant` is measured as it is, a `Program` under the automatic recipe. `repeats`: as many
    runs as fit into about two seconds, at least 5 and at most 30, unless given; `warmup` runs
    before them do not count. Where the check fails there are no times. A variant that would take
    minutes is not measured without `force=True`; the measurement then says how long it would take.
    `progress` may be a function of (stage, how far, of how much). `backend`, `threads` and `data`
    are those of `wb.run`; without data, rows are drawn within their bounds, and the check says so.
    `lengths` are those of episodes that end, as `Variant.predict` takes them: they decide what
    would take minutes. The runs themselves tell with which lengths they are predicted.
    """
    asked, backend = backend, or_default(backend)
    request = MeasureRequest(
        backend, sizes, seed, dtype, repeats, warmup, force, threads=threads, lengths=lengths
    )
    chosen = variant(program, data)
    runner = get(backend)
    used = runner.threads(threads)
    runner.prepare_ahead()
    if not isinstance(program, Variant):
        chosen = optimize(
            chosen,
            sizes=sizes,
            backend=backend,
            dtype=dtype,
            threads=threads,
            lengths=lengths,
            progress=progress is True,
        )
    line = title(chosen.program.name, asked, used)
    with reporting(progress, line) as report:
        report("compiling and checking", 0, 1)
        candidate = prepare(chosen, request)
        for _ in alternate([candidate], request, report):
            pass
    learn_scale([candidate])
    return candidate.measurement()
