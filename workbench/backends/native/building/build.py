"""Units of C compiled side by side and linked into one library, or found in the cache."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path

from workbench.backends.compiling import cache
from workbench.backends.native.building.c_units import Unit, included
from workbench.backends.native.building.compiler_failures import compiling_failed, linking_failed
from workbench.backends.native.building.compilers import Compiler, environment
from workbench.backends.native.building.processes import Ended, run_side_by_side
from workbench.errors import CompilerError
from workbench.processor import usable_cores

TIMEOUT = 300.0
"""Seconds after which a compiler is stopped, if not said otherwise."""
SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")


_ahead: dict[str, Future[float]] = {}
"""Objects that are compiled ahead, by their names in the cache: the CPU seconds of each."""

_at_once = threading.BoundedSemaphore(usable_cores())
"""Compilers that run ahead at once: each takes a processor and some memory."""


@dataclass(frozen=True)
class Library:
    """A compiled library. `key` is a digest of all that it was made of.

    It took `seconds` by the clock and `cpu_seconds` of all compilers together. `compiled` are the
    units that were compiled for it, ahead or now, the others were known. `note` says where it could
    not be kept.
    """

    key: str
    path: Path
    bytes: int
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    compiled: tuple[str, ...] = ()
    cached: bool = False
    note: str = ""


@dataclass(frozen=True)
class _Work:
    """A folder in which a library is built: its inputs, and what was spent so far."""

    folder: Path
    compiler: Compiler
    headers: Mapping[str, str]
    timeout: float
    spent: list[float] = field(default_factory=list)
    """CPU seconds of each command."""

    def sources(self, unit: Unit) -> dict[str, str]:
        """Return the files that a unit is compiled from."""
        return {**included(unit.text, self.headers), unit.file: unit.text}

    def stored(self, unit: Unit) -> str:
        """Return the name under which the cache has a unit's object."""
        return _stored(unit, self.compiler, self.headers)

    def run(self, commands: Sequence[Sequence[str]]) -> dict[int, Ended]:
        """Run the compiler with each of these arguments."""
        command = self.compiler.command
        ended = run_side_by_side(
            [(*command, *self.compiler.flags, *arguments) for arguments in commands],
            at_once=usable_cores(),
            timeout=self.timeout,
            folder=self.folder,
            environment=environment(command, self.folder),
        )
        self.spent.extend(one.cpu_seconds for one in ended.values())
        return ended


def build(
    units: Sequence[Unit],
    compiler: Compiler,
    headers: Mapping[str, str] | None = None,
    timeout: float = TIMEOUT,
    anew: bool = False,
) -> Library:
    """Compile units into a library, each that is not known yet by a process of its own.

    `headers` are texts by the names under which units include them; a unit depends on those that it
    includes. With `anew` a library that is there already is replaced. Raises CompilerError where
    the compiler fails, crashes or takes more than `timeout` seconds for a unit; no file of the
    library is left then.
    """
    start = time.perf_counter()
    headers = headers or {}
    key = _key(units, compiler, headers)
    known = None if anew else cache.find(cache.LIBRARIES, key + SUFFIX)
    if known is not None:
        path, size = known
        return Library(key, path, size, time.perf_counter() - start, cached=True)
    with _working_folder() as name:
        library = _built(units, key, _Work(Path(name), compiler, headers, timeout))
    cache.evict()
    return replace(library, seconds=time.perf_counter() - start)


def build_ahead(
    unit: Unit, compiler: Compiler, headers: Mapping[str, str], timeout: float = TIMEOUT
) -> None:
    """Begin to compile a unit that is not known yet, beside the caller: `build` waits for it, and
    raises where it fails.
    """
    name = _stored(unit, compiler, headers)
    if name in _ahead or cache.find(cache.OBJECTS, name) is not None:
        return
    done = Future[float]()

    def compile_it() -> None:
        spent: list[float] = []
        try:
            with _at_once, _working_folder() as folder:
                _compile([unit], _Work(Path(folder), compiler, headers, timeout, spent))
        except BaseException as error:
            done.set_exception(error)
        else:
            done.set_result(sum(spent))

    threading.Thread(target=compile_it, name=f"compiles {unit.name}").start()
    _ahead[name] = done  # only now: nobody waits for a thread that could not be started


