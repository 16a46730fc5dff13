"""A permutation by many blocks: the functions that draw it, one behind the other.

Places are dealt to ranges of their words, of which each block sorts one
(`device/block_sorting.h`). It takes no memory for words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from workbench.codegen.kernel_records import Invoke
from workbench.polyhedral.expression import Expression, expression, minimum

THREADS = 1024
"""Those of a block: each draws four words, or compares two at a time."""
WORDS = 4
"""The words that a thread draws."""
RANGE = 2048
"""About how many words a range has, as long as there are few enough ranges."""
MOST_RANGES = 8192
MOST_SORTED = 4096
"""The most words that a block sorts in shared memory."""

BEGUN, COUNTED, DEALT, SORTED = STAGES = (
    "permutation begun",
    "permutation counted",
    "permutation dealt",
    "permutation sorted",
)
"""The functions in order."""

SCRATCH = {
    DEALT: (("begins", MOST_RANGES), ("sums", THREADS)),
    SORTED: (("own_word", MOST_SORTED), ("own_place", MOST_SORTED)),
}
"""The memory that a block needs for a function: names with elements, integers of 32 bits."""


@dataclass(frozen=True)
class Sorting:
    """A permutation as functions: each with its blocks; the memory for counts, by name with its
    elements, which are integers of 32 bits.
    """

    counts: str
    elements: Expression
    stages: tuple[tuple[Invoke, Expression], ...]


def sorting(record: Invoke, name: Callable[[str], str]) -> Sorting:
    """Return a permutation as functions. `name` makes names of memory."""
    count = expression(record.option["n"])
    ranges = minimum(_quotient(count, RANGE), expression(MOST_RANGES))
    counts = name("counts")
    drawing = _quotient(count, THREADS * WORDS)
    options = (*record.options, ("ranges", ranges))
    at = counts, expression(0)

    def stages() -> Iterator[tuple[Invoke, Expression]]:
        yield Invoke(BEGUN, at, (), options), expression(1)
        yield Invoke(COUNTED, at, (), options), drawing
        yield replace(record, function=DEALT, operands=(at,), options=options), drawing
        yield replace(record, function=SORTED, operands=(at,), options=options), ranges

    return Sorting(counts, ranges * 3 + 1, tuple(stages()))


def _quotient(count: Expression, by: int) -> Expression:
    """Return how many pieces of a length there are, the last one shorter."""
    return (count + (by - 1)) // by
