"""Every notebook runs from top to bottom, and shows what is stored of it."""

from pathlib import Path

import pytest

from tests.notebooks.reducing import differences, reduced
from tests.notebooks.test_stored import notebooks


@pytest.mark.notebooks
@notebooks
def test_notebook_runs_and_shows_what_is_stored(path: Path) -> None:
    import nbformat  # takes seconds, in every process that does it

    from tests.notebooks.running import environment, run

    fresh = reduced(run(path, environment(Path.home())), "here")
    found = list(differences(nbformat.read(path, as_version=4), fresh))
    if found:
        head = f"{path.name} shows something else than what is stored of its outputs."
        advice = "Where the change is meant, `make outputs` stores them anew."
        pytest.fail("\n\n".join([f"{head} {advice}", *found]), pytrace=False)
