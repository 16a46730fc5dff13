"""The README's program runs as it stands there, and is the one that the first notebook explains."""

import importlib.util
import json
import re
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest

import workbench as wb
from tests.native_runs import shared_cache
from workbench.backends.native import backend
from workbench.backends.native.building.compilers import find

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SMALL = {
    "= reinforce()": "= reinforce(B=3, I=2, T=4, hidden=(4,))",
    "ppo(environment=": "ppo(B=2, T=4, hidden=(), environment=",
    "dqn(N=5_000)": "dqn(T=2, N=20, K=4, learning_starts=8, hidden=(4,))",
}


@pytest.fixture(scope="module")
def blocks(repository: Path) -> list[str]:
    """The README's Python, block by block."""
    return BLOCK.findall((repository / "README.md").read_text(encoding="utf-8"))


def definition(source: str) -> str:
    """From the decorator to the end of the function."""
    return source[source.index("@wb.program") :].split("\n\n\n")[0].strip()


def imported(path: Path) -> ModuleType:
    """A file as a module: what is traced needs its lines to be found."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.usefixtures("default_backend")
def test_readme_program_runs(
    blocks: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)  # where the recipe is saved
    monkeypatch.setattr(backend, "find", partial(find, level=1))  # compiled in half the time
    source = "\n".join(blocks)
    assert [source.count(written) for written in SMALL] == [1, 2, 1]
    for written, small in SMALL.items():
        source = source.replace(written, small)
    path = tmp_path / "readme.py"
    path.write_text(source, encoding="utf-8")
    with shared_cache():
        names = vars(imported(path))
    assert names["result"]["episode_return"].shape == (100,)
    said = capsys.readouterr().out
    assert "state[t+1] at b=0, i=0, t=1 needs state[0, 0, 1]" in said
    assert "variant = variant.apply(wb.transforms.Vectorize('t'))" in said
    steps = ["Vectorize('b')", "Incrementalize('to_go', 't')", "Vectorize('t')"]
    assert [str(step) for step in names["both"].steps] == steps
    refusal = names["variant"].check(names["wrong"])
    assert refusal.kind == "dependence"
    assert (tmp_path / "recipe.json").exists()


def test_readme_names_every_transform(repository: Path) -> None:
    text = (repository / "README.md").read_text(encoding="utf-8")
    table = text[text.index("| step | what it does |") : text.index("## On the command line")]
    assert sorted(re.findall(r"`(\w+)`", table)) == sorted(wb.transforms.__all__)


def test_readme_program_is_the_notebook_s(blocks: list[str], repository: Path) -> None:
    notebook = json.loads((repository / "notebooks/00_start.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["id"] == "program"]
    assert [definition(cell) for cell in cells] == [definition(blocks[1])]
