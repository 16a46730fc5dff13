"""Values fit to be given away: files are named without their folders, which tell who works
where.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

SOMEWHERE = "…"
"""The text that replaces the user's folder itself."""
_NAME = r"[^\s/\\'\"`,;:|<>()\[\]{}]+"


def shareable(value: Any) -> Any:
    """Return a record, mapping, tuple or text with every absolute path cut to its last
    component.
    """
    if isinstance(value, str):
        return without_folders(value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: shareable(getattr(value, f.name)) for f in fields(value)})
    if isinstance(value, Mapping):
        return {key: shareable(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(shareable(one) for one in value)
    return value


def without_folders(text: str) -> str:
    """Return the text with every file path (`/…/data.csv`) cut to the file's name, `data.csv`."""
    if "/" not in text and "\\" not in text:
        return text
    own = {str(Path.home()), str(Path.cwd()), tempfile.gettempdir()}
    return _paths(frozenset(folder for folder in own if len(folder) > 1)).sub(_last, text)


@lru_cache(maxsize=4)
def _paths(own: frozenset[str]) -> re.Pattern[str]:
    """Return a pattern of absolute paths. The user's own folders may have spaces; other paths end
    there.
    """
    folders = "|".join(map(re.escape, sorted(own, key=len, reverse=True)))
    return re.compile(
        rf"(?<![\w/.~)\]])(?:file://)?"
        rf"(?:(?P<own>{folders})(?![\w.-])|(?P<top>/{_NAME})|(?P<drive>[A-Za-z]:)(?=[\\/]))"
        rf"(?P<below>(?:[\\/]+{_NAME})*)[\\/]?"
    )


def _last(found: re.Match[str]) -> str:
    """Return the last component of a path. A match that is no path stays: `x /y` divides."""
    top, below = found["top"], found["below"]
    if top and not _is_folder(top):
        return found[0]
    return re.split(r"[\\/]+", below)[-1] if below else top or SOMEWHERE


@lru_cache(maxsize=256)
def _is_folder(path: str) -> bool:
    return Path(path).is_dir()
