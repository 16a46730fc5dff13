"""Kernels in files: of an equal program they are read and not generated again."""

from __future__ import annotations

import errno
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.programs import small_ppo, statistics
from workbench.backends import get
from workbench.backends.compiling import cache, kernel_files
from workbench.backends.native import compiled_program
from workbench.backends.native.backend import NativeBackend
from workbench.codegen.kernels import program_kernels
from workbench.errors import RunError
from workbench.folders import CACHE_VARIABLE, cache_directory
from workbench.program.values import Program
from workbench.transforms import Persist, Tile


@pytest.fixture
def generated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the programs whose kernels are generated."""
    made: list[str] = []

    def generating(program: Program) -> Any:
        made.append(program.name)
        return program_kernels(program)

    monkeypatch.setattr(kernel_files, "program_kernels", generating)
    return made


def files() -> list[Path]:
    return sorted((cache.folder() / cache.KERNELS).glob("*"))


def outputs(program: Program) -> dict[str, Any]:
    compiled = get("native").compile(program)
    compiled.prepare()
    return dict(compiled.run({"I": 2}).outputs)


def persisted() -> Program:
    return wb.optimize(small_ppo(), backend="native").program


def test_an_equal_program_has_the_kernels_of_the_file(generated: list[str]) -> None:
    first, again = outputs(persisted()), outputs(persisted())
    assert len(generated) == len(files()) == 1
    assert first.keys() == again.keys()
    assert all(np.array_equal(first[name], again[name], equal_nan=True) for name in first)


def test_the_same_program_is_not_read_again(
    generated: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = persisted()
    outputs(program)
    monkeypatch.setattr(kernel_files, "_found", None)
    outputs(program)
    assert len(generated) == 1


def test_blocks_that_are_dealt_in_another_way_have_kernels_of_their_own() -> None:
    plain = wb.variant(statistics())
    steps = [Tile("b", 2), Persist("b", 2, chunks=2), Persist("b", 2, chunks=4)]
    programs = [plain.apply(step).program for step in steps]
    sources = [stored_source(program) for program in programs]
    assert len(files()) == len(set(sources)) == 3
    assert [NativeBackend().compile(replace(p)).source for p in programs] == sources


def stored_source(program: Program) -> str:
    compiled = NativeBackend().compile(program)
    compiled.prepare()
    return compiled.source


def unwritten(*_: object) -> Any:
    raise AssertionError("the text of the kernels is written")


def test_the_library_of_stored_kernels_is_found_without_their_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = outputs(persisted())
    monkeypatch.setattr(compiled_program, "units_of", unwritten)
    again = outputs(persisted())
    assert all(np.array_equal(first[name], again[name], equal_nan=True) for name in first)
    with pytest.raises(AssertionError, match="is written"):
        get("native").compile(persisted()).prepare("float64")


@pytest.mark.parametrize("kind", [cache.NAMES, cache.LIBRARIES])
@pytest.mark.parametrize("damage", [None, b"", b"no library"])
def test_a_library_that_is_gone_or_damaged_is_made_anew(
    kind: str, damage: bytes | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = NativeBackend().compile(persisted()).library()
    shutil.copytree(cache_directory(), tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))  # of it nothing is loaded yet
    for path in (cache.folder() / kind).glob("*"):
        path.unlink()
        if damage is not None:
            path.write_bytes(damage)
    again = NativeBackend().compile(persisted()).library()
    assert (again.key, again.bytes) == (made.key, made.bytes)
    assert again.path.parts[: len(tmp_path.parts)] == tmp_path.parts
    assert again.path.read_bytes() == made.path.read_bytes()


@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[:-1] + b"?"])
def test_a_damaged_file_is_written_anew(generated: list[str], damage: Any) -> None:
    outputs(persisted())
    (path,) = files()
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    outputs(persisted())
    assert len(generated) == 2
    assert files() == [path] and path.read_bytes() != damage(whole)


def test_a_folder_that_cannot_be_written_loses_nothing_but_time(
    generated: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    outputs(persisted())
    (path,) = files()
    path.unlink()

    def refused(*arguments: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "replace", refused)
    for _ in range(2):
        outputs(persisted())
    assert len(generated) == 3 and files() == []


@wb.program
def looked_up(T: int = 5) -> dict[str, Any]:
    """Elements at places of which the last is beyond the end."""
    t, n = wb.dims(t=T, n=T)
    x = wb.normal(over=n)
    place = wb.index(t) + 1
    return {"chosen": wb.gather(x, n=place)}


def test_a_check_that_fails_says_the_same(generated: list[str]) -> None:
    said = []
    for _ in range(2):
        with pytest.raises(RunError) as caught:
            wb.run(looked_up(), backend="native", progress=False)
        said.append(str(caught.value))
    assert len(generated) == 1
    assert said[0] == said[1] and "wb.gather(x, n=place)" in said[0]


@pytest.mark.nothing_compiled
def test_files_of_kernels_are_counted_and_removed(generated: list[str]) -> None:
    before = cache.held_bytes()
    outputs(persisted())
    assert cache.held_bytes() > before + files()[0].stat().st_size
    cache.clear()
    assert files() == []
