"""Golden files: a difference is shown with the way to accept it, an update writes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden_files import GoldenFiles


def test_difference_is_shown_with_the_way_to_accept_it(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")
    with pytest.raises(pytest.fail.Exception) as failed:
        GoldenFiles(tmp_path)("a.txt", "one\n2\nthree\n")
    assert str(failed.value) == (
        "tests/golden/a.txt differs from what this test gives. "
        "Where the change is meant, `pytest --update-golden` writes the file anew.\n"
        "--- tests/golden/a.txt\n+++ this test\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three"
    )
    assert (tmp_path / "a.txt").read_text() == "one\ntwo\nthree\n"


def test_missing_file_is_a_difference(tmp_path: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match=r"(?s)golden/a\.txt differs.*\+one"):
        GoldenFiles(tmp_path)("a.txt", "one\n")


def test_missing_end_of_line_is_a_difference(tmp_path: Path) -> None:
    GoldenFiles(tmp_path, update=True)("a.txt", "one")
    with pytest.raises(pytest.fail.Exception, match="in the ends of lines"):
        GoldenFiles(tmp_path)("a.txt", "one\n")


def test_update_writes_the_text_which_then_agrees(tmp_path: Path) -> None:
    GoldenFiles(tmp_path, update=True)("below/a.txt", "π\n")
    GoldenFiles(tmp_path)("below/a.txt", "π\n")


def test_long_difference_is_cut(tmp_path: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match="… 803 lines more"):
        GoldenFiles(tmp_path)("a.txt", "line\n" * 1000)
