"""The C compiler of this machine: which it is, its version, and the flags it is called with."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import platform
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from workbench.backends.compiling import cache
from workbench.backends.native.building.processes import Ended, run_side_by_side
from workbench.codegen import runtime
from workbench.errors import UnavailableError, installing
from workbench.processor import model

VARIABLE = "CC"
"""Environment variable that names the compiler, with arguments if need be."""
PROGRAMS = ("cc", "gcc", "clang")
ANSWER_SECONDS = 60.0
"""The seconds in which a compiler has to say its version."""
HIDDEN = ("-std=gnu11", "-fvisibility=hidden")
"""Flags that fix the language, and what a library shows."""
_MACRO = re.compile(r"^#define (\w+) (.*)$", re.MULTILINE)

Name = Literal["gcc", "clang", "zig"]


@dataclass(frozen=True)
class Compiler:
    """A C compiler that answered.

    `command` is its program's path and arguments, `flags` those for every unit, `link` those that
    make a library besides. `processor` is what it makes code for. `identity` is a digest of all
    that decides which code it makes of a text: its version, its flags and the processor.
    """

    command: tuple[str, ...]
    name: Name
    version: str
    processor: str
    flags: tuple[str, ...]
    link: tuple[str, ...]
    identity: str

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def find(level: int = 2, march: str = "native") -> Compiler:
    """Return the compiler: what CC names, else cc, gcc, clang or the package ziglang.

    `level` is that of optimization, `march` a processor as gcc writes it (`x86-64-v3`). Raises
    UnavailableError, which says in one sentence what was tried.
    """
    failed: list[str] = []
    missing: list[str] = []
    for wish, command in _candidates():
        if command is None:
            missing.append(wish)
            continue
        answer = _asked(command, level, march)
        if isinstance(answer, Compiler):
            return answer
        failed.append(f"{wish} {answer}")
    raise UnavailableError(_sentence(failed, missing))


def environment(command: tuple[str, ...], work: Path) -> dict[str, str]:
    """Return the environment variables of a compiler that works in a folder: English messages, and
    no files elsewhere but zig's run-time libraries.
    """
    own = {"LC_ALL": "C", "TMPDIR": str(work)}
    if _is_zig(command):
        shared = os.environ.get("ZIG_GLOBAL_CACHE_DIR") or str(cache.zig_folder())
        own |= {"ZIG_LOCAL_CACHE_DIR": str(work / "zig"), "ZIG_GLOBAL_CACHE_DIR": shared}
    return {**os.environ, **own}


def _candidates() -> Iterator[tuple[str, tuple[str, ...] | None]]:
    """Yield what may be a compiler, as the user knows it, with its command where it is there; what
    the user named and is no program comes with the reason.
    """
    named = os.environ.get(VARIABLE, "").strip()
    if named:
        try:
            program, *arguments = shlex.split(named, posix=os.name != "nt")
        except ValueError:  # a quote that does not end
            program, arguments = named, []
        command = _command(program, arguments)
        beside = f": {program}" if arguments else ""
        wish = f"{VARIABLE}={named}"
        yield wish if command is not None else f"{wish} {_why_none(program)}{beside}", command
        return
    for program in PROGRAMS:
        yield program, _command(program)
    there = importlib.util.find_spec("ziglang") is not None
    yield "ziglang", (sys.executable, "-m", "ziglang", "cc") if there else None


def _command(program: str, arguments: Sequence[str] = ()) -> tuple[str, ...] | None:
    path = shutil.which(program)
    return None if path is None else (str(Path(path).absolute()), *arguments)


def _why_none(program: str) -> str:
    """Return the words for a program that cannot be run."""
    if Path(program).is_dir():
        return "names a folder, not a program"
    if Path(program).is_file():
        return "names a file that may not be run"
    return "names a program that is not there"


def _sentence(failed: Sequence[str], missing: Sequence[str]) -> str:
    """Return why there is no compiler, and the way out."""
    way_out = installing("ziglang")
    if (*failed, *missing)[0].startswith(f"{VARIABLE}="):
        why = (*failed, *missing)[0]
        return f"no C compiler: {why}; correct {VARIABLE}, or unset it and {way_out}"
    parts = list(failed)
    if missing:
        *first, last = missing
        names = f"{', '.join(first)} and {last} are" if first else f"{last} is"
        parts.append(f"{names} not installed")
    end = f": {way_out}" if "ziglang" in missing else ""
    return f"no C compiler: {'; '.join(parts)}{end}"


@lru_cache(maxsize=64)
def _asked(command: tuple[str, ...], level: int, march: str) -> Compiler | str:
    """Ask a command what it is, once in a process: a compiler, or the words why it is none."""
    is_zig = _is_zig(command)
    flags = (f"-O{level}", *_of_processor(march, is_zig), *HIDDEN, *_of_platform(is_zig))
    flags = (*flags, *runtime.flags(platform.machine()))
    questions = [(*command, *flags, "-dM", "-E", "-x", "c", os.devnull), (*command, "--version")]
    if is_zig:
        questions.append((*_before_cc(command), "version"))
    answers = [_answer(question) for question in questions]
    if reason := _no_answer(answers[0], march):
        return reason
    macros = dict(_MACRO.findall(answers[0].output))
    if "__STDC__" not in macros or not {"__GNUC__", "__clang__"} & macros.keys():
        return "is neither gcc nor clang"
    processor = model() if march == "native" else march
    told = [answer.output for answer in answers[1:]]
    link = ("-shared", "-pthread", *(() if sys.platform == "win32" else ("-lm",)), *_complete())
    parts = [command[1:], flags, link, processor, sorted(macros.items()), told]
    return Compiler(
        command=command,
        name="zig" if is_zig else "clang" if "__clang__" in macros else "gcc",
        version=told[-1].strip() if is_zig else _version(macros),
        processor=processor,
        flags=flags,
        link=link,
        identity=hashlib.sha256(json.dumps(parts).encode()).hexdigest(),
    )


def _answer(question: tuple[str, ...]) -> Ended:
    """Run a command that only prints, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="workbench-", ignore_cleanup_errors=True) as name:
        work = Path(name)
        ended = run_side_by_side(
            [question],
            at_once=1,
            timeout=ANSWER_SECONDS,
            folder=work,
            environment=environment(question, work),
        )
    return ended[0]


