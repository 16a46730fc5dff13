"""What makes a statement fit to go on from its neighbour's result, said of a legal step."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.polyhedral.sets import moving_ranges
from workbench.polyhedral.sets.relations import project_out, with_dims
from workbench.program.text.infix import body_text, index_text
from workbench.program.values import Program, Statement
from workbench.transforms.incrementalize.rewrite import moving_dims, summand_of
from workbench.transforms.step.condition import ADDED_UP, COMBINED, Condition


def conditions(
    program: Program, old: Statement, dim: str, block: int | None
) -> Iterator[Condition]:
    """Yield the conditions of the statement's rule along a dimension, each with what meets it."""
    yield Condition(ADDED_UP, f"{old.name} is {COMBINED[str(old.combiner)]}", old.name)
    if dim in old.reduction_dims:
        met = f"blocks of {block} values of {dim} are combined first, and then their results"
        yield Condition("combined in any grouping", met, old.name)
        return
    (over,) = moving_dims(old, dim)
    yield _range(old, dim, over)
    yield from _factors(program, old, dim)


def _range(old: Statement, dim: str, over: str) -> Condition:
    rest = tuple(d for d in old.reduction_dims if d != over)
    points = with_dims(project_out(old.reduction, rest), (*old.dims, over))
    grows = moving_ranges.recurrence(old.domain, points, dim)
    if grows is not None:
        neighbour = f"{dim} {'+' if grows.step > 0 else '-'} 1"
        gained = f"{over} = {index_text(grows.entry)}"
        met = f"from {neighbour} to {dim} its range gains {gained} and loses nothing"
        return Condition("a range that gains at most a point and loses none", met, old.name)
    window = moving_ranges.window(old.domain, points, dim)
    assert window is not None, f"the range of {old.name} neither grows nor slides"
    met = f"its range over {over} is a window of {window.length} that moves with {dim}"
    return Condition("a window of fixed length", met, old.name)


def _factors(program: Program, old: Statement, dim: str) -> Iterator[Condition]:
    summand = summand_of(program, old, dim)
    both = f"both {dim} and {', '.join(old.reduction_dims)}"
    powers = [f"{body_text(p.base)} ** ({index_text(p.exponent)})" for p in summand.powers]
    met = f"nothing that it combines depends on {both}"
    if powers:
        met = f"of what it combines only {' and '.join(powers)} depends on {both}"
    yield Condition("powers alone depend on instance and point", met, old.name)
    for outer in summand.outer:
        met = f"{body_text(outer.body)} depends on {dim} alone, and comes afterwards"
        yield Condition("factors of the instance come afterwards", met, old.name)
