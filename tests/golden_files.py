"""Golden files: texts that tests hold to what is stored below `tests/golden/`."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

import pytest

UPDATE = "--update-golden"
SHOWN = 200
"""Lines of a difference."""


@dataclass(frozen=True)
class GoldenFiles:
    """The stored texts in `folder`, which `update` writes anew."""

    folder: Path
    update: bool = False

    def __call__(self, name: str, text: str) -> None:
        """Fail with the difference where the file `name` does not hold `text`."""
        path = self.folder / name
        stored = path.read_text(encoding="utf-8") if path.exists() else ""
        if text == stored:
            return
        if not self.update:
            pytest.fail(_difference(name, stored, text), pytrace=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


def _difference(name: str, stored: str, text: str) -> str:
    file = f"tests/golden/{name}"
    stored_lines, lines = stored.splitlines(), text.splitlines()
    difference = list(unified_diff(stored_lines, lines, file, "this test", lineterm=""))
    if not difference:
        difference = ["(in the ends of lines)"]
    if len(difference) > SHOWN:
        difference[SHOWN:] = [f"… {len(difference) - SHOWN} lines more"]
    head = f"{file} differs from what this test gives. Where the change is meant, "
    return "\n".join([f"{head}`pytest {UPDATE}` writes the file anew.", *difference])
