"""Recurrent cells, normalised layers, embeddings and attention against NumPy by hand, and their
derivatives against central differences.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import workbench as wb
from tests.codegen.cuda.fibres import SEED, differences
from tests.language.differences import check
from tests.native_runs import check_native, run_native
from workbench import nn
from workbench.backends.reference.evaluator import Reference
from workbench.errors import ProgramError, WorkbenchError
from workbench.polyhedral.expression import size
from workbench.program.values import Program
from workbench.transforms import Vectorize

Array = npt.NDArray[Any]
ANY = nn.normal(0.7)
"""Weights, for which no bias is zero."""


def everywhere(network: nn.Network[Any]) -> nn.Network[Any]:
    """The network with random first values of all its parameters."""
    members = {n: nn.Member(m.shape, ANY, m.layers) for n, m in network.members.items()}
    return nn.Network(network.name, members, network.function)


def own(reference: Reference, network: str) -> dict[str, Array]:
    """The parameters of a network by name."""
    begin = f"parameters.{network}."
    names = (a.name for a in reference.equations.arrays if a.name.startswith(begin))
    return {name.removeprefix(begin): reference.array(name) for name in names}


def sigmoid(x: Array) -> Array:
    return 1.0 / (1.0 + np.exp(-x))


# -- programs --------------------------------------------------------------------------------------


@wb.program
def gated(B: int = 2, T: int = 3) -> dict[str, Any]:
    b, t = wb.dims(b=B, t=T)
    cell = everywhere(nn.gru("cell", 2, 3))
    theta = nn.parameters(cell)
    x = wb.normal(shape=2, over=(b, t))
    hidden = wb.recurrent("hidden", 3, over=(b, t))
    hidden[b, 0] = 0.1
    hidden[b, t + 1] = cell(theta, x, hidden)
    return differentiated(theta, {"y": hidden}, (hidden[b, T] ** 2).sum().sum(over=b))


@wb.program
def long_short(B: int = 2, T: int = 3) -> dict[str, Any]:
    b, t = wb.dims(b=B, t=T)
    cell = everywhere(nn.lstm("cell", 2, 3))
    theta = nn.parameters(cell)
    x = wb.normal(shape=2, over=(b, t))
    hidden, carry = (wb.recurrent(name, 3, over=(b, t)) for name in ("hidden", "carry"))
    hidden[b, 0], carry[b, 0] = 0.1, -0.2
    hidden[b, t + 1], carry[b, t + 1] = cell(theta, x, hidden, carry)
    loss = (hidden[b, T] * carry[b, T]).sum().sum(over=b)
    return differentiated(theta, {"y": hidden, "carry": carry}, loss)


@wb.program
def normalised(B: int = 2) -> dict[str, Any]:
    b = wb.dim(b=B)
    network = everywhere(nn.layer_norm("norm", 4, eps=0.01))
    theta = nn.parameters(network)
    y = network(theta, wb.normal(shape=4, over=b))
    return differentiated(theta, {"y": y}, (y * y).sum().sum(over=b))


@wb.program
def embedded(B: int = 3) -> dict[str, Any]:
    b = wb.dim(b=B)
    table = nn.embedding("table", 5, 2)
    theta = nn.parameters(table)
    # Within the table however many b there are: `make kernels` makes lanes longer.
    one = table(theta, wb.index(b) % 4 + 1)
    two = table(theta, wb.stack([wb.index(b) % 5, wb.index(0)]))
    loss = ((one * one).sum() + (two * two * two).sum()).sum(over=b)
    return differentiated(theta, {"y": one, "two": two}, loss)


@wb.program
def attending(B: int = 2, T: int = 4) -> dict[str, Any]:
    b, t = wb.dims(b=B, t=T)
    attend = everywhere(nn.attention("attend", 4, heads=2, inputs=3))
    theta = nn.parameters(attend)
    x, memory = wb.normal(shape=4, over=(b, t)), wb.normal(shape=3, over=(b, t))
    y = attend(theta, x, memory[b, wb.maximum(t - 2, 0) : t + 1])
    return differentiated(theta, {"y": y}, (y * y).sum().sum(over=(b, t)))


@wb.program
def masked(B: int = 2, T: int = 4) -> dict[str, Any]:
    """Episodes of two steps, in which nothing of the one before is attended to."""
    b, t = wb.dims(b=B, t=T)
    attend = everywhere(nn.attention("attend", 4, heads=2))
    theta = nn.parameters(attend)
    x = wb.normal(shape=4, over=(b, t))
    number = wb.index(t) // 2
    same = number[0 : t + 1] == number
    y = attend(theta, x, x[b, 0 : t + 1], same)
    return differentiated(theta, {"y": y}, (y * y).sum().sum(over=(b, t)))


@wb.program
def among(B: int = 3) -> dict[str, Any]:
    """The points of an inner axis, some of which are masked."""
    b = wb.dim(b=B)
    attend = everywhere(nn.attention("attend", 2, inputs=3))
    theta = nn.parameters(attend)
    x, memory = wb.normal(shape=2, over=b), wb.normal(shape=(5, 3), over=b)
    y = attend(theta, x, memory, memory[..., 0] < memory.max(axis=0)[..., 0])
    return differentiated(theta, {"y": y}, (y * y).sum().sum(over=b))


def differentiated(theta: Any, values: dict[str, Any], loss: Any) -> dict[str, Any]:
    """Outputs with the loss and its derivatives by the parameters."""
    found = wb.gradient(loss, theta)
    return {**values, "loss": loss, **{f"d_{n.split('.')[1]}": g for n, g in found.items()}}


PROGRAMS: dict[str, Any] = {
    "gru": gated,
    "lstm": long_short,
    "layer_norm": normalised,
    "embedding": embedded,
    "attention": attending,
    "masked attention": masked,
    "attention to an inner axis": among,
}


# -- by hand ---------------------------------------------------------------------------------------


def gru_by_hand(p: dict[str, Array], x: Array, h: Array) -> Array:
    """PyTorch's documentation of GRUCell, a gate after the other."""
    (ir, iz, in_), (hr, hz, hn) = (
        np.split(v @ p[f"weight_{k}"] + p[f"bias_{k}"], 3) for v, k in ((x, "input"), (h, "hidden"))
    )
    z = sigmoid(iz + hz)
    return (1 - z) * np.tanh(in_ + sigmoid(ir + hr) * hn) + z * h


