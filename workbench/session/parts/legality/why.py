"""The explanation of a refused step: its two instances in a small iteration space."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from workbench.errors import WorkbenchError
from workbench.polyhedral import tree as trees
from workbench.polyhedral.dependences.witness import Witness, written_element
from workbench.polyhedral.sets.scanning import pairs
from workbench.polyhedral.tree import Loop, Tree
from workbench.program.dependences import dependences
from workbench.program.values import Program
from workbench.session.parts.domain import ArrowView, DomainView, space
from workbench.session.parts.step import (
    RefusalView,
    StepView,
    WitnessView,
    refusal_view,
    step_view,
    witness_view,
)
from workbench.session.picture.small_sizes import sizes_at_least
from workbench.transforms import Vectorize
from workbench.transforms.step.refusal import Refusal
from workbench.transforms.step.step_json import from_json
from workbench.transforms.step.transform import Transform
from workbench.variants.variant import Variant

BEYOND = 2
"""The extra on a size's least value that is drawn: a pair alone shows no pattern."""

ELSEWHERE = "at these sizes it does not happen"


@dataclass(frozen=True)
class WhyView:
    """The explanation of a refused step. `space` shows the instances of the two statements at
    `sizes` (small; at least the witness's), in the order in which the step would run them. It is
    null without a witness, and where the sizes are too small for it or too large for a picture.
    `pair` is a witness at these sizes, null without one to show; `remark` then says so.
    """

    step: StepView
    refusal: RefusalView
    sizes: Mapping[str, int]
    space: DomainView | None
    pair: WitnessView | None
    remark: str


class Drawn(NamedTuple):
    """A picture, and two of its instances that show the violation."""

    space: DomainView
    pair: Witness | None


def why(variant: Variant, arguments: Mapping[str, Any]) -> WhyView:
    """Explain why `step` cannot be taken, drawn at `sizes` (small ones where null or left out).

    Raises WorkbenchError where it can be taken, SizeError for sizes that the program does not take.
    """
    step = from_json(arguments["step"])
    refusal = variant.check(step)
    if refusal is None:
        raise WorkbenchError(f"{step} can be applied: there is nothing that it breaks")
    shown, view = step_view(step, variant.program), refusal_view(refusal, variant.program)
    witness, given = refusal.witness, arguments["sizes"] or {}
    if witness is None:
        return WhyView(shown, view, {}, None, None, "")
    for least in (_telling(variant.program, witness), witness.sizes):
        sizes = sizes_at_least(variant.program, least, given)
        remark = _too_small(sizes, witness.sizes)
        if remark:
            return WhyView(shown, view, sizes, None, None, remark)
        drawn = _drawn(variant.program, step, refusal, witness, sizes)
        if drawn.pair is not None:
            return WhyView(shown, view, sizes, drawn.space, witness_view(drawn.pair), "")
    if all(s.points for s in drawn.space.statements):
        return WhyView(shown, view, sizes, drawn.space, None, ELSEWHERE)
    return WhyView(shown, view, sizes, None, None, drawn.space.remark or ELSEWHERE)


def _telling(program: Program, witness: Witness) -> Mapping[str, int]:
    """Return sizes above the least: those that matter to the witness, or else that of the reader's
    inner dim.
    """
    large = [name for name, n in witness.sizes.items() if n > 1]
    inner = [d for d in witness.instances[-1] if d in program.dim][-1:]
    grown = large or [name for d in inner for name in program.dim[d].size.sizes]
    return {n: v + BEYOND if n in grown else v for n, v in witness.sizes.items()}


def _too_small(sizes: Mapping[str, int], least: Mapping[str, int]) -> str:
    missing = [f"{name}={n}" for name, n in least.items() if sizes[name] < n]
    return f"it takes at least {' and '.join(missing)} for this to happen" if missing else ""


def _drawn(
    program: Program,
    step: Transform,
    refusal: Refusal,
    witness: Witness,
    sizes: Mapping[str, int],
) -> Drawn:
    """Draw the two statements' instances in the order, or with the storage, that was refused."""
    tried = refusal.attempted or program
    chosen = [tried.statement[name] for name in dict.fromkeys(witness.statements)]
    order = tried.schedule
    if refusal.attempted is None and isinstance(step, Vectorize):
        order = at_once(order, step.dim, witness, refusal.axes)
    drawn = space(tried, chosen, sizes, order)
    if tried.storage.swapped != program.storage.swapped:
        return _with_early_copy(drawn, witness, sizes)
    if witness.array in tried.storage.added:
        return _with_adding(drawn, witness, sizes)
    if not _writes(tried, witness):
        return _with_overwriting(tried, drawn, witness, sizes)
    return Drawn(drawn, _violated(drawn, witness, sizes))


