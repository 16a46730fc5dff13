"""The loop program as a value, and the pipeline that makes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from workbench.errors import ProgramError
from workbench.lowering.allocation.allocate import place
from workbench.lowering.allocation.prefetching import prefetched
from workbench.lowering.instances.fragments import InstancePlace, instance
from workbench.lowering.instances.swapping import Swapping
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.records import DEVICE, HOST, For, If, Record, Result
from workbench.lowering.storage.lives import homes, lives, masked, shapes
from workbench.lowering.values.intervals import at_least
from workbench.lowering.values.scope import Names, Workspace
from workbench.lowering.values.stored import Stored, memory_order, store
from workbench.polyhedral.expression import Expression
from workbench.polyhedral.lifetimes.windows import Lifetime
from workbench.polyhedral.loops import from_tree
from workbench.polyhedral.loops.axis_blocks import Block, axis_blocks
from workbench.polyhedral.tree import Tree, axis_dims, paths
from workbench.program.identity import Itself
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


def lower(program: Program) -> LoopProgram:
    """Program → loops → storage → array operations → memory. The last few are kept."""
    return _lowered(Itself(program))


@lru_cache(maxsize=8)
def _lowered(key: Itself) -> LoopProgram:
    program = key.program
    schedule = _scheduled(program)
    axes, blocks = axis_dims(schedule), _blocks(program, schedule)
    nodes = from_tree.loops(schedule, shapes(program))
    workspace = Workspace(Names(set(RESERVED)))
    aliases = _variables(program, nodes, workspace.names)
    found = lives(program)
    stored = _storage(program, found, workspace)
    body = _Lowering(
        program,
        axes,
        blocks,
        stored,
        workspace,
        aliases,
        memory_order(program),
        Swapping(frozenset(program.storage.on_host)),
    ).nodes(nodes, {})
    body, late = prefetched(program, stored, workspace, body)
    around = homes(program, found)
    inside = {stored[a].buffer.name: [loop.name for loop in around[a]] for a in stored}
    donated = [
        (stored[array].buffer.name, stored[to].buffer.name)
        for array, to in program.storage.donated
        if array != to
    ]
    placed = place(body, workspace, inside, donated)
    results = tuple(_result(program, stored, o.name, o.array) for o in program.outputs)
    return LoopProgram(
        program.name,
        tuple(p.name for p in program.parameters),
        placed,
        results,
        stored,
        aliases,
        late,
    )


def _scheduled(program: Program) -> Tree:
    if program.schedule is None:
        raise ProgramError(f"{program.name} has no schedule")
    return program.schedule


def _blocks(program: Program, schedule: Tree) -> dict[str, tuple[Block, ...]]:
    """For each statement the blocks in which its axes run."""
    return {
        name: axis_blocks(name, program.statement[name].dims, path)
        for name, path in paths(schedule).items()
    }


def _variables(program: Program, nodes: tuple[from_tree.Node, ...], names: Names) -> dict[str, str]:
    """Python names of sizes and loop variables."""
    found = {p.name: names.fresh(p.name) for p in program.parameters}

    def visit(body: tuple[from_tree.Node, ...]) -> None:
        for node in body:
            if isinstance(node, from_tree.LoopNode) and node.variable not in found:
                found[node.variable] = names.fresh(node.variable)
            if not isinstance(node, from_tree.Instance):
                visit(node.body)

    visit(nodes)
    return found


# -- storage --------------------------------------------------------------------------------------


def _storage(
    program: Program, found: Mapping[str, Lifetime], workspace: Workspace
) -> dict[str, Stored]:
    order = memory_order(program)
    outputs = {o.array for o in program.outputs}
    on_host = set(program.storage.on_host)
    zero = masked(program)
    result: dict[str, Stored] = {}
    for array in program.arrays:
        life = found[array.name]
        name = workspace.names.fresh(array.name)
        initial = "nan" if array.name in outputs else "zero" if array.name in zero else ""
        space = HOST if array.name in on_host else DEVICE
        stored = store(array, order, life.windows, life.loops, name, initial, space)
        workspace.reserve(stored.buffer)
        result[array.name] = stored
    return result


def _result(program: Program, stored: Mapping[str, Stored], name: str, array: str) -> Result:
    where, record = stored[array], program.array[array]
    rank = len(record.dims)
    axes = tuple(where.order.index(p) for p in range(rank)) + tuple(
        range(rank, rank + len(record.shape))
    )
    lower_bounds = tuple(lower for lower, _ in record.extent)
    return Result(name, array, where.buffer.name, axes, record.dims, lower_bounds)


# -- loops ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Lowering:
    program: Program
    axes: Mapping[str, tuple[str, ...]]
    blocks: Mapping[str, tuple[Block, ...]]
    stored: Mapping[str, Stored]
    workspace: Workspace
    aliases: Mapping[str, str]
    order: tuple[str, ...]
    swapping: Swapping

    def nodes(
        self, nodes: tuple[from_tree.Node, ...], ranges: dict[str, tuple[Expression, Expression]]
    ) -> list[Record]:
        """Loop records with every instance linearised."""
        body: list[Record] = []
        for node in nodes:
            if isinstance(node, from_tree.LoopNode):
                inside = {**ranges, node.variable: (node.lower, node.upper - 1)}
                sure = at_least(node.upper - node.lower, 1, ranges)
                with self.swapping.body(self.written(node.body), repeated=True):
                    records = tuple(self.nodes(node.body, inside))
                body.append(
                    For(
                        node.variable,
                        node.lower,
                        node.upper,
                        node.backwards,
                        node.dim,
                        records,
                        sure,
                    )
                )
            elif isinstance(node, from_tree.Guard):
                with self.swapping.body(self.written(node.body), repeated=False):
                    records = tuple(self.nodes(node.body, ranges))
                body.append(If(node.condition, records))
            else:
                name = node.statement
                axes, blocks = self.axes[name], self.blocks[name]
                at = InstancePlace(axes, node.values, tuple(ranges.items()), self.order, blocks)
                statement = self.program.statement[name]
                body += instance(statement, at, self.stored, self.workspace, self.swapping)
        return body

    def written(self, nodes: tuple[from_tree.Node, ...]) -> set[str]:
        """The arrays that are written in a body and below."""
        found: set[str] = set()
        for node in nodes:
            if isinstance(node, from_tree.Instance):
                found.add(self.program.statement[node.statement].array)
            else:
                found |= self.written(node.body)
        return found
