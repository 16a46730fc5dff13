"""Binder finds this repository's environment. repo2docker says so as a library, without Docker."""

import os
import re
import subprocess
from pathlib import Path

import pytest


def test_binder_builds_the_conda_environment_and_runs_post_build(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from repo2docker.app import Repo2Docker

    monkeypatch.chdir(repository)
    packs = (kind(base_image="unused") for kind in Repo2Docker().buildpacks)
    pack = next(pack for pack in packs if pack.detect())
    pack.platform = "linux/amd64"
    assert type(pack).__name__ == "CondaBuildPack"
    assert pack.binder_dir == "binder"
    assert pack.get_post_build_scripts() == ["binder/postBuild"]
    # The recipe is text; nothing is pulled.
    assert "binder/environment.yml" in pack.render()


def test_post_build_is_an_executable_script_without_syntax_errors(repository: Path) -> None:
    script = repository / "binder" / "postBuild"
    assert os.access(script, os.X_OK)
    assert script.read_text(encoding="utf-8").startswith("#!/bin/bash\n")
    subprocess.run(["bash", "-n", str(script)], check=True)


def test_the_badge_opens_the_first_notebook(repository: Path) -> None:
    readme = (repository / "README.md").read_text("utf8")
    address = re.search(r"\]\((https://mybinder\.org/v2/\S+)\)", readme)
    assert address is not None
    shown = address[1].partition("?urlpath=lab/tree/")[2]
    assert shown.endswith("00_start.ipynb") and (repository / shown).is_file()
