"""Units become a library: side by side, what is known only once, by two processes at a time."""

import math
import os
import re
import resource
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.backends.native.building.pretending import FakeCompiler, cached_files, gone
from tests.backends.native.building.small_units import EXPORT, HEADERS, KERNEL, RUNTIME, UNITS, call
from workbench.backends.native.building import build as building
from workbench.backends.native.building.build import build, build_ahead
from workbench.backends.native.building.c_units import Unit
from workbench.backends.native.building.compilers import Compiler, find
from workbench.errors import CompilerError

pytestmark = pytest.mark.nothing_compiled

BUILDING = """
import sys
from tests.backends.native.building.small_units import HEADERS, UNITS, call
from workbench.backends.native.building.build import build, build_ahead
from workbench.backends.native.building.compilers import find
print("ready", flush=True)
sys.stdin.readline()
print(call(build(UNITS, find(level=1), HEADERS).path, 3.0))
"""


def started(repository: Path, work: Path, text: str) -> "subprocess.Popen[str]":
    """Another Python, which has said that it is ready."""
    process = subprocess.Popen(
        [sys.executable, "-c", text],
        env=os.environ | {"PYTHONPATH": str(repository), "TMPDIR": str(work)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def tell(process: "subprocess.Popen[str]") -> None:
    """Let it go on."""
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def test_units_and_headers_become_a_library(compiler: Compiler, work: Path) -> None:
    library = build(UNITS, compiler, HEADERS)
    assert call(library.path, 3.0) == 7.0
    assert (library.compiled, library.cached, library.note) == (("runtime", "kernel"), False, "")
    assert library.bytes == library.path.stat().st_size
    assert list(work.iterdir()) == []
    kinds = sorted(re.sub(r"[0-9a-f]{64}", "KEY", name) for name in cached_files())
    assert kinds == [f"libraries/KEY{building.SUFFIX}", "objects/KEY.o", "objects/KEY.o"]


def test_library_uses_libm_and_lists_every_symbol_it_lacks(compiler: Compiler) -> None:
    text = f"#include <math.h>\n{EXPORT} double call(double x) {{ return sin(x); }}"
    assert call(build([Unit("sine", text)], compiler).path, 1.0) == pytest.approx(math.sin(1.0))
    with pytest.raises(CompilerError, match=r"failed at linking kernel\.c(?s:.*)twice"):
        build([KERNEL], compiler, HEADERS)


def test_known_library_starts_no_process(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = build(UNITS, compiler, HEADERS)
    os.utime(first.path, (0, 0))
    monkeypatch.setattr(building, "run_side_by_side", None)
    again = build(UNITS, compiler, HEADERS)
    assert again.cached
    assert (again.key, again.path, again.bytes) == (first.key, first.path, first.bytes)
    assert (again.compiled, again.cpu_seconds) == ((), 0.0)
    assert time.time() - again.path.stat().st_mtime < 60  # used just now


def test_only_the_unit_that_changed_is_compiled(compiler: Compiler) -> None:
    build(UNITS, compiler, HEADERS)
    other = replace(KERNEL, text=KERNEL.text.replace("1.0", "5.0"))
    library = build([RUNTIME, other], compiler, HEADERS)
    assert library.compiled == ("kernel",)
    assert call(library.path, 3.0) == 11.0
    assert build([RUNTIME, KERNEL], compiler, HEADERS).cached


def test_unit_depends_on_the_headers_that_it_includes_and_on_no_other(compiler: Compiler) -> None:
    build(UNITS, compiler, HEADERS)
    assert build(UNITS, compiler, HEADERS | {"unused.h": "changed"}).cached
    text = HEADERS["runtime.h"].replace("2.0", "4.0")
    library = build(UNITS, compiler, HEADERS | {"runtime.h": text})
    assert library.compiled == ("runtime", "kernel")
    assert call(library.path, 3.0) == 13.0


def test_key_is_of_compiler_flags_and_processor(compiler: Compiler) -> None:
    key = build(UNITS, compiler, HEADERS).key
    assert build(UNITS, replace(compiler, identity="another"), HEADERS).key != key
    assert build(UNITS, find(level=0), HEADERS).key != key


def test_two_units_of_one_name_are_refused(compiler: Compiler) -> None:
    with pytest.raises(ValueError, match="two units have one name: kernel, kernel"):
        build([KERNEL, KERNEL], compiler)


def test_units_are_compiled_side_by_side(
    fake: FakeCompiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each waits until the other has begun."""
    monkeypatch.setattr(building, "usable_cores", lambda: 2)
    both = "while ! [ -e begun-runtime.o ] || ! [ -e begun-kernel.o ]; do :; done"
    compiler = fake(f'touch "begun-$out"; [ "${{out%.o}}" = "$out" ] || {both}; touch "$out"')
    assert build(UNITS, compiler, HEADERS, timeout=20).compiled == ("runtime", "kernel")


def test_unit_that_is_compiled_ahead_is_waited_for_behind_all_others_and_compiled_once(
    fake: FakeCompiler, tmp_path: Path
) -> None:
    log, go = tmp_path / "log", tmp_path / "go"
    log.touch()
    wait = f'[ "$out" != runtime.o ] || while ! [ -e {go} ]; do sleep 0.01; done'
    compiler = fake(f'{wait}; echo "$out" >> {log}; touch "$out"')
    for _ in range(2):  # once under way it is not begun again
        build_ahead(RUNTIME, compiler, HEADERS)
    with ThreadPoolExecutor(1) as other:
        library = other.submit(build, UNITS, compiler, HEADERS)
        end = time.monotonic() + 20
        while log.read_text().split() != ["kernel.o"] and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.1)
        assert not library.done()
        go.touch()
        assert library.result(20).compiled == ("runtime", "kernel")
    assert log.read_text().split() == ["kernel.o", "runtime.o", f"library{building.SUFFIX}"]
    build_ahead(RUNTIME, compiler, HEADERS)  # known: nothing is begun
    assert building._ahead == {}


def test_time_of_a_unit_that_is_compiled_ahead_counts(compiler: Compiler) -> None:
    build_ahead(RUNTIME, compiler, HEADERS)
    ahead = building._ahead[f"{building._object_key(RUNTIME, compiler, HEADERS)}.o"].result()
    library = build(UNITS, compiler, HEADERS)
    assert 0 < ahead < library.cpu_seconds
    assert call(library.path, 3.0) == 7.0


def test_unit_that_fails_ahead_fails_where_its_library_is_built(
    fake: FakeCompiler, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    compiler = fake(f'echo "$out" >> {log}; [ "$out" != runtime.o ]')
    build_ahead(RUNTIME, compiler, HEADERS)
    with pytest.raises(CompilerError, match=r"failed at runtime\.c"):
        build([RUNTIME], compiler, HEADERS)
    assert log.read_text().split() == ["runtime.o"]
    with pytest.raises(CompilerError, match=r"failed at runtime\.c"):  # and is tried again
        build([RUNTIME], compiler, HEADERS)
    assert log.read_text().split() == ["runtime.o", "runtime.o"]


def test_no_more_units_than_cores_are_compiled_at_once(
    fake: FakeCompiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "usable_cores", lambda: 1)
    compiler = fake('mkdir alone || exit 9; sleep 0.02; rmdir alone; touch "$out"')
    units = [Unit(f"unit{n}", "") for n in range(5)]
    assert len(build(units, compiler).compiled) == 5


def test_cpu_seconds_are_those_of_all_compilers(compiler: Compiler) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    library = build(UNITS, compiler, HEADERS)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert library.cpu_seconds == pytest.approx(spent, abs=0.001)
    assert library.cpu_seconds > 0
    assert library.seconds > 0


def test_two_processes_build_at_once_what_both_can_load(
    compiler: Compiler, repository: Path, work: Path
) -> None:
    processes = [started(repository, work, BUILDING) for _ in range(2)]
    for process in processes:
        tell(process)
    said = [process.communicate() for process in processes]
    assert said == [("7.0\n", ""), ("7.0\n", "")]
    assert len(cached_files()) == 3
    assert build(UNITS, compiler, HEADERS).cached
    assert list(work.iterdir()) == []


def test_interrupt_while_a_compiler_is_started_ends_it(
    fake: FakeCompiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python looks for interrupts between any two of its instructions."""
    begun: list[subprocess.Popen[bytes]] = []

    def start(*args: Any, **kwargs: Any) -> "subprocess.Popen[bytes]":
        begun.append(popen(*args, **kwargs))
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)  # the main thread hears of it
        return begun[-1]

    popen = subprocess.Popen
    compiler = fake("exec sleep 60")
    monkeypatch.setattr(subprocess, "Popen", start)
    with pytest.raises(KeyboardInterrupt):
        build(UNITS, compiler, HEADERS)
    assert begun
    assert all(gone(process.pid) for process in begun)


def test_interrupt_ends_the_compilers_and_leaves_nothing(
    fake: FakeCompiler, repository: Path, work: Path, tmp_path: Path
) -> None:
    log = tmp_path / "pids"
    fake(f'touch "$out"; sleep 60 & echo $$ $! >> {log}.$$; mv {log}.$$ {log}; wait')
    process = started(repository, work, BUILDING)
    tell(process)
    while not log.exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=20)
    assert error.endswith("KeyboardInterrupt\n")
    assert all(gone(int(pid)) for pid in log.read_text().split())
    assert list(work.iterdir()) == []
    assert cached_files() == set()
