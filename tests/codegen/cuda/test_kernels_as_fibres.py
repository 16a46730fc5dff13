"""CUDA kernels, run thread by thread on a processor: the bits of compiled C, no fault, no barrier
that is not needed.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.codegen.cuda.fibres import (
    FibreDriver,
    differences,
    expect_bits_of_compiled_c,
    fibres,
    text_of,
    watched,
)
from tests.golden_files import GoldenFiles
from tests.native_runs import compiled, shared_cache
from workbench import nn, optim
from workbench.algorithms import a2c, ppo, q_learning, reinforce
from workbench.backends.cuda.run_state import RunState
from workbench.codegen.cuda import function_writer, kernel_parts, permutations
from workbench.codegen.cuda.headers import unit_begin
from workbench.codegen.cuda.kernel_functions import all_functions, functions
from workbench.codegen.kernels import program_kernels
from workbench.errors import ProgramError, RunError
from workbench.language.tracing.nodes import apply
from workbench.program.values import Program
from workbench.transforms import Contract, Donate, Persist, Swap, Vectorize
from workbench.transforms.step.transform import Transform
from workbench.variants.variant import Variant, variant

IN_PLACE = (Contract(), Donate())


def in_steps(program: Any, *steps: Transform) -> Variant:
    chosen = variant(program)
    for step in (*steps, *IN_PLACE):
        chosen = chosen.apply(step)
    return chosen


def in_blocks(program: Any, size: int, chunks: int = 16) -> Variant:
    dims = ("b", "k") if program.name == "ppo" else ("b",)
    return in_steps(program, *(Persist(d, size, chunks) for d in dims))


def sizes_of(program: Any, size: int) -> dict[str, int]:
    """Sizes with more blocks than chunks, the last of which is not full."""
    sizes = {"B": 5 * size - 5, "I": 2, "T": 4}
    return sizes | ({"M": 4, "E": 2} if program.name == "ppo" else {})


PROGRAMS = {
    "as written": lambda: in_steps(reinforce(hidden=(5,))),
    "along b": lambda: in_steps(reinforce(hidden=(5,)), Vectorize("b")),
    "many features along b": lambda: in_steps(reinforce(hidden=(20,)), Vectorize("b")),
    "along b and t": lambda: in_steps(reinforce(hidden=(20,)), Vectorize("b"), Vectorize("t")),
    "few features": lambda: in_blocks(ppo(hidden=(5,)), 16, 2),
    "rows of a lane": lambda: in_blocks(reinforce(hidden=(20,)), 32, 2),
    "blocks of 24": lambda: in_blocks(reinforce(hidden=(20,)), 24, 2),
    "two layers": lambda: in_blocks(ppo(hidden=(32, 24)), 32, 2),
    "sums of many chunks": lambda: in_blocks(ppo(hidden=(32, 40)), 32, 128),
    "blocks of one": lambda: in_blocks(reinforce(hidden=(20,)), 1, 2),
    "a table in blocks of one": lambda: in_blocks(q_learning(), 1, 2),
    "a2c": lambda: in_blocks(a2c(hidden=(9, 17)), 16),
}


BLOCKS = {"rows of a lane": 32, "blocks of 24": 24, "two layers": 32, "sums of many chunks": 32}
BLOCKS |= {"blocks of one": 2, "a table in blocks of one": 2}
"""The environments of a block, where they are not 16; of two blocks where a block is of one."""


FEW = ("as written", "along b and t", "few features", "rows of a lane", "sums of many chunks")
FEW += ("a table in blocks of one",)
"""One for each way in which threads share out a region; the others run in `make kernels`."""


@pytest.mark.parametrize(
    "how", [how if how in FEW else pytest.param(how, marks=pytest.mark.kernels) for how in PROGRAMS]
)
def test_bits_are_those_of_compiled_c(how: str) -> None:
    made = PROGRAMS[how]()
    sizes = sizes_of(made.program, BLOCKS.get(how, 16))
    dtype = "float64" if how in ("few features", "along b and t") else "float32"
    found, fault = watched(fibres(made.program, sizes), sizes, dtype)
    with shared_cache():
        wanted = compiled(made.program).run(sizes, 3, dtype).outputs
    assert fault == ""
    for name, value in wanted.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


@wb.program
def fitted(B: int = 75, I: int = 2) -> dict[str, Any]:
    """A network that is fitted to a constant."""
    b, i = wb.dims(b=B, i=I)
    network = nn.mlp("net", 4, (62, 66), 2)
    theta = nn.parameters(network, over=i)
    error = network(theta, wb.uniform(shape=(4,), over=(b, i))) - 1.0
    loss = (error * error).sum().mean(over=b)
    theta.update(optim.adam(wb.gradient(loss, theta), 0.01))
    return {"loss": loss}


def test_sums_of_which_a_thread_has_several_load_several_turns_at_once() -> None:
    """Where all blocks share the elements, and a thread has registers for them."""
    program = in_steps(fitted(), Vectorize("b")).program
    text = text_of(program_kernels(program), "float32")
    assert re.search(r"UNROLLED_BY\(4\) for \(int64_t b\w* = 0; b\w* < B; b\w*\+\+\)", text)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_that_threads_keep_have_the_bits_of_compiled_c(
    dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without room in shared memory: in pieces of which a matrix is no multiple, of one element,
    and along both sides of a matrix.
    """
    monkeypatch.setattr(kernel_parts, "SIDE_BY_SIDE", 0)
    program = in_blocks(fitted(), 16, 2).program
    text = text_of(program_kernels(program), dtype)
    pieces = re.findall(r"block_kept_product_[fd]\(.*, (\d), (\d), \d, THREADS, thread\);", text)
    wanted_pieces = {"float32": {("4", "4"), ("1", "1")}, "float64": {("1", "1")}}
    assert set(pieces) == wanted_pieces[dtype]
    assert re.search(r"block_kept_lane_sums_[fd]\(.*, 2, \d, THREADS, thread\);", text)
    found, fault = watched(fibres(program), {}, dtype)
    with shared_cache():
        wanted = compiled(program).run({}, 3, dtype).outputs
    assert fault == ""
    for name, value in wanted.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


