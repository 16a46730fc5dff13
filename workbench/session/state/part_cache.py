"""A cache of parts: each is computed once by the worker and answered from here."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from workbench.backends import default
from workbench.planning.machine.calibrated import stamp
from workbench.session.picture.snapshot import Snapshot
from workbench.session.processes.pipe import NotSentError
from workbench.session.processes.workers import Workers
from workbench.session.protocol.capsule import Plain, SavedPart, plain
from workbench.session.protocol.messages import Answer, Failed, Message, Part, Want
from workbench.session.protocol.reading import record
from workbench.session.protocol.state import ErrorView
from workbench.transforms.step.transform import REGISTRY
from workbench.variants.variant import Variant

Reply = Callable[[Message], None]
Key = tuple[str, str, str, str]
Json = Mapping[str, Any]

STREAMED: Part = "moves"
"""The part that comes in batches."""
BEGUN_WITH = {"sizes": {}, "dtype": "float32"}
"""The arguments that views begin with, besides the default backend."""
PREDICTED: tuple[Part, ...] = ("cost", "price", "preview", "sweep", "runs")
"""The parts with predicted times of a backend: they are others once this machine is calibrated."""
PLAYED: Json = {"statement": None, "sizes": {}}
"""The arguments with which a variant is played at first."""
OF_SHOWN: tuple[tuple[Part, Json], ...] = ((STREAMED, {}), ("play", PLAYED))
"""The same of the shown variant alone: what takes seconds."""
AS_LONG_AS_VARIANTS: frozenset[Part] = frozenset({"snapshot", "price"})
"""Parts kept as long as their variants: the first to be drawn; many small ones."""
MOST = 256
"""The most other answers that are kept."""
MOST_TEXT = 32_000_000
"""The most characters of JSON in a capsule; compressed a tenth of that."""


@dataclass(eq=False)
class _Entry:
    """A part: its value so far, and until it is done the order and those who wait."""

    saved: SavedPart
    done: bool = False
    forgettable: bool = True
    """True if the part is dropped when nobody waits for it."""
    orders: list[int] = field(default_factory=list)
    left: int = 0
    """The orders that have not ended."""
    waiting: list[tuple[Reply, int]] = field(default_factory=list)


def first(lengths: Mapping[str, str]) -> tuple[tuple[Part, Json], ...]:
    """Return the parts of each variant that views ask for at first, with their arguments: `lengths`
    are of runs, by dim.
    """
    backend = default()
    return (
        ("snapshot", {}),
        ("cost", begun_with(lengths) | {"backend": backend}),
        ("memory", BEGUN_WITH | {"backend": backend}),
        ("code", {"backend": backend}),
    )


def begun_with(lengths: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments of predictions that views begin with, besides the backend."""
    return BEGUN_WITH | ({"lengths": dict(lengths)} if lengths else {})


