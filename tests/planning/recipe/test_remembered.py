"""A plan is found once: what is run again, or measured after it was run, is not searched again, in
this process or in another.
"""

from __future__ import annotations

import errno
import json
import linecache
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.programs import leaky_sum, small_reinforce
from workbench.errors import WorkbenchError
from workbench.planning.machine.calibrated import machine
from workbench.planning.recipe import automatic, plan_files
from workbench.planning.recipe.aim import Aim
from workbench.planning.recipe.plan import Plan
from workbench.planning.recipe.plan_files import PlanFiles
from workbench.processor import CORE_CACHE_VARIABLE
from workbench.program import made_files
from workbench.program.sizes import resolve
from workbench.program.values import Program
from workbench.transforms import Contract, Vectorize

REPOSITORY = Path(__file__).parents[3]


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The objectives of the searches that are made."""
    made: list[str] = []
    judge = automatic.Judge

    def judging(*arguments: object) -> object:
        made.append(str(arguments[1]))
        return judge(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(automatic, "Judge", judging)
    return made


def test_a_program_that_is_run_again_is_not_searched_again(searches: list[str]) -> None:
    program = leaky_sum()
    for _ in range(2):
        wb.run(program, progress=False, backend="numpy")
        wb.optimize(wb.variant(program), backend="numpy")
    assert len(searches) == 1


def test_another_aim_is_another_search(searches: list[str]) -> None:
    program = leaky_sum()
    wb.optimize(program, backend="numpy")
    wb.optimize(program, sizes={"T": 9}, backend="numpy")
    wb.optimize(program, "memory", backend="numpy")
    wb.optimize(program, capacity=10**9, backend="numpy")
    wb.optimize(program, dtype="float64", backend="numpy")
    assert len(searches) == 5


def test_a_machine_measured_meanwhile_is_another_aim(
    searches: list[str], request: pytest.FixtureRequest
) -> None:
    program = leaky_sum()
    wb.optimize(program, backend="numpy")
    request.getfixturevalue("server")
    wb.optimize(program, backend="numpy")
    assert len(searches) == 2


def files() -> list[Path]:
    """The stored plans."""
    return sorted(plan_files.folder().rglob("*.plan"))


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_an_equal_program_takes_the_steps_of_the_file(searches: list[str], backend: str) -> None:
    first = wb.optimize(small_reinforce(), backend=backend)
    again = wb.optimize(small_reinforce(), backend=backend)
    assert len(searches) == len(files()) == 1
    assert again.steps == first.steps
    assert again.explain() == first.explain()
    assert again.key == first.key
    assert [v.notes for v in again.lineage] == [v.notes for v in first.lineage]
    assert again.schedule == first.schedule


def test_sizes_that_no_choice_depends_on_make_no_other_plan(searches: list[str]) -> None:
    for updates in (2, 3):
        wb.optimize(small_reinforce(), sizes={"I": updates}, backend="native")
    assert len(searches) == 1
    asked = json.loads(made_files.unsealed(files()[0].read_bytes()).partition(b"\n")[0])
    assert "I" not in dict(asked)
    wb.optimize(small_reinforce(), sizes={"B": 512}, backend="native")
    assert len(searches) == len(files()) == 2
    wb.optimize(small_reinforce(), sizes={"I": 2, "B": 512}, backend="native")
    assert len(searches) == 2


def test_another_machine_number_of_threads_or_code_is_another_file(
    searches: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wb.optimize(leaky_sum(), backend="native", threads=1)
    wb.optimize(leaky_sum(), backend="native", threads=2)
    monkeypatch.setenv(CORE_CACHE_VARIABLE, "1000")
    wb.optimize(leaky_sum(), backend="native", threads=2)
    monkeypatch.setattr(made_files, "code_key", lambda: "other sources")
    wb.optimize(leaky_sum(), backend="native", threads=2)
    assert len(searches) == len(files()) == 4


def test_what_has_other_memory_already_is_another_file(searches: list[str]) -> None:
    root = wb.variant(leaky_sum()).apply(Vectorize("b"))
    folded = root.apply(Contract())
    for start in (root, folded):
        wb.optimize(start, backend="numpy")
    assert len(searches) == len(files()) == 2


def test_the_code_s_key_changes_with_a_source_and_with_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "planning"
    place.mkdir()
    (place / "a.py").write_text("a = 1", encoding="utf-8")
    key = made_files.code_key.__wrapped__
    monkeypatch.setattr(made_files, "PACKAGE", tmp_path)
    first = key()
    assert key() == first
    (place / "a.pyc").write_bytes(b"no source")
    assert key() == first
    os.utime(place / "a.py", (1, 1))
    later = key()
    (place / "a.py").write_text("a = 12", encoding="utf-8")
    os.utime(place / "a.py", (1, 1))
    assert len({first, later, key()}) == 3


def of_another() -> bytes:
    """What refers to more than a small program has."""
    program = small_reinforce()
    dumped = made_files.dumped(program.statements[-1], program)
    assert dumped is not None
    return dumped


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:-1],
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
        lambda data: made_files.sealed(b"[]\n" + made_files.unsealed(data)[:-9]),
        lambda data: made_files.sealed(b"[]\n" + of_another()),
    ],
)
def test_a_damaged_file_is_removed_and_planned_anew(
    searches: list[str], damage: Callable[[bytes], bytes]
) -> None:
    first = wb.optimize(leaky_sum(), backend="numpy")
    (path,) = files()
    whole = path.read_bytes()
    other = path.with_name("0.plan")
    path.rename(other)
    other.write_bytes(damage(whole))
    assert wb.optimize(leaky_sum(), backend="numpy").steps == first.steps
    assert len(searches) == 2
    assert files() == [path]


def test_what_another_process_removes_meanwhile_is_planned_anew(
    searches: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wb.optimize(leaky_sum(), backend="numpy")
    listed = files()
    monkeypatch.setattr(plan_files.PlanFiles, "_paths", lambda self: listed)
    listed[0].unlink()
    wb.optimize(leaky_sum(), backend="numpy")
    assert len(searches) == 2


@pytest.mark.parametrize("reason", [errno.EROFS, errno.ENOSPC, errno.EACCES])
def test_a_folder_that_cannot_be_written_loses_nothing_but_time(
    searches: list[str], monkeypatch: pytest.MonkeyPatch, reason: int
) -> None:
    def refused(*arguments: object) -> None:
        raise OSError(reason, os.strerror(reason))

    monkeypatch.setattr(os, "replace", refused)
    for _ in range(2):
        wb.optimize(leaky_sum(), backend="numpy")
    assert len(searches) == 2
    assert [path for path in plan_files.folder().rglob("*") if path.is_file()] == []


def test_a_folder_that_can_only_be_read_is_used(
    searches: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wb.optimize(leaky_sum(), backend="numpy")

    def refused(*arguments: object, **named: object) -> None:
        raise PermissionError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "utime", refused)
    wb.optimize(leaky_sum(), backend="numpy")
    assert len(searches) == 1


def test_a_file_in_the_folder_s_place_is_no_error(searches: list[str]) -> None:
    plan_files.folder().parent.mkdir(parents=True, exist_ok=True)
    plan_files.folder().write_text("a file", encoding="utf-8")
    assert wb.optimize(leaky_sum(), backend="numpy").steps
    assert plan_files.held_bytes() == 0
    assert plan_files.why_not_kept() == "Not a directory"


def test_plans_that_were_not_used_for_longest_are_removed(
    searches: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wb.optimize(leaky_sum(), backend="numpy")
    wb.optimize(leaky_sum(), "memory", backend="numpy")
    for path in files():
        os.utime(path, (1, 1))
    wb.optimize(leaky_sum(), backend="numpy")  # used again
    assert len(searches) == 2
    monkeypatch.setattr(plan_files, "LIMIT", plan_files.held_bytes() + 1)
    wb.optimize(leaky_sum(), dtype="float64", backend="numpy")
    assert len(files()) == len([*plan_files.folder().iterdir()]) == 2
    wb.optimize(leaky_sum(), backend="numpy")
    assert len(searches) == 3
    wb.optimize(leaky_sum(), "memory", backend="numpy")
    assert len(searches) == 4


def test_numbers_of_numpy_ask_for_the_same_plan(searches: list[str]) -> None:
    for number in (int, np.int64):
        wb.optimize(
            leaky_sum(),
            capacity=number(10**9),
            sizes={"T": number(9)},
            backend="native",
            threads=number(2),
        )
    assert len(searches) == len(files()) == 1


@pytest.mark.parametrize("threads", [0, -1, 1.5, True])
@pytest.mark.parametrize("backend", ["native", "numpy", "cuda"])
def test_planning_and_predictions_refused_when_threads_are_no_number(
    threads: Any, backend: str
) -> None:
    variant = wb.variant(leaky_sum())
    for ask in (
        lambda: wb.optimize(variant, backend=backend, threads=threads),
        lambda: variant.predict(backend=backend, threads=threads),
        lambda: variant.memory(backend=backend, threads=threads),
    ):
        with pytest.raises(WorkbenchError) as error:
            ask()
        assert str(error.value) == f"threads {threads!r}; expected an integer from 1 on"


def test_what_is_refused_is_not_stored(searches: list[str]) -> None:
    for _ in range(2):
        with pytest.raises(WorkbenchError, match="does not fit into 1 B"):
            wb.optimize(leaky_sum(), capacity=1, backend="numpy")
    assert len(searches) == 2
    assert files() == []


def test_steps_of_a_file_are_those_that_are_taken(searches: list[str]) -> None:
    """Nothing is searched for where there is a file, whatever its steps are."""
    program = leaky_sum()
    other = Plan(program).after(Contract(), "said so")
    aim = Aim("time", None, resolve(program.equations), machine("numpy"), "float32", 1)
    PlanFiles.of(program, aim).keep(other, {})
    assert wb.optimize(leaky_sum(), backend="numpy").explain() == "Contract(): said so"
    assert searches == []


def written(at: int, described: str = "A sum.") -> Program:
    """A program of the user's whose text begins at a line."""
    source = f"""{chr(10) * at}
@wb.program
def total(T: int = 6):
    \"\"\"{described}\"\"\"
    t = wb.dims(t=T)
    x = wb.tanh(wb.normal(over=t))
    return {{"sum": (x * x).sum(over=t)}}
"""
    name = f"<text at {at}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    room: dict[str, Any] = {"wb": wb}
    exec(compile(source, name, "exec"), room)
    made: Program = room["total"]()
    return made


