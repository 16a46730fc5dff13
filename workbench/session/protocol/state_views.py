"""Steps, refusals and variants as records that views read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from workbench.backends import backends
from workbench.polyhedral.dependences.witness import Witness
from workbench.program.values import Program
from workbench.session.parts.step import InstanceView, RefusalView, StepView, WitnessView
from workbench.session.picture.snapshot import line_view
from workbench.session.protocol.state import BackendView, SizeView, State, VariantView
from workbench.transforms.step.refusal import Refusal, element_text, instance_text
from workbench.transforms.step.transform import Transform
from workbench.variants.variant import Variant


def step_view(step: Transform, program: Program) -> StepView:
    """A step on a program."""
    named = set(_texts(step.to_json()["arguments"].values()))
    return StepView(
        transform=type(step).__name__,
        text=str(step),
        source=repr(step),
        json=step.to_json(),
        statements=tuple(s.name for s in program.statements if s.name in named),
        arrays=tuple(a.name for a in program.arrays if a.name in named),
        dims=tuple(d.name for d in program.dims if d.name in named),
        equation_step=type(step).equation_step,
    )


def refusal_view(refusal: Refusal, program: Program) -> RefusalView:
    """Why a step is not legal on a program."""
    return RefusalView(
        kind=refusal.kind,
        sentence=refusal.sentence,
        line=line_view(refusal.line),
        witness=None if refusal.witness is None else witness_view(refusal.witness),
        repairs=tuple(step_view(step, program) for step in refusal.repairs),
        instead=tuple(step_view(step, program) for step in refusal.instead),
    )


def witness_view(witness: Witness) -> WitnessView:
    """Two instances that show a violated dependence."""
    source, sink = (
        InstanceView(name, dict(instance), instance_text(name, instance))
        for name, instance in zip(witness.statements, witness.instances, strict=True)
    )
    return WitnessView(
        source=source,
        sink=sink,
        array=witness.array,
        element=witness.element,
        element_text=element_text(witness),
        sizes=dict(witness.sizes),
    )


def variant_view(variant: Variant, number: int, name: str = "") -> VariantView:
    """A variant in the tree, as which it came into it, under the user's name if there is one."""
    parent = variant.parent
    own = "as written" if variant.step is None else str(variant.step)
    return VariantView(
        key=variant.key,
        number=number,
        parent=None if parent is None else parent.key,
        name=name or own,
        named=bool(name),
        step=None
        if variant.step is None or parent is None
        else step_view(variant.step, parent.program),
        notes=variant.notes,
        why=variant.why,
        recipe=variant.recipe(),
    )


def size_views(program: Program) -> tuple[SizeView, ...]:
    """The sizes of a program."""
    return tuple(
        SizeView(p.name, p.default, None if p.definition is None else str(p.definition))
        for p in program.parameters
    )


def backend_views() -> tuple[BackendView, ...]:
    """Every backend, the ones that are not available with the reason."""
    return tuple(BackendView(name, reason or "") for name, reason in backends().items())


def still(variant: Variant) -> State:
    """A variant and those that it came from, of a workbench that nobody can change."""
    lineage = [variant]
    while (parent := lineage[0].parent) is not None:
        lineage.insert(0, parent)
    return State(
        workbench=variant.program.name,
        revision=1,
        name=variant.program.name,
        root=lineage[0].key,
        current=variant.key,
        variants=tuple(variant_view(one, number) for number, one in enumerate(lineage)),
        sizes=size_views(variant.program),
        measurements=(),
        backends=backend_views(),
        arguments=(),
        measuring=None,
        error=None,
        recipe_error=None,
    )


def _texts(values: Iterable[Any]) -> Iterable[str]:
    """Every text in nested arguments."""
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            yield from _texts(value.values())
        elif isinstance(value, (list, tuple)):
            yield from _texts(value)
