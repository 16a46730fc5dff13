"""Values that compute their hash once."""

from __future__ import annotations

from typing import Any


class Hashed:
    """A base of values with a cached property `_hash`. Pickles leave it out: strings hash otherwise
    in another process, where a stale hash would make equal values unequal as keys.
    """

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_hash"}
