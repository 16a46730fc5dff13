"""Options that several commands share: the backend and the dtype, whole numbers, files to write."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from workbench.backends import backends
from workbench.backends.threads import expect_threads
from workbench.errors import WorkbenchError


def add_backend(group: argparse._ArgumentGroup) -> None:
    """Add `--backend` and `--dtype`."""
    group.add_argument(
        "--backend",
        choices=tuple(backends()),
        help="default native where there is a C compiler, else numpy",
    )
    group.add_argument(
        "--dtype", default="float32", choices=("float32", "float64"), help="default float32"
    )


def add_threads(group: argparse._ArgumentGroup) -> None:
    """Add `--threads`."""
    group.add_argument(
        "--threads",
        type=thread_count,
        metavar="N",
        help="default: on native as many as there are processors, else one",
    )


def thread_count(text: str) -> int:
    """Return a number of threads. Whether there are as many is for the run to say."""
    try:
        return expect_threads(int(text) if text.isdecimal() else text, anywhere=True)
    except WorkbenchError as error:
        raise argparse.ArgumentTypeError(error.message) from None


def add_data(group: argparse._ArgumentGroup) -> None:
    """Add `--data NAME=FILE`."""
    group.add_argument(
        "--data",
        type=_source,
        action="append",
        metavar="NAME=FILE",
        help="the rows of a data set of the program; once for each (.npy, .npz, .safetensors, "
        ".parquet, a folder of .npy files, or minari:NAME)",
    )


def _source(text: str) -> tuple[str, str]:
    name, equals, file = text.partition("=")
    if not (name and equals and file):
        raise argparse.ArgumentTypeError(f"expected NAME=FILE, found {text!r}")
    return name, file


def whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return a reader of whole numbers from `least` on, up to `most`."""
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
    """Return a reader of a path to write to. It is judged before the work: after it, the work would
    be lost.
    """

    def path(text: str) -> Path:
        target = Path(text)
        if not target.absolute().parent.is_dir():
            raise WorkbenchError(f"{option}: there is no folder {target.absolute().parent}")
        return target

    return path
