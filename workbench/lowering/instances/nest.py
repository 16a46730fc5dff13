"""All loops of a program with its instances in them, as array operations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.lowering.instances.fragments import InstancePlace, instance
from workbench.lowering.instances.swapping import Swapping
from workbench.lowering.loops.records import For, If, Record
from workbench.lowering.values.intervals import at_least
from workbench.lowering.values.scope import Workspace
from workbench.lowering.values.stored import Stored
from workbench.polyhedral.expression import Expression
from workbench.polyhedral.loops.axis_blocks import AxisBlock
from workbench.polyhedral.loops.nodes import Guard, Instance, LoopNode, Node
from workbench.program.values import Program


@dataclass(frozen=True)
class LoopNest:
    """The context in which every instance of a program is lowered."""

    program: Program
    axes: Mapping[str, tuple[str, ...]]
    blocks: Mapping[str, tuple[AxisBlock, ...]]
    stored: Mapping[str, Stored]
    workspace: Workspace
    order: tuple[str, ...]
    swapping: Swapping

    def nodes(
        self, nodes: tuple[Node, ...], ranges: dict[str, tuple[Expression, Expression]]
    ) -> list[Record]:
        """Return loop records with every instance linearised."""
        body: list[Record] = []
        for node in nodes:
            if isinstance(node, LoopNode):
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
                        node.apart,
                    )
                )
            elif isinstance(node, Guard):
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

    def written(self, nodes: tuple[Node, ...]) -> set[str]:
        """Return the arrays that are written in a body and below."""
        arrays: set[str] = set()
        for node in nodes:
            if isinstance(node, Instance):
                arrays.add(self.program.statement[node.statement].array)
            else:
                arrays |= self.written(node.body)
        return arrays
