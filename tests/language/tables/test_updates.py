"""Tables against loops of plain Python: lookups, one entry changed, many added to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.native_runs import run_native
from tests.programs import PROGRAMS
from workbench.backends.cuda.building import build
from workbench.backends.reference.evaluator import Reference
from workbench.codegen.cuda.kernel_functions import functions
from workbench.codegen.cuda.launch_order import gpu_kernels
from workbench.codegen.kernels import program_kernels
from workbench.errors import ProgramError, WorkbenchError
from workbench.program.values import Program
from workbench.transforms import Contract, Donate, Persist

ALPHA, GAMMA = 0.1, 0.95


def outcomes(name: str) -> dict[str, np.ndarray[Any, Any]]:
    """Gymnasium's table of an environment: next states, rewards and ends, three of each."""
    gymnasium = pytest.importorskip("gymnasium")
    table = gymnasium.make(name).unwrapped.P
    rows = [
        [[table[s][a][k % len(table[s][a])] for k in range(3)] for a in table[s]] for s in table
    ]
    return {
        "following": np.array([[[o[1] for o in at] for at in row] for row in rows], np.int32),
        "reward": np.array([[[o[2] for o in at] for at in row] for row in rows], float),
        "over": np.array([[[o[3] for o in at] for at in row] for row in rows], bool),
    }


def q_learning(name: str) -> Program:
    """Q-learning in a table a worker, which walks at random through an environment's table."""
    table = outcomes(name)

    @wb.program
    def learning(W: int = 3, I: int = 5) -> dict[str, Any]:
        w, i = wb.dims(w=W, i=I)
        state = wb.recurrent("state", (), over=(w, i), dtype=int)
        q = wb.recurrent("q", table["reward"].shape[:2], over=(w, i))
        action = wb.cast(wb.uniform(over=(w, i)) * 4.0, int)
        outcome = wb.cast(wb.uniform(over=(w, i)) * 3.0, int)
        at = (state, action, outcome)
        following = wb.cast(table["following"], int)[..., *at]
        reward, over = wb.cast(table["reward"], float), wb.cast(table["over"], bool)
        best = wb.where(over[..., *at], 0.0, q[..., following, :].max())
        here = q[..., state, action]
        target = reward[..., *at] + GAMMA * best
        state[w, 0] = 0
        state[w, i + 1] = wb.where(over[..., *at], 0, following)
        q[w, 0] = 0.0
        q[w, i + 1] = wb.put(q, (state, action), here + ALPHA * (target - here))
        return {"action": action, "outcome": outcome, "last": q[w, I]}

    return learning()


def by_hand(name: str, action: Any, outcome: Any) -> np.ndarray[Any, Any]:
    """The same with the same draws, on Gymnasium's own table."""
    import gymnasium

    table = gymnasium.make(name).unwrapped.P
    q = np.zeros((len(action), len(table), 4))
    for w, steps in enumerate(zip(action, outcome, strict=True)):
        s = 0
        for a, k in zip(*steps, strict=True):
            _, after, reward, over = table[s][a][k % len(table[s][a])]
            best = 0.0 if over else max(q[w, after])
            q[w, s, a] = q[w, s, a] + ALPHA * (reward + GAMMA * best - q[w, s, a])
            s = 0 if over else after
    return q


def found(variant: wb.Variant, backend: str, sizes: dict[str, int]) -> dict[str, Any]:
    """The outputs of a run in float64."""
    if backend == "native":
        return run_native(variant.program, sizes, 4)
    result = wb.run(variant, backend, sizes=sizes, seed=4, dtype="float64", progress=False)
    return {name: np.asarray(result[name]) for name in result}


@pytest.mark.parametrize(
    ("name", "backends"), [("FrozenLake-v1", ("numpy", "native")), ("CliffWalking-v1", ("numpy",))]
)
def test_q_learning_is_that_of_plain_loops_to_the_last_bit(
    name: str, backends: tuple[str, ...]
) -> None:
    program = q_learning(name)
    reference = Reference(program.equations, {"W": 2, "I": 7}, 4)
    action, outcome = reference.array("action"), reference.array("outcome")
    np.testing.assert_array_equal(reference.array("last"), by_hand(name, action, outcome))
    for backend in backends:
        for chosen in (wb.variant(program), wb.optimize(wb.variant(program), backend=backend)):
            outputs = found(chosen, backend, {"W": 9, "I": 200})
            wanted = by_hand(name, outputs["action"], outputs["outcome"])
            assert np.any(wanted)
            np.testing.assert_array_equal(outputs["last"], wanted)


