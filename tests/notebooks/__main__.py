"""Runs notebooks and stores what a code host shows of them: `make outputs`, or `python -m
tests.notebooks notebooks/02_ppo.ipynb` for one.

It is to be run after a change that `make notebooks` complains of, on a machine that does nothing
else: what notebooks measure is stored too. What was calibrated in the user's home is left alone.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

import nbformat

from tests.homes import REPOSITORY
from tests.notebooks.reducing import LARGEST, reduced
from tests.notebooks.running import environment, run
from workbench.processor import processor


def main(*named: str) -> int:
    """Store the outputs of the named notebooks, or of all."""
    paths = [Path(name).resolve() for name in named]
    where = f"On {processor()}, {date.today()}"
    with tempfile.TemporaryDirectory() as folder:
        home = environment(Path(folder))
        command = [sys.executable, "-m", "workbench.cli", "doctor", "--calibrate"]
        subprocess.run(command, env=home, check=True, stdout=subprocess.DEVNULL)
        for path in paths or sorted((REPOSITORY / "notebooks").glob("*.ipynb")):
            kept = nbformat.from_dict(reduced(run(path, home), where))
            text = nbformat.writes(kept) + "\n"
            size = len(text.encode())
            print(f"{path.name}: {size / 1e3:.0f} kB")
            if size > LARGEST:
                print(f"that is more than {LARGEST / 1e3:.0f} kB: show less", file=sys.stderr)
                return 1
            path.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
