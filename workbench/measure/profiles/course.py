"""The course of a run: its first launches and the iterations around them on one time axis, a lane
for each loop and for each of what is launched, with the bytes held meanwhile.

It knows what a log means and what is drawn of it, not how it was written. Lanes are in the order of
the loop program. What is closer than a tick is one span, so that a course stays small.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from workbench.backends.timed.stamps import TimedIteration, TimedLaunch
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.records import (
    AtOnce,
    Enter,
    For,
    If,
    Launch,
    Record,
    RuntimeCheck,
    walk,
)

MOST_ITERATIONS = 3
"""The most whole iterations of the outermost loop that are shown."""
MOST_LANES = 24
"""The most lanes of what is launched, those that take longest; the others share one."""
MOST_SPANS = 1500
"""The most spans of all lanes: ticks are made longer until no more are left."""
MOST_TICKS = 2400
OTHERS = "others"


@dataclass(frozen=True)
class Place:
    """What a log has numbers for, in the order of the loop program: a loop, by its variable, or
    what is launched. `depth` counts the loops around it, `bytes` are the most held on the device
    while it is launched.
    """

    name: str
    depth: int
    number: int
    is_loop: bool = False
    bytes: int = 0


@dataclass(frozen=True)
class Span:
    """Neighbours in a lane, in ticks: a launch or several, `busy` for part of the time, or an
    iteration, whose `count` is the loop's value. `predicted` is the length that they were predicted
    to have, None where nothing was.
    """

    begin: int
    end: int
    count: int
    busy: float
    predicted: float | None


@dataclass(frozen=True)
class Lane:
    """The spans of a place. `share` is its part of the time shown."""

    place: Place
    spans: tuple[Span, ...]
    share: float


@dataclass(frozen=True)
class Course:
    """A run from its begin for so many `seconds`, of `tick` each. `held` has the bytes held from
    ticks on. `whole`: nothing came behind.
    """

    seconds: float
    tick: float
    lanes: tuple[Lane, ...]
    held: tuple[tuple[int, int], ...]
    whole: bool


@dataclass(frozen=True)
class _Timed:
    """Something in a log: what a lane has spans of."""

    begin: float
    end: float
    count: int
    busy: float
    predicted: float | None


@dataclass
class _Open:
    """An iteration that has begun."""

    entry: TimedIteration
    place: Place
    predicted: float | None = 0.0


Log = Sequence[TimedLaunch | TimedIteration]


def course(log: Log, places: Sequence[Place], predicted: Mapping[int, float]) -> Course | None:
    """Return the course of a log, None where nothing was launched. `predicted` are the seconds of a
    launch by its number.
    """
    shown = _first_iterations(log, places)
    launches = [entry for entry in shown if isinstance(entry, TimedLaunch)]
    if not launches:
        return None
    seconds = max(launch.end for launch in launches)
    timed = _timed(shown, places, predicted, seconds)
    kept = _shared(timed, places)
    ticks = MOST_TICKS
    lanes = _lanes(kept, seconds, ticks)
    while sum(len(lane.spans) for lane in lanes) > MOST_SPANS and ticks > 1:
        ticks //= 2
        lanes = _lanes(kept, seconds, ticks)
    tick = seconds / ticks
    held = {place.number: place.bytes for place in places if not place.is_loop}
    return Course(
        seconds, tick, lanes, tuple(_held(launches, held, tick)), whole=len(shown) == len(log)
    )


def _first_iterations(log: Log, places: Sequence[Place]) -> Log:
    """Return a log up to the end of the last whole iteration of the outermost loop that is shown;
    all of it where there is none.
    """
    outer = [place.number for place in places if place.is_loop and place.depth == 0]
    began: dict[int, list[int]] = {number: [] for number in outer}
    for position, entry in enumerate(log):
        if isinstance(entry, TimedIteration) and entry.loop in began:
            began[entry.loop].append(position)
    main = max(began.values(), key=len, default=[])
    if len(main) < 2:
        return log
    return log[: main[min(MOST_ITERATIONS, len(main) - 1)]]


def _timed(
    log: Log, places: Sequence[Place], predicted: Mapping[int, float], seconds: float
) -> dict[Place, list[_Timed]]:
    """Return what a log has by place. An iteration ends where the next thing begins that is not
    inside of it.
    """
    launched = {place.number: place for place in places if not place.is_loop}
    loops = {place.number: place for place in places if place.is_loop}
    inside = _inside(places)
    timed: dict[Place, list[_Timed]] = {place: [] for place in places}
    around: list[_Open] = []

    def leave(place: Place, now: float) -> None:
        while around and place not in inside[around[-1].place]:
            one = around.pop()
            begin, value = one.entry.begin, one.entry.value
            timed[one.place].append(_Timed(begin, now, value, now - begin, one.predicted))

    for entry in log:
        if isinstance(entry, TimedIteration):
            leave(loops[entry.loop], entry.begin)
            around.append(_Open(entry, loops[entry.loop]))
            continue
        place = launched[entry.number]
        leave(place, entry.begin)
        long = predicted.get(entry.number)
        for one in around:
            one.predicted = None if one.predicted is None or long is None else one.predicted + long
        timed[place].append(_Timed(entry.begin, entry.end, 1, entry.end - entry.begin, long))
    for one in reversed(around):
        begin, value = one.entry.begin, one.entry.value
        timed[one.place].append(_Timed(begin, seconds, value, seconds - begin, one.predicted))
    return timed


def _inside(places: Sequence[Place]) -> dict[Place, set[Place]]:
    """Return the places inside of each loop."""
    inside: dict[Place, set[Place]] = {}
    for position, place in enumerate(places):
        if place.is_loop:
            own = inside[place] = set()
            for other in places[position + 1 :]:
                if other.depth <= place.depth:
                    break
                own.add(other)
    return inside


def _shared(
    timed: Mapping[Place, list[_Timed]], places: Sequence[Place]
) -> dict[Place, list[_Timed]]:
    """Return the lanes that are shown: loops, the longest of what is launched, and one for all that
    is left.
    """
    launched = [place for place in places if not place.is_loop and timed[place]]
    long = sorted(launched, key=lambda place: -sum(one.busy for one in timed[place]))[:MOST_LANES]
    chosen = {place: timed[place] for place in places if place.is_loop or place in long}
    chosen = {place: each for place, each in chosen.items() if each}
    rest = [one for place in launched if place not in long for one in timed[place]]
    if rest:
        count = len(launched) - len(long)
        chosen[Place(f"{count} {OTHERS}", 0, -1)] = sorted(rest, key=lambda one: one.begin)
    return chosen


def _lanes(timed: Mapping[Place, list[_Timed]], seconds: float, ticks: int) -> tuple[Lane, ...]:
    return tuple(
        Lane(
            place,
            tuple(_spans(each, seconds / ticks, place.is_loop)),
            sum(one.busy for one in each) / seconds,
        )
        for place, each in timed.items()
    )


def _spans(timed: Iterable[_Timed], tick: float, is_loop: bool) -> Iterator[Span]:
    """Yield spans in which neighbours that are closer than a tick are one; iterations only where
    they are shorter than that.
    """
    group: list[_Timed] = []
    for one in timed:
        if group and not _are_one(group, one, tick, is_loop):
            yield _span(group, tick)
            group = []
        group.append(one)
    if group:
        yield _span(group, tick)


def _are_one(group: Sequence[_Timed], one: _Timed, tick: float, is_loop: bool) -> bool:
    if is_loop:
        return one.end - group[0].begin < 2 * tick
    return one.begin - group[-1].end < tick


def _span(group: Sequence[_Timed], tick: float) -> Span:
    first, last = group[0], group[-1]
    long = [one.predicted for one in group]
    begin, end = round(first.begin / tick), round(last.end / tick)
    return Span(
        begin,
        max(end, begin + 1),
        first.count if len(group) == 1 else sum(one.count for one in group),
        min(sum(one.busy for one in group) / max(last.end - first.begin, 1e-12), 1.0),
        None if None in long else sum(one or 0.0 for one in long) / tick,
    )


def _held(
    launches: Sequence[TimedLaunch], held: Mapping[int, int], tick: float
) -> Iterator[tuple[int, int]]:
    """Yield the ticks from which on other bytes are held, with the most that are held within
    each.
    """
    most: dict[int, int] = {}
    last: dict[int, int] = {}
    for launch in launches:
        at = int(launch.begin / tick)
        most[at] = max(most.get(at, 0), held[launch.number])
        last[at] = held[launch.number]
    before = -1
    for at, bytes_held in most.items():
        if bytes_held != before:
            yield at, bytes_held
        before = last[at]
        if before != bytes_held and at + 1 not in most:
            yield at + 1, before


# -- places in a loop program ----------------------------------------------------------------------


@dataclass(frozen=True)
class Held:
    """The bytes held on a device at each place of a loop program, by its place in text order."""

    levels: Sequence[tuple[int, int]] = field(repr=False)

    @classmethod
    def of(
        cls,
        loops: LoopProgram,
        sizes: Mapping[str, int],
        dtype: str,
        threads: int = 1,
        peak: int | None = None,
    ) -> Held:
        """Return what a loop program holds, with a block's own arrays for each thread, and all
        along what a run's `peak` has beside arrays.
        """
        levels = [
            (point.position, sum(n * (threads if a in loops.own else 1) for a, n in point.live))
            for point in loops.timeline(sizes, dtype)
        ]
        most = max((level for _, level in levels), default=0)
        beside = 0 if peak is None else peak - most
        return cls([(0, beside), *((position, level + beside) for position, level in levels)])

    def between(self, first: int, last: int) -> int:
        """Return the most bytes held from one place to another, both included."""
        before = [level for position, level in self.levels if position <= first][-1:]
        here = [level for position, level in self.levels if first < position <= last]
        return max([*before, *here])


def kernel_places(loops: LoopProgram, names: Sequence[str], held: Held) -> tuple[Place, ...]:
    """Return the places of kernels, which are launched in text order, and of the loops around."""
    places: list[Place] = []
    kernels, numbers = iter(enumerate(names)), count()

    def visit(body: tuple[Record, ...], depth: int, position: int) -> None:
        for record in body:
            position += 1
            last = position + len(list(walk((record,)))) - 1
            if isinstance(record, Launch) or (isinstance(record, For) and record.apart):
                number, name = next(kernels)
                most = held.between(position, last)
                places.append(Place(name, depth, number, bytes=most))
            elif isinstance(record, For):
                places.append(Place(record.variable, depth, next(numbers), is_loop=True))
                visit(record.body, depth + 1, position)
            elif isinstance(record, (If, AtOnce)):
                visit(record.body, depth, position)
            position = last

    visit(loops.body, 0, 0)
    return tuple(places)


def statement_places(
    loops: LoopProgram,
    numbers: Mapping[str, int],
    names: Sequence[str],
    sizes: Mapping[str, int],
    dtype: str,
) -> tuple[Place, ...]:
    """Return the places of statements, which have these `numbers` and by them `names`, and of the
    loops around them.
    """
    held = Held.of(loops, sizes, dtype)
    places: dict[tuple[bool, int], Place] = {}
    loop_numbers, begun = count(), 0

    def visit(body: tuple[Record, ...], depth: int, position: int) -> None:
        nonlocal begun
        for record in body:
            position += 1
            if isinstance(record, For):
                number = next(loop_numbers)
                places[True, number] = Place(record.variable, depth, number, is_loop=True)
                visit(record.body, depth + 1, position)
            elif isinstance(record, If):
                visit(record.body, depth, position)
            elif isinstance(record, Enter):
                begun = position
            elif isinstance(record, RuntimeCheck) and record.statement in numbers:
                number = numbers[record.statement]
                most = held.between(begun, position)
                place = Place(names[number], depth, number, bytes=most)
                places.setdefault((False, number), place)
            position += len(list(walk((record,)))) - 1

    visit(loops.body, 0, 0)
    return tuple(places.values())
