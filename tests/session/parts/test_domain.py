"""Instances and dependences at small sizes against every instance and its reads, listed."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

import workbench as wb
from tests.programs import PROGRAMS, alignment, returns, small_ppo
from tests.soundness.order import accessed, run_at
from workbench.errors import SizeError, WorkbenchError
from workbench.program.sizes import resolve
from workbench.session.parts.domain import MOST_ARROWS, MOST_POINTS, DomainView, domain
from workbench.transforms import Vectorize
from workbench.variants.variant import Variant

Pair = tuple[str, tuple[int, ...], str, tuple[int, ...], str]
Sizes = dict[str, int]


def drawn(variant: Variant, *statements: str, sizes: Sizes | None = None) -> DomainView:
    return domain(variant, {"statements": statements, "sizes": sizes or {}})


def arrows(found: DomainView) -> set[Pair]:
    return {
        (
            (source := found.statements[a.source_statement]).statement,
            source.points[a.source],
            (sink := found.statements[a.sink_statement]).statement,
            sink.points[a.sink],
            a.array,
        )
        for a in found.arrows
    }


def listed(variant: Variant, statements: tuple[str, ...], sizes: Any) -> set[Pair]:
    """Who reads what whom wrote, instance by instance."""
    program = variant.program
    instances = run_at(program, sizes)
    writer, reads = {}, {}
    for name in statements:
        for point in instances[name]:
            found = accessed(program, program.statement[name], point, sizes)
            writer[found.written] = name, point
            reads[name, point] = found.reads
    return {
        (*writer[element], *reader, element[0])
        for reader, elements in reads.items()
        for element in elements
        if element in writer
    }


@pytest.mark.parametrize("name", [n for n in PROGRAMS if not n.startswith("small")])
def test_instances_and_dependences_are_those_of_the_program(name: str) -> None:
    template, every = PROGRAMS[name]
    variant = wb.variant(template())
    names = list(variant.program.statement)
    for statements in [(n,) for n in names[:8]] + list(combinations(names, 2))[:16]:
        for given in every[:2]:
            found = drawn(variant, *statements, sizes=resolve_free(variant, given))
            sizes = dict(found.sizes)
            if found.remark:
                continue
            instances = run_at(variant.program, sizes)
            for shown in found.statements:
                assert list(shown.points) == instances[shown.statement]
            assert arrows(found) == listed(variant, statements, sizes)


def resolve_free(variant: Variant, given: Sizes) -> Sizes:
    known = resolve(variant.program.equations, given)
    return {p.name: known[p.name] for p in variant.program.parameters if p.definition is None}


def test_nothing_is_violated_in_the_order_of_a_variant() -> None:
    variant = wb.variant(returns()).apply(Vectorize("b"))
    found = drawn(variant, *variant.program.statement)
    assert found.arrows
    assert not any(a.violated for a in found.arrows)


def test_the_order_is_of_the_variant() -> None:
    variant = wb.variant(returns())
    (g,) = drawn(variant, "g", sizes={"B": 2, "T": 3}).statements
    assert (g.points[0], g.points[-1]) == ((0, 0), (1, 2))
    assert g.order == (2, 1, 0, 5, 4, 3)
    (g,) = drawn(variant.apply(Vectorize("b")), "g", sizes={"B": 2, "T": 3}).statements
    assert g.order == (2, 1, 0, 2, 1, 0)


def test_an_instance_says_which_element_it_writes() -> None:
    (found,) = drawn(wb.variant(alignment()), "y[p+1,q+1]", sizes={"P": 1, "Q": 2}).statements
    assert (found.array, found.array_dims) == ("y", ("p", "q"))
    assert found.points == ((0, 0), (0, 1))
    assert found.elements == ((1, 1), (1, 2))
    assert found.title == "y[p + 1, q + 1]"


def test_sizes_that_are_not_given_make_a_small_picture() -> None:
    found = drawn(wb.variant(small_ppo()), "advantage")
    assert 8 <= len(found.statements[0].points) <= 64
    assert found.sizes == resolve(
        small_ppo().equations, {n: found.sizes[n] for n in ("B", "I", "T", "E", "M")}
    )


def test_what_is_too_much_for_a_picture_is_said() -> None:
    found = drawn(wb.variant(returns()), "g", sizes={"B": 10, "T": 1000})
    assert found.statements[0].points == ()
    assert found.remark == (
        f"g has 10,000 instances at these sizes, more than the {MOST_POINTS} that can be drawn"
    )
    found = drawn(wb.variant(returns()), "to_go", "reward", sizes={"B": 1, "T": 80})
    assert len(found.arrows) == MOST_ARROWS
    assert found.remark == f"{MOST_ARROWS:,} of {80 * 81 // 2:,} dependences are drawn"


def test_an_unknown_statement_is_refused() -> None:
    with pytest.raises(WorkbenchError, match="unknown statement 'gg': did you mean g"):
        drawn(wb.variant(returns()), "gg")


def test_sizes_that_the_program_does_not_take_are_refused() -> None:
    with pytest.raises(SizeError, match="unknown size 'X'"):
        drawn(wb.variant(returns()), "g", sizes={"X": 3})
    with pytest.raises(SizeError, match="does not divide"):
        drawn(wb.variant(small_ppo()), "advantage", sizes={"B": 3, "T": 3, "M": 2})


@wb.program
def late_nan(B: int = 2, T: int = 5, W: int = 3) -> dict[str, Any]:
    """An output that is NaN from the third step on, and one over b."""
    b, t = wb.dims(b=B, t=T)
    s = wb.recurrent("s", (), over=(b, t))
    s[b, 0] = 2.0
    s[b, t + 1] = wb.log(s) * wb.normal(shape=W).mean()
    return {"last": s[0, T] + 0.0, "total": s[b, T].sum(b)}


def test_sizes_beside_the_picture_are_the_programs_own() -> None:
    variant = wb.variant(late_nan())
    (last,) = [s.name for s in variant.program.statements if "last" in s.name]
    assert dict(drawn(variant, last).sizes) == {"B": 2, "T": 5, "W": 3}
    assert dict(drawn(variant, last, sizes={"T": 3}).sizes) == {"B": 2, "T": 3, "W": 3}
    sizes = drawn(variant, "s[t+1]").sizes
    assert (sizes["B"], sizes["T"], sizes["W"]) == (6, 6, 3)


def test_sizes_beside_the_picture_are_smaller_where_the_reference_would_take_long() -> None:
    variant = wb.variant(late_nan(B=50, T=10_000))
    (last,) = [s.name for s in variant.program.statements if "last" in s.name]
    assert dict(drawn(variant, last).sizes) == {"B": 50, "T": 64, "W": 3}