def lstm_by_hand(p: dict[str, Array], x: Array, h: Array, c: Array) -> tuple[Array, Array]:
    """PyTorch's documentation of LSTMCell."""
    i, f, g, o = np.split(x @ p["weight_input"] + h @ p["weight_hidden"] + p["bias"], 4)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def attention_by_hand(p: dict[str, Array], x: Array, memory: Array, heads: int) -> Array:
    """With the keys and values of all points, head by head."""
    query = np.split(x @ p["weight_query"] + p["bias_query"], heads)
    key = np.split(memory @ p["weight_key"], heads, axis=1)
    value = np.split(memory @ p["weight_value"] + p["bias_value"], heads, axis=1)
    found = []
    for q, k, v in zip(query, key, value, strict=True):
        weights = np.exp(k @ q / np.sqrt(len(q)))
        found.append(weights @ v / weights.sum())
    return np.concatenate(found) @ p["weight_output"] + p["bias_output"]


def test_gru_is_pytorchs_cell() -> None:
    reference = Reference(gated().equations, seed=1)
    p, x, y = own(reference, "cell"), reference.array("x"), reference.array("hidden")
    for b in range(2):
        h = np.full(3, 0.1)
        for t in range(3):
            h = gru_by_hand(p, x[b, t], h)
            np.testing.assert_allclose(y[b, t + 1], h, rtol=1e-12)


