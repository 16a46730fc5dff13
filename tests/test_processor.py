"""This machine's processor: what is said of it, and of another one in its place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from workbench import processor
from workbench.errors import WorkbenchError
from workbench.processor import CORE_CACHE_VARIABLE, USUAL, core_cache


def described(folder: Path, level: int, size: str) -> None:
    folder.mkdir(parents=True)
    (folder / "level").write_text(f"{level}\n")
    (folder / "size").write_text(f"{size}\n")


def test_second_level_is_the_core_s_own(tmp_path: Path) -> None:
    for number, (level, size) in enumerate([(1, "32K"), (1, "48K"), (2, "2M"), (3, "30M")]):
        described(tmp_path / "cpu0" / "cache" / f"index{number}", level, size)
    assert max(processor._answers(tmp_path)) == 2 << 20
    assert not any(processor._answers(tmp_path / "none"))


def test_machine_that_does_not_say_has_what_is_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CORE_CACHE_VARIABLE)
    monkeypatch.setattr(processor, "_asked", lambda: None)
    assert core_cache().bytes == USUAL and "not known" in core_cache().name
    monkeypatch.setattr(processor, "_asked", lambda: 1 << 19)
    assert core_cache().bytes == 1 << 19 and core_cache().name == "a core's cache"


def test_another_machine_s_cache_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CORE_CACHE_VARIABLE, "65536")
    assert core_cache().bytes == 1 << 16
    monkeypatch.setenv(CORE_CACHE_VARIABLE, "64 kB")
    with pytest.raises(WorkbenchError, match="WORKBENCH_CORE_CACHE is a number of bytes, not"):
        core_cache()


@pytest.mark.parametrize(
    ("files", "groups", "cores"),
    [
        ({}, "", 6),
        ({"cpu.max": "max 100000\n"}, "0::/\n", 6),
        ({"cpu.max": "350000 100000\n"}, "0::/\n", 4),
        ({"cpu.max": "20000 100000\n"}, "0::/\n", 1),
        ({"own/part/cpu.max": "200000 100000\n"}, "0::/own/part\n", 2),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, "", 6),
        (
            {"cpu/own/cpu.cfs_quota_us": "150000\n", "cpu/own/cpu.cfs_period_us": "100000\n"},
            "5:memory:/own\n4:cpu,cpuacct:/own\n",
            2,
        ),
    ],
)
def test_usable_cores_are_those_of_the_process_and_of_its_container(
    files: dict[str, str],
    groups: str,
    cores: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="ascii")
    (tmp_path / "groups").write_text(groups, encoding="ascii")
    shares = processor._shares
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(6)), raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(processor, "_shares", lambda: shares(tmp_path, tmp_path / "groups"))
    assert processor.usable_cores() == cores
