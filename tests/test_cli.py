"""The command line: what it prints, its exit codes, and the sentence that each bad input gets."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from workbench.cli import doctor, lab, main, results
from workbench.cli.arguments import reader_of, written

SMALL = ["--B", "3", "--I", "2", "--T", "5", "--hidden", "4", "--no-progress"]

USERS_FILE = '''
import workbench as wb


@wb.program
def walk(B=2, T=4, drift=0.5, name="x", up=True, steps=(1, 2), start=None):
    """A random walk."""
    b, t = wb.dims(b=B, t=T)
    x = wb.recurrent("x", (), over=(b, t))
    x[b, 0] = float(start or 0.0)
    x[b, t + 1] = x + (drift if up else -drift) * wb.uniform(over=(b, t)) + len(steps)
    return {"x": x}
'''


@dataclass(frozen=True)
class Done:
    """What a call left: exit code and both streams."""

    code: int
    out: str
    err: str


Call = Callable[..., Done]


@pytest.fixture
def workbench(capsys: pytest.CaptureFixture[str]) -> Call:
    """The command in this process."""

    def call(*words: str | Path) -> Done:
        code = main([str(word) for word in words])
        out, err = capsys.readouterr()
        return Done(code, out, err)

    return call


@pytest.fixture
def users_file(tmp_path: Path) -> Path:
    """A user's file with one template."""
    path = tmp_path / "mine.py"
    path.write_text(USERS_FILE, encoding="utf-8")
    return path


# -- run -------------------------------------------------------------------------------------------


def test_run_prints_first_last_and_best_of_each_output(workbench: Call) -> None:
    done = workbench("run", "reinforce", *SMALL)
    assert done.code == 0
    assert done.err == ""
    head, _, columns, *rows = done.out.splitlines()
    assert head.startswith("reinforce on numpy: B=3, I=2, T=5, seed 0, float32; Vectorize(")
    assert columns.split() == ["first", "last", "best"]
    assert "episode_return" in [row.split()[0] for row in rows if row]
    assert "steps/s" in rows[-1]
    assert "peak" in rows[-1]


def test_run_shows_progress_unless_told_not_to(workbench: Call) -> None:
    assert "2/2" in workbench("run", "reinforce", *SMALL[:-1]).err
    assert workbench("run", "reinforce", *SMALL).err == ""


@pytest.mark.parametrize(
    ("options", "order"),
    [
        ([], "Vectorize('b'), Vectorize('t'), Contract()"),
        (["--as-written"], "as written"),
        (["--vectorized", "b"], "Vectorize('b')"),
        (["--vectorized"], "Vectorize('b'), Vectorize('t'), Contract()"),
    ],
)
def test_run_in_the_order_asked_for(workbench: Call, options: list[str], order: str) -> None:
    head = workbench("run", "reinforce", *SMALL, *options).out.splitlines()[0]
    assert head.endswith(f"; {order}")


def test_run_writes_csv(workbench: Call, tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    done = workbench("run", "reinforce", *SMALL, "--output", path)
    assert f"written to {path}" in done.out
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["i"] for row in rows] == ["0", "1"]
    assert all(1 <= float(row["episode_return"]) <= 5 for row in rows)


