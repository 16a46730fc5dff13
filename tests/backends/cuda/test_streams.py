"""Waits of copies and kernels on three streams."""

from __future__ import annotations

from workbench.backends.cuda.launching import FunctionLaunch, Transfer
from workbench.backends.cuda.streams import BEGIN, OnStreams
from workbench.codegen.cuda.memory.memory_parts import Touched


def kernel(*, reads: tuple[int, ...] = (), writes: tuple[int, ...] = ()) -> FunctionLaunch:
    """A launch that touches ten bytes from each of these addresses."""
    touched = [Touched(at, at + 10, False) for at in reads]
    touched += [Touched(at, at + 10, True) for at in writes]
    return FunctionLaunch("kernel", 1, (), tuple(touched))


def copy(source: int, to: int) -> Transfer:
    return Transfer(to, source, 10, to >= HOST)


HOST, SLOT, OTHER, DEVICE = 1000, 0, 10, 500


def test_kernels_alone_wait_for_nothing() -> None:
    found = OnStreams.of([kernel(writes=(DEVICE,)), kernel(reads=(DEVICE,))])
    assert found.waits == {} and found.last == ()


def test_a_kernel_waits_for_the_copy_of_what_it_reads() -> None:
    found = OnStreams.of([copy(HOST, SLOT), kernel(reads=(SLOT,))])
    assert found.waits == {0: (BEGIN,), 1: (0,)} and found.last == ()


def test_a_copy_to_the_host_waits_for_its_kernel_and_is_waited_for_at_the_end() -> None:
    found = OnStreams.of([kernel(writes=(SLOT,)), copy(SLOT, HOST), kernel(writes=(DEVICE,))])
    assert found.waits == {1: (0,)} and found.last == (1,)


def test_a_slot_is_filled_again_when_its_last_reader_is_done() -> None:
    steps = [
        copy(HOST, SLOT),
        copy(HOST + 10, OTHER),
        kernel(reads=(SLOT,)),
        copy(HOST + 20, SLOT),
        kernel(reads=(OTHER,)),
        kernel(reads=(SLOT,)),
    ]
    found = OnStreams.of(steps)
    assert found.waits == {0: (BEGIN,), 2: (0,), 3: (2,), 4: (1,), 5: (3,)}
    assert found.last == ()


def test_what_is_copied_out_is_not_written_over_too_early() -> None:
    steps = [kernel(writes=(SLOT,)), copy(SLOT, HOST), kernel(writes=(SLOT,))]
    assert OnStreams.of(steps).waits == {1: (0,), 2: (1,)}


def test_what_is_copied_out_may_be_read_meanwhile() -> None:
    steps = [kernel(writes=(SLOT,)), copy(SLOT, HOST), kernel(reads=(SLOT,))]
    found = OnStreams.of(steps)
    assert found.waits == {1: (0,)} and found.last == (1,)


def test_a_kernel_that_reads_host_memory_waits_for_the_copy_there() -> None:
    steps = [kernel(writes=(SLOT,)), copy(SLOT, HOST), kernel(reads=(HOST,))]
    assert OnStreams.of(steps).waits == {1: (0,), 2: (1,)}


def test_nothing_is_waited_for_twice() -> None:
    steps = [
        copy(HOST, SLOT),
        copy(HOST + 10, OTHER),
        kernel(reads=(OTHER,)),
        kernel(reads=(SLOT,)),
        kernel(reads=(OTHER,)),
    ]
    assert OnStreams.of(steps).waits == {0: (BEGIN,), 2: (1,)}


def test_copies_of_the_two_ways_wait_for_kernels_and_not_for_each_other() -> None:
    steps = [copy(HOST, SLOT), kernel(writes=(OTHER,)), copy(OTHER, HOST + 10), copy(HOST, DEVICE)]
    found = OnStreams.of(steps)
    assert found.waits == {0: (BEGIN,), 2: (1,)} and found.last == (3, 2)


def test_what_comes_back_waits_for_its_copy_to_the_host_and_so_for_its_kernel() -> None:
    steps = [
        kernel(writes=(SLOT,)),
        copy(SLOT, HOST),
        copy(HOST, SLOT),
        kernel(reads=(SLOT,)),
    ]
    found = OnStreams.of(steps)
    assert found.waits == {1: (0,), 2: (1,), 3: (2,)} and found.last == ()


def test_a_step_may_wait_for_both_other_streams() -> None:
    steps = [
        kernel(reads=(SLOT,), writes=(OTHER,)),
        copy(OTHER, HOST),
        kernel(reads=(SLOT,)),
        copy(HOST, SLOT),
    ]
    assert OnStreams.of(steps).waits == {1: (0,), 3: (2, 1)}