class PartCache:
    """A cache that answers `Want`, by itself or through the worker. Parts are JSON-able values.
    `resolved` puts what arguments name in its place, for the worker.
    """

    def __init__(
        self,
        work: Workers,
        changed: Callable[[], None],
        resolved: Callable[[Json], Json] = dict,
    ) -> None:
        self._work, self._changed, self._resolved = work, changed, resolved
        self._lock = threading.RLock()
        self._entries: dict[Key, _Entry] = {}

    def prepare(self, variant: Variant, parts: Sequence[tuple[Part, Json]]) -> None:
        """Have parts of a variant computed before they are asked for, and keep them for saving.
        Whoever asks for one of a variant that cannot be sent hears why.
        """
        for part, arguments in parts:
            with self._lock:
                key = _key(part, variant.key, arguments)
                if key not in self._entries:
                    saved = SavedPart(part, variant.key, arguments, None)
                    with contextlib.suppress(NotSentError):
                        self._start(key, _Entry(saved, forgettable=False), variant, "prepare")

    def prepare_shown(self, variant: Variant) -> None:
        """Have the parts computed that the shown variant alone has. Unfinished ones of variants
        shown before continue only if somebody waits for them.
        """
        with self._lock:
            for key, entry in list(self._entries.items()):
                if key[0] in dict(OF_SHOWN) and key[1] != variant.key:
                    entry.forgettable = True
                    self._drop_unwanted(key, entry)
        self.prepare(variant, OF_SHOWN)

    def want(self, want: Want, variant: Variant, reply: Reply) -> None:
        """Answer now or later."""
        with self._lock:
            key = _key(want.part, want.variant, want.arguments)
            entry = self._entries.pop(key, None)
            if entry is None:
                entry = _Entry(SavedPart(want.part, want.variant, want.arguments, None))
                self._start(key, entry, variant, want.part)
            elif not entry.done:
                for order in entry.orders:
                    self._work.hasten(order, want.part)
            self._entries[key] = entry  # the newest last
            if not entry.done:
                entry.waiting.append((reply, want.id))
            there = entry.saved.value
        if there is not None:
            reply(Answer("part", want.id, there, entry.done))

    def forget(self, reply: Reply, number: int) -> None:
        """Forget one who waited; a part that nobody waits for is dropped."""
        with self._lock:
            for key, entry in list(self._entries.items()):
                if (reply, number) not in entry.waiting:
                    continue
                entry.waiting.remove((reply, number))
                self._drop_unwanted(key, entry)

    def forget_all(self, reply: Reply) -> None:
        """Forget a view that is gone."""
        with self._lock:
            for key, entry in list(self._entries.items()):
                own = [pair for pair in entry.waiting if pair[0] == reply]
                for pair in own:
                    entry.waiting.remove(pair)
                if own:
                    self._drop_unwanted(key, entry)

    def keep(self, variant: Variant, picture: Snapshot | Plain) -> None:
        """Keep a picture that was drawn elsewhere, so that nobody draws it again."""
        with self._lock:
            key = _key("snapshot", variant.key, {})
            saved = SavedPart("snapshot", variant.key, {}, Plain(plain(picture)))
            entry = self._entries.setdefault(key, _Entry(saved))
            if not entry.done:
                self._stop(entry)
            entry.saved, entry.done = saved, True
            waiting, entry.waiting = entry.waiting, []
        for reply, number in waiting:
            reply(Answer("part", number, saved.value, True))
        self._changed()

    def picture(self, variant: Variant) -> Snapshot | None:
        """Return the picture of a variant, if it was computed."""
        with self._lock:
            entry = self._entries.get(_key("snapshot", variant.key, {}))
            value = entry.saved.value if entry is not None and entry.done else None
        return None if value is None else record("snapshot", value, Snapshot)

    def keep_only(self, variants: Container[str]) -> None:
        """Let go of parts of other variants, and of parts that nobody waits for."""
        with self._lock:
            for key, entry in list(self._entries.items()):
                if key[1] not in variants and not entry.waiting:
                    if not entry.done:
                        self._stop(entry)
                    del self._entries[key]

    def saved(self) -> tuple[SavedPart, ...]:
        """Return all complete parts: pictures, then the newest first, up to `MOST_TEXT`."""
        with self._lock:
            done = [e.saved for e in reversed(self._entries.values()) if e.done]
        done.sort(key=lambda saved: saved.part != "snapshot")
        lengths = accumulate(len(saved.json) for saved in done)
        return tuple(s for s, length in zip(done, lengths, strict=True) if length <= MOST_TEXT)

    def _drop_unwanted(self, key: Key, entry: _Entry) -> None:
        if entry.forgettable and not entry.waiting and not entry.done:
            self._stop(entry)
            del self._entries[key]

    def _stop(self, entry: _Entry) -> None:
        """Withdraw all orders of a part."""
        while entry.orders:
            self._work.drop(entry.orders.pop())

    def _start(self, key: Key, entry: _Entry, variant: Variant, urgency: str) -> None:
        """Have a part computed; let go of what was predicted of it before."""
        for old in [one for one in self._entries if one[:3] == key[:3] and one != key]:
            if self._entries[old].done:
                del self._entries[old]
        divided = _shares(entry.saved)
        entry.left = len(divided)
        for share in divided:
            self._order(key, entry, variant, urgency, share)
        self._entries[key] = entry

    def _order(self, key: Key, entry: _Entry, variant: Variant, urgency: str, share: Json) -> None:
        """Order a part, or a share of it."""
        part = entry.saved.part
        entry.orders.append(
            self._work.order(
                "part",
                variant,
                part,
                dict(self._resolved(share)),
                urgency=urgency,
                came=lambda value: self._came(key, entry, value),
                ended=lambda error: self._ended(key, entry, error),
                sort=_sort(part, share),
            )
        )

    def _came(self, key: Key, entry: _Entry, value: Any) -> None:
        with self._lock:
            before = entry.saved
            streamed = before.part == STREAMED
            together = joined(before.value, value) if streamed else value
            entry.saved = SavedPart(before.part, before.variant, before.arguments, together)
            waiting = list(entry.waiting) if streamed else []
        for reply, number in waiting:
            reply(Answer("part", number, value, False))

    def _ended(self, key: Key, entry: _Entry, error: ErrorView | None) -> None:
        with self._lock:
            entry.left -= 1
            if error is None and entry.left:
                return
            if error is not None:
                self._stop(entry)
            waiting, entry.waiting = entry.waiting, []
            entry.done = error is None
            if error is not None and self._entries.get(key) is entry:
                del self._entries[key]  # whoever asks again has another try
            others = [
                key
                for key, one in self._entries.items()
                if one.done and one.saved.part not in AS_LONG_AS_VARIANTS
            ]
            for old in others[: max(0, len(others) - MOST)]:
                del self._entries[old]
        for reply, number in waiting:
            if error is None:
                reply(Answer("part", number, _rest(entry.saved), True))
            else:
                reply(Failed("failed", number, error))
        if entry.saved.part != "price":  # one of hundreds: no reason to write all again
            self._changed()


def joined(before: Any, batch: Any) -> Any:
    """Join a batch of moves to those before it; a step that is proposed again counts once."""
    if before is None:
        return batch
    moves = {move["step"]["source"]: move for move in (*before["moves"], *batch["moves"])}
    transforms = [*before["transforms"], *batch["transforms"]]
    names = {**before["names"], **batch["names"]}
    return Plain(transforms=transforms, names=names, moves=list(moves.values()))


def _rest(saved: SavedPart) -> Any:
    """Return the last answer's addition to the batches before it."""
    if saved.part == STREAMED:
        return Plain(transforms=[], names={}, moves=[])
    return saved.value


def _shares(saved: SavedPart) -> Sequence[Json]:
    """Return the arguments of the orders that make up a part: all moves are judged by kinds."""
    if saved.part == STREAMED and not saved.arguments:
        return [{"transform": name} for name in REGISTRY]
    return [saved.arguments]


def _sort(part: Part, share: Json) -> str:
    """Return what a process remembers that has computed a share: the kind of steps that it judged,
    or else the part.
    """
    return str(share.get("transform") or share.get("step", {}).get("transform") or part)


def _key(part: str, variant: str, arguments: Mapping[str, Any]) -> Key:
    """Return the name of a part; of one with predicted times also which constants these are made
    of.
    """
    constants = stamp(str(arguments.get("backend"))) if part in PREDICTED else ""
    return part, variant, json.dumps(arguments, sort_keys=True), constants
