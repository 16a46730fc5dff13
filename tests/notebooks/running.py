"""A notebook run from top to bottom, as *Run All* does, with what each cell showed when it ended.

A workbench's output follows what later cells do; who reads a notebook that is stored wants the
program there that the cell is about, so later changes are left out.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from tests.homes import NAMES_A_PLACE, REPOSITORY

SECONDS = 120
"""The longest that a cell may take."""


class Client(NotebookClient):
    """A client that leaves outputs as they came first."""

    def process_message(self, msg: dict[str, Any], cell: Any, cell_index: int) -> Any:
        """Take in what the Jupyter kernel says, but for changes of earlier outputs."""
        if msg["msg_type"] == "update_display_data":
            return None
        return super().process_message(msg, cell, cell_index)


def run(path: Path, environment: Mapping[str, str]) -> Any:
    """Return the notebook with new outputs. Raises CellExecutionError where a cell fails."""
    notebook = nbformat.read(path, as_version=4)
    client = Client(notebook, timeout=SECONDS, record_timing=False, store_widget_state=False)
    client.execute(cwd=str(path.parent), env=dict(environment))
    return notebook


def environment(home: Path) -> dict[str, str]:
    """Return this process's environment with another home, in which nothing is known of the
    machine; the package is that of this repository.
    """
    kept = {name: value for name, value in os.environ.items() if name not in NAMES_A_PLACE}
    return kept | {"HOME": str(home), "PYTHONPATH": str(REPOSITORY)}
