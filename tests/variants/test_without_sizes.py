"""A program without sizes: what is said of it has no gap where sizes would stand."""

from __future__ import annotations

import argparse
import re
from typing import Any

import pytest

import workbench as wb
from workbench.cli.commands.optimize import _table
from workbench.cli.results import table
from workbench.transforms import Vectorize

GAP = re.compile(r"\bat(?=\s*(?:[,;:.)]|$))|\bat (?:float|seed)|[(:]\s*[,;]|,\s*,")


@wb.program
def constant() -> dict[str, Any]:
    t = wb.dim(t=5)
    x = wb.uniform(shape=2000, over=t)
    y = x * 2.0
    return {"y": y.sum(axis=0)}


def test_texts_have_no_gap() -> None:
    root = wb.variant(constant())
    variant = root.apply(Vectorize("t"))
    memory = variant.memory(backend="native")
    result = wb.run(variant, "numpy", progress=False)
    prediction = variant.predict(backend="native")
    optimized = argparse.Namespace(backend="numpy", threads=None, notes=False)
    texts = [
        str(prediction),
        str(prediction.peak_formula),
        memory.title,
        repr(memory),
        str(root.why(Vectorize("t"))),
        table(result).splitlines()[0],
        _table(variant, [], optimized).splitlines()[0],
    ]
    for text in texts:
        assert not any(GAP.search(line.strip()) for line in text.splitlines()), text
    assert memory.title.startswith("constant: ")


@pytest.mark.parametrize("text", ["5 gaps at", "run at, float32", "name: , numpy", "B at float32"])
def test_gaps_are_found(text: str) -> None:
    assert GAP.search(text)