@contextlib.contextmanager
def _working_folder() -> Iterator[str]:
    try:
        with tempfile.TemporaryDirectory(prefix="workbench-", ignore_cleanup_errors=True) as name:
            yield name
    except OSError as error:
        raise CompilerError(
            f"nothing can be compiled in {tempfile.gettempdir()} ({error.strerror or error}); name "
            "another folder in TMPDIR"
        ) from None


def _built(units: Sequence[Unit], key: str, work: _Work) -> Library:
    begun = [unit for unit in units if work.stored(unit) in _ahead]
    missing = [unit for unit in units if unit not in begun and not _known(unit, work)]
    _compile(missing, work)  # beside what was begun ahead, which is waited for only now
    ahead = [unit for unit in begun if _waited(unit, work)]
    lost = [unit for unit in begun if not _known(unit, work)]  # the cache was emptied since
    _compile(lost, work)
    made = _link(units, work, key)
    path, note = cache.store(cache.LIBRARIES, key + SUFFIX, made)
    return Library(
        key=key,
        path=path,
        bytes=made.stat().st_size,
        cpu_seconds=sum(work.spent),
        compiled=tuple(u.name for u in units if u in missing or u in ahead or u in lost),
        note=note,
    )


def _waited(unit: Unit, work: _Work) -> bool:
    """Wait for a unit that is compiled ahead; tell whether it was. Raises what it has failed by."""
    done = _ahead.get(work.stored(unit))
    if done is None:
        return False
    try:
        work.spent.append(done.result())
    finally:
        first = _ahead.pop(work.stored(unit), None) is not None
    return first


def _known(unit: Unit, work: _Work) -> bool:
    """Put a unit's object from the cache into the working folder, if it is there."""
    known = cache.find(cache.OBJECTS, work.stored(unit))
    if known is None:
        return False
    try:
        shutil.copyfile(known[0], work.folder / unit.object)
    except FileNotFoundError:  # another process has emptied the cache since
        return False
    return True


def _compile(units: Sequence[Unit], work: _Work) -> None:
    """Compile units side by side, those that take longest first, and store their objects."""
    # What has no statement of its own compiles the functions of the headers: that takes longest.
    units = sorted(units, key=lambda unit: (bool(unit.statements), -len(unit.text)))
    for unit in units:
        for name, text in work.sources(unit).items():
            (work.folder / name).write_text(text, encoding="utf-8")
    ended = work.run([("-c", unit.file, "-o", unit.object) for unit in units])
    for position, one in sorted(ended.items()):
        unit = units[position]
        made = work.folder / unit.object
        if not one.ok or not made.is_file():
            folder = cache.keep_sources(work.stored(unit)[:16], work.sources(unit))
            raise compiling_failed(work.compiler, unit, one, folder / unit.file, work.timeout)
        cache.store(cache.OBJECTS, work.stored(unit), made)


def _link(units: Sequence[Unit], work: _Work, key: str) -> Path:
    """Link the objects in the working folder into a library there; return its file."""
    made = work.folder / f"library{SUFFIX}"
    arguments = ("-o", made.name, *(unit.object for unit in units), *work.compiler.link)
    (one,) = work.run([arguments]).values()
    if not one.ok or not made.is_file():
        sources: dict[str, str] = {}
        for unit in units:
            sources |= work.sources(unit)
        folder = cache.keep_sources(key[:16], sources)
        raise linking_failed(work.compiler, units, one, folder, work.timeout)
    return made


def _key(units: Sequence[Unit], compiler: Compiler, headers: Mapping[str, str]) -> str:
    names = [unit.name for unit in units]
    if len(set(names)) < len(names):
        raise ValueError(f"two units have one name: {', '.join(names)}")
    return _digest([_object_key(unit, compiler, headers) for unit in units], compiler.link)


def _stored(unit: Unit, compiler: Compiler, headers: Mapping[str, str]) -> str:
    return f"{_object_key(unit, compiler, headers)}.o"


def _object_key(unit: Unit, compiler: Compiler, headers: Mapping[str, str]) -> str:
    return _digest(unit.name, unit.text, included(unit.text, headers), compiler.identity)


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
