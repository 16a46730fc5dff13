"""Options that several commands share: on what and with which numbers a program runs."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from workbench.backends import backends
from workbench.errors import WorkbenchError


def add_backend(group: argparse._ArgumentGroup) -> None:
    """`--backend` and `--dtype`."""
    group.add_argument(
        "--backend", default="numpy", choices=tuple(backends()), help="default numpy"
    )
    group.add_argument(
        "--dtype", default="float32", choices=("float32", "float64"), help="default float32"
    )


def whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    """A reader of whole numbers from `least` on, up to `most`."""
    upper = "on" if most is None else f"to {most}"

    def read(text: str) -> int:
        number = int(text) if text.isdecimal() else -1
        if number < least or (most is not None and number > most):
            raise argparse.ArgumentTypeError(
                f"expected a whole number from {least} {upper}, found {text!r}"
            )
        return int(text)

    return read


def writable(option: str) -> Callable[[str], Path]:
    """A path to write to: judged before the work and not after it, when the work would be lost."""

    def path(text: str) -> Path:
        target = Path(text)
        if not target.absolute().parent.is_dir():
            raise WorkbenchError(f"{option}: there is no folder {target.absolute().parent}")
        return target

    return path
