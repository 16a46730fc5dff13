"""From a program's parameters to numbers: defaults, overrides, derived sizes.

isl has no products, so a derived size (`K = B * T // M`) is a parameter of its own there; this file
is the one place that evaluates its definition and checks that it divides.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping

from workbench.errors import SizeError, nearest
from workbench.polyhedral.expression import Expression, FloorDivision
from workbench.program.values import Parameter, Program


def resolve(program: Program, given: Mapping[str, int] | None = None) -> dict[str, int]:
    """Every size of `program` by name, in the order of its parameters.

    `given` overrides defaults. Raises SizeError for what is no mapping, an unknown name, a derived
    size that is given, a size that is not a positive integer, and a derived size that does not
    divide.
    """
    given = {} if given is None else given
    if not isinstance(given, Mapping):
        raise SizeError(f"sizes {given!r}; expected sizes by name, like {{'T': 128}}")
    known = {p.name: p for p in program.parameters}
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
    for parameter in program.parameters:
        if parameter.definition is None:
            value = given.get(parameter.name, parameter.default)
            sizes[parameter.name] = _positive(parameter, value)
        else:
            sizes[parameter.name] = _derived(parameter, parameter.definition, sizes)
    return sizes


def settable(program: Program, sizes: Mapping[str, int]) -> dict[str, int]:
    """Those of all sizes that are not derived from others."""
    return {p.name: sizes[p.name] for p in program.parameters if p.definition is None}


def settable_in(program: Program, lengths: Iterable[Expression]) -> set[str]:
    """The names of the sizes, none of them derived, that lengths are made of."""
    definitions = {p.name: p.definition for p in program.parameters}
    found: set[str] = set()
    left = [name for length in lengths for name in length.sizes]
    while left:
        name = left.pop()
        definition = definitions[name]
        if definition is None:
            found.add(name)
        else:
            left.extend(definition.sizes)
    return found


def numbers(sizes: Mapping[str, int]) -> str:
    """Sizes as a message shows them: `B=4, T=128`."""
    return ", ".join(f"{name}={value}" for name, value in sizes.items())


def _positive(parameter: Parameter, value: object) -> int:
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise SizeError(
            f"size {parameter.name} must be a positive integer, found {value!r}", parameter.line
        ) from None
    if number <= 0:
        raise SizeError(f"size {parameter.name} must be positive, found {number}", parameter.line)
    return number


def _derived(parameter: Parameter, definition: Expression, sizes: Mapping[str, int]) -> int:
    used = {name: sizes[name] for name in sizes if name in definition.sizes}
    written = f"{parameter.name} = {definition}"
    if parameter.exact:
        for division in _divisions(definition):
            dividend, divisor = (e.evaluate(sizes) for e in (division.dividend, division.divisor))
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