def test_lstm_is_pytorchs_cell() -> None:
    reference = Reference(long_short().equations, seed=1)
    p, x = own(reference, "cell"), reference.array("x")
    for b in range(2):
        h, c = np.full(3, 0.1), np.full(3, -0.2)
        for t in range(3):
            h, c = lstm_by_hand(p, x[b, t], h, c)
            np.testing.assert_allclose(reference.element("hidden", (b, t + 1)), h, rtol=1e-12)
            np.testing.assert_allclose(reference.element("carry", (b, t + 1)), c, rtol=1e-12)


def test_layer_norm_has_the_mean_and_deviation_of_its_parameters() -> None:
    reference = Reference(normalised().equations, seed=1)
    p, (x,) = own(reference, "norm"), inputs(reference)
    centred = x - x.mean(axis=1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 0.01)
    expected = scaled * p["scale"] + p["shift"]
    np.testing.assert_allclose(reference.outputs()["y"], expected, rtol=1e-12)


def test_embedding_has_the_rows_of_its_table() -> None:
    reference = Reference(embedded().equations, seed=1)
    found, table = reference.outputs(), own(reference, "table")["table"]
    np.testing.assert_array_equal(found["y"], table[[1, 2, 3]])
    np.testing.assert_array_equal(found["two"], table[[[0, 0], [1, 0], [2, 0]]])


def test_attention_is_that_of_keys_and_values_of_each_point() -> None:
    reference = Reference(attending().equations, seed=1)
    p, x, memory = own(reference, "attend"), reference.array("x"), reference.array("memory")
    y = reference.outputs()["y"]
    for b in range(2):
        for t in range(4):
            window = memory[b, max(t - 2, 0) : t + 1]
            expected = attention_by_hand(p, x[b, t], window, heads=2)
            np.testing.assert_allclose(y[b, t], expected, rtol=1e-10)


def test_attention_leaves_out_what_is_masked() -> None:
    reference = Reference(masked().equations, seed=1)
    p, x, y = own(reference, "attend"), reference.array("x"), reference.outputs()["y"]
    for b in range(2):
        for t in range(4):
            window = x[b, t - t % 2 : t + 1]
            expected = attention_by_hand(p, x[b, t], window, heads=2)
            np.testing.assert_allclose(y[b, t], expected, rtol=1e-10)


def test_attention_to_an_inner_axis_is_that_to_its_rows() -> None:
    reference = Reference(among().equations, seed=1)
    p, x, memory = own(reference, "attend"), reference.array("x"), reference.array("memory")
    y = reference.outputs()["y"]
    for b in range(3):
        rows = memory[b][memory[b, :, 0] < memory[b, :, 0].max()]
        np.testing.assert_allclose(y[b], attention_by_hand(p, x[b], rows, heads=1), rtol=1e-10)


def test_attention_has_no_array_over_pairs_of_points() -> None:
    assert {a.dims for a in attending().arrays} == {(), ("b", "t")}


def test_attention_survives_large_scores() -> None:
    @wb.program
    def example(T: int = 3) -> dict[str, Any]:
        t = wb.dim(t=T)
        attend = nn.attention("attend", 2, initializer=nn.constant(40.0))
        x = wb.stack([wb.cast(wb.index(t), "float"), 1.0])
        return {"y": attend(nn.parameters(attend), x, x[0 : t + 1])}

    found = wb.run(example(), dtype="float32", progress=False, backend="numpy")["y"]
    # all weight is on the last point, (t, 1), whose values are 40 * (t + 1)
    np.testing.assert_allclose(found, 3200.0 * (1 + np.arange(3))[:, None] * [1, 1], rtol=1e-5)


def inputs(reference: Reference) -> list[Array]:
    """The arrays of draws that are no parameters."""
    names = [a.name for a in reference.equations.arrays if a.name.endswith("normal")]
    return [reference.array(name) for name in names if not name.startswith("parameters")]


