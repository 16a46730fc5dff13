"""The pipeline for compiled kernels: from a program to loops that launch them.

It has the loops, lifetimes and storage of `lower`. What an instance computes is not lowered to
array operations: the kernels are made from statements (`codegen`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from workbench.identity import remembered
from workbench.lowering.instances.guards import guarded
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.records import For, If, Launch, Record
from workbench.lowering.lower import variables
from workbench.lowering.memory.buffers import in_memory, results, stored_arrays
from workbench.lowering.memory.lives import homes, lives, shapes
from workbench.lowering.memory.tiles import tiles
from workbench.lowering.values.scope import FreshNames, Workspace
from workbench.lowering.values.stored import Stored
from workbench.polyhedral.expression import Expression
from workbench.polyhedral.loops import from_tree
from workbench.polyhedral.loops.nodes import Guard, Instance, Node
from workbench.program.accumulating import derived
from workbench.program.values import Program


@remembered(8)
def launches(program: Program) -> LoopProgram:
    """Lower a program to loops of kernels with explicit memory. The last few are kept.

    Arrays in host memory are read and written where they are: the processor reaches both spaces. A
    GPU has slices of them (`codegen/cuda/slices`).
    """
    program = derived(program)
    loops = from_tree.loops(program.schedule, shapes(program))
    workspace = Workspace(FreshNames(set()))
    aliases = variables(program, loops, workspace.names)
    lifetimes = lives(program)
    storage = stored_arrays(program, lifetimes, workspace, exact=True)
    storage |= tiles(program, lifetimes, storage)
    for stored in storage.values():
        workspace.reserve(stored.buffer)
    records = _records(program, loops, storage)
    return LoopProgram(
        program.name,
        tuple(p.name for p in program.parameters),
        in_memory(program, lifetimes, storage, workspace, records),
        results(program, storage),
        storage,
        aliases,
        own=frozenset(
            storage[array].buffer.name
            for array, around in homes(program, lifetimes).items()
            if any(loop.apart for loop in around)
        ),
        guarded=guarded(program, storage),
    )


def _records(
    program: Program, nodes: Sequence[Node], storage: Mapping[str, Stored]
) -> list[Record]:
    records: list[Record] = []
    for node in nodes:
        if isinstance(node, Instance):
            statement = program.statement[node.statement]
            reads = dict.fromkeys(storage[r.array].buffer.name for r in statement.reads)
            written = storage[statement.array].buffer.name
            records.append(_launch(node.statement, node.values, tuple(reads), (written,)))
            continue
        body = tuple(_records(program, node.body, storage))
        if isinstance(node, Guard):
            records.append(If(node.condition, body))
            continue
        records.append(
            For(
                node.variable,
                node.lower,
                node.upper,
                node.backwards,
                node.dim,
                body,
                apart=node.apart,
            )
        )
    return records


@lru_cache(maxsize=4096)
def _launch(
    statement: str,
    values: tuple[tuple[str, Expression], ...],
    reads: tuple[str, ...],
    writes: tuple[str, ...],
) -> Launch:
    """Return the launch of a statement, one object for equal ones: what is known of it is found
    again by its identity.
    """
    return Launch(statement, values, reads, writes)
