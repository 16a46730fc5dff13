"""Small sizes at which lengths are as large as they have to be, and derived sizes divide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice

from workbench.errors import SizeError
from workbench.polyhedral.expression import Expression
from workbench.program.sizes import resolve
from workbench.program.values import Program

FAR = 1000
"""The growth of a size whose effect is observed, past any rounding of a division."""
PASSES = 8
"""The most times that all needs are gone through: the divisor of a derived size that grows for one
leaves another unmet.
"""
TRIES = 20_000
"""The most sizes tried until derived ones divide."""

Sizes = dict[str, int]


@dataclass(frozen=True)
class Need:
    """A least length: `length` is to be at least `least`, because of `reason`."""

    length: Expression
    least: int
    reason: str = ""

    def met(self, sizes: Mapping[str, int]) -> bool:
        """Tell whether the need is met at these sizes."""
        return self.length.evaluate(sizes) >= self.least


def fitting(program: Program, wanted: Sequence[Need]) -> Sizes:
    """Return small sizes that meet every need that sizes can meet, and at which every derived size
    divides.
    """
    chosen = {p.name: 1 for p in program.parameters if p.definition is None}
    for _ in range(PASSES):
        before = dict(chosen)
        for need in wanted:
            _meet(program, need, chosen)
        if chosen == before:
            break
    return dividing(program, chosen)


def _meet(program: Program, need: Need, chosen: Sizes) -> None:
    """Let sizes grow until a need is met, or none of them would help."""
    while not need.met(evaluated(program, chosen)):
        name, growth = _most_useful(program, need.length, chosen)
        if growth <= 0:
            break
        missing = need.least - need.length.evaluate(evaluated(program, chosen))
        chosen[name] += max(1, int(missing / growth))


def _most_useful(program: Program, length: Expression, chosen: Sizes) -> tuple[str, float]:
    """Return the size whose growth lengthens it most, and the length gained by a growth of one."""
    now = length.evaluate(evaluated(program, chosen))
    best, most = "", 0.0
    for name, n in chosen.items():
        far = length.evaluate(evaluated(program, chosen | {name: n + FAR}))
        if (far - now) / FAR > most:
            best, most = name, (far - now) / FAR
    return best, most


def evaluated(program: Program, chosen: Mapping[str, int]) -> Sizes:
    """Return all sizes, derived ones rounded where they do not divide."""
    sizes: Sizes = {}
    for p in program.parameters:
        sizes[p.name] = chosen[p.name] if p.definition is None else p.definition.evaluate(sizes)
    return sizes


def dividing(program: Program, chosen: Sizes) -> Sizes:
    """Return all sizes, those given a little larger where a derived size would not divide or be 0.

    Raises SizeError where none are found.
    """
    names = {n for p in program.parameters if p.definition is not None for n in p.definition.sizes}
    involved = [name for name in chosen if name in names]
    ways = (added for extra in count(0) for added in _summing(extra, len(involved)))
    for added in islice(ways if involved else [()], TRIES):
        larger = chosen | {n: chosen[n] + k for n, k in zip(involved, added, strict=True)}
        try:
            return resolve(program.equations, larger)
        except SizeError as error:
            failure = error
    raise failure


def _summing(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield every way to write `total` as a sum of `parts` numbers, in order."""
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _summing(total - first, parts - 1):
            yield (first, *rest)
