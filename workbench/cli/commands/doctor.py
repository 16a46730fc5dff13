"""`workbench doctor`: the features that work on this machine, and the packages to install for the
rest.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench.backends import backends, default
from workbench.backends.compiling import cache
from workbench.backends.native.building import compilers
from workbench.cli.arguments import Parser
from workbench.errors import UnavailableError, installing
from workbench.folders import CACHE_VARIABLE
from workbench.measure.calibration.calibrate import calibrate
from workbench.measure.rounds import process
from workbench.planning.machine.calibrated import file_of, machine
from workbench.planning.machine.constants import Machine
from workbench.planning.recipe import plan_files
from workbench.processor import usable_cores
from workbench.program.text.units import amount, bytes_text, digits


@dataclass(frozen=True)
class Finding:
    """One line: a finding, or else what to install. Nothing runs without the required ones."""

    name: str
    ok: bool
    text: str
    required: bool = False

    def __str__(self) -> str:
        mark = "ok     " if self.ok else "MISSING" if self.required else "missing"
        return f"{mark}  {self.name:<14}  {self.text}"


EVERY = "every"
"""What `--calibrate` alone means: all backends that can run here."""
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
    """Run the command; return 0, or 1 where something required is missing."""
    parser = Parser(
        prog="workbench doctor",
        description="What works on this machine, and what to install for the rest.",
    )
    parser.add_argument(
        "--calibrate",
        nargs="?",
        const=EVERY,
        metavar="BACKEND",
        help="measure the constants that predicted times are made of, on a quiet machine: "
        "seconds of a call, a row, an element, a byte (of all backends unless one is named)",
    )
    parser.add_argument(
        "--clear",
        action="store_true",
        help="remove the compiled code and the recipes that are kept for later runs",
    )
    given = parser.strictly(words)
    if given.clear:
        print(f"removed {bytes_text(cache.clear())} of compiled code from {cache.folder()}")
        print(f"removed {bytes_text(plan_files.clear())} of recipes from {plan_files.folder()}")
    if given.calibrate is not None:
        for name in _available() if given.calibrate == EVERY else [given.calibrate]:
            measured, path = calibrate(name)
            print(f"{constants(measured)}\n\nkept in {path}\n")
    if given.clear or given.calibrate is not None:
        return 0
    all_findings = list(findings())
    print("\n".join(str(finding) for finding in all_findings))
    return 1 if any(finding.required and not finding.ok for finding in all_findings) else 0


def findings() -> Iterator[Finding]:
    """Yield every line, in order."""
    yield Finding("workbench", True, version())
    here = platform.python_version()
    python = f"{here} ({sys.executable})"
    enough = sys.version_info >= (3, 11)
    yield Finding("python", enough, python if enough else f"{python}: install 3.11 or newer", True)
    for name in REQUIRED:
        yield _package(name, f"install it: {installing(name)}", required=True)
    for name, purpose in FOR_WHAT.items():
        yield _package(name, f"for {purpose}: {installing(name)}")
    for name, (commands, advice) in PROGRAMS.items():
        yield _program(name, commands, advice)
    yield _compiler()
    yield _compiled_code()
    yield _recipes()
    yield Finding("threads", True, _threads())
    for name, reason in backends().items():
        text = "available" if reason is None else reason
        if name == default():
            text += ", taken where none is named"
        yield Finding(f"{name} backend", reason is None, text)
        if reason is None:
            yield _times(name)


def _available() -> list[str]:
    """Return the backends that can run here."""
    return [name for name, reason in backends().items() if reason is None]


def version() -> str:
    """Return the installed version of the workbench."""
    return process.release() or "not installed, used from its checkout"


def _times(backend: str) -> Finding:
    """Tell whether times are predicted, and whether they are of this machine."""
    name = f"{backend} times"
    known = machine(backend)
    if not known.calibrated:
        path = file_of(known.backend)
        return Finding(name, False, f"{known.note}{f' ({path})' if path.exists() else ''}")
    versions = ", ".join(f"{name} {version}" for name, version in known.versions.items())
    return Finding(name, True, f"calibrated {known.date} on {known.device} ({versions})")


def constants(known: Machine) -> str:
    """Return a machine's constants as a table: nanoseconds by kind."""
    kinds = sorted({*known.call, *known.row, *known.element})
    width = max(len(kind) for kind in kinds)
    head = f"{'ns':<{width}}  {'call':>10}  {'row':>10}  {'float32':>10}  {'float64':>10}"
    lines = [f"{known.backend} on {known.device}, {known.date}", "", head]
    for kind in kinds:
        element = known.element.get(kind, {})
        cells = [known.call.get(kind), known.row.get(kind)]
        cells += [element.get("float32"), element.get("float64")]
        lines.append(f"{kind:<{width}}  " + "  ".join(f"{_nanoseconds(c):>10}" for c in cells))
    for name, rates in (("product, an operation", known.product), ("an operand", known.panel)):
        each = ", ".join(f"{dtype} {_nanoseconds(rate)}" for dtype, rate in rates.items())
        lines.append(f"{name}: {each}")
    moved = ", ".join(f"{amount(n, 'B')} {_nanoseconds(rate)}" for n, rate in known.byte)
    lines.append(f"a byte by working set: {moved}")
    lines.append(f"a byte of new memory: {_nanoseconds(known.fresh)}")
    lines.append(f"a call with cold caches: {known.cold:.2f} times as long")
    return "\n".join(lines)


def _nanoseconds(seconds: float | None) -> str:
    return "" if seconds is None else digits(seconds * 1e9)


def _package(name: str, advice: str, required: bool = False) -> Finding:
    version = process.installed(name)
    return Finding(name, version is not None, version or advice, required)


def _program(name: str, commands: tuple[str, ...], advice: str) -> Finding:
    for command in (os.environ.get(name.upper()), *commands):
        path = shutil.which(command) if command else None
        if path:
            return Finding(name, True, path)
    return Finding(name, False, f"install {advice}")


def _compiler() -> Finding:
    """Return the C compiler and where it is, or why there is none."""
    try:
        compiler = compilers.find()
    except UnavailableError as error:
        return Finding("C compiler", False, error.message.removeprefix("no C compiler: "))
    return Finding("C compiler", True, f"{compiler} ({' '.join(compiler.command)})")


def _compiled_code() -> Finding:
    """Return what the cache of compiled code holds, and whether more can be kept in it."""
    lost = "what is compiled anew is lost when its process ends"
    return _kept("compiled code", cache.held_bytes(), cache.folder(), cache.why_not_kept(), lost)


def _recipes() -> Finding:
    """Return what the cache of recipes holds, and whether more can be kept in it."""
    lost = "a recipe is made anew in each process"
    held, place = plan_files.held_bytes(), plan_files.folder()
    return _kept("recipes", held, place, plan_files.why_not_kept(), lost)


def _kept(name: str, held: int, place: Path, reason: str | None, lost: str) -> Finding:
    """Return the finding of a cache of so many bytes, or what is lost as it cannot be written."""
    text = f"{bytes_text(held)} in {place}"
    if reason is None:
        return Finding(name, True, text)
    advice = f"name another directory in {CACHE_VARIABLE}"
    return Finding(name, False, f"{text}, which cannot be written ({reason}): {lost}; {advice}")


def _threads() -> str:
    """Return the cores this process may use, and the variables that bound those of linear
    algebra.
    """
    limits = [
        f"{name}={os.environ[name]}"
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        if name in os.environ
    ]
    return ", ".join([f"{usable_cores()} of {os.cpu_count()} cores", *limits])