def test_run_writes_json_with_all_that_repeats_it(workbench: Call, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    workbench("run", "reinforce", *SMALL, "--seed", "7", "--dtype", "float64", "--output", path)
    record = json.loads(path.read_text(encoding="utf-8"))
    assert record["sizes"] == {"B": 3, "I": 2, "T": 5}
    assert (record["seed"], record["dtype"], record["completed"]) == (7, "float64", 2)
    assert record["outputs"]["loss"]["dims"] == ["i"]
    assert len(record["outputs"]["loss"]["values"]) == 2


def test_nan_is_null_in_json() -> None:
    assert results._plain([1.0, [float("nan"), float("inf")]]) == [1.0, [None, None]]


def test_same_seed_gives_the_same_outputs(workbench: Call, tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.csv", "b.csv", "c.csv")]
    for path, seed in zip(paths, ("1", "1", "2"), strict=True):
        workbench("run", "reinforce", *SMALL, "--seed", seed, "--output", path)
    first, second, other = (path.read_text(encoding="utf-8") for path in paths)
    assert first == second != other


def test_run_names_the_first_value_that_is_not_finite(workbench: Call) -> None:
    done = workbench("run", "reinforce", *SMALL, "--learning_rate", "nan", "--check-finite")
    assert done.code == 1
    assert "not finite" in done.err
    assert "i=0" in done.err


@pytest.mark.parametrize("environment", ["CartPole", "Pendulum"])
def test_run_goes_on_from_what_was_saved(workbench: Call, tmp_path: Path, environment: str) -> None:
    words = ["run", "ppo", "--environment", environment, *SMALL[:2], "--T", "4", "--E", "1"]
    words += ["--M", "2", "--hidden", "4", "--no-progress"]
    path, table = tmp_path / "parameters.safetensors", tmp_path / "results.csv"
    done = workbench(*words, "--I", "2", "--seed", "5", "--save", path)
    assert done.code == 0, done.err
    assert f"parameters written to {path}" in done.out
    done = workbench(*words, "--I", "3", "--resume", path, "--output", table, "--save", path)
    head = done.out.splitlines()[0]
    assert "I=3" in head
    assert "seed 5" in head
    assert head.endswith("; after 2 updates")
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["i"] for row in rows] == ["2", "3", "4"]
    assert "; after 5 updates" in workbench(*words, "--I", "1", "--resume", path).out


# -- a user's file ---------------------------------------------------------------------------------


def test_run_takes_a_user_s_file(workbench: Call, users_file: Path) -> None:
    done = workbench("run", f"{users_file}:walk", "--T", "3", "--drift", "1.5", "--no-progress")
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


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("frobnicate", "unknown command 'frobnicate': (commands: run, show, list, doctor, lab)"),
        ("rum", "unknown command 'rum': did you mean run?"),
        ("--frob", "workbench has no option --frob"),
        ("run", "workbench run expects the algorithm first, found nothing"),
        ("run --B 5", "workbench run expects the algorithm first, found --B"),
        ("run reinforse", "unknown algorithm 'reinforse': did you mean reinforce?"),
        ("run reinforce --Q 5", "workbench run reinforce has no option --Q"),
        ("run reinforce --gama 0.9", "has no option --gama: did you mean --gamma?"),
        ("run reinforce --B 0", "--B: a size must be at least 1, found 0"),
        ("run reinforce --B -3", "--B: a size must be at least 1, found -3"),
        ("run reinforce --B many", "--B: expected a whole number, found 'many'"),
        ("run reinforce --B 2.5", "--B: expected a whole number, found '2.5'"),
        ("run reinforce --B", "--B: expected one argument"),
        ("run reinforce --gamma high", "--gamma: expected a number, found 'high'"),
        ("run reinforce --hidden 8,x", "--hidden: expected a whole number, found 'x'"),
        ("run reinforce --seed -1", "--seed: expected a whole number from 0 on, found '-1'"),
        ("run reinforce --dtype float16", "--dtype: invalid choice: 'float16'"),
        ("run reinforce --backend nunpy", "--backend: invalid choice: 'nunpy'"),
        ("run reinforce --as-written --vectorized b", "not allowed with"),
        ("run reinforce --vectorized z", "unknown dim z"),
        ("run reinforce --output results.txt", "expected a name that ends in .csv or .json"),
        ("run reinforce --output no/such/folder/x.csv", "there is no folder"),
        ("run reinforce --save no/such/folder/x.safetensors", "there is no folder"),
        ("run reinforce --resume no-such-file", "there is no file no-such-file"),
        ("run reinforce --resume README.md", "README.md is not a whole safetensors file"),
        ("run reinforce 5", "workbench run reinforce does not know what to do with '5'"),
        ("show reinforce --sauce", "has no option --sauce: did you mean --source?"),
        ("list everything", "workbench list does not know what to do with 'everything'"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    workbench: Call, words: str, sentence: str
) -> None:
    done = workbench(*words.split())
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("workbench: ")
    assert len(done.err.splitlines()) == 1
    assert sentence in done.err


def test_backend_that_is_not_there_says_why(workbench: Call) -> None:
    done = workbench("run", "reinforce", *SMALL, "--backend", "native")
    assert done.code == 1
    assert "native" in done.err
    assert "not part of this version" in done.err


def test_interruption_before_the_run_is_no_traceback(
    workbench: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("workbench.cli.run.traced", interrupted)
    done = workbench("run", "reinforce")
    assert done.code == 130
    assert done.err == "workbench: interrupted before anything was done\n"


# -- help, show, list, doctor, lab -----------------------------------------------------------------


def test_help_lists_an_algorithm_s_arguments_with_defaults(workbench: Call) -> None:
    done = workbench("run", "reinforce", "--help")
    assert done.code == 0
    for option, default in [("--B", "64"), ("--gamma", "0.99"), ("--hidden", "64,64")]:
        (line,) = [x for x in done.out.splitlines() if x.strip().startswith(f"{option} ")]
        assert line.endswith(f"default {default}")
    assert "--learning-rate" in done.out


@pytest.mark.parametrize("words", ["--help", "run --help", "show -h", "lab --help", "list -h"])
def test_help_is_printed(workbench: Call, words: str) -> None:
    done = workbench(*words.split())
    assert done.code == 0
    assert done.out.startswith("usage: workbench")


def test_no_command_prints_help_and_fails(workbench: Call) -> None:
    done = workbench()
    assert done.code == 2
    assert "doctor" in done.out


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ("", "state[b, i, t + 1]"),
        ("--equations", "state[b, i, t + 1]"),
        ("--schedule", "    for b:"),
        ("--schedule --vectorized b", "    axis b:"),
        ("--loops", "for t in 0:T:"),
        ("--source", "def program("),
        ("--recipe --vectorized", "variant = variant.apply(wb.transforms.Vectorize('b'))"),
        ("--schedule --recipe", "# schedule\n"),
    ],
)
def test_show_prints_what_is_asked_for(workbench: Call, options: str, text: str) -> None:
    done = workbench("show", "reinforce", *options.split())
    assert done.code == 0
    assert text in done.out