def test_lines_of_a_stored_plan_are_those_that_the_user_has_now(searches: list[str]) -> None:
    lines = []
    for at in (3, 40):
        chosen = wb.optimize(written(at), backend="native")
        lines.append({s.name: s.line for s in chosen.program.statements})
    assert len(searches) == 1
    assert lines[0].keys() == lines[1].keys()
    for name, before in lines[0].items():
        now = lines[1][name]
        assert before is not None and now is not None
        assert (now.number - before.number, now.text) == (40 - 3, before.text)
    assert chosen.lineage[0].program.equations is chosen.root.program.equations


def test_what_a_plan_says_in_the_user_s_words_is_another_file(searches: list[str]) -> None:
    for described in ("A sum.", "Another sum."):
        chosen = wb.optimize(written(3, described), backend="numpy")
        assert chosen.program.description == described
    assert len(searches) == 2


OPTIMIZED = """
import sys
import workbench as wb
from tests.programs import small_ppo
from workbench.planning.recipe import automatic
if sys.argv[1] == "again":
    automatic.Judge = None  # nothing is to be searched for
chosen = wb.optimize(small_ppo(), backend="native")
result = wb.run(small_ppo(), backend="native", progress=False)
print(chosen.key, result.variant.key, repr([x.tolist() for x in result.outputs.values()]))
"""


def test_another_process_takes_plan_and_kernels_from_files() -> None:
    ends = []
    for times, hashed in (("first", "1"), ("again", "2")):
        done = subprocess.run(
            [sys.executable, "-c", OPTIMIZED, times],
            env={**os.environ, "PYTHONHASHSEED": hashed},
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            check=True,
        )
        ends.append(done.stdout)
    assert ends[0] == ends[1]
