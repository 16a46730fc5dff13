"""`workbench doctor`: what works here."""

import pytest

from tests.cli.calling import Call
from workbench.cli.commands import doctor


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
