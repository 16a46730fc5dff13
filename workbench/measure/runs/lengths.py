"""The lengths of the episodes of a run, where they end (`wb.until`), from its outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.program.values import End, Program


def counted_ends(program: Program) -> dict[str, End]:
    """Return the ends by the output that has the step of each event."""
    ends = {end.after: end for end in program.equations.ends}
    return {o.name: ends[o.array] for o in program.outputs if o.array in ends}


def lengths_in(
    program: Program, outputs: Mapping[str, Any], sizes: Mapping[str, int]
) -> dict[str, npt.NDArray[Any]]:
    """Return the lengths by the dim along which episodes end, of the ends among the outputs."""
    return {
        end.dim: np.minimum(outputs[name] + 1, program.dim[end.dim].size.evaluate(sizes))
        for name, end in counted_ends(program).items()
        if name in outputs
    }
