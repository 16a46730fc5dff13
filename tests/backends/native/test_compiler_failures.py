"""A compiler that fails, crashes or hangs: its message, the kept file, the line's statement."""

from pathlib import Path

import pytest

from tests.backends.native.pretending import FakeCompiler, cached_files, gone
from tests.backends.native.small_units import EXPORT, HEADERS, RUNTIME, UNITS
from workbench.backends.native import cache
from workbench.backends.native.build import build
from workbench.backends.native.c_units import Unit, mark
from workbench.backends.native.compilers import Compiler
from workbench.errors import CompilerError

TEXT = f"""#include "runtime.h"
{mark("state")}
#warning "this is none"
int state;
{mark("policy.loss")}
int loss(void) {{
    return missing;
}}
{mark("k.points")}
int points;
"""
BROKEN = Unit("broken", TEXT)


def failure(
    compiler: Compiler, units: list[Unit], headers: dict[str, str] = HEADERS, timeout: float = 20
) -> CompilerError:
    with pytest.raises(CompilerError) as raised:
        build(units, compiler, headers, timeout)
    return raised.value


def test_failure_has_the_message_the_statement_and_the_file(compiler: Compiler, work: Path) -> None:
    error = failure(compiler, [RUNTIME, BROKEN])
    head, *lines, end = error.message.splitlines()
    assert head == f"{compiler} failed at broken.c, in the code of policy.loss"
    assert lines[0].startswith("  broken.c:7:12: error: ")
    assert "missing" in lines[0]
    assert "this is none" in error.output
    assert error.statement == "policy.loss"
    assert error.source is not None
    assert end == f"kept in {error.source}"
    assert error.source.read_text(encoding="utf-8") == TEXT
    assert (error.source.parent / "runtime.h").read_text() == HEADERS["runtime.h"]
    assert error.source.is_relative_to(cache.folder())
    assert not any(name.startswith("libraries") for name in cached_files())
    assert list(work.iterdir()) == []


def test_failure_again_is_kept_in_the_same_file(compiler: Compiler) -> None:
    assert failure(compiler, [BROKEN]).source == failure(compiler, [BROKEN]).source


def test_error_in_a_header_is_of_the_line_that_includes_it(compiler: Compiler) -> None:
    unit = Unit("unit", f'int x;\n{mark("reward")}\n#include "wrong.h"\n')
    error = failure(compiler, [unit], {"wrong.h": "\n#error no good\n"})
    assert error.statement == "reward"
    assert "wrong.h:2" in error.message


def test_function_that_is_nowhere_is_a_failure_of_the_linker(compiler: Compiler) -> None:
    unit = Unit("unit", f"int nowhere(void); {EXPORT} int f(void) {{ return nowhere(); }}")
    error = failure(compiler, [unit])
    assert error.message.startswith(f"{compiler} failed at linking unit.c\n")
    assert "nowhere" in error.message
    assert error.source is not None
    assert (error.source / "unit.c").read_text() == unit.text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("echo x; echo 'kernel.c:1:2: error: so'; exit 1", "failed at kernel.c\n  kernel.c:1:2: e"),
        ("exit 1", "failed at kernel.c\nkept in "),
        ("kill -SEGV $$", "crashed (SIGSEGV) at kernel.c\nkept in "),
        ("kill -KILL $$", "crashed (SIGKILL) at kernel.c\n"),
        ("echo nonsense", "reported no error and wrote no file at kernel.c\n  nonsense\nkept in "),
        ("sleep 60", "was stopped after 0.2 s at kernel.c\nkept in "),
        (
            "seq 20; exit 1",
            "failed at kernel.c\n  1\n  2\n  3\n  4\n  5\n  6\n  7\n  8\n  … (12",
        ),
        (r"printf 'a\377b\n'; exit 1", "failed at kernel.c\n  a�b\n"),
    ],
)
def test_compiler_that_does_not_compile_is_said(fake: FakeCompiler, text: str, said: str) -> None:
    error = failure(fake(text), [Unit("kernel", "")], {}, 0.2 if "sleep" in text else 20)
    assert error.message.startswith(f"gcc 12.0.0 {said}")
    assert error.source is not None
    assert error.source.exists()


def test_compiler_that_hangs_is_ended_with_what_it_started(
    fake: FakeCompiler, tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    failure(fake(f"sleep 60 & echo $$ $! > {pids}; wait"), [RUNTIME], timeout=0.3)
    assert all(gone(int(pid)) for pid in pids.read_text().split())


def test_first_failure_stops_the_others(fake: FakeCompiler, tmp_path: Path) -> None:
    compiler = fake('[ "$out" = kernel.o ] && { sleep 0.05; exit 1; }; sleep 60')
    assert "failed at kernel.c" in failure(compiler, UNITS, timeout=20).message


def test_compiler_that_was_removed_is_said(fake: FakeCompiler, tmp_path: Path) -> None:
    compiler = fake("")
    Path(compiler.command[0]).unlink()
    said = "failed at runtime.c\n  it cannot be started: No such file or directory"
    assert said in failure(compiler, [RUNTIME]).message


def test_crash_that_the_compiler_reports_is_of_the_line_that_it_names(fake: FakeCompiler) -> None:
    text = """
    echo "broken.c: In function 'points':"
    echo "broken.c:10:5: internal compiler error: Segmentation fault"
    echo "0x6c9fd9 crash_signal"
    exit 4
    """
    error = failure(fake(text), [BROKEN])
    assert error.statement == "k.points"
    assert "\n  broken.c:10:5: internal compiler error: Segmentation fault\n" in error.message
