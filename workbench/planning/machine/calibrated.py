"""The file of a machine's measured constants, in the user's cache directory.
`measure/calibration/` measures them; without the file there are built-in ones, in the scale of the
first measurement here once there is one.
"""

from __future__ import annotations

import contextlib
import json
import platform
import re
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

from workbench.errors import UnavailableError, WorkbenchError, nearest
from workbench.folders import CACHE_VARIABLE, cache_directory
from workbench.planning.machine.constants import Machine
from workbench.planning.machine.defaults import DEFAULTS
from workbench.planning.machine.first_scale import FirstScale, keep, kept, name_of, scaled
from workbench.processor import model

FORMAT = 3
"""The version of the file's format; files of another one are not read."""


UNCALIBRATED = "uncalibrated: "
"""The beginning of a note on built-in constants whose scale is not known."""

ON_PROCESSOR = frozenset(("numpy", "native"))
"""The backends whose constants are a processor's; its model and cores are their `device`."""


def machine(backend: object) -> Machine:
    """Return the measured constants of this machine, or built-in ones with a note that says why,
    and where their scale comes from. They are the same object until they change: costs are kept
    with it.
    """
    found = _machine(backend)
    if _latest.get(found.backend) != found:
        _latest[found.backend] = found
    return _latest[found.backend]


_latest: dict[str, Machine] = {}


def _machine(backend: object) -> Machine:
    if not isinstance(backend, str):
        raise WorkbenchError(f"backend {backend!r}; expected a name (sizes are given by sizes=)")
    if backend not in DEFAULTS:
        known = nearest(backend, DEFAULTS, "backends")
        raise UnavailableError(f"no times are predicted for {backend!r}: {known}")
    path = file_of(backend)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        peaks = " (by the published peaks of an H100)" if backend == "cuda" else ""
        return _default(backend, f"`workbench doctor --calibrate` measures this machine{peaks}")
    except OSError as error:
        return _default(backend, f"what was measured cannot be read ({error.strerror})")
    try:
        measured = _from_json(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return _default(
            backend, f"what was measured is broken ({error}); `workbench doctor --calibrate` again"
        )
    if backend in ON_PROCESSOR and not measured.device.startswith(f"{model()}, "):
        return _default(
            backend,
            f"what was measured is of another processor ({measured.device}); "
            "`workbench doctor --calibrate` measures this one",
        )
    return measured


def save(measured: Machine) -> Path:
    """Write measured constants and return their file. Raises WorkbenchError where that fails."""
    path = file_of(measured.backend)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"format": FORMAT} | asdict(measured), indent=1)
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise WorkbenchError(
            f"{path} cannot be written ({error.strerror}); name another directory in "
            f"{CACHE_VARIABLE}"
        ) from None
    return path


def file_of(backend: str) -> Path:
    """Return the file of this machine's constants of a backend: machines may share a directory."""
    host = re.sub(r"[^\w.-]", "-", platform.node()) or "machine"
    return cache_directory() / f"{backend}-{host}.json"


def keep_scale(
    backend: str, factor: float, program: str, sizes: Mapping[str, int], dtype: str, date: str
) -> None:
    """Keep the scale of a backend's built-in constants, with the measurement that it comes from.
    Raises WorkbenchError where the file cannot be written.
    """
    device = model() if backend in ON_PROCESSOR else ""
    where = program, dict(sizes), dtype, device, date, _constants(backend)
    keep(scale_file(backend), FirstScale(factor, *where))


def scale_of(backend: str) -> FirstScale | None:
    """Return the scale of a backend's built-in constants on this machine, where it is known."""
    scale = kept(scale_file(backend))
    if scale is None or scale.constants != _constants(backend):
        return None
    return scale if backend not in ON_PROCESSOR or scale.device == model() else None


def scale_file(backend: str) -> Path:
    """Return the file of that scale."""
    path = file_of(backend)
    return path.with_name(f"{path.stem}-scale.json")


def stamp(backend: str) -> str:
    """Return what changes whenever the constants of a backend are measured, or their scale is
    found; "" before.
    """
    if backend not in DEFAULTS:
        return ""
    times = []
    for path in (file_of(backend), scale_file(backend)):
        with contextlib.suppress(OSError):
            times.append(str(path.stat().st_mtime_ns))
    return " ".join(times)


def _default(backend: str, why: str) -> Machine:
    built_in, scale = DEFAULTS[backend], scale_of(backend)
    if scale is None:
        return replace(built_in, note=f"{UNCALIBRATED}{why}")
    return replace(scaled(built_in, scale.factor), note=f"{scale}; {why}")


@cache
def _constants(backend: str) -> str:
    return name_of(DEFAULTS[backend])


def _from_json(data: Any) -> Machine:
    if data.pop("format") != FORMAT:
        raise ValueError(f"expected format {FORMAT}")
    for name in ("byte", "widths"):
        data[name] = tuple((int(n), float(value)) for n, value in data[name])
    data |= {"fresh": float(data["fresh"]), "cold": float(data["cold"])}
    numbers = [data["call"], data["row"], data["product"], data["panel"]]
    for rates in (*numbers, *data["element"].values()):
        if not all(isinstance(rate, float | int) and rate >= 0 for rate in rates.values()):
            raise ValueError("a rate is no number")
    machine = Machine(**data)
    built_in = DEFAULTS[machine.backend]
    for name in ("call", "row", "element"):
        missing = getattr(built_in, name).keys() - getattr(machine, name).keys()
        if missing:
            raise ValueError(f"{name} lacks {', '.join(sorted(missing))}")
    if not machine.byte or not machine.widths:
        raise ValueError(f"{'widths' if machine.byte else 'byte'} is empty")
    return machine