# -- derivatives, and other backends ---------------------------------------------------------------


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradient_of_a_network(name: str) -> None:
    program: Program = PROGRAMS[name]()
    gradients = [o.name for o in program.outputs if o.name.startswith("d_")]
    (prefix,) = {
        a.name.rpartition(".")[0] for a in program.arrays if a.name.startswith("parameters.")
    }
    check(program, [f"{prefix}.{g[2:]}" for g in gradients], gradients)


@pytest.mark.parametrize("name", PROGRAMS)
def test_network_is_as_the_reference_says(name: str) -> None:
    program: Program = PROGRAMS[name]()
    wanted = Reference(program.equations).outputs()
    written = wb.variant(program)
    for variant in (written, written.apply(Vectorize("b"))):
        found = wb.run(variant, dtype="float64", progress=False, backend="numpy").outputs
        for output, values in wanted.items():
            np.testing.assert_allclose(found[output], values, rtol=1e-9, atol=1e-12)
    check_native(variant.program, found, None, 0)


@pytest.mark.parametrize("name", ["lstm", "attention"])
def test_network_as_compiled_c_and_as_kernels_of_a_gpu(name: str) -> None:
    program = wb.variant(PROGRAMS[name]()).apply(Vectorize("b")).program
    found = run_native(program, seed=SEED, dtype="float32")
    for output, values in Reference(program.equations, seed=SEED).outputs().items():
        np.testing.assert_allclose(found[output], values, rtol=1e-4, atol=1e-4)
    assert differences(program, {}, found) == []


# -- what a user can get wrong ---------------------------------------------------------------------


def called(network: Callable[[], nn.Network[Any]], *xs: Any) -> Any:
    @wb.program
    def example(T: int = 3) -> dict[str, Any]:
        t = wb.dim(t=T)
        made = network()
        inputs = [wb.uniform(shape=x, over=t) if isinstance(x, tuple) else x(t) for x in xs]
        made(nn.parameters(made), *inputs)
        return {"y": wb.uniform()}

    return example()


@pytest.mark.parametrize(
    ("network", "inputs", "told"),
    [
        (lambda: nn.gru("cell", 2, 3), [(2,)],
         "network 'cell' takes the inputs (x, hidden), found 1 of them"),
        (lambda: nn.gru("cell", 2, 3), [(3,), (3,)],
         "network 'cell' expects inputs of shape (2,), found (3,)"),
        (lambda: nn.gru("cell", 2, 3), [(2,), (2,)],
         "network 'cell' expects a hidden state of shape (3,), found (2,)"),
        (lambda: nn.lstm("cell", 2, 3), [(2,), (3,), (1,)],
         "network 'cell' expects a carry of shape (3,), found (1,)"),
        (lambda: nn.lstm("cell", 2, 0), [],
         "network 'cell': a width is 0; expected a whole number from 1 on"),
        (lambda: nn.embedding("table", size("T"), 2), [],
         "network 'table': a width is T; expected a whole number from 1 on (an argument whose name "
         "starts with a capital is a size: T)"),
        (lambda: nn.layer_norm("norm", 2), [(3,)],
         "network 'norm' expects inputs of shape (2,), found (3,)"),
        (lambda: nn.embedding("table", 5, 2), [()],
         "network 'table' expects integers, found uniform[t]: float()"),
        (lambda: nn.attention("attend", 4, heads=3), [],
         "network 'attend': 4 numbers in 3 heads; expected a multiple of 3"),
        (lambda: nn.attention("attend", 2), [(2,)],
         "network 'attend' takes the inputs (x, memory, mask=None), found 1 of them"),
        (lambda: nn.attention("attend", 2), [(2,), (2,)],
         "network 'attend' expects a memory with one range axis, as x[b, t:T], found"),
        (lambda: nn.attention("attend", 2), [(2,), (4, 3)],
         "network 'attend' expects a memory of shape (2,) with a range axis, as x[b, t:T], or of "
         "shape (points, 2), found"),
        (lambda: nn.attention("attend", 2), [(2,), (4, 2), (4,)],
         "network 'attend' expects a mask of booleans of shape (4,), one for each point, found"),
    ],
)  # fmt: skip
def test_refused(network: Any, inputs: Any, told: str) -> None:
    with pytest.raises(ProgramError) as refused:
        called(network, *inputs)
    assert refused.value.message.startswith(told)
    assert refused.value.line is not None


