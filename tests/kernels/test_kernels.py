"""`make kernels` in small: it agrees where nothing is wrong, and says so where something is."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.homes import KNOWN
from tests.kernels import __main__ as command
from tests.kernels import cases, curves
from tests.kernels.__main__ import QUICK, Done, Task, main
from tests.kernels.builds import Build, marches
from tests.kernels.cases import files
from tests.kernels.curves import ACTION, CURVES, DRAW, THRESHOLDS, compared
from tests.kernels.programs import everything
from tests.native_runs import (
    DTYPES,
    LENGTHS,
    MATRIX,
    THREADS,
    Way,
    check_native,
    differences,
    every_way,
    stretched,
    way_of,
)
from tests.programs import PROGRAMS, leaky_sum
from workbench.algorithms import ALGORITHMS, DISTRIBUTED, FROM_LOGS, OFF_POLICY, TABULAR
from workbench.backends.numpy import NumPyBackend
from workbench.errors import CompilerError
from workbench.folders import CACHE_VARIABLE
from workbench.program.values import Program
from workbench.transforms import Vectorize
from workbench.variants.variant import variant

SMALL = {"B": 5, "I": 1, "T": 3}
NATIVE = Way("float32", None, Build(), 1)


@pytest.fixture(scope="module")
def program() -> Program:
    return QUICK.variant(hidden=(3,)).program


@pytest.fixture(scope="module")
def outputs(program: Program) -> dict[str, Any]:
    return NumPyBackend().compile(program).run(SMALL, 7, "float64").outputs


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver leaves a cache that is named already alone; otherwise it would name one."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))


def test_quick_form_finds_nothing_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept, record = tmp_path / "kept.jsonl", tmp_path / "record.jsonl"
    words = ["--quick", "--workers", "1", "--kept", str(kept), "--record", str(record)]
    assert main(words) == 0
    line = json.loads(record.read_text(encoding="utf-8"))
    assert (line["programs"], line["differing"]) == (1, 0)
    assert line["curves"][0]["compared"] == line["curves"][0]["updates"] == 3
    assert line["curves"][0]["worst"] < 1e-12
    capsys.readouterr()
    assert main(words) == 0  # all of it is known by now
    assert " runs, " not in capsys.readouterr().out


def test_time_that_is_over_leaves_tasks_and_no_record(tmp_path: Path) -> None:
    record = tmp_path / "record.jsonl"
    assert main(["--quick", "--workers", "1", "--seconds", "0", "--record", str(record)]) == 1
    assert not record.exists()


def test_a_part_has_a_line_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of what is kept it has its own tasks alone; the last line of each part is told."""
    kept, record = tmp_path / "kept.jsonl", tmp_path / "record.jsonl"
    command.keep(kept, Done("float64", "curve", 1, 1, ["off"], 0.0))
    words = ["--quick", "--workers", "1", "--kept", str(kept), "--record", str(record)]
    assert main([*words, "--part", "program"]) == 0
    (line,) = map(json.loads, record.read_text(encoding="utf-8").splitlines())
    assert (line["part"], line["programs"], line["curves"]) == ("program", 1, [])
    told = capsys.readouterr().out.splitlines()
    assert f"program: {line['date']} at {line['commit'][:8]}" in told and "curve: never" in told


def test_lines_of_parts_are_a_whole() -> None:
    """Of a part the last line that has it, of a whole run or its own."""
    lines = [{"date": "1"}, {"date": "2", "part": "gpu"}, {"date": "3", "part": "tests"}]
    found = command.last_of_parts([*lines, {"date": "4", "part": "gpu"}])
    dates = {part: line and line["date"] for part, line in found.items()}
    assert dates == dict.fromkeys(command.KINDS, "1") | {"gpu": "4", "tests": "3"}
    assert not any(command.last_of_parts([]).values())


