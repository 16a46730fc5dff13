"""A profile as a file of trace events, which Perfetto and chrome://tracing open.

The format is Google's "Trace Event Format": complete events ("ph": "X") with times in microseconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench.backends.timed.stamps import TimedLaunch

PROCESS, THREAD = 1, 1


def write(
    path: str | Path,
    launches: Sequence[TimedLaunch],
    names: Sequence[str],
    categories: Mapping[str, str],
    about: Mapping[str, Any],
) -> None:
    """Write launches as events. `names` are by their numbers, `categories` by their names, `about`
    says what was run.
    """
    events = [
        {"ph": "M", "pid": PROCESS, "name": "process_name", "args": {"name": about["program"]}},
        {
            "ph": "M",
            "pid": PROCESS,
            "tid": THREAD,
            "name": "thread_name",
            "args": {"name": about["backend"]},
        },
        *_events(launches, names, categories),
    ]
    record = {"traceEvents": events, "displayTimeUnit": "ns", "otherData": dict(about)}
    Path(path).write_text(json.dumps(record, allow_nan=False), encoding="utf-8")


def _events(
    launches: Sequence[TimedLaunch], names: Sequence[str], categories: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    for launch in launches:
        name = names[launch.number]
        yield {
            "ph": "X",
            "pid": PROCESS,
            "tid": THREAD,
            "name": name,
            "cat": categories.get(name, ""),
            "ts": launch.begin * 1e6,
            "dur": max(launch.end - launch.begin, 0.0) * 1e6,
        }
