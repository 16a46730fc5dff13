"""Loop programs and their sources as text."""

from __future__ import annotations

import pytest

from tests.backends.small_programs import cases, folded, scheduled
from tests.golden_files import GoldenFiles
from workbench.backends.numpy import NumPyBackend

CASES = {name: p for name, p, _ in cases()}


@pytest.mark.parametrize(
    ("name", "axes"), [("forwards", ("b",)), ("adam", ("b",)), ("weighted_suffix", ("b", "t"))]
)
@pytest.mark.parametrize("kind", ["loops", "source"])
def test_text_is_golden(golden: GoldenFiles, name: str, axes: tuple[str, ...], kind: str) -> None:
    compiled = NumPyBackend().compile(folded(scheduled(CASES[name], axes)))
    text = str(compiled.loop_program) if kind == "loops" else compiled.source
    golden(f"lowering/{name}.{kind}.txt", text)
