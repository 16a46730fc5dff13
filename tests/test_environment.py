"""pyproject.toml, environment.yml and binder/environment.yml ask for the same things."""

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

# PyPI's name, where conda-forge has another.
CONDA_NAMES = {
    "cupy-cuda13x": "cupy",
    "graphviz": "python-graphviz",
    "matplotlib": "matplotlib-base",
    "nvidia-cuda-nvrtc": "cuda-nvrtc",
}
# What only conda has to be told: the Python, its installer, the programs `dot` and `cc`, the CUDA
# to choose.
ONLY_CONDA = {"python", "pip", "hatchling", "graphviz", "cuda-version", "c-compiler"}
CHANNELS = ["conda-forge", "nodefaults"]
ENTRY = re.compile(r"(?P<name>[a-z0-9][a-z0-9._-]*)(?: (?P<range>[<>=!~][<>=!~.,*0-9]*))?")


def project(repository: Path) -> dict[str, Any]:
    return tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def conda_ranges(path: Path) -> dict[str, SpecifierSet]:
    """Package name to version range, of one environment file."""
    ranges = {}
    for entry in yaml.safe_load(path.read_text(encoding="utf-8"))["dependencies"]:
        assert isinstance(entry, str), f"{entry}: no pip section, its paths mean two things"
        match = ENTRY.fullmatch(entry)
        assert match, f"not `name` or `name range`: {entry}"
        assert match["name"] not in ranges, f"twice: {match['name']}"
        ranges[match["name"]] = SpecifierSet(match["range"] or "")
    return ranges


def is_for_gpu(name: str) -> bool:
    return name.startswith(("cuda-", "cupy"))


def test_environment_files_have_only_known_keys_and_channels(repository: Path) -> None:
    for path in (repository / "environment.yml", repository / "binder" / "environment.yml"):
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert list(content) == ["name", "channels", "dependencies"]
        assert content["name"] == "rl-workbench"
        assert content["channels"] == CHANNELS


def test_binder_environment_is_the_environment_without_cuda(repository: Path) -> None:
    whole = (repository / "environment.yml").read_text(encoding="utf-8").splitlines()
    without = [line for line in whole if not is_for_gpu(line.removeprefix("  - "))]
    binder = (repository / "binder" / "environment.yml").read_text(encoding="utf-8").splitlines()
    assert binder == without
    assert "cupy" in conda_ranges(repository / "environment.yml")


def test_environment_asks_for_what_pyproject_asks_for(repository: Path) -> None:
    metadata = project(repository)
    extras = metadata["optional-dependencies"]
    expected = {}
    for text in [*metadata["dependencies"], *extras["gpu"], *extras["cuda"]]:
        requirement = Requirement(text)
        expected[CONDA_NAMES.get(requirement.name, requirement.name)] = requirement.specifier
    found = conda_ranges(repository / "environment.yml")
    assert {name: found[name] for name in found if name not in ONLY_CONDA} == expected
    assert set(found) >= ONLY_CONDA


def test_environment_has_the_python_and_build_tool_of_pyproject(repository: Path) -> None:
    found = conda_ranges(repository / "environment.yml")
    assert found["python"] == SpecifierSet(project(repository)["requires-python"])
    content = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))
    (build,) = map(Requirement, content["build-system"]["requires"])
    assert (build.name, build.specifier) == ("hatchling", found["hatchling"])
