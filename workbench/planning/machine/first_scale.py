"""The scale of built-in constants on this machine: how many times as long as they predict the first
measurement of a backend took. It stands in a file beside measured constants, which need none, and
stays as it is: what is predicted depends on nothing that is measured later.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from workbench.errors import WorkbenchError
from workbench.folders import CACHE_VARIABLE
from workbench.planning.machine.constants import Machine, Rates
from workbench.program.made_files import digest
from workbench.program.sizes import at_sizes
from workbench.program.text.units import digits


@dataclass(frozen=True)
class FirstScale:
    """A factor for all seconds of a backend, and the measurement that it comes from. `constants`
    names the built-in ones that it belongs to.
    """

    factor: float
    program: str
    sizes: Mapping[str, int]
    dtype: str
    device: str
    date: str
    constants: str

    def __str__(self) -> str:
        where = f"{self.program}{at_sizes(self.sizes)}, {self.dtype}, {self.date[:10]}"
        return f"scaled by {digits(self.factor)}, as the first measurement here says ({where})"


def scaled(machine: Machine, factor: float) -> Machine:
    """Return constants with every one that is a time multiplied: each prediction is so many times
    what it was, and ratios stay.
    """

    def times(rates: Rates) -> Rates:
        return {kind: seconds * factor for kind, seconds in rates.items()}

    return replace(
        machine,
        call=times(machine.call),
        row=times(machine.row),
        element={kind: times(rates) for kind, rates in machine.element.items()},
        byte=tuple((size, seconds * factor) for size, seconds in machine.byte),
        product=times(machine.product),
        panel=times(machine.panel),
        fresh=machine.fresh * factor,
        bus=machine.bus * factor,
    )


def name_of(built_in: Machine) -> str:
    """Return a name of built-in constants, another one for others."""
    return digest(asdict(built_in))


def keep(path: Path, scale: FirstScale) -> None:
    """Write a scale. Raises WorkbenchError where that fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(scale), indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise WorkbenchError(
            f"{path} cannot be written ({error.strerror}); name another directory in "
            f"{CACHE_VARIABLE}"
        ) from None


def kept(path: Path) -> FirstScale | None:
    """Return the scale in a file; None where there is none that can be read."""
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
        scale = FirstScale(**data)
        usable = 0 < scale.factor < math.inf
    except (OSError, ValueError, TypeError):
        return None
    return scale if usable else None