def test_units_that_tests_begin_with_are_not_in_the_cache_that_they_keep_out_of(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    named: dict[str, Path] = {}

    def seen(*_: object) -> Iterator[Done]:
        named.update({name: Path(os.environ[name]) for name in (KNOWN, CACHE_VARIABLE)})
        yield from ()

    monkeypatch.delenv(CACHE_VARIABLE)
    monkeypatch.setenv(KNOWN, "")
    monkeypatch.setattr(cases, "known_units", lambda _: tmp_path)
    monkeypatch.setattr(command, "worked", seen)
    assert main(["--part", "tests"])
    assert not named[KNOWN].is_relative_to(named[CACHE_VARIABLE])


def test_units_that_tests_begin_with_are_those_of_the_run_time() -> None:
    names = [unit.name for unit in cases.known_units([Build()]).iterdir()]
    assert len(names) == len(set(names)) >= len(DTYPES) + 1


def test_a_marked_test_that_fails_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Others of its file are not run."""
    text = (
        "import pytest\n\n\ndef test_other(): raise ValueError\n\n\n"
        "@pytest.mark.kernels\n@pytest.mark.parametrize('n', [1, 2])\n"
        "def test_one(n): assert n {}\n"
    )
    (tmp_path / "test_right.py").write_text(text.format("> 0"))
    (tmp_path / "test_wrong.py").write_text(text.format("> 1"))
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    kernels\n")
    monkeypatch.setattr(cases, "REPOSITORY", tmp_path)
    assert cases.failing_of("test_right.py") == (2, [])
    passed, (said,) = cases.failing_of("test_wrong.py")
    assert passed == 1 and "assert 1 > 1" in said


def test_compiler_that_does_not_end_leaves_its_task_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(task: Task, named: Any, quick: bool) -> Done:
        if task.kind == "program":
            raise CompilerError("zig was stopped after 300 s")
        return Done(task.name, task.kind, 1, 1, [], 0.0)

    monkeypatch.setattr(command, "done", stopped)
    record, kept = tmp_path / "record.jsonl", tmp_path / "kept.jsonl"
    words = ["--quick", "--workers", "1", "--kept", str(kept), "--record", str(record)]
    assert main(words) == 1
    printed = capsys.readouterr().err
    assert f"NOT DONE {QUICK}: zig was stopped" in printed and "1 tasks are not done" in printed
    assert [json.loads(line)["done"]["kind"] for line in kept.read_text().splitlines()] == [
        "gpu",
        "curve",
    ]
    assert not record.exists()


def test_sums_and_products_that_are_fused_elsewhere_are_found(
    program: Program, outputs: dict[str, Any]
) -> None:
    fusing = replace(NATIVE, build=Build(level=2, more=("-ffp-contract=fast",)))
    assert differences(program, outputs, SMALL, 7, [NATIVE, NATIVE]) == []
    assert any(
        "has other bits" in text
        for text in differences(program, outputs, SMALL, 7, [NATIVE, fusing])
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_values_that_are_off_are_found(
    program: Program, outputs: dict[str, Any], dtype: str
) -> None:
    off = {"float64": 1e-7, "float32": 1e-3}[dtype]
    wrong = outputs | {"loss": outputs["loss"] * (1.0 + off)}
    way = replace(NATIVE, dtype=dtype)
    assert differences(program, outputs, SMALL, 7, [way]) == []
    assert "loss" in differences(program, wrong, SMALL, 7, [way])[0]


def test_every_way_of_a_check_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tally = tmp_path / "tally.jsonl"
    chosen = variant(leaky_sum()).apply(Vectorize("b")).program
    outputs = NumPyBackend().compile(chosen).run({}, 3, "float64").outputs
    monkeypatch.setenv(MATRIX, json.dumps({"compilers": [""], "tally": str(tally)}))
    check_native(chosen, outputs, {}, 3, "right")
    with pytest.raises(AssertionError, match="last"):
        check_native(chosen, outputs | {"last": outputs["last"] + 1.0}, {}, 3, "wrong")
    right, wrong = (json.loads(line) for line in tally.read_text(encoding="utf-8").splitlines())
    assert (right["runs"], right["differing"]) == (len(every_way([""], "right")), [])
    # where lanes are longer, NumPy runs anew
    assert len(wrong["differing"]) == len(every_way([""], "wrong")) / len(LENGTHS)


def test_each_case_has_every_third_build_in_all_ways() -> None:
    """The names are those of no test: between them they have all."""
    kinds = [{way.build for way in every_way(["", "zig"], str(n))} for n in range(20)]
    builds = set().union(*kinds)
    assert len(builds) == len(marches()) + 2
    apart = {frozenset(kind) for kind in kinds}
    assert len(apart) == 3 and sum(map(len, apart)) == len(builds)
    for name in ("0", "1"):
        ways = every_way(["", "zig"], name)
        of = {(way.build, way.dtype, way.length) for way in ways}
        assert len(of) == len(ways) == len({w.build for w in ways}) * len(DTYPES) * len(LENGTHS)


def test_only_what_is_in_lanes_alone_is_made_longer() -> None:
    """Parameters go from minibatch to minibatch: i, e and m stay."""
    template, sizes = PROGRAMS["small_ppo"]
    chosen = variant(template())
    for dim in ("b", "i", "e", "m", "k"):
        chosen = chosen.apply(Vectorize(dim))
    assert stretched(chosen.program, sizes[0], 31) == {**sizes[0], "B": 31}


def test_names_choose_among_all_ways() -> None:
    chosen = {way_of(str(number)) for number in range(1000)}
    assert len(chosen) == len(DTYPES) * len(LENGTHS) * len(marches()) * len(THREADS)


def test_every_algorithm_and_every_test_that_checks_is_among_the_tasks() -> None:
    learned = {*ALGORITHMS, *OFF_POLICY, *DISTRIBUTED, *TABULAR, *FROM_LOGS}
    assert {whole.algorithm for whole in everything()} == learned
    assert len(set(map(str, everything()))) == len(everything())
    assert "tests/codegen/cuda/test_kernels_as_fibres.py" in set(cases.marked())
    there = set(files())
    assert {"tests/transforms/order/test_tile.py", "tests/soundness/test_walks.py"} <= there


def test_files_that_took_longest_begin_first_and_new_ones_before_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    slow, fast, new = sorted(files())[:3]
    recorded = tmp_path / "recorded.jsonl"
    recorded.write_text(
        "".join(json.dumps({"seconds": {slow: taken, fast: 9.0}}) + "\n" for taken in (1.0, 10.0))
    )
    monkeypatch.setattr(cases, "RECORDED", recorded)
    order = cases.longest_first()
    assert set(order) == set(files())
    assert order[-2:] == [slow, fast] and new in order[:-2]


# -- curves ----------------------------------------------------------------------------------------


def test_numpy_trains_in_pieces_as_it_does_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curves, "get", lambda _: NumPyBackend())  # compiling takes half a minute
    arguments = {"T": 16, "hidden": (8,), "B": 4}
    variants = curves.training(arguments)
    found, trained = curves.in_pieces(variants, 3, 2, (1,))
    assert found["compared"] == 3
    at_once = NumPyBackend().compile(variants["numpy"].program).run({"I": 3}, 1, "float64")
    for name, values in trained[1].items():
        np.testing.assert_array_equal(values, at_once.outputs[name])


def piece() -> dict[str, Any]:
    """Three updates of two environments and four steps."""
    random = np.random.default_rng(1)
    run = {name: random.normal(size=3) for name in CURVES}
    run[ACTION] = np.zeros((2, 3, 4), np.int32)
    run[DRAW] = np.full((2, 3, 4), 0.25)
    run[THRESHOLDS] = np.stack([np.full((2, 3, 4), 0.75), np.ones((2, 3, 4))], axis=-1)
    return run


def parted(distance: float) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two runs, of which one acts otherwise in update 1 by a draw so far from its threshold."""
    one, other = piece(), piece()
    one[DRAW][1, 1, 2] = 0.75 + distance
    other[ACTION][1, 1, 2] = 1
    for name in CURVES:
        other[name][1:] += 1.0
    return other, one


def test_equal_curves_agree_in_every_update() -> None:
    assert compared(piece(), piece(), "float64") == curves.Compared(3, 0.0)


def test_curve_that_parts_without_another_action_is_wrong() -> None:
    other = piece()
    other["loss"][2] += 1e-6
    found = compared(other, piece(), "float64")
    assert (found.agreeing, found.explained) == (2, "")
    assert "update 2 is off by" in found.wrong
    assert compared(other, piece(), "float32").wrong == ""


def test_compiled_c_that_does_not_learn_what_numpy_does_is_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = {"numpy": 480.0, "native": 100.0, "seed": 0}
    monkeypatch.setattr(curves, "alone", lambda *_: runs)
    monkeypatch.setattr(curves, "training", lambda _: {})
    assert curves.line_of("float32")["wrong"] == ["compiled C learns 100.0, NumPy 480.0"]
    runs["native"] = 460.0
    assert curves.line_of("float32")["wrong"] == []


def test_action_is_another_one_where_its_draw_lay_at_its_threshold() -> None:
    found = compared(*parted(1e-12), "float64")
    assert (found.agreeing, found.wrong) == (1, "")
    assert found.explained.startswith("b=1, i=1, t=2: 1e-12 from its threshold")


def test_another_action_away_from_its_threshold_is_wrong() -> None:
    found = compared(*parted(1e-3), "float64")
    assert (found.agreeing, found.explained) == (1, "")
    assert found.wrong.startswith("another action at b=1, i=1, t=2: 0.001 from its threshold")
