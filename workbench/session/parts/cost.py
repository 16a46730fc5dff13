"""The predicted cost of a variant at given sizes, shared out by statement, with formulas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.lowering.memory.lives import described
from workbench.planning.cost.lengths import cut
from workbench.planning.cost.prediction import Prediction
from workbench.planning.cost.seconds import Share
from workbench.program.sizes import resolve
from workbench.variants.variant import Variant


@dataclass(frozen=True)
class ShareView:
    """A statement's part of a run: seconds, arithmetic operations, bytes moved, launches."""

    statement: str
    seconds: float
    operations: int
    bytes: int
    launches: int


@dataclass(frozen=True)
class FootprintView:
    """The bytes of an array's storage at the sizes, and as a formula in them."""

    array: str
    bytes: int
    formula: str
    space: str
    storage: str
    """The stored slices of each dimension, in words, and the array whose memory is taken over."""


@dataclass(frozen=True)
class CostView:
    """A prediction. `besides` is the cost in front of all statements and that of the loops
    themselves (its statement is ""). `note` and `assumed` say what the seconds rest on.
    """

    sizes: Mapping[str, int]
    dtype: str
    backend: str
    threads: int
    seconds: float
    peak_bytes: Mapping[str, int]
    operations: int
    bytes: int
    launches: int
    shares: tuple[ShareView, ...]
    besides: ShareView
    arrays: tuple[FootprintView, ...]
    note: str
    assumed: str
    one_memory: bool
    """True where the device's memory is the host's: what moves to the host takes as much of it."""


def cost(variant: Variant, arguments: Mapping[str, Any]) -> CostView:
    """Predict a variant's cost at `sizes` (omitted ones have their defaults) on `backend` in
    `dtype`.

    Raises SizeError for sizes that the program does not take, UnavailableError for a backend
    without known constants, WorkbenchError for an unknown dtype.
    """
    prediction = predicted(variant, arguments)
    return CostView(
        sizes=prediction.sizes,
        dtype=prediction.dtype,
        backend=prediction.backend,
        threads=prediction.threads,
        seconds=prediction.seconds,
        peak_bytes=prediction.peak_bytes,
        operations=prediction.operations,
        bytes=prediction.bytes,
        launches=prediction.launches,
        shares=tuple(_share(name, share) for name, share in prediction.by_statement.items()),
        besides=_share("", prediction.besides),
        arrays=_footprints(variant, prediction),
        note=prediction.note,
        assumed=prediction.assumed,
        one_memory=prediction.one_memory,
    )


def predicted(variant: Variant, arguments: Mapping[str, Any]) -> Prediction:
    """Predict a variant's cost at the `sizes`, on the `backend`, in the `dtype`, with episodes of
    the `lengths`, none where they end after all steps.
    """
    sizes, lengths = arguments["sizes"], arguments.get("lengths", {})
    fitting = fitting_lengths(lengths, variant, sizes)
    return variant.predict(sizes, arguments["backend"], arguments["dtype"], lengths=fitting)


def fitting_lengths(
    lengths: Mapping[str, Any], variant: Variant, sizes: Mapping[str, int]
) -> dict[str, Any]:
    """Return lengths by dim. Those that a run found, arrays, are cut to sizes that are smaller."""
    equations = variant.program.equations
    return cut(lengths, equations, resolve(equations, variant.rows.sizes(sizes)))


def _share(statement: str, share: Share) -> ShareView:
    return ShareView(statement, share.seconds, share.operations, share.bytes, share.launches)


def _footprints(variant: Variant, prediction: Prediction) -> tuple[FootprintView, ...]:
    """Return every array's storage, in the program's order."""
    stored, formulas = prediction.loops.stored, prediction.footprint
    words = described(variant.program).splitlines()
    return tuple(
        FootprintView(
            array=array.name,
            bytes=prediction.array_bytes(array.name),
            formula=str(formulas[array.name]),
            space=stored[array.name].buffer.space,
            storage=text,
        )
        for array, text in zip(variant.program.arrays, words, strict=True)
    )
