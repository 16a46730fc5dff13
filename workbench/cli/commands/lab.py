"""`workbench lab`: JupyterLab on the notebooks."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

from workbench.cli.arguments import Parser
from workbench.errors import UnavailableError, installing

NOTEBOOKS = Path(__file__).resolve().parents[3] / "notebooks"
"""The notebooks beside the package in a checkout; a wheel does not carry them."""


def main(words: list[str]) -> int:
    """Become JupyterLab; further words are its arguments."""
    if words and words[0] in ("-h", "--help"):
        Parser(
            prog="workbench lab",
            usage="workbench lab [arguments of JupyterLab]",
            description="Open JupyterLab on the notebooks; without them, on the current folder.",
        ).parse_args(words[:1])
    if importlib.util.find_spec("jupyterlab") is None:
        raise UnavailableError(f"JupyterLab is not installed: {installing('jupyterlab')}")
    command = [sys.executable, "-m", "jupyterlab"]
    if hasattr(os, "getuid") and os.getuid() == 0:
        command.append("--allow-root")
    if NOTEBOOKS.is_dir():
        command.append(f"--notebook-dir={NOTEBOOKS}")
    else:
        print("The notebooks are in the source repository; opening the current folder.")
    sys.stdout.flush()
    os.execv(command[0], [*command, *words])
