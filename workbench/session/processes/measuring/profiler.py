"""The profiling process: one for each profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.errors import TooLongError, WorkbenchError
from workbench.measure.profile import Profile, profile
from workbench.session.processes.measuring.one_order import Report, carry_out
from workbench.session.protocol.failures import error_view
from workbench.session.protocol.state import ErrorView
from workbench.variants.variant import Variant


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
class Profiled:
    """The profile, or the reason why there is none: neither where it was stopped. `too_long`: the
    order can be forced.
    """

    profile: Profile | None = None
    error: ErrorView | None = None
    too_long: bool = False


def profiled(order: ProfileOrder, report: Report) -> Profiled:
    """Profile."""
    try:
        made = profile(
            order.variant,
            order.backend,
            order.sizes,
            seed=order.seed,
            dtype=order.dtype,
            threads=order.threads,
            force=order.force,
            progress=report,
        )
    except TooLongError as problem:  # the panel has a button where Python has an argument
        return Profiled(error=error_view(WorkbenchError(problem.reason)), too_long=True)
    except Exception as problem:  # the caller, another process, must hear of any error
        return Profiled(error=error_view(problem))
    return Profiled(made)


def main() -> None:
    """Carry out the one order."""
    carry_out(profiled)
