"""Measurements kept in a file: JSON, a line each, only ever appended to.

A line holds all of a measurement, its device's name included, so a GPU's records can be opened
where there is none. A recorded measurement has the file's name and not its folder: tables are given
away. Several processes may append at a time: a line is one write at the end.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

from workbench.errors import WorkbenchError
from workbench.folders import users_folder
from workbench.measure.compare import Comparison
from workbench.measure.rounds.measurement import Measurement, from_json
from workbench.program.sizes import numbers

FILE = "measurements.jsonl"


@dataclass(frozen=True, repr=False)
class Recorded(Sequence[Measurement]):
    """The measurements of a store, in the order they were written. `problems` name each other line
    with the reason why it is no measurement.
    """

    path: Path
    measurements: tuple[Measurement, ...]
    problems: tuple[str, ...] = ()

    @overload
    def __getitem__(self, index: int) -> Measurement: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Measurement, ...]: ...
    def __getitem__(self, index: int | slice) -> Measurement | tuple[Measurement, ...]:
        return self.measurements[index]

    def __len__(self) -> int:
        return len(self.measurements)

    def __iter__(self) -> Iterator[Measurement]:
        return iter(self.measurements)

    @property
    def frame(self) -> Any:
        """Return a pandas table, a measurement a row: what was run, where and when, and the
        results.
        """
        import pandas as pd

        return pd.DataFrame([_row(m) for m in self.measurements])

    def __repr__(self) -> str:
        devices = dict.fromkeys(m.device for m in self.measurements)
        count = len(self.measurements)
        head = f"{count} measurement{'s' if count != 1 else ''} recorded in {self.path.name}"
        on = [f"  on {device}" for device in devices]
        return "\n".join([head, *on, *(f"  not read: {text}" for text in self.problems)])


@dataclass(frozen=True)
class Store:
    """A file of measurements. The first `append` makes it and its folder."""

    path: Path

    def append(self, measured: Measurement | Comparison | Iterable[Measurement]) -> None:
        """Write measurements at the end, those of a comparison in its order."""
        if isinstance(measured, Measurement):
            measured = [measured]
        elif isinstance(measured, Comparison):
            measured = measured.measurements
        lines = "".join(_line(m) for m in measured)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # one write to a file opened for appending: lines of two processes do not mix
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
            try:
                _write(file, (_joint(self.path) + lines).encode())
            finally:
                os.close(file)
        except OSError as error:
            raise WorkbenchError(f"{self.path} cannot be written: {error.strerror}") from None

    def read(self) -> Recorded:
        """Read everything in the file, labelled as recorded. A missing file holds nothing."""
        try:
            text = self.path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return Recorded(self.path, ())
        except OSError as error:
            raise WorkbenchError(f"{self.path} cannot be read: {error.strerror}") from None
        measurements, problems = [], []
        for number, line in enumerate(text.split("\n"), 1):
            if not line.strip():
                continue
            try:
                measurements.append(_measurement(line, self.path.name))
            except WorkbenchError as error:
                problems.append(f"line {number}: {error.message}")
        return Recorded(self.path, tuple(measurements), tuple(problems))


def store(path: str | Path | None = None) -> Store:
    """Return the store at a path; without one the user's own, which all programs share.

    `.append(measured)` writes a measurement or a comparison, `.read()` lists the recorded ones and
    names the lines that cannot be read.
    """
    return Store(Path(path) if path is not None else users_folder() / FILE)


def _line(measurement: Measurement) -> str:
    if not isinstance(measurement, Measurement):
        raise WorkbenchError(f"expected measurements, found {measurement!r}")
    return json.dumps(measurement.to_json(), allow_nan=False, ensure_ascii=False) + "\n"


def _joint(path: Path) -> str:
    """Return a line end, where the last writer was cut off in the middle of a line."""
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return ""
        file.seek(-1, os.SEEK_END)
        return "" if file.read(1) == b"\n" else "\n"


def _write(file: int, data: bytes) -> None:
    written = os.write(file, data)
    while written < len(data):  # a full disk or a signal cut it: write the rest, or raise
        written += os.write(file, data[written:])


def _measurement(line: str, name: str) -> Measurement:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise WorkbenchError(f"no JSON: {error.msg} at column {error.colno}") from None
    if not isinstance(record, dict):
        raise WorkbenchError(f"no measurement: expected an object, found {line.strip()[:40]}")
    return from_json(record, name)


def _row(measurement: Measurement) -> dict[str, Any]:
    m = measurement
    return {
        "program": m.program,
        "variant": m.label,
        "backend": m.backend,
        "threads": m.threads,
        "device": m.device,
        "sizes": numbers(m.sizes),
        "dtype": m.dtype,
        "seed": m.seed,
        "median_ms": m.median * 1e3,
        "low_ms": m.interval[0] * 1e3,
        "high_ms": m.interval[1] * 1e3,
        "peak_device_bytes": m.peak_bytes.get("device"),
        "peak_host_bytes": m.peak_bytes.get("host"),
        "runs": len(m.samples),
        "planned_runs": m.planned,
        "checked": m.status,
        "date": m.date,
        "recorded": m.recorded,
    }
