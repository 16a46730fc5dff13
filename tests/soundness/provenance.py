"""Where the figures of a recorded line are from."""

from __future__ import annotations

import subprocess
from datetime import date


def provenance() -> dict[str, str]:
    """The day, and the commit that is checked out."""
    head = ["git", "rev-parse", "HEAD"]
    commit = subprocess.run(head, capture_output=True, text=True, check=False).stdout.strip()
    return {"date": date.today().isoformat(), "commit": commit}