@wb.program
def counted(W: int = 2, I: int = 3, K: int = 6, S: int = 5) -> dict[str, Any]:
    """Rows and numbers added at indices, several to one entry."""
    w, i, k = wb.dims(w=W, i=I, k=K)
    s = wb.cast(wb.uniform(over=(w, i, k)) * 5.0, int)
    a = wb.cast(wb.uniform(over=(w, i, k)) * 3.0, int)
    x = wb.normal(shape=2, over=(w, i, k))
    rows = wb.recurrent("rows", (S, 3, 2), over=(w, i))
    rows[w, 0] = 1.0
    rows[w, i + 1] = wb.add_at(rows, (s, a), x, over=k)
    visits = wb.recurrent("visits", (S, 3), over=i, dtype=int)
    visits[0] = 0
    visits[i + 1] = wb.add_at(visits, (s, a), 1, over=(w, k))
    return {"s": s, "a": a, "x": x, "rows": rows[w, I], "visits": visits[I]}


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_what_is_added_at_indices_is_what_numpy_adds(backend: str) -> None:
    root = wb.variant(counted())
    for chosen in (root, wb.optimize(root, backend=backend)):
        outputs = found(chosen, backend, {})
        s, a, x = (outputs[name] for name in "sax")
        rows, visits = np.ones((2, 5, 3, 2)), np.zeros((5, 3), int)
        for w, i, k in np.ndindex(*s.shape):
            rows[w, s[w, i, k], a[w, i, k]] += x[w, i, k]
            visits[s[w, i, k], a[w, i, k]] += 1
        np.testing.assert_allclose(outputs["rows"], rows, rtol=1e-13, atol=1e-13)
        np.testing.assert_array_equal(outputs["visits"], visits)


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_a_step_in_place_costs_the_same_however_large_the_table_is(backend: str) -> None:
    @wb.program
    def learned(W: int = 16, I: int = 200_000, S: int = 64) -> dict[str, Any]:
        w, i = wb.dims(w=W, i=I)
        s = wb.cast(wb.uniform(over=(w, i)) * wb.cast(wb.index(S), float), int)
        q = wb.recurrent("q", (S, 4), over=(w, i))
        q[w, 0] = 0.0
        q[w, i + 1] = wb.put(q, (s, 1), 0.9 * q[..., s, :].max() + 1.0)
        return {"q": q[w, I]}

    root = wb.variant(learned())
    chosen = wb.optimize(root, backend=backend)
    assert {"Contract", "Donate"} <= {type(step).__name__ for step in chosen.steps}
    small, large = ({"S": n} for n in (64, 2**17))
    bytes_of_tables = 16 * 2**17 * 4 * 4
    assert chosen.predict(large, backend=backend).peak_bytes["device"] < 20 * bytes_of_tables

    def slower(variant: wb.Variant) -> float:
        before, after = (variant.predict(n, backend=backend).seconds for n in (small, large))
        return after / before

    assert slower(chosen) < 2 < 5 < slower(root)


@pytest.mark.parametrize("steps", [(), (Persist("w", 16), Contract(), Donate())], ids=len)
def test_nvrtc_takes_what_changes_tables(steps: tuple[Any, ...]) -> None:
    chosen = wb.variant(PROGRAMS["tables"][0]())
    for step in steps:
        chosen = chosen.apply(step)
    made = list(functions(gpu_kernels(program_kernels(chosen.program)), "float32"))
    assert all(unit.ptx for unit in build.compiled(made, "sm_90"))


