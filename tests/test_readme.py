"""The README's program runs as it stands there, and is the one that the first notebook explains."""

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SMALL = "reinforce(B=3, I=2, T=6, hidden=(4,))"


@pytest.fixture(scope="module")
def blocks(repository: Path) -> list[str]:
    """The README's Python, block by block."""
    return BLOCK.findall((repository / "README.md").read_text(encoding="utf-8"))


def definition(source: str) -> str:
    """From the decorator to the end."""
    return source[source.index("@wb.program") :].strip()


def imported(path: Path) -> ModuleType:
    """A file as a module: what is traced needs its lines to be found."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_readme_program_runs(
    blocks: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = "\n".join(blocks)
    assert source.count("= reinforce()") == 1
    path = tmp_path / "readme.py"
    path.write_text(source.replace("reinforce()", SMALL), encoding="utf-8")
    names = vars(imported(path))
    assert names["result"]["episode_return"].shape == (100,)
    assert [step.dim for step in names["faster"].steps] == ["b"]
    assert "Vectorize('b')" in capsys.readouterr().out
    refusal = names["faster"].check(names["wb"].transforms.Vectorize("t", statements=("state",)))
    assert refusal.kind == "dependence"


def test_readme_program_is_the_notebook_s(blocks: list[str], repository: Path) -> None:
    notebook = json.loads((repository / "notebooks/00_start.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["id"] == "program"]
    assert [definition(cell) for cell in cells] == [definition(blocks[0])]
