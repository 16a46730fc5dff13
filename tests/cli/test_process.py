"""The command in a process of its own: signals and pipes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest


def command(repository: Path, *words: str) -> subprocess.Popen[str]:
    """The command as a process that listens to SIGINT, whatever this one does."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(
            [sys.executable, "-u", "-m", "workbench.cli", *words],
            cwd=repository,
            env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(os.name != "posix", reason="signals to one process are POSIX's")
def test_ctrl_c_keeps_what_was_done(repository: Path, tmp_path: Path) -> None:
    path = tmp_path / "part.json"
    words = ["--B", "4", "--T", "20", "--I", "1000000", "--hidden", "8", "--output", str(path)]
    process = command(repository, "run", "reinforce", *words)
    assert process.stderr is not None
    shown, deadline = "", time.monotonic() + 60
    while "return=" not in shown:  # the bar has drawn an update that is done
        assert time.monotonic() < deadline, shown
        shown += process.stderr.read(1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    record = json.loads(path.read_text(encoding="utf-8"))
    completed = record["completed"]
    assert 0 < completed < 1_000_000
    assert f"interrupted after {completed} of 1000000 updates" in err
    assert len(record["outputs"]["episode_return"]["values"]) == completed
    assert "episode_return" in out


@pytest.mark.skipif(os.name != "posix", reason="a reader that leaves is POSIX's")
def test_reader_that_leaves_is_no_traceback(repository: Path) -> None:
    process = command(repository, "show", "reinforce", "--source")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    err = process.stderr.read()
    assert process.wait(timeout=60) == 0
    assert "Traceback" not in err
    process.stderr.close()
