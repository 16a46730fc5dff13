"""Kernels in a row: those that do not wait for each other have warps of their own, one that waits
for a warp stands in it, and no thread meets another's without a barrier. By enumeration of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.codegen.cuda.threads.barriers import Barriers
from workbench.codegen.cuda.threads.sharing import shared_out
from workbench.codegen.cuda.threads.thread_accesses import Block
from workbench.codegen.cuda.threads.thread_code import (
    Barrier,
    Code,
    Elements,
    Everywhere,
    First,
    Points,
    WarpTurns,
)
from workbench.codegen.cuda.threads.warps import WARP
from workbench.codegen.cuda.threads.warps_in_turn import Placed, WarpsInTurn
from workbench.codegen.kernel_records import (
    KernelRecord,
    Let,
    Load,
    Local,
    Loop,
    Number,
    Store,
    Total,
    Update,
    Variable,
)
from workbench.polyhedral.expression import expression, variable

THREADS = 256
n = variable("n")
ZERO = Number(0.0, "float32")


def writes(array: str, at: int | None = None) -> KernelRecord:
    """An element, which is the turn's where no place is given."""
    return Store(array, n if at is None else expression(at), ZERO)


def reads(array: str, at: int | None = None) -> KernelRecord:
    return Let("value", Load(array, n if at is None else expression(at), "float32"))


def elements(count: int, *records: KernelRecord) -> Code:
    return Elements(Loop("n", expression(0), expression(count), records, lanes=True))


def placed(*rows: Sequence[Code]) -> list[Placed]:
    """The code of kernels in a row."""
    warps, barriers = WarpsInTurn(THREADS), Barriers(str.__eq__, str.__eq__)
    block = Block(THREADS, 16, frozenset(), {}, {})
    return [warps.placed(codes, block, barriers) for codes in rows]


def test_kernels_that_wait_for_none_have_warps_of_their_own() -> None:
    sums = [[First((writes(array, 0),))] for array in "abc"]
    wide = [elements(40, writes("d"))]
    found = placed(*sums, wide, [First((writes("e", 0),))])
    assert [one.begin for one in found] == [0, 32, 64, 96, 160]
    assert not any(Barrier() in one.codes for one in found)


def test_a_kernel_stands_in_the_warp_that_it_waits_for() -> None:
    found = placed(
        [First((writes("a", 0),))], [First((writes("b", 0),))], [First((reads("b", 0),))]
    )
    assert [one.begin for one in found] == [0, 32, 32]
    assert found[-1].codes == (First((reads("b", 0),)),)


def test_a_kernel_that_waits_for_several_warps_has_the_next_behind_a_barrier() -> None:
    both = First((reads("a", 0), reads("b", 0)))
    found = placed([First((writes("a", 0),))], [First((writes("b", 0),))], [both])
    assert found[-1] == Placed((Barrier(), both), 64)


def test_behind_the_last_warp_comes_the_first() -> None:
    found = placed(*([elements(100, writes(array))] for array in "abc"))
    assert [one.begin for one in found] == [0, 128, 0]


def test_a_kernel_for_more_than_half_of_the_threads_begins_with_the_first() -> None:
    found = placed([First((writes("a", 0),))], [elements(129, writes("b"))])
    assert found[-1] == Placed((elements(129, writes("b")),))


def test_values_for_all_are_computed_by_the_threads_of_the_kernel() -> None:
    """Behind the barrier, which all threads of the block reach."""
    value = Everywhere((Let("value", ZERO),))
    first, second = elements(40, writes("a")), elements(40, reads("a"), writes("b"))
    behind, own = First((reads("b", 39),)), elements(40, writes("c"))
    found = placed([first], [value, second], [value, behind, own], [value, own, behind])
    assert found[0].threads is None
    assert found[1] == Placed((value, second), 0, 64)
    assert found[2] == Placed((Barrier(), value, behind, own), 64, 64)
    assert found[3] == Placed((value, own, behind), 64, 64)
    found = placed([first], [value, second], [value, own, behind])
    assert found[2] == Placed((value, own, Barrier(), behind), 64)


