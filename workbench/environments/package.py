"""Gymnasium, imported where it is used."""

from __future__ import annotations

from typing import Any

from workbench.errors import UnavailableError, installing


def package() -> Any:
    """Import Gymnasium, or raise an error that says what to install."""
    try:
        import gymnasium
        from gymnasium.vector import AutoresetMode  # noqa: F401  # since 1.1
    except ImportError as error:
        raise UnavailableError(
            f"environments.Gymnasium needs Gymnasium 1.1 or newer ({error}): "
            f"{installing('gymnasium>=1.1')}"
        ) from None
    return gymnasium