def test_list_names_everything(workbench: Call) -> None:
    out = workbench("list").out
    for text in ("reinforce: REINFORCE", "--hidden 64,64", "CartPole: ", "Vectorize: ", "numpy: "):
        assert text in out
    assert "  Pendulum: " in out
    assert "ENVIRONMENTS" not in out


def test_doctor_is_content_here(workbench: Call) -> None:
    done = workbench("doctor")
    assert done.code == 0
    lines = done.out.splitlines()
    assert {line.split()[0] for line in lines} <= {"ok", "missing"}
    assert any(line.startswith("ok") and "numpy backend" in line for line in lines)


def test_doctor_fails_when_something_required_is_missing(
    workbench: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "REQUIRED", ("numpy", "no-such-package"))
    monkeypatch.setattr(doctor.shutil, "which", lambda name: None)
    done = workbench("doctor")
    assert done.code == 1
    assert "MISSING  no-such-package" in done.out
    assert "pip install no-such-package" in done.out
    assert "install Graphviz" in done.out


def test_lab_opens_the_notebooks(
    workbench: Call, monkeypatch: pytest.MonkeyPatch, repository: Path
) -> None:
    calls: list[list[str]] = []
    monkeypatch.setattr(lab.os, "execv", lambda path, words: calls.append(words))
    workbench("lab", "--no-browser")
    assert calls[0][:3] == [sys.executable, "-m", "jupyterlab"]
    assert f"--notebook-dir={repository / 'notebooks'}" in calls[0]
    assert calls[0][-1] == "--no-browser"


def test_lab_without_jupyterlab_says_what_to_install(
    workbench: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab.importlib.util, "find_spec", lambda name: None)
    done = workbench("lab")
    assert done.code == 1
    assert "pip install jupyterlab" in done.err


@pytest.mark.parametrize(
    ("default", "text", "value"),
    [
        (1, "7", 7),
        (0.5, "1e-3", 1e-3),
        ("a", "b", "b"),
        ((1, 2), "3", (3,)),
        ((1, 2), "(3, 4)", (3, 4)),
        ([0.5], "1,2", [1.0, 2.0]),
        ((True,), "true,false", (True, False)),
        ((), "1,x", (1, "x")),
        (None, "[1, 2]", [1, 2]),
        (None, "word", "word"),
    ],
)
def test_value_is_read_like_its_default(default: object, text: str, value: object) -> None:
    assert reader_of("name", default)[0](text) == value


def test_default_is_written_as_one_types_it() -> None:
    assert [written(x) for x in ((64, 64), 0.99, (), "x")] == ["64,64", "0.99", '""', "x"]


# -- a process of its own --------------------------------------------------------------------------


def command(repository: Path, *words: str) -> subprocess.Popen[str]:
    """The command as a process that listens to SIGINT, whatever this one does."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(
            [sys.executable, "-u", "-m", "workbench.cli", *words],
            cwd=repository,
            env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(os.name != "posix", reason="signals to one process are POSIX's")
def test_ctrl_c_keeps_what_was_done(repository: Path, tmp_path: Path) -> None:
    path = tmp_path / "part.json"
    words = ["--B", "4", "--T", "20", "--I", "1000000", "--hidden", "8", "--output", str(path)]
    process = command(repository, "run", "reinforce", *words)
    assert process.stderr is not None
    shown, deadline = "", time.monotonic() + 60
    while "return=" not in shown:  # the bar has drawn an update that is done
        assert time.monotonic() < deadline, shown
        shown += process.stderr.read(1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    record = json.loads(path.read_text(encoding="utf-8"))
    completed = record["completed"]
    assert 0 < completed < 1_000_000
    assert f"interrupted after {completed} of 1000000 updates" in err
    assert len(record["outputs"]["episode_return"]["values"]) == completed
    assert "episode_return" in out


@pytest.mark.skipif(os.name != "posix", reason="a reader that leaves is POSIX's")
def test_reader_that_leaves_is_no_traceback(repository: Path) -> None:
    process = command(repository, "show", "reinforce", "--source")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    err = process.stderr.read()
    assert process.wait(timeout=60) == 0
    assert "Traceback" not in err
    process.stderr.close()
