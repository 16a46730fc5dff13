"""wb.within: the promised range of a data-dependent index, checked, and what it makes possible."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.programs import replay
from workbench.backends import get
from workbench.backends.reference.evaluator import Reference
from workbench.errors import ProgramError, RunError, WorkbenchError
from workbench.lowering.lower import lower
from workbench.polyhedral.expression import minimum, size
from workbench.transforms import Contract, Donate, Vectorize

SIZES: list[dict[str, int]] = [{}, {"H": 1}, {"T": 3, "H": 7}, {"T": 1}, {"T": 12, "H": 5, "K": 1}]


@pytest.mark.parametrize(
    "steps",
    [
        (),
        (Contract("seen", "t"),),
        (Vectorize("k"), Contract()),
        (Vectorize("k"), Contract(), Donate("state", "state")),
    ],
    ids=str,
)
def test_replay_agrees_with_the_reference(steps: tuple[Any, ...]) -> None:
    variant = wb.variant(replay())
    for step in steps:
        if variant.check(step) is None:
            variant = variant.apply(step)
    compiled = get("numpy").compile(variant.program)
    for sizes in SIZES:
        run = compiled.run(sizes, seed=2, dtype="float64")
        for name, expected in Reference(replay().equations, sizes, seed=2).outputs().items():
            np.testing.assert_allclose(run.outputs[name], expected, rtol=1e-9)


def test_bounded_history_becomes_a_ring_buffer() -> None:
    found = wb.variant(replay()).apply(Vectorize("k")).apply(Contract("seen", "t"))
    assert "seen over t (min(T, H) of T)\n" in found.storage
    program = lower(found.program)
    assert program.stored["seen"].buffer.shape == (minimum(size("T"), size("H")), 2)
    source = get("numpy").compile(found.program).source
    assert "remainder(" in source and "% min(T, H)" in source


def test_unbounded_history_is_kept_whole() -> None:
    @wb.program
    def anywhere(T: int = 4) -> dict[str, Any]:
        t = wb.dim(t=T)
        seen = wb.normal(over=t)
        draw = wb.cast(wb.uniform(over=t) * wb.cast(wb.index(t + 1), float), int)
        return {"y": wb.gather(seen, t=draw)}

    refused = wb.variant(anywhere()).check(Contract("seen", "t"))
    assert refused is not None and "depends on data" in refused.sentence


def test_reading_only_the_past_needs_no_order_of_all_first() -> None:
    """Without the promise the gather would need every step's state, the last one's too."""

    @wb.program
    def hopeless(T: int = 4) -> dict[str, Any]:
        t = wb.dim(t=T)
        state = wb.recurrent("state", (), over=t)
        state[0] = 1.0
        state[t + 1] = wb.gather(state, t=wb.cast(wb.uniform(over=t) * 0.0, int))
        return {"last": state[T]}

    with pytest.raises(ProgramError):
        hopeless()
    assert wb.run(replay(), progress=False, backend="numpy")["last"].shape == (2,)


@wb.program
def broken(T: int = 6) -> dict[str, Any]:
    t = wb.dim(t=T)
    seen = wb.normal(over=t)
    ahead = wb.cast(wb.uniform(over=t) * 0.0, int) + wb.index(t) - 2
    return {"y": wb.gather(seen, t=wb.within(ahead, wb.maximum(t - 1, 0), t + 1))}


@pytest.mark.parametrize("axes", [(), ("t",)], ids=str)
def test_broken_promise_is_named_with_instance_and_value(axes: tuple[str, ...]) -> None:
    variant = wb.variant(broken())
    for dim in axes:
        variant = variant.apply(Vectorize(dim))
    with pytest.raises(
        RunError,
        match=r"index -2 of y at t=0 is not within 0 to 0, as the program promises\n.*wb.within",
    ):
        get("numpy").compile(variant.program).run()


def test_broken_promise_is_named_by_the_reference() -> None:
    with pytest.raises(
        ProgramError, match=r"the index 1 of y at t=3 .T=6. is not within 2 to 3, as"
    ):
        Reference(broken().equations).element("y", (3,))


def test_range_outside_the_array_is_an_error_of_the_program() -> None:
    @wb.program
    def outside(T: int = 4) -> dict[str, Any]:
        t = wb.dim(t=T)
        seen = wb.normal(over=t)
        at = wb.cast(wb.uniform(over=t), int) + wb.index(t)
        return {"y": wb.gather(seen, t=wb.within(at, t - 1, t + 1))}

    with pytest.raises(ProgramError, match=r"seen.*-1"):
        outside()


def test_gradient_is_that_of_the_gather() -> None:
    @wb.program
    def program(T: int = 5) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.normal(over=t)
        at = wb.maximum(wb.index(t) - wb.cast(wb.uniform(over=t) * 2.0, int), 0)
        plain, promised = (
            wb.gather(x, t=index) for index in (at, wb.within(at, wb.maximum(t - 1, 0), t + 1))
        )
        both = ((y * y * y).sum(over=t) for y in (plain, promised))
        first, second = (wb.gradient(loss, x) for loss in both)
        return {"first": first, "second": second}

    for variant in (wb.variant(program()), wb.optimize(wb.variant(program()), backend="numpy")):
        found = get("numpy").compile(variant.program).run(seed=1, dtype="float64").outputs
        np.testing.assert_allclose(found["first"], found["second"], rtol=1e-12)
        assert np.count_nonzero(found["first"]) > 0
        expected = Reference(program().equations, seed=1).array("second")
        np.testing.assert_allclose(found["second"], expected, rtol=1e-9)


def test_what_is_no_integer_or_no_index_expression_is_refused() -> None:
    @wb.program
    def floating(T: int = 4) -> dict[str, Any]:
        t = wb.dim(t=T)
        return {"y": wb.within(wb.uniform(over=t), 0, T)}

    @wb.program
    def data(T: int = 4) -> dict[str, Any]:
        t = wb.dim(t=T)
        drawn = wb.cast(wb.uniform(over=t), int)
        return {"y": wb.within(drawn, drawn, T)}

    with pytest.raises(ProgramError, match="within needs a scalar integer tensor, found"):
        floating()
    with pytest.raises(ProgramError, match="of within is not an affine expression of dims"):
        data()


def test_a_promise_that_is_broken_is_told_with_the_line_that_gathers() -> None:
    @wb.program
    def example(I: int = 6) -> dict[str, Any]:
        i = wb.dim(i=I)
        x = wb.normal(over=i)
        low = wb.maximum(i - 2, 0)
        sampled = wb.gather(x, i=wb.within(wb.index(i) - 3, low, i + 1))
        outputs = {"sampled": sampled}
        return outputs

    runs = [lambda: Reference(example().equations).outputs()]
    for backend in ("numpy", "native"):
        compiled = get(backend).compile(wb.variant(example()).program)
        runs.append(lambda compiled=compiled: compiled.run({}, 0, "float32"))
    for run in runs:
        with pytest.raises(WorkbenchError, match="-3 of sampled at i=0") as error:
            run()
        assert error.value.line is not None and "wb.gather(x" in error.value.line.text


def test_a_promise_is_checked_of_all_instances_at_once_in_a_derivative() -> None:
    @wb.program
    def example(B: int = 3, T: int = 3) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        u = wb.uniform(over=(b, t))
        drawn = wb.cast(wb.uniform(over=(b, t)) * wb.cast(wb.index(b + 1), float), int)
        seen = wb.gather(u, b=wb.within(drawn, 0, b + 1))
        return {"slope": wb.gradient((seen**2).sum(over=(b, t)), u)}

    variant = wb.variant(example()).apply(Vectorize("b")).apply(Vectorize("t"))
    expected = Reference(example().equations).outputs()["slope"]
    for backend in ("numpy", "native"):
        found = wb.run(variant, backend, dtype="float64", progress=False)["slope"]
        np.testing.assert_allclose(found, expected, rtol=1e-12)
