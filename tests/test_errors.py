"""What is offered for an unknown name."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from workbench.errors import installing, nearest

MANY = [f"parameters.policy.weight_{k}[0]" for k in range(12)] + ["state[0]", "state", "a.action"]


@pytest.mark.parametrize(
    ("name", "known", "offered"),
    [
        ("T", ["b", "i", "t"], "did you mean t? (dims: b, i, t)"),
        ("q", ["b", "i", "t"], "the dims are b, i, t"),
        ("q", ["b"], "the only one is b"),
        ("q", ["eq", "seq"], "the dims are eq, seq"),
        ("--Q", ["--T", "--n", "--I"], "the dims are --T, --n, --I"),
        ("--t", ["--T", "--n"], "did you mean --T? (dims: --T, --n)"),
        (
            "--learning",
            ["--learning-rate", "--T"],
            "did you mean --learning-rate? (dims: --learning-rate, --T)",
        ),
        ("q", [], "there are no dims"),
        ("b", ["B", "B"], "did you mean B? (dims: B)"),
    ],
)
def test_offered_of_a_few(name: str, known: list[str], offered: str) -> None:
    assert nearest(name, known, "dims") == offered


@pytest.mark.parametrize(
    ("name", "offered"),
    [
        ("sttae", "did you mean state or state[0]?"),
        ("action", "did you mean a.action?"),
        ("policy", "did you mean parameters.policy.weight_0[0], parameters.policy.weight_1[0] or "),
    ],
)
def test_offered_of_many_is_what_is_close_or_has_the_name_as_a_part(
    name: str, offered: str
) -> None:
    assert nearest(name, MANY, "statements").startswith(offered)


def test_offered_of_many_without_a_close_one_are_the_first_and_how_many_there_are() -> None:
    found = nearest("zz", MANY, "statements")
    assert found.startswith("the statements are parameters.policy.weight_0[0], ")
    assert found.endswith(", parameters.policy.weight_7[0], … (15 in all)")


def test_what_to_install_names_this_python_as_one_would_type_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("workbench.errors.shutil.which", lambda name: "/usr/bin/python")
    for python, typed in [
        (tmp_path / ".venv" / "bin" / "python", ".venv/bin/python"),
        (Path("/opt/some where/python3"), "'/opt/some where/python3'"),
        (Path("/usr/bin/python"), "python"),
    ]:
        monkeypatch.setattr(sys, "executable", str(python))
        assert installing("numpy>=2") == f"{typed} -m pip install 'numpy>=2'"
