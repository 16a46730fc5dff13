"""The folders of this user: caches, and the data of programs. By the platform's custom, or as the
environment says.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from workbench.errors import WorkbenchError

CACHE_VARIABLE = "WORKBENCH_CACHE"
"""Environment variable that names the cache directory."""


def cache_directory() -> Path:
    """Return the directory of what can be measured or compiled again."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
        return (Path(base) if base else _home() / "AppData" / "Local") / "workbench" / "Cache"
    if sys.platform == "darwin":
        return _home() / "Library" / "Caches" / "workbench"
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else _home() / ".cache") / "workbench"


def users_folder() -> Path:
    """Return the folder of the data of this user's programs."""
    if sys.platform == "darwin":
        return _home() / "Library" / "Application Support" / "workbench"
    name, below = "XDG_DATA_HOME", Path(".local", "share")
    if sys.platform == "win32":
        name, below = "APPDATA", Path("AppData", "Roaming")
    given = os.environ.get(name)
    return (Path(given) if given else _home() / below) / "workbench"


def _home() -> Path:
    """Return the user's home directory. Raises WorkbenchError where the system knows none."""
    try:
        return Path.home()
    except RuntimeError:
        raise WorkbenchError(
            f"this user has no home directory; name one in HOME, or the folder of caches in "
            f"{CACHE_VARIABLE}"
        ) from None
