"""The pipeline: from a program with its schedule to a loop program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.identity import remembered
from workbench.lowering.instances.guards import guarded
from workbench.lowering.instances.nest import LoopNest
from workbench.lowering.instances.swapping import Swapping
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.records import Record
from workbench.lowering.memory.buffers import in_memory, results, stored_arrays
from workbench.lowering.memory.lives import lives, shapes
from workbench.lowering.memory.prefetching import prefetched
from workbench.lowering.values.scope import FreshNames, Workspace
from workbench.lowering.values.stored import Stored, memory_order
from workbench.polyhedral.lifetimes.windows import Lifetime
from workbench.polyhedral.loops import from_tree
from workbench.polyhedral.loops.axis_blocks import axis_blocks
from workbench.polyhedral.loops.nodes import Instance, LoopNode, Node
from workbench.polyhedral.tree import Tree, axis_dims, paths
from workbench.program.accumulating import derived
from workbench.program.values import Program

RESERVED = frozenset(
    {
        "xp",
        "functions",
        "memory",
        "host",
        "seed",
        "real",
        "sizes",
        "results",
        "step",
        "check",
        "range",
        "min",
        "max",
        "allocate",
        "free",
        "constant",
    }
)
"""Names that generated source uses itself."""


@dataclass(frozen=True)
class Stages:
    """The results of the stages of lowering, in their order; `stages` describes each.

    `workbench show reinforce --stage storage` prints one.
    """

    schedule: Tree
    loops: tuple[Node, ...]
    lifetimes: Mapping[str, Lifetime]
    storage: Mapping[str, Stored]
    operations: tuple[Record, ...]
    prefetching: tuple[Record, ...]
    memory: LoopProgram


@remembered(8)
def lower(program: Program) -> LoopProgram:
    """Lower a program to loops of array operations with explicit memory. The last few are kept."""
    return stages(program).memory


def stages(program: Program) -> Stages:
    """Lower a program, stage by stage."""
    # 0. Sums whose points are added up get accumulators; all that follows sees only these.
    program = derived(program)

    # 1. Schedule: the tree says in which order instances run, and which loops are array axes.
    schedule = program.schedule

    # 2. Loops: isl generates from the tree the loops that run every instance of every domain.
    loops = from_tree.loops(schedule, shapes(program))
    workspace = Workspace(FreshNames(set(RESERVED)))
    aliases = variables(program, loops, workspace.names)

    # 3. Lifetimes: how many slots of each dimension are in use at a time, and inside which loops.
    lifetimes = lives(program)

    # 4. Storage: each array gets a buffer of that many slots, on the device or the host.
    storage = stored_arrays(program, lifetimes, workspace)

    # 5. Operations: each instance becomes array operations over its axes. Slices of arrays on the
    #    host are copied in front of their first use.
    blocks = {
        name: axis_blocks(name, program.statement[name].dims, path)
        for name, path in paths(schedule).items()
    }
    swapping = Swapping(frozenset(program.storage.on_host))
    order = memory_order(program)
    nest = LoopNest(program, axis_dims(schedule), blocks, storage, workspace, order, swapping)
    operations = nest.nodes(loops, {})

    # 6. Prefetching: copies from the host move as many iterations ahead as the storage says.
    prefetching, late = prefetched(program, storage, workspace, operations)

    # 7. Memory: allocations stand in front of the first use, frees behind the last. Views and
    #    constants leave the loops. A result takes over the memory of an operand that ends with it.
    memory = LoopProgram(
        program.name,
        tuple(p.name for p in program.parameters),
        in_memory(program, lifetimes, storage, workspace, prefetching),
        results(program, storage),
        storage,
        aliases,
        late,
        guarded=guarded(program, storage),
    )
    return Stages(
        schedule, loops, lifetimes, storage, tuple(operations), tuple(prefetching), memory
    )


def variables(program: Program, nodes: tuple[Node, ...], names: FreshNames) -> dict[str, str]:
    """Return Python names of sizes and loop variables."""
    aliases = {p.name: names.fresh(p.name) for p in program.parameters}

    def visit(body: tuple[Node, ...]) -> None:
        for node in body:
            if isinstance(node, LoopNode) and node.variable not in aliases:
                aliases[node.variable] = names.fresh(node.variable)
            if not isinstance(node, Instance):
                visit(node.body)

    visit(nodes)
    return aliases
