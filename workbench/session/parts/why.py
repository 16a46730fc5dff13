"""Why not: the small iteration space in which a refused step's two instances stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from workbench.errors import WorkbenchError
from workbench.polyhedral import tree as trees
from workbench.polyhedral.tree import Loop, Tree
from workbench.polyhedral.witness import Witness
from workbench.program.values import Program
from workbench.session.describe import refusal_view, step_view
from workbench.session.parts.domain import ArrowView, DomainView, space
from workbench.session.parts.step import RefusalView, StepView
from workbench.session.small import sizes_at_least
from workbench.transforms import Vectorize
from workbench.transforms.base import Transform, from_json
from workbench.transforms.refusal import Refusal
from workbench.variants.variant import Variant

BEYOND = 2
"""How much larger than the least a size is drawn: a pair alone shows no pattern."""


@dataclass(frozen=True)
class WhyView:
    """A refused step explained. `space` shows the instances of the two statements at `sizes`
    (small; at least the witness's), with the order in which the step would run them; null where the
    refusal has no witness, or where the sizes are too small for it, which `remark` then says.
    """

    step: StepView
    refusal: RefusalView
    sizes: Mapping[str, int]
    space: DomainView | None
    remark: str


def why(variant: Variant, arguments: Mapping[str, Any]) -> WhyView:
    """Why `step` cannot be taken, drawn at `sizes` (small ones where null or left out).

    Raises WorkbenchError where it can be, SizeError for sizes that the program does not take.
    """
    step = from_json(arguments["step"])
    refusal = variant.check(step)
    if refusal is None:
        raise WorkbenchError(f"{step} can be applied: there is nothing that it breaks")
    sizes: Mapping[str, int] = {}
    drawn, remark = None, ""
    if refusal.witness is not None:
        least = refusal.witness.sizes
        small = {name: n + BEYOND if n > 1 else n for name, n in least.items()}
        sizes = sizes_at_least(variant.program, small, arguments["sizes"] or {})
        remark = _too_small(sizes, least)
        if not remark:
            drawn = _space(variant.program, step, refusal, refusal.witness, sizes)
    return WhyView(
        step_view(step, variant.program),
        refusal_view(refusal, variant.program),
        sizes,
        drawn,
        remark,
    )


def _too_small(sizes: Mapping[str, int], least: Mapping[str, int]) -> str:
    missing = [f"{name} of {n}" for name, n in least.items() if sizes[name] < n]
    return f"it takes at least {' and '.join(missing)} for this to happen" if missing else ""


def _space(
    program: Program,
    step: Transform,
    refusal: Refusal,
    witness: Witness,
    sizes: Mapping[str, int],
) -> DomainView:
    """The two statements' instances in the order, or with the storage, that was refused."""
    tried = refusal.attempted or program
    names = dict.fromkeys(witness.statements)
    chosen = [tried.statement[name] for name in names]
    order = tried.schedule
    if refusal.attempted is None and isinstance(step, Vectorize) and order is not None:
        order = at_once(order, step.dim, witness.statements[0], witness.statements[1])
    drawn = space(tried, chosen, sizes, order)
    if tried.storage == program.storage:
        return drawn
    return replace(drawn, arrows=(*drawn.arrows, _overwriting(drawn, witness)))


def at_once(order: Tree, dim: str, source: str, sink: str) -> Tree:
    """The order of two statements where every instance along `dim` would run at once: the sink's,
    which the source waits for on a cycle, and then the source's.
    """
    own = trees.only(order, (source, sink))
    assert own is not None
    return _with_axis(own, dim, [sink] if source == sink else [sink, source])


def _with_axis(node: Tree, dim: str, wanted: list[str]) -> Tree:
    if isinstance(node, Loop) and set(wanted) <= set(trees.statements(node)):
        if node.dim != dim or node.tile is not None:
            return trees.with_child(node, _with_axis(node.child, dim, wanted))
        parts = [trees.only(node.child, (name,)) for name in wanted]
        child = trees.sequence([part for part in parts if part is not None])
        return replace(node, child=child, kind="axis")
    return node


def _overwriting(drawn: DomainView, witness: Witness) -> ArrowView:
    """The witness of memory used twice at a time: the reader should come before the writer, which
    takes the place of what is still to be read.
    """
    (writer, write), (reader, read) = (
        _drawn(drawn, name, instance)
        for name, instance in zip(witness.statements, witness.instances, strict=True)
    )
    return ArrowView("overwrites", reader, read, writer, write, witness.array, True)


def _drawn(drawn: DomainView, name: str, instance: Mapping[str, int]) -> tuple[int, int]:
    """Where an instance is: the position of its statement and its own. A reader's witness has its
    reduction dimensions too.
    """
    position = [s.statement for s in drawn.statements].index(name)
    shown = drawn.statements[position]
    return position, shown.points.index(tuple(instance[d] for d in shown.dims))