def test_sums_along_rows_are_dealt_to_warps() -> None:
    """Unless a turn adds to what another one has."""
    total = Local("part", "float32")
    points = Loop(
        "n",
        expression(0),
        expression(40),
        (Update("part", Load("x", 40 * variable("r") + n, "float32"), "add"),),
        lanes=True,
    )

    def rows(*behind: KernelRecord) -> Code:
        body = (Variable("part", ZERO, parts=True), points, Total("sum", total, "add"), *behind)
        loop = Loop("r", expression(0), expression(9), body)
        return next(c for c in shared_out((loop,), 16, THREADS, set()) if c != Everywhere(()))

    sum_of_row = Local("sum", "float32")
    code = rows(Store("y", variable("r"), sum_of_row))
    assert isinstance(code, WarpTurns)
    assert any(isinstance(inside, Points) for inside in code.body)
    assert not isinstance(rows(Store("y", expression(0), sum_of_row)), WarpTurns)
    assert not isinstance(rows(Update("of all", sum_of_row, "add")), WarpTurns)
    (one,) = placed([code])
    assert one == Placed((code,))


@dataclass(frozen=True)
class Row:
    """A kernel that reads and writes elements side by side: which, and by how many threads. It may
    read the first of them behind that, and compute a value for all of its threads.
    """

    read: str
    written: str
    shift: int
    count: int
    looks_back: bool
    has_value: bool

    @property
    def codes(self) -> list[Code]:
        """Its code."""
        alone = self.count == 1
        records = (
            Let("value", Load(self.read, expression(self.shift) if alone else n + self.shift, "f")),
            Store(self.written, expression(0) if alone else n, Local("value", "float32")),
        )
        return [
            *([Everywhere((Let("known", ZERO),))] if self.has_value else []),
            First(records) if alone else elements(self.count, *records),
            *([First((reads(self.written, self.count - 1),))] if self.looks_back else []),
        ]

    def accesses(self, code: Code) -> list[tuple[int, str, int, bool]]:
        """The thread of the kernel, the element, and whether it is written."""
        if isinstance(code, First) and self.looks_back and len(code.records) == 1:
            return [(0, self.written, self.count - 1, False)]
        return [
            access
            for k in range(self.count)
            for access in (
                (k % THREADS, self.read, k + self.shift, False),
                (k % THREADS, self.written, k, True),
            )
        ]


@dataclass(frozen=True)
class Seen:
    """An access of a thread of the block, behind so many barriers of it and of its warp."""

    thread: int
    write: bool
    of_block: int
    of_warp: int

    def waits(self, other: Seen) -> bool:
        """Tell whether a barrier stands between."""
        if self.thread // WARP == other.thread // WARP and self.of_warp != other.of_warp:
            return True
        return self.of_block != other.of_block


arrays = st.sampled_from("abcd")
counts = st.sampled_from([1, 2, 20, 31, 32, 33, 64, 100, 200, 300])
kernels = st.builds(
    Row, arrays, arrays, st.integers(0, 40), counts, st.booleans(), st.booleans()
).filter(lambda row: row.read != row.written)


@settings(max_examples=1000)
@given(st.lists(kernels, min_size=2, max_size=7))
def test_no_thread_meets_another_without_a_barrier_between(rows: list[Row]) -> None:
    of_block, of_warp = 0, [0] * (THREADS // WARP)
    seen: dict[tuple[str, int], list[Seen]] = {}
    for row, one in zip(rows, placed(*(row.codes for row in rows)), strict=True):
        assert one.begin % WARP == 0
        first, last = one.begin // WARP, (one.begin + (one.threads or THREADS)) // WARP
        inside = range(first, last) if one.threads else range(THREADS // WARP)
        for code in one.codes:
            if code == Barrier():
                assert one.threads is None or code is one.codes[0]
                of_block += 1
            elif isinstance(code, Barrier):
                for warp in inside:
                    of_warp[warp] += 1
            elif not isinstance(code, Everywhere):
                for thread, array, place, write in row.accesses(code):
                    by = (one.begin + thread) % THREADS
                    assert by // WARP in inside
                    access = Seen(by, write, of_block, of_warp[by // WARP])
                    seen.setdefault((array, place), []).append(access)
    for found in seen.values():
        for access, other in combinations(found, 2):
            if access.thread != other.thread and (access.write or other.write):
                assert access.waits(other)


def test_a_warp_that_is_not_full_runs_no_kernel_with_others() -> None:
    """Behind the last whole warp its threads and the first ones would make up one of a kernel."""
    warps, barriers = WarpsInTurn(264), Barriers(str.__eq__, str.__eq__)
    block = Block(264, 24, frozenset(), {}, {})
    for k in range(8):
        assert warps.placed([First((writes(f"a{k}", 0),))], block, barriers).begin == 32 * k
    long = [elements(20, reads("a7", 0), writes("b")), elements(64, writes("c"))]
    assert warps.placed(long, block, barriers).begin + 64 <= 264
