"""`wb.run`: compile a variant, run it once, and hand back its outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from workbench.backends import get
from workbench.errors import WorkbenchError, nearest
from workbench.lowering.memory import Point
from workbench.measure.progress import bar
from workbench.program.sizes import resolve
from workbench.program.values import Program
from workbench.variants.variant import Variant, optimize, variant


@dataclass(frozen=True, eq=False)
class Result(Mapping[str, Any]):
    """What a run computed: `result["loss"]` is an array over `result.dims["loss"]`, then the inner
    shape.

    `seconds` is the time of the run without compilation; `peak_bytes` what the backend held at
    most. `completed` of `total` iterations of the outermost loop were run: fewer after Ctrl-C, and
    then the outputs end there.
    """

    variant: Variant
    outputs: Mapping[str, npt.NDArray[Any]] = field(repr=False)
    dims: Mapping[str, tuple[str, ...]]
    sizes: Mapping[str, int]
    seed: int
    dtype: str
    backend: str
    seconds: float
    peak_bytes: int
    completed: int
    total: int
    timeline: list[Point] = field(repr=False)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        if name not in self.outputs:
            raise KeyError(f"no output {name!r}: {nearest(name, self.outputs, 'outputs')}")
        return self.outputs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.outputs)

    def __len__(self) -> int:
        return len(self.outputs)

    @property
    def interrupted(self) -> bool:
        """Whether the run ended before its last iteration."""
        return self.completed < self.total

    def frame(self) -> Any:
        """The outputs of scalar elements that vary over one dimension as a pandas table indexed by
        it.
        """
        import pandas as pd

        columns = {
            name: pd.Series(values, index=pd.RangeIndex(len(values), name=self.dims[name][0]))
            for name, values in self.outputs.items()
            if len(self.dims[name]) == 1 and values.ndim == 1
        }
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name}{list(values.shape)}" for name, values in self.outputs.items())
        steps = ", ".join(str(step) for step in self.variant.steps) or "as written"
        part = f", interrupted after {self.completed} of {self.total}" if self.interrupted else ""
        return (
            f"<{self.variant.program.name} ({steps}) on {self.backend}: {shapes}; "
            f"{self.seconds:.3g} s, peak {self.peak_bytes / 1e6:.3g} MB{part}>"
        )


def run(
    program: Program | Variant,
    backend: str = "numpy",
    sizes: Mapping[str, int] | None = None,
    seed: int = 0,
    dtype: str = "float32",
    progress: bool = True,
    check_finite: bool = False,
    capacity: int | None = None,
) -> Result:
    """Run a variant as it is, or a program under the automatic recipe (`result.variant.steps` shows
    it).

    `sizes` overrides sizes by name without a new trace. The same seed gives the same draws whatever
    the variant, the dtype ("float32" or "float64") or the sizes. `check_finite` stops at the first
    NaN or infinity and names statement and instance; `capacity` bounds the memory in bytes. Ctrl-C
    ends the run and returns what was done.
    """
    chosen = program if isinstance(program, Variant) else optimize(variant(program))
    if dtype not in ("float32", "float64"):
        raise WorkbenchError(f'dtype {dtype!r}; expected "float32" or "float64"')
    known = resolve(chosen.program, sizes)
    compiled = get(backend).compile(chosen.program)
    with bar(chosen.program, known, progress) as report:
        done = compiled.run(sizes, seed, dtype, report, check_finite, capacity)
    arrays = chosen.program.array
    return Result(
        variant=chosen,
        outputs=done.outputs,
        dims={o.name: arrays[o.array].dims for o in chosen.program.outputs},
        sizes=known,
        seed=seed,
        dtype=dtype,
        backend=backend,
        seconds=done.seconds,
        peak_bytes=done.peak_bytes,
        completed=done.completed,
        total=done.total,
        timeline=done.timeline,
    )
