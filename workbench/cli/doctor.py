"""`workbench doctor`: what works on this machine, and what to install for the rest."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata

from workbench.backends import backends
from workbench.cli.arguments import Parser


@dataclass(frozen=True)
class Finding:
    """One line: what was found, or else what to install. Nothing runs without what is required."""

    name: str
    ok: bool
    text: str
    required: bool = False

    def __str__(self) -> str:
        mark = "ok     " if self.ok else "MISSING" if self.required else "missing"
        return f"{mark}  {self.name:<14}  {self.text}"


REQUIRED = ("numpy", "islpy", "tqdm")
FOR_WHAT = {
    "jupyterlab": "notebooks",
    "anywidget": "the live picture in a notebook",
    "ipywidgets": "the live picture in a notebook",
    "graphviz": "the picture in a saved notebook",
    "matplotlib": "plots in the notebooks",
    "pandas": "tables",
    "gymnasium": "environments of Gymnasium",
    "safetensors": "parameters saved and loaded",
}
PROGRAMS = {
    "dot": (("dot",), "Graphviz (package graphviz): it lays out the picture in a saved notebook"),
    "chromium": (
        ("chromium", "chromium-browser", "google-chrome"),
        "Chromium (package chromium), or name one in CHROMIUM: the browser tests drive it",
    ),
}


def main(words: list[str]) -> int:
    """0, or 1 where something is missing without which nothing runs."""
    Parser(
        prog="workbench doctor",
        description="What works on this machine, and what to install for the rest.",
    ).strictly(words)
    found = list(findings())
    print("\n".join(str(finding) for finding in found))
    return 1 if any(finding.required and not finding.ok for finding in found) else 0


def findings() -> Iterator[Finding]:
    """Every line, in order."""
    yield Finding("workbench", True, version())
    here = platform.python_version()
    python = f"{here} ({sys.executable})"
    enough = sys.version_info >= (3, 11)
    yield Finding("python", enough, python if enough else f"{python}: install 3.11 or newer", True)
    for name in REQUIRED:
        yield _package(name, f"install it: pip install {name}", required=True)
    for name, purpose in FOR_WHAT.items():
        yield _package(name, f"for {purpose}: pip install {name}")
    for name, (commands, advice) in PROGRAMS.items():
        yield _program(name, commands, advice)
    yield Finding("threads", True, _threads())
    for name, reason in backends().items():
        text = "available" if reason is None else reason
        yield Finding(f"{name} backend", reason is None, text)


def version() -> str:
    """The installed version of the workbench."""
    try:
        return metadata.version("workbench")
    except metadata.PackageNotFoundError:
        return "not installed, used from its checkout"


def _package(name: str, advice: str, required: bool = False) -> Finding:
    try:
        return Finding(name, True, metadata.version(name), required)
    except metadata.PackageNotFoundError:
        return Finding(name, False, advice, required)


def _program(name: str, commands: tuple[str, ...], advice: str) -> Finding:
    for command in (os.environ.get(name.upper()), *commands):
        path = shutil.which(command) if command else None
        if path:
            return Finding(name, True, path)
    return Finding(name, False, f"install {advice}")


def _threads() -> str:
    """Cores this process may use, and the variables that bound those of linear algebra."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    limits = [
        f"{name}={os.environ[name]}"
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        if name in os.environ
    ]
    return f"{allowed} of {os.cpu_count()} cores" + (f", {', '.join(limits)}" if limits else "")
