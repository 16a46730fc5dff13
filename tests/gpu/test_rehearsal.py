"""`make gpu` in small, as fibres: each part says what it tried."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.gpu.__main__ import main


def test_parts_are_tried_and_recorded(tmp_path: Path) -> None:
    record = tmp_path / "lines.jsonl"
    assert main(["sanitizer", "steps", "large", "--rehearse", "--record", str(record)]) == 0
    lines = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
    assert {line["device"] for line in lines} == {"fibres"}
    assert [line["part"] for line in lines] == ["sanitizer", "steps", "large", "large"]
    assert all(line["seconds"] > 0 and line["peak"]["device"] > 0 for line in lines[1:])
    stored, swapped = (line["peak"] for line in lines[2:])
    assert swapped["device"] < stored["device"] and swapped["host"] > stored["host"]


def test_unknown_parts_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["steps", "nothing"])
    assert "unknown parts: nothing" in capsys.readouterr().err
