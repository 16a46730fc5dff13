"""A program that reads a log, the log, and what it computes by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

import workbench as wb
from workbench import nn, optim


@wb.program
def averages(W: int = 2, K: int = 5, I: int = 2) -> dict[str, Any]:
    """Workers walk their slices of a log, in passes; each reads another row's features too."""
    w, i, k = wb.dims(w=W, i=I, k=K)
    log = wb.data(
        "log",
        {
            "x": ("float", (3,)),
            "near": ("int32", ()),
            "end": (bool, ()),
            "far": ("int64", ()),
        },
        over=(w, k),
        bounds={"near": (0, K), "x": (-1.0, 1.0), "far": (None, None)},
    )
    other = wb.gather(log["x"], k=log["near"])
    s = wb.recurrent("s", 3, over=(w, i, k))
    s[w, 0, 0] = 0.0
    s[w, i + 1, 0] = s[w, i, K]
    s[w, i, k + 1] = wb.where(log["end"], 0.0, 0.5 * s + other * log["x"])
    return {"mean": s[w, i, K].mean(over=w), "far": log["far"].sum(over=k)}


@wb.program
def running(K: int = 5) -> dict[str, Any]:
    """One pass over two columns."""
    k = wb.dim(k=K)
    log = wb.data("log", {"x": (float, (4,)), "n": (int, ())}, over=k, bounds={"n": (0, 9)})
    s = wb.recurrent("s", 4, over=k)
    s[0] = 0.0
    s[k + 1] = 0.5 * s + wb.cast(log["n"], float) * log["x"]
    return {"last": s[K]}


@wb.program
def regression(K: int = 5, I: int = 3) -> dict[str, Any]:
    """Least squares by gradient descent."""
    i, k = wb.dims(i=I, k=K)
    rows = wb.data("rows", {"x": (float, (3,)), "y": (float, ())}, over=k)
    theta = nn.parameters(nn.vector("v", 3, 0.5), over=i)
    loss = ((rows["x"] @ theta.tensors["v.value"] - rows["y"]) ** 2).mean(over=k)
    theta.update(optim.sgd(wb.gradient(loss, theta), 0.1))
    return {"loss": loss}


def log(rows: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Rows for it."""
    random = np.random.default_rng(seed)
    return {
        "x": random.uniform(-1, 1, (rows, 3)),
        "near": random.integers(0, 5, rows),
        "end": random.random(rows) < 0.2,
        "far": random.integers(-(2**40), 2**40, rows),
    }


def truth(rows: dict[str, np.ndarray], workers: int, passes: int = 2) -> dict[str, np.ndarray]:
    """What the program computes of all rows."""
    count = len(rows["near"]) // workers
    s = np.zeros((workers, 3))
    means = []
    for _ in range(passes):
        for w in range(workers):
            for k in range(w * count, (w + 1) * count):
                other = rows["x"][w * count + rows["near"][k]]
                s[w] = 0.0 if rows["end"][k] else 0.5 * s[w] + other * rows["x"][k]
        means.append(s.mean(axis=0))
    far = rows["far"][: workers * count].reshape(workers, count).sum(axis=1)
    return {"mean": np.array(means), "far": far}
