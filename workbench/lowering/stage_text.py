"""Each stage of lowering as text, for learning and debugging."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from workbench.lowering import text
from workbench.lowering.loops.records import HOST, Record
from workbench.lowering.lower import Stages
from workbench.lowering.values.stored import Stored
from workbench.polyhedral import tree
from workbench.polyhedral.lifetimes.windows import Lifetime
from workbench.polyhedral.loops.nodes import Guard, LoopNode, Node
from workbench.program.storage import INNER


def _loops(nodes: tuple[Node, ...], indent: str = "") -> Iterator[str]:
    for node in nodes:
        if isinstance(node, LoopNode):
            way = ", in any order" if node.apart else " reversed" if node.backwards else ""
            yield f"{indent}for {node.variable} in {node.lower}:{node.upper}{way}:"
            yield from _loops(node.body, indent + "    ")
        elif isinstance(node, Guard):
            yield f"{indent}if {node.condition.text}:"
            yield from _loops(node.body, indent + "    ")
        else:
            at = ", ".join(f"{dim}={value}" for dim, value in node.values)
            yield f"{indent}{node.statement} at {at}" if at else indent + node.statement


def _lifetimes(lifetimes: Mapping[str, Lifetime], storage: Mapping[str, Stored]) -> Iterator[str]:
    for name, life in lifetimes.items():
        dims = storage[name].array.dims
        slots = [
            f"all of {dim}" if window is None else f"{window} of {dim}"
            for dim, window in zip(dims, life.windows, strict=True)
        ]
        loops = f", within an iteration (loop {life.loops} around it)" if life.loops else ""
        yield f"{name}: {', '.join(slots) or 'one element'}{loops}"


def _storage(storage: Mapping[str, Stored]) -> Iterator[str]:
    for name, stored in storage.items():
        buffer = stored.buffer
        shape = ", ".join(str(n) for n in buffer.shape)
        dims = [stored.array.dims[position] for position in stored.order]
        order = ", ".join(dims if stored.together else stored.arranged(dims, [INNER]))
        host = " on the host" if buffer.space == HOST else ""
        initial = f", begins as {buffer.initial}" if buffer.initial else ""
        yield f"{name}: {buffer.dtype}[{shape}]{f' over {order}' if order else ''}{host}{initial}"


def _records(body: tuple[Record, ...]) -> Iterator[str]:
    for line in text.lines(body):
        yield line.text


STAGES: Mapping[str, tuple[str, Callable[[Stages], Iterator[str]]]] = {
    "schedule": (
        "the order of the statements, a tree",
        lambda stages: iter(tree.text(stages.schedule).splitlines()),
    ),
    "loops": ("the loops that isl makes of the tree", lambda stages: _loops(stages.loops)),
    "lifetimes": (
        "how much of each array is in use at a time",
        lambda stages: _lifetimes(stages.lifetimes, stages.storage),
    ),
    "storage": ("the buffer of each array", lambda stages: _storage(stages.storage)),
    "operations": (
        "each instance as array operations",
        lambda stages: _records(stages.operations),
    ),
    "prefetching": (
        "the same, with copies from the host as early as asked for",
        lambda stages: _records(stages.prefetching),
    ),
    "memory": (
        "the loop program, with allocations and frees",
        lambda stages: iter(str(stages.memory).splitlines()),
    ),
}
"""The stages in their order: a description of each, and its text line by line."""


def stage_text(stages: Stages, name: str) -> str:
    """Return the text of one stage, a key of `STAGES`."""
    return "\n".join(STAGES[name][1](stages))
