"""The numbers of a program's sizes: defaults, overrides, derived sizes.

isl has no products, so a derived size (`K = B * T // M`) is a parameter of its own there. Only this
file evaluates its definition and checks that it divides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from workbench.errors import SizeError, nearest
from workbench.polyhedral.expression import Expression, expression, size, whole
from workbench.polyhedral.expressions.atoms import FloorDivision, Product, Size
from workbench.polyhedral.sets.relations import sizes_satisfying
from workbench.program.values import Equations, Parameter


def resolve(equations: Equations, given: Mapping[str, int] | None = None) -> dict[str, int]:
    """Return every size of a program by name, in the order of its parameters.

    `given` overrides defaults. Raises SizeError for a `given` that is no mapping, an unknown name,
    a given derived size, a size that is not a positive integer, and a derived size that does not
    divide.
    """
    given = {} if given is None else given
    if not isinstance(given, Mapping):
        raise SizeError(f"sizes {given!r}; expected sizes by name, like {{'T': 128}}")
    known = {p.name: p for p in equations.parameters}
    for name in given:
        if name not in known:
            raise SizeError(f"unknown size {name!r}: {nearest(name, known, 'sizes')}")
        if known[name].definition is not None:
            raise SizeError(
                f"size {name} = {known[name].definition} is derived and cannot be given; "
                f"give {_listed(known[name])} instead",
                known[name].line,
            )
    sizes: dict[str, int] = {}
    for parameter in equations.parameters:
        if parameter.definition is None:
            value = given.get(parameter.name, parameter.default)
            sizes[parameter.name] = _positive(parameter, value)
        else:
            sizes[parameter.name] = _derived(parameter, parameter.definition, sizes)
    return sizes


@lru_cache(maxsize=256)
def known_of_sizes(parameters: tuple[Parameter, ...]) -> str:
    """Return what definitions imply about derived sizes, as text of a set of sizes ("": nothing).

    Only affine facts count (isl has no products). A product is at least as large as its factors'
    sum less one for each factor but one.
    """
    equal, at_least = [], []
    for p in parameters:
        if p.definition is None:
            continue
        own = size(p.name)
        if p.definition.is_affine:
            equal.append((own, p.definition))
            exact = [d for d in _divisions(p.definition) if p.exact]
            equal += [(d.dividend // d.divisor * d.divisor, d.dividend) for d in exact]
        factors = _factors(p.definition)
        if len(factors) > 1:
            at_least.append((own, sum(factors, expression(1 - len(factors)))))
    return sizes_satisfying(equal, at_least) if equal or at_least else ""


def _factors(e: Expression) -> list[Expression]:
    """Return the sizes that a product is made of; empty if it is no such product."""
    if len(e.terms) != 1 or e.constant:
        return []
    ((a, coefficient),) = e.terms
    if isinstance(a, Size) and coefficient == 1:
        return [e]
    if not isinstance(a, Product) or coefficient < 1:
        return []
    left, right = _factors(a.left), _factors(a.right)
    return left + right if left and right else []


def settable(equations: Equations, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the sizes that are not derived from others."""
    return {p.name: sizes[p.name] for p in equations.parameters if p.definition is None}


def settable_in(equations: Equations, lengths: Iterable[Expression]) -> set[str]:
    """Return the names of the sizes, none of them derived, that lengths are made of."""
    definitions = {p.name: p.definition for p in equations.parameters}
    names: set[str] = set()
    left = [name for length in lengths for name in length.sizes]
    while left:
        name = left.pop()
        definition = definitions[name]
        if definition is None:
            names.add(name)
        else:
            left.extend(definition.sizes)
    return names


def numbers(sizes: Mapping[str, int], *more: str) -> str:
    """Write sizes or coordinates, and what else there is, as messages show them: `B=4, T=128,
    float32`.
    """
    return ", ".join([*(f"{name}={value}" for name, value in sizes.items()), *filter(None, more)])


def at_sizes(sizes: Mapping[str, int], *more: str) -> str:
    """Write ` at B=4, T=128` to be put behind a word; "" for a program without sizes."""
    listed = numbers(sizes, *more)
    return f" at {listed}" if listed else ""


def _positive(parameter: Parameter, value: object) -> int:
    number = whole(value)
    if number is None or number <= 0:
        raise SizeError(
            f"size {parameter.name} must be a positive integer, found {value!r}", parameter.line
        )
    return number


def _derived(parameter: Parameter, definition: Expression, sizes: Mapping[str, int]) -> int:
    used = {name: sizes[name] for name in sizes if name in definition.sizes}
    written = f"{parameter.name} = {definition}"
    if parameter.exact:
        for division in _divisions(definition):
            dividend, divisor = (e.evaluate(sizes) for e in (division.dividend, division.divisor))
            if divisor <= 0:
                raise SizeError(
                    f"{written}: the divisor {division.divisor} is {divisor} ({numbers(used)}); "
                    "it must be positive",
                    parameter.line,
                )
            if dividend % divisor:
                raise SizeError(
                    f"{written}: {dividend} does not divide by {divisor} ({numbers(used)})",
                    parameter.line,
                )
    value = definition.evaluate(sizes)
    if value <= 0:
        raise SizeError(
            f"{written} is {value} ({numbers(used)}); a size must be positive", parameter.line
        )
    return value


def _divisions(definition: Expression) -> Iterator[FloorDivision]:
    return (a for a in definition.atoms() if isinstance(a, FloorDivision))


def _listed(parameter: Parameter) -> str:
    assert parameter.definition is not None
    names = sorted(parameter.definition.sizes)
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
