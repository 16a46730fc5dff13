"""REINFORCE vectorized over the environments against the program as written, interleaved.

python -m tests.benchmarks.vectorize --B 256 --T 50 --I 1 --rounds 5
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from tests.benchmarks.measuring import emit, interleaved, machine, median, ratio
from workbench.algorithms import reinforce
from workbench.backends import get
from workbench.transforms import Vectorize
from workbench.variants.variant import Variant, optimize, variant


def runs(chosen: Variant, sizes: dict[str, int]) -> Callable[[], float]:
    """The seconds of one run, compilation not among them."""
    compiled = get("numpy").compile(chosen.program)
    return lambda: compiled.run(sizes).seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--B", type=int, default=256)
    parser.add_argument("--T", type=int, default=50)
    parser.add_argument("--I", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    sizes = {"B": given.B, "T": given.T, "I": given.I}
    root = variant(reinforce())
    variants = {
        "as written": root,
        "vectorized over b": root.apply(Vectorize("b")),
        "automatic recipe": optimize(root, backend="numpy"),
    }
    ways = {name: runs(chosen, sizes) for name, chosen in variants.items()}
    found = interleaved(ways, given.rounds)
    steps = given.B * given.T * given.I
    for name, samples in found.items():
        emit(
            what=name,
            **sizes,
            seconds=median(samples),
            least=min(samples),
            us_per_instance=median(samples) * 1e6 / steps,
            samples=samples,
        )
    for name in ("vectorized over b", "automatic recipe"):
        value, interval = ratio(found["as written"], found[name])
        emit(
            what=f"as written / {name}",
            ratio=value,
            interval=interval,
            of_least=min(found["as written"]) / min(found[name]),
            target=100 if name == "vectorized over b" else None,
        )
    emit(what="machine", **machine())


if __name__ == "__main__":
    main()
