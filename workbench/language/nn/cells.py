"""Cells of recurrent networks: what they remember after one more input.

A program writes the recurrence itself, and so when it starts anew:

    hidden[b, i, 0] = 0.0
    hidden[b, i, t + 1] = wb.where(done, 0.0, cell(theta, observation, hidden))
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.language.nn.initializers import Initializer, constant, orthogonal
from workbench.language.nn.network import Network, expect_shape, widths
from workbench.language.nn.parameters import Member
from workbench.language.tracing.functions import sigmoid, tanh
from workbench.language.tracing.tensor import Tensor


def gru(
    name: str, inputs: int, size: int, initializer: Initializer | None = None
) -> Network[Tensor]:
    """Make a gated recurrent unit (Cho et al. 2014), with the gates and biases of PyTorch's
    GRUCell: `cell(theta, x, hidden)` returns the next hidden state, of shape (size,).

    reset r = sigmoid(x W_r + b_r + h U_r + c_r), update z likewise, candidate n = tanh(x W_n + b_n
    + r * (h U_n + c_n)), and h' = (1 - z) * n + z * h. `weight_input` has W_r, W_z and W_n side by
    side, `weight_hidden` the U; they are orthogonal unless `initializer` is given, biases zero.
    """
    given, n = widths(name, inputs, size)
    weights = initializer or orthogonal()
    members = {
        "weight_input": Member((given, 3 * n), weights),
        "weight_hidden": Member((n, 3 * n), weights),
        "bias_input": Member((3 * n,), constant(0.0)),
        "bias_hidden": Member((3 * n,), constant(0.0)),
    }

    def function(own: Mapping[str, Tensor], x: Tensor, hidden: Tensor) -> Tensor:
        expect_shape(name, "inputs", given, x)
        expect_shape(name, "a hidden state", n, hidden)
        from_input = x @ own["weight_input"] + own["bias_input"]
        from_hidden = hidden @ own["weight_hidden"] + own["bias_hidden"]
        reset = sigmoid(from_input[..., :n] + from_hidden[..., :n])
        update = sigmoid(from_input[..., n : 2 * n] + from_hidden[..., n : 2 * n])
        candidate = tanh(from_input[..., 2 * n :] + reset * from_hidden[..., 2 * n :])
        return (1.0 - update) * candidate + update * hidden

    return Network(name, members, function)


def lstm(
    name: str, inputs: int, size: int, initializer: Initializer | None = None
) -> Network[tuple[Tensor, Tensor]]:
    """Make a long short-term memory (Hochreiter & Schmidhuber 1997; forget gates: Gers et al.
    2000), with the gates of PyTorch's LSTMCell: `cell(theta, x, hidden, carry)` returns the next
    hidden state and carry, of shape (size,) each.

    input gate i, forget gate f, candidate g and output gate o of x W + h U + bias, in this order
    side by side; c' = sigmoid(f) * c + sigmoid(i) * tanh(g) and h' = sigmoid(o) * tanh(c'). Weights
    are orthogonal unless `initializer` is given, the bias zero.
    """
    given, n = widths(name, inputs, size)
    weights = initializer or orthogonal()
    members = {
        "weight_input": Member((given, 4 * n), weights),
        "weight_hidden": Member((n, 4 * n), weights),
        "bias": Member((4 * n,), constant(0.0)),
    }

    def function(
        own: Mapping[str, Tensor], x: Tensor, hidden: Tensor, carry: Tensor
    ) -> tuple[Tensor, Tensor]:
        expect_shape(name, "inputs", given, x)
        expect_shape(name, "a hidden state", n, hidden)
        expect_shape(name, "a carry", n, carry)
        gates = x @ own["weight_input"] + hidden @ own["weight_hidden"] + own["bias"]
        kept = sigmoid(gates[..., n : 2 * n]) * carry
        carried = kept + sigmoid(gates[..., :n]) * tanh(gates[..., 2 * n : 3 * n])
        return sigmoid(gates[..., 3 * n :]) * tanh(carried), carried

    return Network(name, members, function)
