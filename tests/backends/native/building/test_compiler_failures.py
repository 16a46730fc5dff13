"""A compiler that fails, crashes or hangs: its message, the kept file, the line's statement."""

from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.backends.native.building.pretending import FakeCompiler, cached_files, gone
from tests.backends.native.building.small_units import EXPORT, HEADERS, RUNTIME, UNITS
from workbench.backends.compiling import cache
from workbench.backends.native.building.build import build
from workbench.backends.native.building.c_units import Unit
from workbench.backends.native.building.compilers import Compiler
from workbench.backends.native.compiled_program import CompiledProgram
from workbench.codegen.kernels import program_kernels
from workbench.codegen.printing.statement_marks import mark
from workbench.errors import CompilerError

pytestmark = pytest.mark.nothing_compiled

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


def test_error_in_a_macro_is_of_the_line_that_uses_it(compiler: Compiler) -> None:
    text = f"""#include "macro.h"
int first(void) {{
    {mark("reward")}
    return 1;
}}
int second(void) {{
    {mark("loss")}
    return USED(1);
}}
"""
    error = failure(compiler, [Unit("unit", text)], {"macro.h": "#define USED(x) (x + missing)\n"})
    assert error.statement == "loss"


def test_warning_before_an_error_elsewhere_is_not_its_line(fake: FakeCompiler) -> None:
    text = """
    echo "broken.c:4:5: warning: unused"
    echo "wrong.h:2:1: error: no good"
    exit 1
    """
    assert failure(fake(text), [BROKEN]).statement is None


def test_unit_whose_compiler_names_no_line_has_its_statements_named(fake: FakeCompiler) -> None:
    error = failure(fake("sleep 60"), [BROKEN], timeout=0.2)
    said = "was stopped after 0.2 s at broken.c, which has the code of state, policy.loss, k.points"
    assert error.message.startswith(f"gcc 12.0.0 {said}\n")
    assert error.statement is None
    many = "\n".join(mark(f"x{n}") for n in range(9))
    said = failure(fake("kill -SEGV $$"), [Unit("many", many)]).message
    assert "crashed (SIGSEGV) at many.c, which has the code of x0, x1, x2 and 6 more\n" in said


@wb.program
def doubled(B: int = 4) -> dict[str, Any]:
    b = wb.dim(b=B)
    x = wb.normal(over=b)
    y = wb.tanh(x)
    return {"y": y}


AT_Y = """
line=$(grep -n 'statement: y ' "$source" | cut -d: -f1)
[ -n "$line" ] && { echo "$source:$((line + 1)):5: error: no good"; exit 1; }
: > "$out"
"""


def test_error_points_at_the_users_line_of_the_statement(fake: FakeCompiler) -> None:
    program = doubled()
    kernels = program_kernels(program)
    compiled = CompiledProgram(program, kernels, fake(f'source="${{out%.o}}.c"\n{AT_Y}'))
    with pytest.raises(CompilerError) as raised:
        compiled.prepare()
    error = raised.value
    assert error.statement == "y"
    assert error.line is not None
    assert error.line.text.strip() == "y = wb.tanh(x)"
    head, *_, kept, at = str(error).splitlines()
    assert head.endswith(", in the code of y")
    assert kept == f"kept in {error.source}"
    assert at == f"  at: {error.line}"
