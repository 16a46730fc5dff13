"""Values that compute their hash once."""

from __future__ import annotations

from typing import Any


class Hashed:
    """A base of dataclasses that are keys of many tables: the hash of one is computed once. Pickles
    leave it out: strings hash otherwise in another process, where a stale hash would make equal
    values unequal as keys.
    """

    __match_args__: tuple[str, ...]
    """The names of its fields."""
    _hash: int

    def __init_subclass__(cls) -> None:
        """Make this hash the class's own: a dataclass replaces one that it inherits."""
        cls.__hash__ = Hashed.__hash__  # type: ignore[method-assign]

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:  # asked for the first time
            values = tuple([getattr(self, name) for name in self.__match_args__])
            object.__setattr__(self, "_hash", hash(values))  # as dict item all were slower to find
            return self._hash

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_hash"}