@pytest.mark.parametrize(
    ("features", "size", "piece"),
    [
        (128, 32, "4x4"),
        (66, 32, "4x4"),
        (48, 32, "4x4"),
        (36, 32, "2x4"),
        (64, 16, "2x4"),
        (62, 16, "2x4"),
        (20, 16, "2x4"),
        (20, 16, "1x1"),
    ],
)
def test_products_have_the_bits_of_compiled_c_in_pieces_of_each_size(
    features: int, size: int, piece: str
) -> None:
    """Of features that lie in fours, and of others; of a block that is full and of one that is
    not.
    """
    program = in_blocks(reinforce(hidden=(features, features)), size, 2).program
    text = text_of(program_kernels(program), "float32")
    assert re.search(rf"\n *block_product_{piece}(_by_row)?_f\(", text)
    sizes = {"B": 33, "I": 1, "T": 2}
    found, fault = watched(fibres(program, sizes), sizes)
    with shared_cache():
        wanted = compiled(program).run(sizes, 3, "float32").outputs
    assert fault == ""
    for name, value in wanted.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


def not_needed(
    program: Program, sizes: Mapping[str, int], functions: bool
) -> list[tuple[int, bool]]:
    """The lines of the barriers of functions, or of kernels, without which no thread meets another,
    and True where one of the block may be one of each warp instead: neither for good nor in one of
    three rounds.
    """
    made = fibres(program, sizes, level=1)
    lines = text_of(program_kernels(program)).splitlines()
    kernels = next(k for k, line in enumerate(lines) if line.startswith("KERNEL("))
    words = [line.strip() for line in lines]
    tried = [
        (k + 1, weakened)
        for k, word in enumerate(words)
        if word in ("BARRIER", "WARP_BARRIER") and (k < kernels) == functions
        for weakened in ((False, True) if word == "BARRIER" else (False,))
    ]
    assert len(tried) > 4
    found = []
    for line, weakened in tried:
        faults = (watched(made, sizes, "float32", line, k, weakened)[1] for k in (0, 1, 2))
        if not next(faults) or not any(faults):
            found.append((line, weakened))
    return found


