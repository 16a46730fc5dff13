"""Loop programs and their sources as text; `WORKBENCH_GOLDEN=write` writes the files anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.backends.small_programs import cases, folded, scheduled
from workbench.backends.numpy import NumPyBackend

CASES = {name: p for name, p, _ in cases()}
GOLDEN = Path(__file__).parent.parent / "golden"


@pytest.mark.parametrize(
    ("name", "axes"), [("forwards", ("b",)), ("adam", ("b",)), ("weighted_suffix", ("b", "t"))]
)
@pytest.mark.parametrize("kind", ["loops", "source"])
def test_text_is_golden(name: str, axes: tuple[str, ...], kind: str) -> None:
    compiled = NumPyBackend().compile(folded(scheduled(CASES[name], axes)))
    found = str(compiled.loop_program) if kind == "loops" else compiled.source
    path = GOLDEN / f"{name}.{kind}.txt"
    if os.environ.get("WORKBENCH_GOLDEN") == "write":
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")
