"""The memory of a variant array by array: the run's own books, last readers, tables and figures."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.programs import PROGRAMS
from workbench.algorithms import reinforce
from workbench.backends import get
from workbench.errors import SizeError, WorkbenchError
from workbench.transforms import Contract, Donate, Persist, Swap, Vectorize
from workbench.variants.memory import HeldMemory
from workbench.variants.memory_plot import BANDS, short
from workbench.variants.variant import Variant

SIZES = {"B": 3, "I": 2, "T": 5}


@wb.program
def squares(T: int = 4) -> dict[str, Any]:
    """An array that two others read, one after the other."""
    t = wb.dim(t=T)
    x = wb.recurrent("x", (), over=t)
    x[t] = wb.uniform(over=t)
    square = wb.recurrent("square", (), over=t)
    square[t] = x * x
    total = wb.recurrent("total", (), over=())
    total[()] = (x[0:T] * square[0:T]).sum()
    return {"total": total}


@cache
def fast() -> Variant:
    return wb.variant(reinforce(hidden=(4,))).apply(Vectorize("b")).apply(Vectorize("t"))


@cache
def swapped() -> Variant:
    return fast().apply(next(m.step for m in fast().each_move(Swap) if m.legal))


def rows(memory: HeldMemory) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in memory.frame().to_dict("records")}


def test_an_array_is_held_until_its_last_reader() -> None:
    memory = wb.variant(squares()).apply(Vectorize("t")).memory(backend="numpy")
    held = {one.array: one for one in memory.buffers if one.array}
    (reader,) = (s.name for s in memory.program.statements if s.array == "total")
    assert held["x"].last_reader == held["square"].last_reader
    assert held["x"].until == f"until its last reader {held['x'].last_reader}"
    statement = memory.program.statement[str(held["x"].last_reader)]
    assert {"x", "square"} <= {read.array for read in statement.reads}
    assert held["total"].until == "to the end, as an output"
    assert held["total"].last_line == memory.lines
    assert held["total"].statements == (reader,)
    texts = str(memory.loops).splitlines()
    for one in held.values():
        assert one.first_line <= one.last_line <= len(texts) == memory.lines


@pytest.mark.parametrize("make", [fast, swapped])
def test_the_peak_is_the_runs_own(make: Any) -> None:
    memory = make().memory(SIZES, "numpy")
    run = get("numpy").compile(make().program).run(SIZES)
    assert memory.peak_bytes == run.peak == make().predict(SIZES, "numpy").peak_bytes
    for space, peak in memory.peak_bytes.items():
        assert sum(one.bytes for one in memory.at_peak(space)) == peak
    assert memory.peak_formula.evaluate(memory.sizes) == memory.peak_bytes["device"]


@cache
def in_blocks() -> Variant:
    return wb.variant(reinforce(hidden=(4,))).apply(Persist("b", 4)).apply(Contract())


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("backend", ["native", "cuda"])
@pytest.mark.parametrize("make", [fast, swapped, in_blocks])
def test_the_peak_on_compiled_kernels_is_the_predicted_one(
    make: Any, backend: str, threads: int
) -> None:
    memory = make().memory(SIZES, backend, "float64", threads)
    predicted = make().predict(SIZES, backend, "float64", threads)
    assert memory.peak_bytes == predicted.peak_bytes
    assert memory.peak_formula == predicted.peak_formula
    said = f"{memory.beside} bytes of scratch memory and gaps at B=3, I=2, T=5"
    assert (said in str(memory.peak_formula)) == (memory.beside > 0)
    held = memory.peak_formula.evaluate(memory.sizes)
    assert 0 <= memory.peak_bytes["device"] - held == memory.beside
    for array in memory.program.array:
        own = [one.bytes for one in memory.buffers if one.array == array]
        assert predicted.array_bytes(array) in own, array


def test_each_thread_has_a_block_and_the_run_holds_them_all() -> None:
    sizes = {"B": 12, "I": 2, "T": 5}
    for threads in (1, 2):
        memory = in_blocks().memory(sizes, "native", threads=threads)
        run = get("native").compile(in_blocks().program).run(sizes, threads=threads)
        assert memory.peak_bytes == run.peak
        (state,) = (one for one in memory.buffers if one.array == "state")
        assert state.name == f"{threads} block{'s' * (threads > 1)} of state"
        assert state.bytes == threads * 4 * 4 * 5 * (sizes["T"] + 1)


def test_the_last_reader_in_a_joined_kernel_is_the_statement_that_reads() -> None:
    memory = wb.optimize(reinforce(hidden=(4,)), backend="native").memory(SIZES, "native")
    own = [one for one in memory.buffers if one.array and one.last_reader]
    assert any(one.array == "parameters.policy.weight_1" for one in own)
    for one in own:
        reading = memory.program.statement[str(one.last_reader)]
        assert one.array in {read.array for read in reading.reads}, one


def test_what_lies_in_shared_memory_takes_none() -> None:
    memory = in_blocks().memory(SIZES, "cuda")
    own = [one for one in memory.buffers if " of state" in one.name or one.until.startswith("in ")]
    assert any(one.bytes == 0 and one.until == "in shared memory" for one in own)


@pytest.mark.parametrize("name", ["leaky_sum", "ranges", "n_step", "small_ppo"])
def test_the_last_reader_of_an_array_reads_it_and_no_later_line_does(name: str) -> None:
    template, sizes = PROGRAMS[name]
    variant = wb.variant(template())
    memory = variant.memory(sizes[-1], "numpy")
    reads = {s.name: {r.array for r in s.reads} for s in memory.program.statements}
    arrays = [one for one in memory.buffers if one.array and one.name == one.array]
    assert arrays
    for one in arrays:
        if one.last_reader is None:
            assert not any(one.array in read for read in reads.values())
        else:
            assert one.array in reads[one.last_reader], one


def test_who_reads_a_slice_reads_the_array_on_the_host() -> None:
    memory = swapped().memory(SIZES, "numpy")
    (array,) = swapped().program.storage.on_host
    (host,) = (one for one in memory.buffers if one.space == "host")
    assert host.array == array
    readers = {one.last_reader for one in memory.buffers if one.name == f"a slice of {array}"}
    assert host.last_reader in readers
    reading = memory.program.statement[str(host.last_reader)]
    assert array in {read.array for read in reading.reads}


def test_memory_that_is_handed_on_says_to_whom() -> None:
    folded = fast().apply(Contract()).apply(Donate())
    memory = folded.memory(SIZES, "numpy")
    said = {one.array: one.until for one in memory.buffers}
    heirs = [(a, to) for a, to in folded.program.storage.donated if a != to]
    assert heirs
    for array, to in heirs:
        assert said[array] == f"until {to} takes over its memory"


def test_a_frame_has_a_row_for_everything_held() -> None:
    memory = fast().memory(SIZES, "numpy")
    frame = memory.frame()
    assert len(frame) == len(memory.buffers)
    assert list(frame["bytes"]) == sorted(frame["bytes"], reverse=True)
    assert frame[frame["at_peak"]]["bytes"].sum() == memory.peak_bytes["device"]
    assert rows(memory)["policy.hidden_1"]["last_reader"].startswith("gradient.")


def test_arrays_together_hold_no_more_than_the_sum_and_no_less_than_each() -> None:
    memory = fast().memory(SIZES, "numpy")
    names = fast().gradients("policy")
    each = [memory.most_bytes(name) for name in names]
    assert max(each) < memory.most_bytes(names) <= sum(each)
    assert memory.most_bytes(memory.program.array) <= memory.peak_bytes["device"]
    assert memory.most_bytes(names, "host") == 0


def test_an_array_that_nobody_knows_is_refused() -> None:
    with pytest.raises(WorkbenchError, match=r"unknown array 'policy\.hiden_1': did you mean"):
        fast().memory(SIZES, "numpy").most_bytes("policy.hiden_1")


def test_a_space_that_nobody_knows_is_refused() -> None:
    with pytest.raises(WorkbenchError, match="unknown space 'disk'"):
        fast().memory(SIZES, "numpy").plot("disk")


def test_sizes_and_dtypes_that_are_none_are_refused() -> None:
    with pytest.raises(SizeError, match="size T must be a positive integer, found 0"):
        fast().memory({"T": 0}, "numpy")
    with pytest.raises(WorkbenchError, match="unknown dtype 'float16'"):
        fast().memory(SIZES, "numpy", "float16")


def test_what_it_shows_of_itself_is_the_peak_and_the_largest() -> None:
    lines = repr(fast().memory(SIZES, "numpy")).splitlines()
    assert lines[0].startswith("reinforce: B=3, I=2, T=5, float32, numpy; most on device: ")
    first = fast().memory(SIZES, "numpy").at_peak()[0]
    assert lines[1].strip().endswith(f"{first.name}, held {first.until}")
    assert lines[-1].split("in ")[-1].endswith("more")


def test_bands_and_lines_of_a_plot_are_the_bytes_held() -> None:
    memory = fast().memory(SIZES, "numpy")
    folded = fast().apply(Contract()).memory(SIZES, "numpy")
    (drawn,) = memory.plot(folded=folded).axes
    axes: Any = drawn  # its stubs know less than the figure has
    bands = [band for band in axes.collections if band.get_label()[:1] != "_"]
    assert len(bands) == BANDS + 1 and bands[-1].get_label().endswith(" smaller")
    unit = {"B": 1, "kB": 1e3, "MB": 1e6}[axes.get_ylabel().split("(")[1].rstrip(")")]
    top = max(path.vertices[:, 1].max() for band in bands for path in band.get_paths())
    assert top * unit == pytest.approx(memory.peak_bytes["device"])
    (line,) = axes.lines
    assert max(line.get_ydata()) * unit == pytest.approx(folded.peak_bytes["device"])
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels[0] == short(memory.at_peak()[0].name) and labels[-1] == "folded"


def test_a_plot_of_a_space_that_holds_nothing_is_empty(tmp_path: Path) -> None:
    figure = fast().memory(SIZES, "numpy").plot("host")
    assert not figure.axes[0].collections
    figure.savefig(tmp_path / "memory.png")


def test_a_long_name_keeps_its_end() -> None:
    assert short("gradient.actor.policy.network.hidden.weight_12") == (
        "…t.actor.policy.network.hidden.weight_12"
    )
    assert len(short("x" * 100)) == 40


# -- names of gradients ----------------------------------------------------------------------------


@wb.program
def two_losses(B: int = 3, I: int = 2) -> dict[str, Any]:
    """Two networks; of one loss the gradients with respect to both."""
    b, i = wb.dims(b=B, i=I)
    actor = wb.nn.linear("actor", 2, 1)
    critic = wb.nn.linear("critic", 2, 1)
    theta = wb.nn.parameters(actor, over=i)
    phi = wb.nn.parameters(critic, over=i)
    x = wb.normal(shape=2, over=(b, i))
    first = (actor(theta, x) ** 2)[..., 0].mean(over=b)
    both = (actor(theta, x) ** 4)[..., 0] + (critic(phi, x) ** 2)[..., 0]
    second = both.mean(over=b)
    other = wb.gradient(second, theta)
    theta.update(wb.optim.sgd(wb.gradient(first, theta), 0.1))
    phi.update(wb.optim.sgd(wb.gradient(second, phi), 0.1))
    return {"loss": first + second, "other": 2.0 * other["actor.bias_1"]}


def test_the_gradients_of_a_network_are_those_of_its_parameters_in_order() -> None:
    program = reinforce(hidden=(4,))
    parts = [f"{part}_{layer}" for layer in (1, 2) for part in ("weight", "bias")]
    names = wb.variant(program).gradients("policy")
    assert set(names) == {f"gradient.policy.{part}" for part in parts}
    order = [array.name for array in program.arrays]
    assert list(names) == sorted(names, key=order.index)
    assert wb.variant(program).gradients("policy.bias_2") == ("gradient.policy.bias_2",)


def test_gradients_of_several_losses_are_all_found() -> None:
    names = wb.variant(two_losses()).gradients("actor")
    assert sorted(names) == [
        "gradient.actor.bias_1",
        "gradient.actor.bias_1_2",
        "gradient.actor.weight_1",
    ]
    assert all("critic" in name for name in wb.variant(two_losses()).gradients("critic"))


def test_steps_take_the_names_of_gradients() -> None:
    found = fast()
    names = found.gradients("policy")
    blocks = found.replay([wb.transforms.Incrementalize(name, "t", block=2) for name in names])
    assert len(blocks.steps) == len(found.steps) + len(names)
    assert blocks.gradients("policy") == names
    root = found.root
    step = wb.transforms.Accumulate("t", names)
    assert root.apply(step).steps[-1] == step


def test_gradients_of_what_is_not_learned_are_refused() -> None:
    with pytest.raises(WorkbenchError, match="no gradients of 'polcy': did you mean policy"):
        fast().gradients("polcy")
    with pytest.raises(WorkbenchError, match="no gradients of 'x': the program has no gradients"):
        wb.variant(squares()).gradients("x")
