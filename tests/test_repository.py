"""The repository as files: nothing of one machine in it, links that resolve, a whole wheel."""

import json
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

# Folders of a person on one machine. Binder's home and that of Emscripten's file system are not.
HOME = re.compile(r"(?<![\w.])/(?:home|Users|root|work)/(?!jovyan\b|web_user\b)\w|[A-Z]:\\+Users\\")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
TOP_FOLDERS = {".ci", "binder", "extensions", "notebooks", "tests", "workbench"}


@pytest.fixture(scope="module")
def tracked(repository: Path) -> list[Path]:
    """Every file that git tracks, relative to the repository."""
    if not (repository / ".git").exists():
        pytest.skip("not a git checkout")
    command = ["git", "-C", str(repository), "ls-files", "-z"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    paths = [Path(name) for name in done.stdout.split("\0") if name]
    return [path for path in paths if (repository / path).is_file()]


def holders_of(value: object, key: str) -> Iterator[dict[str, object]]:
    """Every mapping inside a JSON value that has the key."""
    if isinstance(value, dict):
        if key in value:
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from holders_of(inner, key)


def broken_links(document: Path) -> list[str]:
    """The relative links of a Markdown file that lead nowhere."""
    targets = LINK.findall(document.read_text(encoding="utf-8"))
    relative = [target for target in targets if not re.match(r"[a-z]+:|#", target)]
    return [target for target in relative if not (document.parent / target.split("#")[0]).exists()]


def test_top_level_folders_are_the_known_ones(tracked: list[Path]) -> None:
    assert {path.parts[0] for path in tracked if len(path.parts) > 1} <= TOP_FOLDERS


def test_no_file_names_a_folder_of_somebody_s_machine(
    repository: Path, tracked: list[Path]
) -> None:
    found = []
    for path in tracked:
        text = (repository / path).read_bytes().decode("utf-8", errors="replace")
        found += [f"{path}: {match[0]}" for match in HOME.finditer(text)]
    assert found == []


@pytest.mark.parametrize("folder", ["home", "Users", "root", "work"])
def test_folder_of_somebody_s_machine_is_recognised(folder: str) -> None:
    assert HOME.search(f"path = '/{folder}/me/project'")
    assert not HOME.search(f"see frame/{folder}/me")


def test_lock_files_name_no_registry(repository: Path, tracked: list[Path]) -> None:
    locks = [path for path in tracked if re.search(r"lock.*\.json$", path.name)]
    for path in locks:
        content = json.loads((repository / path).read_text(encoding="utf-8"))
        assert list(holders_of(content, "resolved")) == [], (
            f"{path}: omit-lockfile-registry-resolved"
        )


def test_resolved_key_is_found_at_any_depth() -> None:
    entry = {"resolved": "address"}
    assert list(holders_of({"packages": [{"a": entry}]}, "resolved")) == [entry]


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_relative_links_resolve(repository: Path, name: str) -> None:
    assert broken_links(repository / name) == []


def test_broken_link_is_recognised(tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text(
        "[a](page.md#top) [b](https://x.org) [c](#top) [d](gone.md)", encoding="utf-8"
    )
    assert broken_links(document) == ["gone.md"]


def test_wheel_and_sdist_hold_the_package_and_its_front_end(
    repository: Path, tracked: list[Path], tmp_path: Path
) -> None:
    """Built without network and Node, so what is committed is what is installed."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path)]
    subprocess.run(command, cwd=repository, check=True, capture_output=True)
    package = {path.as_posix() for path in tracked if path.parts[0] == "workbench"}

    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = set(archive.namelist())
        (entry_points,) = (name for name in in_wheel if name.endswith("entry_points.txt"))
        assert "workbench = workbench.cli:main" in archive.read(entry_points).decode()
    assert package <= in_wheel
    tops = {name.split("/")[0].split("-")[0] for name in in_wheel}
    assert tops == {"workbench", "rl_workbench"}  # the package; the distribution's metadata

    (sdist,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        in_sdist = {name.partition("/")[2] for name in archive.getnames()}
    assert package <= in_sdist
