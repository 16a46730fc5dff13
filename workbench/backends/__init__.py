"""Backends: the reference, which fixes the meaning of programs, and the runners of variants.

A backend is imported when it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.errors import UnavailableError, WorkbenchError, nearest

if TYPE_CHECKING:
    from workbench.backends.protocol import Backend

NAMES = ("numpy", "native", "cuda")
PREFERRED = ("native", "numpy")
"""The backends in the order in which they are taken where none is named: the first that runs."""
_CALLED = {"cupy": "cuda", "gpu": "cuda", "cpu": "numpy", "np": "numpy"}
"""Other names of the backends."""


def backends() -> dict[str, str | None]:
    """Return every backend by name: None where it is available, else the reason why not."""
    return {name: _made(name).unavailable() for name in NAMES}


def default() -> str:
    """Return the backend of what names none: "native" where there is a C compiler, else "numpy"."""
    return next(name for name in PREFERRED if _made(name).unavailable() is None)


def or_default(name: str | None) -> str:
    """Return the name of a backend, that of the default where none is given."""
    return default() if name is None else name


def unknown(name: object) -> WorkbenchError:
    """Return the error for what is no backend's name."""
    if not isinstance(name, str):
        return WorkbenchError(f"backend {name!r}; expected a name (sizes are given by sizes=)")
    meant = _CALLED.get(name.casefold())
    said = nearest(name, NAMES, "backends") if meant is None else f"the name is {meant!r}"
    return UnavailableError(f"unknown backend {name!r}: {said}")


def get(name: str) -> Backend:
    """Return the backend of that name.

    Raises UnavailableError for an unknown or unavailable one, WorkbenchError for what is no name.
    """
    if name not in NAMES:
        raise unknown(name)
    backend = _made(name)
    reason = backend.unavailable()
    if reason is not None:
        raise UnavailableError(f"{name}: {reason}")
    return backend


def _made(name: str) -> Backend:
    if name == "native":
        from workbench.backends.native.backend import NativeBackend

        return NativeBackend()
    if name == "cuda":
        from workbench.backends.cuda.backend import CudaBackend

        return CudaBackend()
    from workbench.backends.numpy import NumPyBackend

    return NumPyBackend()
