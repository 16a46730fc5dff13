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
            pytest.fail(_difference(path, stored, text), pytrace=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


def _difference(path: Path, stored: str, text: str) -> str:
    name = "/".join(path.parts[path.parts.index("golden") :])
    lines = unified_diff(
        stored.splitlines(), text.splitlines(), f"tests/{name}", "this test", lineterm=""
    )
    shown = list(lines)
    more = [f"… {len(shown) - SHOWN} lines more"] if len(shown) > SHOWN else []
    advice = f"Where the change is meant, `pytest {UPDATE}` writes the file anew."
    return "\n".join([f"tests/{name} differs from what this test gives. {advice}",
                      *shown[:SHOWN], *more])  # fmt: skip
