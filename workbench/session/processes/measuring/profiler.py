"""The profiling process: one for each profile. It tells the finished rounds while others run."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from workbench.errors import TooLongError, WorkbenchError
from workbench.measure.profile import Profile, profiling
from workbench.session.processes.measuring.one_order import Report, carry_out_telling
from workbench.session.protocol.failures import error_view
from workbench.session.protocol.state import ErrorView
from workbench.variants.variant import Variant

RESTS = 9
"""The pause after making a profile of finished rounds, as a multiple of the time that it took."""


@dataclass(frozen=True)
class ProfileOrder:
    """The order of a profile; `threads` is None for the backend's usual number."""

    variant: Variant
    backend: str
    sizes: Mapping[str, int]
    seed: int
    dtype: str
    threads: int | None
    force: bool


@dataclass(frozen=True)
class ProfileSoFar:
    """The profile that the finished rounds make."""

    profile: Profile


@dataclass(frozen=True)
class Profiled:
    """The profile, also of the finished rounds of one that was stopped; None where there were none,
    or with the reason why there is none. `too_long`: the order can be forced.
    """

    profile: Profile | None = None
    error: ErrorView | None = None
    too_long: bool = False


def profiled(
    order: ProfileOrder, report: Report, so_far: Callable[[ProfileSoFar], None]
) -> Profiled:
    """Profile. KeyboardInterrupt ends it with the finished rounds."""
    finished, due = None, 0.0
    try:
        for finished in profiling(
            order.variant,
            order.backend,
            order.sizes,
            seed=order.seed,
            dtype=order.dtype,
            threads=order.threads,
            force=order.force,
            progress=report,
        ):
            begun = time.monotonic()
            if begun >= due and finished.done < finished.planned:
                so_far(ProfileSoFar(finished.profile()))
                due = time.monotonic() + RESTS * (time.monotonic() - begun)
        assert finished is not None
        return Profiled(finished.profile())
    except TooLongError as problem:  # the panel has a button where Python has an argument
        return Profiled(error=error_view(WorkbenchError(problem.reason)), too_long=True)
    except KeyboardInterrupt:
        return Profiled(None if finished is None else finished.profile())
    except Exception as problem:  # the caller, another process, must hear of any error
        return Profiled(error=error_view(problem))


def main() -> None:
    """Carry out the one order."""
    carry_out_telling(profiled)
