"""Variants, sizes and backends as records that views read."""

from __future__ import annotations

from workbench.backends import backends, default
from workbench.session.parts.step import step_view
from workbench.session.protocol.state import BackendView, EndView, SizeView, State, VariantView
from workbench.variants.variant import Variant


def variant_view(variant: Variant, number: int, name: str = "") -> VariantView:
    """Describe a variant in the tree, by its number and the user's name if there is one."""
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
        why=variant.because,
        recipe=variant.recipe(),
    )


def size_views(variant: Variant) -> tuple[SizeView, ...]:
    """Describe the sizes of a program, with those that its data decide."""
    given = variant.rows.sizes(None) or {}
    return tuple(
        SizeView(
            p.name,
            given.get(p.name, p.default),
            None if p.definition is None else str(p.definition),
        )
        for p in variant.program.parameters
    )


def end_views(variant: Variant) -> tuple[EndView, ...]:
    """Describe the dims along which a program's episodes end."""
    equations = variant.program.equations
    return tuple(EndView(end.dim, str(equations.dim[end.dim].size)) for end in equations.ends)


def backend_views() -> tuple[BackendView, ...]:
    """Describe every backend, an unavailable one with the reason."""
    return tuple(BackendView(name, reason or "") for name, reason in backends().items())


def still(variant: Variant) -> State:
    """Return the state of a fixed workbench: a variant and its ancestors."""
    return State(
        workbench=variant.program.name,
        revision=1,
        name=variant.program.name,
        root=variant.root.key,
        current=variant.key,
        variants=tuple(variant_view(one, number) for number, one in enumerate(variant.lineage)),
        sizes=size_views(variant),
        ends=end_views(variant),
        measurements=(),
        runs=(),
        result="",
        profiles=(),
        backends=backend_views(),
        backend=default(),
        arguments=(),
        measuring=None,
        unrun=None,
        unprofiled=None,
        error=None,
        recipe_error=None,
        taken_over="",
    )
