"""rl.Replay.sample_by: what is drawn, how often and with which weights, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.codegen.cuda.fibres import SEED, differences
from tests.native_runs import run_native
from tests.truth import truth
from workbench import nn, rl
from workbench.backends.reference.evaluator import Reference
from workbench.errors import WorkbenchError
from workbench.transforms import Persist, Vectorize

EPS = 1e-3
SIZES: list[dict[str, int]] = [
    {"N": 18},  # three updates in a ring that is no power of two
    {"N": 6, "K": 9},
    {"N": 16, "B": 1, "T": 1, "K": 3, "I": 40},
    {"N": 1, "B": 1, "T": 1, "K": 2},
]


@wb.program
def judged(
    B: int = 2,
    I: int = 9,
    T: int = 3,
    K: int = 4,
    N: int = 18,
    alpha: float = 0.6,
    beta: float = 0.4,
) -> dict[str, Any]:
    """Numbered steps, whose priorities are drawn anew whenever they are."""
    b, i, t, k = wb.dims(b=B, i=I, t=T, k=K)
    replay = rl.Replay(N, {"number": (int, ())}, over=(b, i, t))
    replay.write(number=(wb.index(i) * T + t) * B + b)
    batch = replay.sample_by(k, alpha, beta)
    priority = 3.0 * wb.uniform(over=(i, k)) + EPS
    replay.update(priority)
    later, held = batch.later(1)
    return {
        "number": batch["number"],
        "weights": batch.weights,
        "probability": batch.probability,
        "later": later["number"],
        "held": held,
        "priority": priority,
    }


class Ring:
    """The priorities of a ring's places, in NumPy, and draws by inversion: the places in the order
    in which a tree has them whose leaves are numbered from the capacity on.
    """

    def __init__(self, capacity: int, alpha: float, beta: float) -> None:
        self.priority, self.greatest = np.zeros(capacity), 1.0
        self.capacity, self.alpha, self.beta, self.steps = capacity, alpha, beta, 0
        leaves = np.arange(capacity, 2 * capacity)
        self.order = np.argsort(leaves / 2.0 ** np.floor(np.log2(leaves)))

    def write(self, steps: int) -> None:
        """Write so many new steps, over the oldest ones."""
        for number in range(self.steps, self.steps + steps):
            self.priority[number % self.capacity] = self.greatest
        self.steps += steps

    def shares(self) -> Any:
        """The probability of each place; of one that nothing was written to it is 0."""
        written = np.arange(self.capacity) < self.steps
        mass = np.where(written, self.priority**self.alpha, 0.0)
        return mass / mass.sum()

    def draw(self, uniform: Any) -> Any:
        """Places, one from each of equal shares, and their weights."""
        p = self.shares()
        cumulative = np.cumsum(p[self.order])
        at = (np.arange(len(uniform)) + uniform) / len(uniform)
        places = self.order[np.searchsorted(cumulative, at, side="right")]
        weights = (min(self.steps, self.capacity) * p[places]) ** -self.beta
        return places, weights / weights.max()

    def update(self, places: Any, priority: Any) -> None:
        """Change the priorities of places, one after the other."""
        for place, p in zip(places, priority, strict=True):
            self.priority[place] = p
        self.greatest = max(self.greatest, *priority)


@pytest.mark.parametrize("exponents", [(0.6, 0.4), (1.0, 1.0), (0.0, 0.5)])
def test_draws_are_those_of_the_paper(exponents: tuple[float, float]) -> None:
    program = judged(alpha=exponents[0], beta=exponents[1])
    for given in SIZES:
        reference = truth(program, given, seed=1)
        found, sizes = reference.outputs(), {p.name: p.default for p in program.parameters} | given
        ring, new = Ring(sizes["N"], *exponents), sizes["B"] * sizes["T"]
        for i in range(sizes["I"]):
            ring.write(new)
            places, weights = ring.draw(reference.array("replay.share")[i])
            first = max(ring.steps - sizes["N"], 0)
            numbers = first + (places - first) % sizes["N"]
            np.testing.assert_array_equal(found["number"][i], numbers)
            np.testing.assert_allclose(found["probability"][i], ring.shares()[places], rtol=1e-9)
            np.testing.assert_allclose(found["weights"][i], weights, rtol=1e-9)
            held = numbers + sizes["B"] < ring.steps
            np.testing.assert_array_equal(found["held"][i], held)
            last = ring.steps - sizes["B"] + numbers % sizes["B"]
            later = np.where(held, numbers + sizes["B"], last)
            np.testing.assert_array_equal(found["later"][i], later)
            ring.update(places, found["priority"][i])


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_priorities_are_a_table_that_computes_the_same(backend: str) -> None:
    program = judged()
    best = wb.optimize(program, backend=backend)
    assert "replay.sums over i (1 of I + 1), new (1 of K + New), level (1 of Levels), in place" in (
        best.storage
    )
    for sizes in SIZES[:3]:
        expected = truth(program, sizes, seed=1).outputs()
        found = wb.run(best, backend, sizes=sizes, seed=1, dtype="float64", progress=False)
        for name, values in expected.items():
            np.testing.assert_allclose(found[name], values, rtol=1e-12, err_msg=name)


def test_priorities_on_a_gpu_have_the_bits_of_compiled_c() -> None:
    best = wb.optimize(judged(), backend="native").program
    wanted = run_native(best, {}, seed=SEED, dtype="float32")
    assert differences(best, {}, wanted) == []


@pytest.mark.parametrize(
    "step", [Vectorize("k"), Persist("k", 1), None], ids=["vectorized", "persisted", "recipe"]
)
def test_one_sample_an_update_computes_the_same(step: Any) -> None:
    @wb.program
    def example(B: int = 2, I: int = 4, N: int = 6) -> dict[str, Any]:
        b, i, k = wb.dims(b=B, i=I, k=1)
        replay = rl.Replay(N, {"x": (float, ())}, over=(b, i))
        replay.write(x=wb.uniform(over=(b, i)))
        drawn = replay.sample_by(k)["x"]
        replay.update(drawn + 0.1)
        return {"drawn": drawn}

    root = wb.variant(example())
    variant = wb.optimize(root, backend="native") if step is None else root.apply(step)
    expected = Reference(root.program.equations, seed=2).outputs()["drawn"]
    found = wb.run(variant, "numpy", seed=2, dtype="float64", progress=False)["drawn"]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_an_update_takes_a_step_more_where_the_capacity_is_doubled(backend: str) -> None:
    """Of operations, of bytes and of launches, for each new step and each sample: no copy of the
    table is among them, and no pass over it.
    """
    best = wb.optimize(judged(), backend=backend)

    def of_an_update(capacity: int) -> list[int]:
        one, two = (best.predict({"N": capacity, "I": I}, backend=backend) for I in (3, 4))
        return [getattr(two, n) - getattr(one, n) for n in ("operations", "bytes", "launches")]

    digits = (4, 6, 10, 18)
    costs = np.array([of_an_update(6 * 2**n) for n in digits])
    a_digit = np.diff(costs, axis=0) / np.diff(digits)[:, None]
    np.testing.assert_allclose(a_digit[1:], a_digit[[0, 0]], rtol=0.01)
    changes = 6 + 4  # new steps, and samples
    assert (a_digit <= changes * np.array([60, 300, 30])).all(), a_digit


def test_weights_and_draws_are_constant_to_gradients() -> None:
    @wb.program
    def example(I: int = 3, K: int = 2) -> dict[str, Any]:
        i, k, b = wb.dims(i=I, k=K, b=2)
        theta = nn.parameters(nn.vector("w", 1, 0.5), over=i)
        w = theta.tensors["w.value"][..., 0]
        replay = rl.Replay(4, {"x": (float, ())}, over=(b, i))
        replay.write(x=wb.normal(over=(b, i)))
        batch = replay.sample_by(k)
        error = w * batch["x"] - 1.0
        replay.update(wb.absolute(error) + EPS)
        loss = (batch.weights * error**2).sum(over=k)
        gradient = wb.gradient(loss, theta)["w.value"]
        theta.update({"w.value": theta.tensors["w.value"] - 0.1 * gradient})
        by_hand = (2.0 * batch.weights * error * batch["x"]).sum(over=k)
        return {"gradient": gradient[..., 0], "by_hand": by_hand}

    found = truth(example(), seed=2).outputs()
    np.testing.assert_allclose(found["gradient"], found["by_hand"], rtol=1e-12)


# -- refused ---------------------------------------------------------------------------------------


def drawn(body: Callable[..., Any]) -> WorkbenchError:
    @wb.program
    def example(I: int = 3, K: int = 2, L: int = 2) -> dict[str, Any]:
        i, k, l, b = wb.dims(i=I, k=K, l=L, b=2)
        replay = rl.Replay(6, {"n": (int, ())}, over=(b, i))
        replay.write(n=wb.index(i))
        return {"y": body(replay, i, k, l)}

    with pytest.raises(WorkbenchError) as error:
        wb.run(wb.variant(example()), backend="numpy", progress=False)
    assert error.value.line is not None
    return error.value


def told(priority: Callable[..., Any]) -> Callable[..., Any]:
    def body(replay: rl.Replay, i: Any, k: Any, l: Any) -> Any:
        batch = replay.sample_by(k)
        replay.update(priority(i, k, l))
        return batch["n"]

    return body


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            lambda r, i, k, l: r.sample_by(k, alpha=1.5)["n"],
            "alpha = 1.5; expected a number from 0 to 1",
        ),
        (
            lambda r, i, k, l: r.sample_by(k, alpha=float("nan"))["n"],
            "alpha = nan; expected a number from 0 to 1",
        ),
        (
            lambda r, i, k, l: r.sample_by(k, beta=-0.1)["n"],
            "beta = -0.1; expected a number from 0 to 1",
        ),
        (
            lambda r, i, k, l: r.sample_by(k, beta=wb.uniform(over=k))["n"],
            "beta=uniform[k]: float(); expected a number from 0 to 1, or one for each i",
        ),
        (
            lambda r, i, k, l: r.sample_by((k, l))["n"],
            "a sample by priorities over k, l; expected one dim that counts the samples",
        ),
        (
            lambda r, i, k, l: r.sample_by(i)["n"],
            "a sample over i; expected a dim that counts samples, none of b, i",
        ),
        (
            lambda r, i, k, l: r.update(1.0),
            "replay is not sampled by priorities: there are none to update; draw with sample_by",
        ),
        (
            lambda r, i, k, l: [r.sample_by(k), r.update(1.0), r.update(1.0)],
            "the priorities of replay are updated already",
        ),
        (
            lambda r, i, k, l: [r.sample_by(k), r.sample_by(k)],
            "replay is sampled by priorities already",
        ),
        (
            told(lambda i, k, l: wb.uniform(over=(i, l))),
            "the priorities of replay are uniform[i, l]: float(); expected a float scalar over "
            "i, k",
        ),
        (
            told(lambda i, k, l: wb.index(k)),
            "the priorities of replay are wb.index(k); expected a float scalar over i, k",
        ),
        (
            lambda r, i, k, l: r.sample_by(k)["n"],
            "replay is sampled by priorities, but nothing tells those of the drawn steps: expected "
            "replay.update(priority)",
        ),
    ],
)
def test_what_is_no_sample_by_priorities_is_refused(body: Any, said: str) -> None:
    assert drawn(body).message == said


@pytest.mark.parametrize("backend", ["reference", "numpy", "native"])
@pytest.mark.parametrize("low", [0.0, -0.5, float("nan")])
def test_a_priority_that_is_not_above_0_is_refused(backend: str, low: float) -> None:
    @wb.program
    def example(I: int = 2, K: int = 3) -> dict[str, Any]:
        b, i, k = wb.dims(b=2, i=I, k=K)
        replay = rl.Replay(6, {"n": (int, ())}, over=(b, i))
        replay.write(n=wb.index(i))
        batch = replay.sample_by(k)
        replay.update(wb.where(wb.index(i + k) == 2, low, 1.0))
        return {"n": batch["n"]}

    with pytest.raises(WorkbenchError) as error:
        if backend == "reference":
            program = example()
            truth(program).array(program.outputs[0].array)
        else:
            wb.run(wb.variant(example()), backend=backend, progress=False)
    call = "replay.update(wb.where(wb.index(i + k) == 2, low, 1.0))"
    assert " at i=0" in error.value.message
    assert error.value.message.endswith(" is not above 0, as is expected of it")
    assert error.value.line is not None and error.value.line.text == call


def test_steps_that_nothing_writes_refused() -> None:
    @wb.program
    def example(I: int = 3, K: int = 2) -> dict[str, Any]:
        i, k, b = wb.dims(i=I, k=K, b=2)
        return {"y": told(lambda *_: 1.0)(rl.Replay(6, {"n": (int, ())}, over=(b, i)), i, k, 0)}

    with pytest.raises(
        WorkbenchError, match=r"read, but nothing is written into it: expected replay\.write\(n=…\)"
    ):
        example()
