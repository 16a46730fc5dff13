"""The bits of every function over 2**24 inputs, on a GPU as in compiled C: one hash for each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

import workbench as wb
from tests.gpu.devices import Asked, compiled
from workbench.backends.native.backend import NativeBackend
from workbench.language.tracing.nodes import apply
from workbench.program.values import Program
from workbench.transforms import Vectorize
from workbench.variants.variant import variant

RECORDED = Path(__file__).with_name("functions.json")
COUNT, FEW = 1 << 24, 1 << 10

FUNCTIONS: dict[str, tuple[float, float, Callable[[Any], Any]]] = {
    "exp": (-110.0, 110.0, lambda x: apply("exp", x)),
    "log": (0.0, 3e38, lambda x: apply("log", x)),
    "log near 1": (0.5, 2.0, lambda x: apply("log", x)),
    "log1p": (-1.0, 100.0, lambda x: apply("log1p", x)),
    "tanh": (-12.0, 12.0, lambda x: apply("tanh", x)),
    "sin": (-200.0, 200.0, lambda x: apply("sin", x)),
    "cos": (-200.0, 200.0, lambda x: apply("cos", x)),
    "sqrt": (0.0, 3e38, lambda x: apply("sqrt", x)),
    "quotient": (-1e3, 1e3, lambda x: 3.0 / x),
    "power": (0.0, 100.0, lambda x: apply("power", x, 1.7)),
    "lgamma": (0.0, 100.0, lambda x: apply("lgamma", x)),
    "digamma": (0.0, 100.0, lambda x: apply("digamma", x)),
    "trigamma": (0.0, 100.0, lambda x: apply("trigamma", x)),
}
"""Each with the range of its inputs."""


def program_of(name: str) -> Program:
    """A function of equally spaced inputs, or draws."""

    @wb.program
    def values(N: int = COUNT) -> dict[str, Any]:
        n = wb.dim(n=N)
        if name in ("uniform", "normal"):
            return {"y": getattr(wb, name)(over=n)}
        low, high, function = FUNCTIONS[name]
        return {"y": function(wb.cast(wb.index(n), "float") * ((high - low) / COUNT) + low)}

    return variant(values()).apply(Vectorize("n")).program


def names() -> list[str]:
    """All functions, and kinds of draws."""
    return [*FUNCTIONS, "uniform", "normal"]


def bits_of(values: Any) -> str:
    """The hash of values; every NaN is the same."""
    plain = np.where(np.isnan(values), np.float32("nan"), values).astype("<f4")
    return sha256(plain.tobytes()).hexdigest()[:16]


def native(count: int) -> dict[str, str]:
    """The hashes of compiled C."""
    return {
        name: bits_of(NativeBackend().compile(program_of(name)).run({"N": count}).outputs["y"])
        for name in names()
    }


def checked(asked: Asked) -> Iterator[dict[str, Any]]:
    """A line for each function: whether its bits are those of compiled C."""
    count = FEW if asked.few else COUNT
    wanted = native(FEW) if asked.few else json.loads(RECORDED.read_text(encoding="utf-8"))
    for name in filter(asked.wants, names()):
        found = compiled(program_of(name), asked.where).run({"N": count}).outputs["y"]
        wrong = [] if bits_of(found) == wanted[name] else ["other bits than compiled C"]
        yield {"function": name, "inputs": count, "wrong": wrong}


if __name__ == "__main__":
    RECORDED.write_text(json.dumps(native(COUNT), indent=1) + "\n", encoding="utf-8")
