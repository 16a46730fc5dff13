"""Networks as compiled C at the widths around which layers are written differently: what is written
out, what is in locals, what goes in blocks of results, and what is a product of matrices.
"""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from tests.backends.native.runs.test_programs import agrees
from workbench.language import nn, optim
from workbench.transforms import Contract, Donate, Persist
from workbench.transforms.step.transform import Transform

WIDTHS = (7, 8, 9, 15, 16, 17, 24, 32, 33)
WAYS: dict[str, tuple[Transform, ...]] = {
    "as written": (),
    "blocks": (Persist("b", 16), Contract(), Donate()),
}


@wb.program
def fitted(B: int = 20, I: int = 2, width: int = 16) -> dict[str, Any]:
    """Two hidden layers that are fitted to sums of their inputs."""
    b, i = wb.dims(b=B, i=I)
    network = nn.mlp("fitted", 3, (width, width), 2)
    theta = nn.parameters(network, over=i)
    x = wb.normal(shape=3, over=(b, i))
    error = network(theta, x) - wb.reshape(x.sum(axis=0), (1,))
    loss = (error * error).sum(axis=0).mean(over=b)
    theta.update(optim.adam(wb.gradient(loss, theta), 1e-2))
    return {"loss": loss, "error": error}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("width", WIDTHS)
def test_network_agrees_with_reference(width: int, way: str) -> None:
    variant = wb.variant(fitted(width=width))
    for step in WAYS[way]:
        variant = variant.apply(step)
    agrees(variant.program, {"B": 20, "I": 2})
