"""The outputs of a run, as a short table and as a file."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.measure.run import Result, peak_text
from workbench.measure.runs.compiling import compile_text
from workbench.measure.runs.progress import environment_steps
from workbench.program.sizes import numbers
from workbench.program.text.units import on_threads, seconds_text

HIGHER_IS_BETTER = ("return", "reward", "episodes")
"""Words in the names of outputs whose largest value is best; no loss of a policy gradient is
best."""

RETURN, EPISODES = "episode_return", "episodes"
"""The names that algorithms give the outputs of `rl.episodes`: a mean return, and the number of
episodes in it."""


def table(result: Result) -> str:
    """Return first, last and best value of each output, then seconds, steps per second and peak
    memory.
    """
    program = result.variant.program
    steps = ", ".join(str(step) for step in result.variant.steps) or "as written"
    where = on_threads(result.backend, result.threads)
    setting = numbers(result.sizes, f"seed {result.seed}", result.dtype)
    head = f"{program.name} on {where}: {setting}; {steps}"
    head += f"; after {result.first} updates" if result.first else ""
    rows = [["", "first", "last", "best"]]
    rows += [_row(name, values, result) for name, values in result.items()]
    widths = [max(len(row[k]) for row in rows) for k in range(4)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(x.rjust(w) for x, w in _pairs(row, widths))]).rstrip()
        for row in rows
    ]
    return "\n".join([head, "", *lines, "", _cost(result)])


def _pairs(row: list[str], widths: list[int]) -> list[tuple[str, int]]:
    return list(zip(row[1:], widths[1:], strict=True))


def _row(name: str, values: npt.NDArray[Any], result: Result) -> list[str]:
    """Return an output's row; of several values for each value of the outer dimension, their
    mean.
    """
    if values.ndim == 0:
        return [name, "", _short(values[()]), ""]
    shape = ["×".join(str(n) for n in part) for part in (values.shape, values.shape[1:])]
    if not values.size:
        return [name, "", f"array {shape[0]}", ""]
    if values.ndim > 1:
        first, last = (_short(values[k].mean(dtype=float)) for k in (0, -1))
        return [f"{name}, mean of {shape[1]}", first, last, ""]
    best = ""
    if any(word in name for word in HIGHER_IS_BETTER) and np.isfinite(values).any():
        at = int(np.nanargmax(values))
        best = f"{_short(values[at])} (at {at})"
    first, last = (
        "no episode ended" if _no_episode(name, k, result) else _short(values[k]) for k in (0, -1)
    )
    return [name, first, last, best]


def _no_episode(name: str, update: int, result: Result) -> bool:
    """Tell whether a mean return is of no episode at all."""
    return (
        name == RETURN
        and bool(np.isnan(result[name][update]))
        and EPISODES in result
        and result[EPISODES].shape == result[name].shape
        and result[EPISODES][update] == 0
    )


def _short(value: Any) -> str:
    return f"{float(value):.4g}" if np.asarray(value).dtype.kind == "f" else str(value)


def _cost(result: Result) -> str:
    steps = environment_steps(result.variant.program, result.sizes)
    parts = [seconds_text(result.seconds)]
    if steps and result.seconds > 0:
        done = steps * result.completed / result.total
        parts.append(f"{done / result.seconds:,.0f} steps/s")
    parts.append(f"peak {peak_text(result.peak)}")
    if result.compiler is not None:
        parts.append(compile_text(result.compile_seconds, result.compiler))
    return ", ".join(parts)


def save(result: Result, path: Path) -> None:
    """Write the outputs in the format that the file's name asks for."""
    FORMATS[path.suffix](result, path)


def _save_csv(result: Result, path: Path) -> None:
    """Write one row for each value of the outer dimension; an output without it repeats its
    value.
    """
    columns = {name: x for name, x in result.items() if x.ndim <= 1}
    left = ", ".join(name for name in result if name not in columns)
    if left:
        print(f"left out of {path}, having more than one dimension: {left} (.json holds all)")
    length = max((len(x) for x in columns.values() if x.ndim), default=1)
    dims = [result.dims[name][0] for name, x in columns.items() if x.ndim and result.dims[name]]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([dims[0] if dims else "row", *columns])
        first = result.first if result.counted in dims else 0
        for row in range(length):
            writer.writerow([first + row, *(_entry(x, row) for x in columns.values())])


def _entry(values: npt.NDArray[Any], row: int) -> Any:
    if values.ndim == 0:
        return values[()]
    return values[row] if row < len(values) else ""


def _save_json(result: Result, path: Path) -> None:
    """Write the outputs with their dimensions, and all that is needed to run the same again."""
    record = {
        "program": result.variant.program.name,
        "steps": result.variant.to_json(),
        "key": result.variant.key,
        "sizes": dict(result.sizes),
        "seed": result.seed,
        "first": result.first,
        "dtype": result.dtype,
        "backend": result.backend,
        "threads": result.threads,
        "seconds": result.seconds,
        "peak_bytes": dict(result.peak),
        "completed": result.completed,
        "total": result.total,
        "outputs": {
            name: {"dims": list(result.dims[name]), "values": _plain(values.tolist())}
            for name, values in result.items()
        },
    }
    path.write_text(json.dumps(record, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def _plain(value: Any) -> Any:
    """Return the value as JSON allows it. JSON has neither NaN nor infinity: null in their
    place.
    """
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


FORMATS: dict[str, Callable[[Result, Path], None]] = {".csv": _save_csv, ".json": _save_json}