def _violated(drawn: DomainView, witness: Witness, sizes: Mapping[str, int]) -> Witness | None:
    """Find a violated dependence of the witness's kind: the witness itself where it is one."""
    best: Witness | None = None
    for arrow in drawn.arrows:
        source, sink = (
            drawn.statements[arrow.source_statement],
            drawn.statements[arrow.sink_statement],
        )
        names = source.statement, sink.statement
        if not arrow.violated or arrow.array != witness.array or names != witness.statements:
            continue
        instances = (
            dict(zip(source.dims, source.points[arrow.source], strict=True)),
            dict(zip(sink.dims, sink.points[arrow.sink], strict=True)),
        )
        violated = replace(
            witness, instances=instances, element=source.elements[arrow.source], sizes=sizes
        )
        if all(i.items() <= w.items() for i, w in zip(instances, witness.instances, strict=True)):
            return violated
        best = best or violated
    return best


def _with_early_copy(drawn: DomainView, witness: Witness, sizes: Mapping[str, int]) -> Drawn:
    """Draw a slice that is copied before it is written."""
    writer, reader = _ends(drawn, witness)
    for number, arrow in enumerate(drawn.arrows):
        ends = (arrow.source_statement, arrow.source), (arrow.sink_statement, arrow.sink)
        if ends == (writer, reader) and arrow.array == witness.array:
            early = replace(arrow, kind="copies", violated=True)
            arrows = (*drawn.arrows[:number], early, *drawn.arrows[number + 1 :])
            return Drawn(replace(drawn, arrows=arrows), replace(witness, sizes=sizes))
    return Drawn(drawn, None)


def _with_overwriting(
    program: Program, drawn: DomainView, witness: Witness, sizes: Mapping[str, int]
) -> Drawn:
    """Draw memory used twice at a time. The reader should come before the writer, which overwrites
    an element that is still to be read.
    """
    writer, reader = _ends(drawn, witness)
    if writer is None or reader is None or not _reads(program, witness, sizes):
        return Drawn(drawn, None)
    arrow = ArrowView("overwrites", *reader, *writer, witness.array, True)
    return Drawn(replace(drawn, arrows=(*drawn.arrows, arrow)), replace(witness, sizes=sizes))


def _with_adding(drawn: DomainView, witness: Witness, sizes: Mapping[str, int]) -> Drawn:
    """Draw two points that are added to one element, maybe at once."""
    first, second = _ends(drawn, witness)
    if first is None or second is None:
        return Drawn(drawn, None)
    arrow = ArrowView("adds", *first, *second, witness.array, True)
    return Drawn(replace(drawn, arrows=(*drawn.arrows, arrow)), replace(witness, sizes=sizes))


def _writes(program: Program, witness: Witness) -> bool:
    """Tell whether the witness's first instance writes the element, not what takes its place."""
    writer = program.statement[witness.statements[0]]
    element = written_element(writer.instances, witness.instances[0], witness.sizes)
    return (writer.array, element) == (witness.array, witness.element)


def _reads(program: Program, witness: Witness, sizes: Mapping[str, int]) -> bool:
    """Tell whether the witness's reader reads its element at these sizes too."""
    reader = program.statement[witness.statements[1]]
    at = tuple(witness.instances[1][d] for d in reader.dims)
    for d in dependences(program.equations).by_sink[reader.name]:
        if d.array != witness.array:
            continue
        writer = program.statement[d.source]
        for source, sink in pairs(dependences(program.equations).relation(d), sizes):
            instance = dict(zip(writer.dims, source, strict=True))
            if sink == at and written_element(writer.instances, instance, sizes) == witness.element:
                return True
    return False


def _ends(drawn: DomainView, witness: Witness) -> list[tuple[int, int] | None]:
    """Return the positions of the witness's instances (statement, point), None for an instance that
    is not drawn.
    """
    ends: list[tuple[int, int] | None] = []
    for name, instance in zip(witness.statements, witness.instances, strict=True):
        position = [s.statement for s in drawn.statements].index(name)
        shown = drawn.statements[position]
        point = tuple(instance[d] for d in shown.dims)
        ends.append((position, shown.points.index(point)) if point in shown.points else None)
    return ends


def at_once(order: Tree, dim: str, witness: Witness, axes: Collection[str]) -> Tree:
    """Return the order of the witness's statements with each of `axes` as one array operation over
    `dim`. The source waits on a cycle for such an operation, and so for every instance of the sink.
    Those run before all of the source's, in a loop of their own where they are no axis.
    """
    source, sink = witness.statements
    own = trees.only(order, (source, sink))
    assert own is not None
    return _apart(own, dim, list(dict.fromkeys((sink, source))), axes)


def _apart(node: Tree, dim: str, wanted: Sequence[str], axes: Collection[str]) -> Tree:
    """Split the loop over `dim` around all wanted statements into one loop for each, in their
    order.
    """
    if not isinstance(node, Loop) or not set(wanted) <= set(trees.statements(node)):
        return node
    if node.name != dim or node.kind == "axis":
        return trees.with_child(node, _apart(node.child, dim, wanted, axes))
    parts: list[Tree] = []
    for name in wanted:
        child = trees.only(node.child, (name,))
        assert child is not None
        own = trees.with_child(node, child)
        parts.append(replace(own, kind="axis") if name in axes else own)
    return trees.sequence(parts)
