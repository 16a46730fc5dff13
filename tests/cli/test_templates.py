"""A user's own file as the program of a command."""

from pathlib import Path

import pytest

from tests.cli.calling import USERS_FILE, Call


def test_run_takes_a_user_s_file(workbench: Call, users_file: Path) -> None:
    words = ["--T", "3", "--drift", "1.5", "--backend", "numpy", "--no-progress"]
    done = workbench("run", f"{users_file}:walk", *words)
    assert done.code == 0
    assert "walk on numpy: B=2, T=3" in done.out


def test_only_template_of_a_file_needs_no_name(workbench: Call, users_file: Path) -> None:
    assert workbench("show", users_file).out.startswith("walk(B=2, T=4)")


def test_arguments_have_the_types_of_their_defaults(workbench: Call, users_file: Path) -> None:
    words = ["--no-up", "--steps", "5,6,7", "--drift", "2", "--name", "3", "--start", "1.5"]
    shown = workbench("show", users_file, *words).out
    assert "-2.0 *" in shown
    assert "3.0" in shown
    assert "1.5" in shown


@pytest.mark.parametrize(
    ("source", "words", "sentence"),
    [
        (None, ":walk", "there is no file"),
        ("x = (", ":walk", "line 1: "),
        ("import workbench\n1 / 0", ":walk", "line 2: ZeroDivisionError: division by zero"),
        ("import workbench", "", "defines no template (a function under @wb.program)"),
        (USERS_FILE, ":wlk", "has no template 'wlk': did you mean walk?"),
        (USERS_FILE + USERS_FILE.replace("walk", "go"), "", "defines walk, go: say which"),
        (USERS_FILE.replace("drift=", "seed="), ":walk", "an argument seed, which"),
        (USERS_FILE.replace("x[b, 0] =", "y ="), ":walk", "x"),
        (USERS_FILE.replace("float(start or 0.0)", "1 / 0"), ":walk", "line 10: ZeroDivisionError"),
    ],
)
def test_file_refused_with_its_line(
    workbench: Call, tmp_path: Path, source: str | None, words: str, sentence: str
) -> None:
    path = tmp_path / "wrong.py"
    if source is not None:
        path.write_text(source, encoding="utf-8")
    done = workbench("run", f"{path}{words}")
    assert done.code == 2
    assert sentence in done.err
    assert "Traceback" not in done.err