def test_index_outside_of_an_embedding_is_an_error_with_the_instance() -> None:
    @wb.program
    def example(T: int = 4) -> dict[str, Any]:
        t = wb.dim(t=T)
        table = nn.embedding("table", 3, 2)
        return {"y": table(nn.parameters(table), t)}

    program = example()
    for run in (
        lambda: Reference(program.equations).outputs(),
        lambda: wb.run(wb.variant(program), progress=False, backend="numpy"),
        lambda: wb.run(wb.variant(program).apply(Vectorize("t")), progress=False, backend="numpy"),
    ):
        with pytest.raises(WorkbenchError, match=r"3.*t=3|t=3.*3"):
            run()


def test_duelling_network_refused_without_a_shared_layer() -> None:
    @wb.program
    def example(T: int = 2) -> dict[str, Any]:
        return {"y": nn.duelling("q", 2, (), 3)}

    with pytest.raises(ProgramError, match="network 'q': a duelling network without hidden layers"):
        example()


def test_duelling_networks_values_are_worth_and_advantages_less_their_mean() -> None:
    @wb.program
    def example(T: int = 3) -> dict[str, Any]:
        t = wb.dim(t=T)
        q = everywhere(nn.duelling("q", 2, (4,), 3))
        theta = nn.parameters(q)
        x = wb.normal(shape=2, over=t)
        y = q(theta, x)
        loss = (y * y).sum().sum(over=t)
        found = wb.gradient(loss, theta)
        return {"x": x, "y": y, "loss": loss, **{f"d.{n}": g for n, g in found.items()}}

    program = example()
    reference = Reference(program.equations, seed=SEED)
    p, x = own(reference, "q"), reference.array("x")
    h = np.tanh(x @ p["features.weight_1"] + p["features.bias_1"])
    worth = h @ p["worth.weight_1"] + p["worth.bias_1"]
    advantage = h @ p["advantage.weight_1"] + p["advantage.bias_1"]
    expected = worth + advantage - advantage.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(reference.array("y"), expected, rtol=1e-12)
    names = [f"q.{part}" for part in ("features.weight_1", "worth.bias_1", "advantage.weight_1")]
    check(program, [f"parameters.{n}" for n in names], [f"d.{n}" for n in names])


def test_networks_of_one_name_are_refused() -> None:
    @wb.program
    def example(I: int = 2) -> dict[str, Any]:
        i = wb.dim(i=I)
        theta = nn.parameters(nn.linear("a", 1, 1), nn.linear("a", 2, 1), over=i)
        return {"y": theta.tensors["a.bias_1"]}

    with pytest.raises(ProgramError, match="2 networks are named 'a'; expected a name for each"):
        example()


@pytest.mark.parametrize("value", [np.full((1, 1), 2.0), 2.0, [[2.0]]], ids=str)
def test_parameters_are_updated_by_constants(value: Any) -> None:
    @wb.program
    def example(I: int = 2) -> dict[str, Any]:
        i = wb.dim(i=I)
        theta = nn.parameters(nn.linear("a", 1, 1), over=i)
        theta.update({"a.weight_1": value, "a.bias_1": theta.tensors["a.bias_1"]})
        return {"weight": theta.tensors["a.weight_1"][i + 1] * 1.0}

    found = wb.run(example(), backend="numpy", progress=False)["weight"]
    assert np.asarray(found)[..., -1:, :].ravel().tolist()[-1] == 2.0
