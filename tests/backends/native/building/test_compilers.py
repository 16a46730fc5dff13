"""Finding a C compiler: which one, what it is, and why there is none."""

import json
import platform
import re
import shlex
import subprocess
import sys
from ctypes import c_float
from pathlib import Path

import pytest

from tests.backends.native.building.pretending import ANSWERS, FakeCompiler, cached_files, script
from tests.backends.native.building.small_units import EXPORT, HEADERS, UNITS, call
from workbench.backends.compiling import cache
from workbench.backends.native.building import compilers
from workbench.backends.native.building.build import build
from workbench.backends.native.building.c_units import Unit
from workbench.backends.native.building.compilers import Compiler, find
from workbench.backends.native.building.load import load
from workbench.errors import UnavailableError, installing

ZIG = """
import json, os, sys
if sys.argv[1] == "version":
    print("0.99")
elif "-dM" in sys.argv:
    print("#define __STDC__ 1\\n#define __clang__ 1\\n#define __clang_major__ 22")
else:
    print("clang version 22")
with open({log!r}, "a") as log:
    print(json.dumps([sys.argv[1:], dict(os.environ)]), file=log)
"""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder in PATH, empty; ziglang is not installed."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(compilers.importlib.util, "find_spec", lambda name: None)
    return folder


def reason() -> str:
    with pytest.raises(UnavailableError) as raised:
        find()
    return raised.value.message


def test_compiler_of_this_machine_has_the_version_that_it_says(compiler: Compiler) -> None:
    question = {
        "gcc": [*compiler.command, "-dumpfullversion"],
        "clang": [*compiler.command, "-dumpversion"],
        "zig": [*compiler.command[:-1], "version"],
    }[compiler.name]
    said = subprocess.run(question, capture_output=True, text=True, check=True).stdout.strip()
    assert compiler.version == said
    assert str(compiler) == f"{compiler.name} {said}"
    assert Path(compiler.command[0]).is_file()


def test_identity_is_of_flags_and_processor(compiler: Compiler) -> None:
    assert find(level=1) == compiler
    assert find(level=2).identity != compiler.identity
    plain = "x86-64" if platform.machine() in ("x86_64", "AMD64") else "armv8-a"
    old = find(level=1, march=plain)
    assert old.processor == plain
    assert old.identity != compiler.identity


