"""Sequences and mappings whose elements come one by one: some are used before others are made."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, overload

from workbench.collection import without_collection

T = TypeVar("T")
Key = TypeVar("Key")
Value = TypeVar("Value", covariant=True)


class Coming(Sequence[T]):
    """A sequence of what `make` yields, each element made when it is first asked for.

    Where making one raises, or the user interrupts it, who asks next makes all anew: an iterator
    that raised has ended, and what it would still have yielded would be missing.
    """

    def __init__(self, make: Callable[[], Iterator[T]]) -> None:
        self._make = make
        self._elements: Iterator[T] | None = None
        self._made: list[T] = []
        self._ended = False
        self._lock = threading.RLock()

    def __iter__(self) -> Iterator[T]:
        if self._ended:
            yield from self._made
            return
        place = 0
        while self._has(place):
            yield self._made[place]
            place += 1

    def __len__(self) -> int:
        while not self._ended:
            self._has(len(self._made))
        return len(self._made)

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[T]: ...
    def __getitem__(self, place: int | slice) -> T | Sequence[T]:
        return self._all[place]

    def __reduce__(self) -> Any:
        return tuple, (self._all,)

    @property
    def _all(self) -> tuple[T, ...]:
        return tuple(self)

    def _has(self, place: int) -> bool:
        """Make elements up to a place; tell whether there are as many."""
        if self._ended:
            return len(self._made) > place
        with self._lock, without_collection():
            while len(self._made) <= place and not self._ended:
                try:
                    if self._elements is None:
                        self._made.clear()
                        self._elements = self._make()
                    self._made.append(next(self._elements))
                except StopIteration:
                    self._ended = True
                except BaseException:
                    self._elements = None
                    raise
            return len(self._made) > place


class OnDemand(Mapping[Key, Value]):
    """Maps the keys of another mapping, in their order, to what `compute` gives for each: computed
    once, unless that raises.
    """

    def __init__(self, keys: Mapping[Key, object], compute: Callable[[Key], Value]) -> None:
        self._keys = keys
        self._compute = compute
        self._known: dict[Key, Value] = {}

    def __getitem__(self, key: Key) -> Value:
        if key not in self._known:
            if key not in self._keys:
                raise KeyError(key)
            self._known[key] = self._compute(key)
        return self._known[key]

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __iter__(self) -> Iterator[Key]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)
