"""Tile: a loop or an axis becomes a loop of blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from workbench.polyhedral.tree import Loop, Path, paths, statements
from workbench.program.dependences import dependences
from workbench.program.values import Program
from workbench.transforms.order.distribute import Distribute
from workbench.transforms.order.tiling import Tiling
from workbench.transforms.step.argument_names import DimName, StatementNames, all_meant, dims_of
from workbench.transforms.step.refusal import Kind, Refusal
from workbench.transforms.step.transform import Rewritten, Transform

USUAL = 64
"""The block size that is offered."""


@dataclass(frozen=True, repr=False)
class Tile(Transform):
    """Each loop over `dim` becomes a loop over blocks of `size` values with the loop inside.

    With `statements`, only the loops around those: a loop that holds others too is distributed. An
    axis becomes a sequential loop over blocks, forwards or backwards, with the axis inside. The
    axis is split before a statement that needs more of the others than such a loop has run by then;
    the statement comes in the next loop. The last block is shorter where the size does not divide.

    Example::

        @wb.program
        def example(T=5):
            t = wb.dim(t=T)
            draw = wb.uniform(over=t)
            total = wb.recurrent("total", (), over=t)
            total[0] = 0.0
            total[t + 1] = total + draw
            return {"total": total}

    Before::

        total[0]
        for t:
            draw
            total[t+1]

    After Tile("t", 2)::

        total[0]
        for t in blocks of 2:
            for t:
                draw
                total[t+1]

    Legal when the blocks of each statement of an axis (of all together that share loops inside it)
    can run forwards or backwards; for a loop always, since the order stays; for some statements of
    a loop where they can have a loop of their own.
    """

    dim: DimName
    size: int
    statements: StatementNames | None = None

    least: ClassVar[Mapping[str, int]] = {"size": 1}

    @classmethod
    def candidates(cls, program: Program) -> Iterator[Tile]:
        """Yield each dimension that is a loop or an axis and not in blocks of the usual size."""
        for dim in dims_of(program):
            for path in paths(program.schedule).values():
                own = {loop.tile for loop in _loops(path) if loop.dim == dim}
                if own and USUAL not in own:
                    yield cls(dim, USUAL)
                    break

    def attempt(self, program: Program) -> Rewritten | Refusal:
        """Return the tree with loops over blocks, and notes on what stayed as it was."""
        if not self.in_range("size"):
            sentence = f"size is {self.expected('size')}, not {self.size!r}"
            return self.unfit("size", sentence)
        refusal = self._no_loop(program)
        if refusal is not None:
            return refusal
        named = frozenset(all_meant(program, self.statements or ()))
        chosen = named or frozenset(statements(program.schedule))
        tiling = Tiling(program, self.dim, self.size, chosen, str(self))
        tree = tiling.tiled(program.schedule, dependences(program.equations))
        if tiling.refusals and (named or tree == program.schedule):
            return tiling.refusals[0]
        notes = tuple(dict.fromkeys(r.sentence for r in tiling.refusals))
        return Rewritten(replace(program, schedule=tree), notes)

    def repairs(self, program: Program, refusal: Refusal) -> Iterator[Transform]:
        """Yield the step for all statements of the loops instead of some; or the one that splits
        off those of an inner loop first.
        """
        if self.statements is None or refusal.kind == "no effect":
            return
        chosen = frozenset(all_meant(program, self.statements))
        if refusal.kind == "capability":
            yield Distribute(tuple(sorted(chosen)))
        around = paths(program.schedule)
        shared = {loop for n in chosen for loop in _loops(around[n]) if loop.dim == self.dim}
        held = {name for loop in shared for name in statements(loop)}
        yield replace(self, statements=tuple(n for n in around if n in held))

    def _no_loop(self, program: Program) -> Refusal | None:
        """Explain why there is nothing to tile."""
        if self.size == 1:
            return self.refuse("no effect", "blocks of 1 value are the loop as it is")
        names = all_meant(program, self.statements or [s.name for s in program.statements])
        around = paths(program.schedule)
        own = {n: {loop.tile for loop in _loops(around[n]) if loop.dim == self.dim} for n in names}
        able = [name for name in names if own[name] and self.size not in own[name]]
        if self.statements is not None:
            unable = next((name for name in names if name not in able), None)
            if unable is not None:
                kind: Kind = "capability" if able else "no effect"
                return self._nothing_around(program, unable, bool(own[unable]), kind)
        if able:
            return None
        if any(node.dim == self.dim for path in around.values() for node in _loops(path)):
            sentence = f"{self.dim} runs in blocks of {self.size} everywhere already"
        else:
            sentence = f"no statement has a loop or an axis over {self.dim}"
        return self.refuse("no effect", sentence)

    def _nothing_around(self, program: Program, name: str, in_blocks: bool, kind: Kind) -> Refusal:
        statement = program.statement[name]
        why = f"it has no loop and no axis over {self.dim}"
        if in_blocks:
            why = f"it runs in blocks of {self.size} already"
        elif self.dim not in statement.dims:
            own = ", ".join(statement.dims) or "none"
            why = f"it does not vary over {self.dim}; its dims: {own}"
        return self.refuse(kind, f"nothing to tile around {name}: {why}", statement.line)


def _loops(path: Path) -> list[Loop]:
    return [node for node, _ in path if isinstance(node, Loop)]