def outside(backend: str) -> str:
    """The error of an index that is outside at w=1, i=2."""

    @wb.program
    def wrong(W: int = 2, I: int = 4) -> dict[str, Any]:
        w, i = wb.dims(w=W, i=I)
        q = wb.recurrent("q", (3, 2), over=(w, i))
        q[w, 0] = 0.0
        q[w, i + 1] = wb.put(q, (wb.index(w), wb.index(i) * wb.index(w)), 1.0)
        return {"q": q[w, I]}

    program = wrong()
    with pytest.raises(WorkbenchError) as error:
        if backend == "reference":
            Reference(program.equations).array("q")
        else:
            found(wb.variant(program), backend, {})
    assert error.value.line is not None and "wb.put(q, " in error.value.line.text
    return error.value.message


def test_index_outside_a_table_is_told_with_instance_and_value() -> None:
    assert outside("reference") == (
        "put(q[w, i], 1.0, w, i * w) at w=1, i=2 (W=2, I=4) has the index 2, "
        "outside 0 to 1 of axis 1"
    )
    for backend in ("numpy", "native"):
        assert outside(backend) == "q is indexed at axis 1 = 2, outside 0 to 1, by q at w=1, i=2"


def refused(body: Any) -> str:
    """The error of an update in a program of w and i, with a float table q and an int table n."""

    @wb.program
    def example(W: int = 2, I: int = 3) -> dict[str, Any]:
        w, i = wb.dims(w=W, i=I)
        s = wb.cast(wb.uniform(over=(w, i)) * 5.0, int)
        tables = wb.recurrent("q", (5, 4), over=(w, i)), wb.recurrent("n", 5, (w, i), dtype=int)
        flat = wb.uniform(over=(w, i))
        return {"y": body(*tables, s, flat, i)}

    with pytest.raises(ProgramError) as error:
        example()
    return error.value.message


REFUSED = {
    "float_index": (
        lambda q, n, s, x, i: wb.put(q, (s, x), 1.0),
        "the index x[w, i]: float() of an inner axis of q[w, i]: float(5, 4); expected integers "
        "(wb.cast(x, int) converts)",
    ),
    "too_many": (
        lambda q, n, s, x, i: wb.add_at(n, (s, s), 1),
        "add_at: 2 indices of n[w, i]: int32(5,), whose inner shape is (5,); expected 1 to 1. Its "
        "dims (w, i) cannot be indexed so; declare a table's indices as inner axes: "
        'wb.recurrent("q", (S, A), over=…)',
    ),
    "dims": (
        lambda q, n, s, x, i: wb.put(x, (s,), 1.0),
        "put: 1 indices of x[w, i]: float(), whose inner shape is (); expected inner axes. Its "
        "dims (w, i) cannot be indexed so; declare a table's indices as inner axes: "
        'wb.recurrent("q", (S, A), over=…)',
    ),
    "several": (
        lambda q, n, s, x, i: wb.put(q, (np.array([1, 2]), s), 1.0),
        "put: the index [1, 2] of q[w, i]: float(5, 4); expected a scalar, one index an instance",
    ),
    "float_into_integers": (
        lambda q, n, s, x, i: wb.add_at(n, s, x),
        "add_at: x[w, i]: float() for an entry of n[w, i]: int32(5,); convert with wb.cast",
    ),
    "shape": (
        lambda q, n, s, x, i: wb.put(q, s, np.ones(3)),
        "put: [1.0, 1.0, 1.0] for an entry of q[w, i]: float(5, 4), whose shape is (4,)",
    ),
    "over_of_the_table": (
        lambda q, n, s, x, i: wb.add_at(q, (s, 0), x, over=i),
        "add_at: q[w, i]: float(5, 4) varies over i, over which the values are added; read it "
        "where they are added to",
    ),
    "booleans": (
        lambda q, n, s, x, i: wb.add_at(q > 0.0, (s, 0), True),
        "add_at: (q[w, i] > 0.0): bool(5, 4); expected numbers",
    ),
    "dim_by_data": (
        lambda q, n, s, x, i: q[s, 0],
        "the index s[w, i]: int32() for w depends on data; use wb.gather(x, w=…), or for a table "
        "that is looked up and written at such indices inner axes: table[..., s, a]",
    ),
    "behind_a_slice": (
        lambda q, n, s, x, i: q[..., s],
        "integer tensors may index the first inner axes only, found one for axis 1 of q[w, i]: "
        "float(5, 4); behind an index a slice takes all of an axis: [..., k, :]",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    body, expected = REFUSED[name]
    assert refused(body) == expected