@pytest.mark.parametrize(
    ("how", "size"),
    [
        pytest.param("few features", 16, marks=pytest.mark.kernels),
        pytest.param("a2c", 16, marks=pytest.mark.kernels),
        ("rows of a lane", 32),
    ],
)
def test_no_barrier_of_a_kernel_can_be_left_out_or_weakened(
    how: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some are needed only where episodes are one step: where they begin is where they end. Two
    warps have more blocks than one each.
    """
    monkeypatch.setattr(function_writer, "OF_WARPS", 64)
    program = PROGRAMS[how]().program
    sizes = {**sizes_of(program, size), "B": 9 * size - 4}
    found = not_needed(program, sizes, functions=False)
    if found:
        found = sorted({*found} & {*not_needed(program, {**sizes, "T": 1}, functions=False)})
    assert not found


@pytest.mark.kernels
def test_no_barrier_around_sums_that_threads_keep_can_be_left_out_or_weakened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernel_parts, "SIDE_BY_SIDE", 0)
    program = in_blocks(fitted(), 16, 2).program
    assert "block_kept_lane_sums_" in text_of(program_kernels(program))
    assert not not_needed(program, {}, functions=False)


def test_a_few_numbers_of_a_block_that_are_swapped_out_have_a_place() -> None:
    @wb.program
    def carried(B: int = 19, T: int = 5) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.recurrent("x", (), over=(b, t))
        x[b, 0] = wb.uniform(over=b)
        x[b, t + 1] = wb.tanh(x)
        return {"last": x[b, T]}

    made, sizes = in_steps(carried(), Persist("b", 16), Swap("x")), {"B": 19, "T": 5}
    with shared_cache():
        wanted = compiled(made.program).run(sizes, 3, "float32").outputs
    assert differences(made.program, sizes, wanted) == []


def nearest(x: Any) -> Any:
    """The whole number nearest to the first of sums that rows of a lane add up."""
    first = (wb.reshape(x, (-1, 1)) - wb.reshape(x, (1, -1))).sum(axis=1)[..., 0]
    return wb.minimum(wb.cast(wb.absolute(first), int), 5)


@pytest.mark.parametrize("size", [3, 35])
@pytest.mark.parametrize("of", [lambda x: x - nearest(x), lambda x: x - x[..., nearest(x)]])
def test_lanes_that_there_are_not_know_what_the_last_one_made(of: Any, size: int) -> None:
    """As an index, what nobody wrote would be read from anywhere."""

    @wb.program
    def centred(B: int = size) -> dict[str, Any]:
        b = wb.dim(b=B)
        x = wb.tanh(wb.uniform(shape=(17,), over=b))
        y = wb.tanh(of(x))
        return {"moved": y + (y * y).sum(axis=0)}

    expect_bits_of_compiled_c(variant(centred()).apply(Persist("b", 16, 1)).program)


def test_a_block_waits_for_its_array_that_another_takes_over() -> None:
    """Sizes say how large both are: they lie in no shared memory."""

    @wb.program
    def multiplied(B: int = 17, T: int = 17) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x, y = wb.uniform(-1.0, 1.0, over=(b, t)), wb.normal(over=(b, t))
        return {"product": x * y}

    made = variant(multiplied())
    for step in (Persist("b", 16), Persist("t", 16), Donate()):
        made = made.apply(step)
    expect_bits_of_compiled_c(made.program)


def test_more_lanes_than_a_block_has_threads_are_refused() -> None:
    program = in_blocks(reinforce(hidden=(4,)), 2048).program
    with pytest.raises(
        ProgramError, match=r"tiles of 2048 lanes; on a GPU .* at most 1024 threads"
    ):
        fibres(program, {"B": 4096, "T": 3}).prepare()


@wb.program
def sorting(I: int = 2, N: int = 2500) -> dict[str, Any]:
    """A permutation for each i, and matrices of orthonormal rows and columns."""
    i, n = wb.dims(i=I, n=N)
    order = wb.permutation(N, over=i)[wb.index(n)]
    wide = apply("orthogonalize", wb.normal(shape=(5, 70), over=i))
    tall = apply("orthogonalize", wb.normal(shape=(40, 12), over=i))
    return {"order": order, "wide": wide, "tall": tall}


BY_ONE_BLOCK = Vectorize("i")
"""With it, each permutation is drawn by a block instead of many."""


@pytest.mark.parametrize(
    ("n", "steps"), [(1, ()), (1023, ()), (9000, ()), (1, (BY_ONE_BLOCK,)), (1023, (BY_ONE_BLOCK,))]
)
def test_sorting_and_qr_have_the_bits_of_compiled_c(n: int, steps: Sequence[Transform]) -> None:
    chosen = variant(sorting())
    for step in steps:
        chosen = chosen.apply(step)
    program = chosen.program
    found, fault = watched(fibres(program, {"N": n}), {"N": n})
    with shared_cache():
        wanted = compiled(program).run({"N": n}, 3, "float32").outputs
    assert fault == ""
    for name, value in wanted.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)
    assert all(sorted(one) == list(range(n)) for one in np.asarray(found["order"]))


def test_a_range_with_too_many_words_for_a_block_is_sorted_where_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(permutations, "MOST_RANGES", 1)
    sizes = {"N": permutations.MOST_SORTED + 3, "I": 1}
    found, fault = watched(fibres(sorting(), sizes), sizes)
    with shared_cache():
        wanted = compiled(sorting()).run(sizes, 3, "float32").outputs
    assert fault == ""
    np.testing.assert_array_equal(found["order"], wanted["order"])


def test_a_block_whose_last_warp_is_not_full_sorts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then its warps have other pairs in each turn."""
    monkeypatch.setattr(function_writer, "MOST_THREADS", 1008)
    program, sizes = variant(sorting()).apply(BY_ONE_BLOCK).program, {"N": 2500, "I": 1}
    assert "#define THREADS 1008" in text_of(program_kernels(program))
    found, fault = watched(fibres(program, sizes), sizes)
    assert fault == ""
    assert sorted(found["order"][0]) == list(range(2500))


def test_no_barrier_of_sorting_and_qr_can_be_left_out_or_weakened() -> None:
    assert not not_needed(sorting(), {"N": 2500}, functions=True)


@wb.program
def far_on(I: int = 3, N: int = 40) -> dict[str, Any]:
    """Numbers of all iterations."""
    i, n = wb.dims(i=I, n=N)
    w = wb.recurrent("w", (), over=i)
    w[0] = 1.0
    y = wb.uniform(over=(i, n)) * w
    w[i + 1] = w + y.sum(over=n)
    return {"y": y}


@pytest.mark.parametrize("iteration", [2, 10**8, 10**16])
def test_places_may_be_beyond_31_bits(iteration: int) -> None:
    """At sizes whose arrays no memory has: none is touched, and it is told which would be."""
    made = fibres(variant(far_on()).apply(Vectorize("n")).program)
    kernels, driver = made.loaded("float32").kernels, made.driver
    one = next(f for f in all_functions(made.launched("float32")) if "y" in f.arrays)
    assert isinstance(driver, FibreDriver)
    memory, driver.elements = driver.memory(1024), dict.fromkeys(one.arrays, 0)
    RunState.from_address(memory.address).iteration = iteration
    sizes = [{"I": iteration + 1, "N": 40}[name] for name in one.sizes]
    given = (memory.address, memory.address, 0, *(memory.address for _ in one.arrays), *sizes)
    ctypes.c_int64.in_dll(driver.library, "faults").value = 0
    driver.launch(kernels[one.name], 1, given)
    driver.wait()
    (place,) = re.findall(r"^y\w*\[(\d+)\] ", driver.fault)
    assert 40 * iteration <= int(place) < 40 * iteration + 40


@wb.program
def looking_up(B: int = 40, N: int = 20) -> dict[str, Any]:
    """One environment looks something up where nothing is."""
    b, n = wb.dims(b=B, n=N)
    table = wb.uniform(over=n)
    place = wb.where(wb.index(b) == 33, 21, 3) + wb.cast(0.0 * wb.uniform(over=b), "int32")
    return {"y": wb.gather(table, n=place)}


def test_a_check_that_fails_is_told_as_by_compiled_c() -> None:
    made = variant(looking_up()).apply(Persist("b", 16)).program
    with shared_cache(), pytest.raises(RunError) as wanted:
        compiled(made).run()
    with pytest.raises(RunError) as found:
        watched(fibres(made), {})
    assert str(found.value) == str(wanted.value)
    assert "by y at b=33" in str(found.value)


def test_text_is_as_stored(golden: GoldenFiles) -> None:
    """Of a program with rows that threads share, sums in parts, products and checks."""
    made = program_kernels(in_blocks(reinforce(hidden=(20,)), 32).program)
    texts = [f.text for f in functions(made, "float32")]
    golden("kernels/reinforce.cu", "\n".join(sorted(texts, key=len)[-5:]))


def test_text_of_a_gpu_has_no_word_of_c_alone() -> None:
    text = unit_begin()
    assert "vector_size" not in text and "__builtin" not in text and "#include" not in text