def _no_answer(answer: Ended, march: str) -> str | None:
    """Return the words for a command that did not say what it is, or None."""
    if answer.ok:
        return None
    if answer.code is None:
        return f"did not answer in {ANSWER_SECONDS:g} s"
    if answer.signal:
        return f"crashed ({answer.signal})"
    lines = [line for line in answer.output.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line] or lines or [f"exit {answer.code}"]
    return f"failed when asked for its macros with -march={march} ({errors[0].strip()})"


def _is_zig(command: tuple[str, ...]) -> bool:
    """Tell whether a command is of zig, the program or the package ziglang."""
    return any(Path(word).stem in ("zig", "ziglang") for word in command)


def _before_cc(command: tuple[str, ...]) -> tuple[str, ...]:
    """Return the part of `zig cc …` that is zig itself."""
    return command[: command.index("cc")] if "cc" in command else command[:1]


def _of_processor(march: str, is_zig: bool) -> tuple[str, ...]:
    """Return the flag for a processor: zig writes `x86_64_v3`; on arm64 `-mcpu` names the cores."""
    if march == "native" and platform.machine().lower() in ("arm64", "aarch64"):
        return ("-mcpu=native",)
    return (f"-march={march.replace('-', '_') if is_zig else march}",)


def _of_platform(is_zig: bool) -> tuple[str, ...]:
    """Return the flags that some systems and compilers want."""
    flags = () if sys.platform == "win32" else ("-fPIC",)
    return (*flags, "-fno-sanitize=undefined") if is_zig else flags


def _complete() -> tuple[str, ...]:
    """Return the flag by which a function that is nowhere is an error of the linker."""
    return ("-Wl,-z,defs",) if sys.platform.startswith("linux") else ()


def _version(macros: dict[str, str]) -> str:
    names = ("__GNUC__", "__GNUC_MINOR__", "__GNUC_PATCHLEVEL__")
    if "__clang__" in macros:
        names = ("__clang_major__", "__clang_minor__", "__clang_patchlevel__")
    return ".".join(macros.get(name, "0") for name in names)