def test_arguments_in_cc_are_part_of_the_command_and_of_the_identity(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", f"{shlex.join(compiler.command)} -DANSWER=42 '-DTEXT=\"a b\"'")
    with_arguments = find(level=1)
    assert with_arguments.command == (*compiler.command, "-DANSWER=42", '-DTEXT="a b"')
    assert with_arguments.identity != compiler.identity
    unit = Unit("answer", f"{EXPORT} int answer(void) {{ return ANSWER + sizeof TEXT; }}")
    assert load([unit], with_arguments)[1].answer() == 42 + 4


@pytest.mark.parametrize("names", ["cc gcc clang", "gcc clang", "clang"])
def test_first_on_the_path_of_cc_gcc_and_clang_is_taken(programs: Path, names: str) -> None:
    for name in names.split():
        script(programs / name, ANSWERS)
    assert find().command == (str(programs / names.split()[0]),)


def test_next_is_taken_where_the_first_does_not_work(programs: Path) -> None:
    script(programs / "cc", "#!/bin/sh\nexit 1\n")
    script(programs / "gcc", ANSWERS)
    assert find().command == (str(programs / "gcc"),)


def test_compiler_is_asked_once(tmp_path: Path, fake: FakeCompiler) -> None:
    asked = tmp_path / "asked"
    text = ANSWERS.replace("case", f'echo "$@" >> {asked}\ncase', 1)
    script(tmp_path / "counting", text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CC", str(tmp_path / "counting"))
        assert find() is find()
    assert len(asked.read_text().splitlines()) == 2


def test_nothing_is_a_compiler_where_there_is_none(programs: Path) -> None:
    expected = "no C compiler: cc, gcc, clang and ziglang are not installed: "
    assert reason() == expected + installing("ziglang")


def test_named_compiler_that_is_missing_is_said_and_no_other_taken(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    for named, which in (("no-such-cc", ""), ("ccache-5 gcc", ": ccache-5"), ("'no-cc -O3", "")):
        monkeypatch.setenv("CC", named)
        assert reason() == (
            f"no C compiler: CC={named} names a program that is not there{which}; correct CC, or "
            f"unset it and {installing('ziglang')}"
        )


def test_named_folder_and_file_that_may_not_run_are_said(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", str(programs))
    assert f"CC={programs} names a folder, not a program; correct CC" in reason()
    plain = programs / "plain"
    plain.touch(0o644)
    monkeypatch.setenv("CC", f"{plain} -O2")
    assert f"CC={plain} -O2 names a file that may not be run: {plain}; correct CC" in reason()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "echo hello; echo boom >&2; exit 3",
            "failed when asked for its macros with -march=native (hello)",
        ),
        ("exit 3", "failed when asked for its macros with -march=native (exit 3)"),
        (
            "echo warning; echo 'an error: no'; exit 1",
            "failed when asked for its macros with -march=native (an error: no)",
        ),
        ("kill -SEGV $$", "crashed (SIGSEGV)"),
        ("sleep 30", "did not answer in 0.1 s"),
        ("echo nonsense", "is neither gcc nor clang"),
        ("echo '#define __STDC__ 1'", "is neither gcc nor clang"),
    ],
)
def test_program_that_is_no_compiler_is_refused(
    programs: Path, text: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compilers, "ANSWER_SECONDS", 0.1 if "sleep" in text else 10.0)
    monkeypatch.setenv("PATH", f"{programs}:/bin:/usr/bin")
    program = script(programs / "named", f"#!/bin/sh\n{text}\n")
    monkeypatch.setenv("CC", str(program))
    assert reason().startswith(f"no C compiler: CC={program} {said}; correct CC, or unset it")


def test_file_that_is_no_program_is_refused(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", str(script(programs / "named", "nothing to run")))
    said = "failed when asked for its macros with -march=native (it cannot be started: Exec format"
    assert said in reason()


def test_processor_that_the_compiler_does_not_know_is_refused(compiler: Compiler) -> None:
    with pytest.raises(
        UnavailableError, match=r"failed when asked for its macros with -march=pdp11 \(.*pdp11"
    ):
        find(march="pdp11")


def test_ziglang_is_taken_where_there_is_no_other(
    tmp_path: Path, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    log, package = tmp_path / "log", tmp_path / "packages" / "ziglang"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(ZIG.format(log=str(log)), encoding="utf-8")
    monkeypatch.syspath_prepend(str(package.parent))
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    monkeypatch.setenv("PATH", str(programs))
    for name in ("CC", "ZIG_GLOBAL_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    found = find(march="x86-64-v3")
    assert str(found) == "zig 0.99"
    assert found.command == (sys.executable, "-m", "ziglang", "cc")
    assert {"-march=x86_64_v3", "-fno-sanitize=undefined"} <= {*found.flags}
    for line in log.read_text().splitlines():
        _, variables = json.loads(line)
        assert variables["ZIG_GLOBAL_CACHE_DIR"] == str(cache.folder() / "zig")
        assert not Path(variables["ZIG_LOCAL_CACHE_DIR"]).exists()


def test_ziglang_compiles_and_leaves_the_home_empty_but_for_the_cache(zig: Compiler) -> None:
    assert re.fullmatch(r"zig \d+\.\d+\.\d+", str(zig))
    assert call(build(UNITS, zig, HEADERS).path, 3.0) == 7.0
    assert [path.name for path in Path.home().iterdir()] == [".cache"]
    assert [path.name for path in (Path.home() / ".cache").iterdir()] == ["workbench"]


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_arithmetic_is_as_written_at_every_level(compiler: Compiler, level: int) -> None:
    """No fused multiply-add, no overflow that cannot be, no NaN that is not there."""
    text = f"""
    {EXPORT} float multiply_add(float a, float b, float c) {{ return a * b + c; }}
    {EXPORT} int grows(int n) {{ return n + 1 > n; }}
    {EXPORT} int is_number(float x) {{ return x == x; }}
    """
    functions = load([Unit("arithmetic", text)], find(level=level))[1]
    functions.multiply_add.restype = c_float
    a, c = 1 + 2.0**-12, -(1 + 2.0**-11)  # a² is 1 + 2⁻¹¹ in float32; exactly it is 2⁻²⁴ more
    assert functions.multiply_add(c_float(a), c_float(a), c_float(c)) == 0.0
    assert functions.grows(2**31 - 1) == 0
    assert functions.is_number(c_float(float("nan"))) == 0


def test_asking_leaves_no_file(compiler: Compiler, work: Path) -> None:
    assert list(work.iterdir()) == []
    assert cached_files() == set()
