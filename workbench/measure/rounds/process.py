"""The memory of this process, as the operating system tells, and the versions of its packages."""

from __future__ import annotations

import contextlib
import platform
import sys
from pathlib import Path

DISTRIBUTION = "rl-workbench"
"""The workbench's name in package indexes; `workbench` is another project there."""
PACKAGES = (DISTRIBUTION, "numpy", "islpy", "cupy-cuda13x")
STATUS = Path("/proc/self/status")
FORGET = Path("/proc/self/clear_refs")


def forget_peak() -> None:
    """Start the process's peak anew, where the system can: Linux."""
    # where it cannot, the peak is that since the process began, which is still a bound
    with contextlib.suppress(OSError):
        FORGET.write_text("5", encoding="ascii")


def peak_bytes() -> int | None:
    """Return the most physical memory that this process held since `forget_peak`; None where the
    system does not say.
    """
    with contextlib.suppress(OSError):
        for line in STATUS.read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError:
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def versions() -> dict[str, str]:
    """Return the versions of Python and of the installed packages that a measurement depends on."""
    versions_found = {
        name: version for name in PACKAGES if (version := installed(name)) is not None
    }
    return {"python": platform.python_version(), **versions_found}


def release() -> str | None:
    """Return the installed version of the workbench; None where it runs from plain files."""
    return installed(DISTRIBUTION)


def installed(distribution: str) -> str | None:
    """Return the installed version of this distribution; None where there is none."""
    from importlib import metadata  # with its parser of e-mail, a third of what NumPy takes

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
