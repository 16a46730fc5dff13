"""The text that a stamped program has beside its kernels and launches."""

from __future__ import annotations

from workbench.codegen.runtime import STAMPS

INCLUDED = f'#include "{STAMPS}"\n\n'

FUNCTIONS = """
EXPORTED void stamp_often(Run *run, int64_t times) {
    begin_stamps(run);
    for (int64_t k = 0; k < times; k++) stamp_launch(run, 0);
}
EXPORTED uint64_t ticks_now(void) { return clock_ticks(); }
"""
"""What tells how long a stamp takes, and what the time is."""

NAMES = (
    "StampedLaunch",
    "StampedRun",
    "clock_ticks",
    "begin_stamps",
    "stamp",
    "stamp_launch",
    "stamp_iteration",
    "stamp_often",
    "ticks_now",
)
"""The names that a user's may not be then."""
