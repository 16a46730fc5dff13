"""What a transform is: a frozen dataclass whose fields are its parameters, registered by being
subclassed.

A step is a transform with its arguments. A transform says what a step makes of a program or why
not (`attempt`), and what may help then (`repairs`). `apply` is the one way to take a step: its own
check first, then the rewrite, then the whole program's well-formedness and every dependence again,
so that no step can break what an earlier one relied on.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import types
import typing
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Literal, Self

from workbench.errors import TooComplexError, WorkbenchError, nearest
from workbench.polyhedral.dependences.legality import Violation, violation
from workbench.polyhedral.expression import whole
from workbench.program.dependences import dependences
from workbench.program.identity import remembered
from workbench.program.values import Program
from workbench.program.wellformed import rules
from workbench.transforms.step.refusal import (
    Help,
    Refusal,
    Refused,
    element_text,
    instance_text,
    sizes_text,
)
from workbench.transforms.step.storage_holds import broken_storage, without_lost

SHOWN = 4
"""So many names of a step are shown where it is written for reading."""

REGISTRY: dict[str, type[Transform]] = {}
"""Every transform by its class name, in their order, whichever module was imported first."""


@dataclasses.dataclass(frozen=True)
class Rewritten:
    """What a step made of a program, and what there is to say of it, a sentence each: what it left
    as it was and why, or what it costs.
    """

    program: Program
    notes: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Transform(ABC):
    """Base of the transforms. The docstring of each has *Example*, *Before*, *After* and *Legal
    when*.
    """

    equation_step: ClassVar[bool] = False
    """Whether the step changes equations (legal by its rule) rather than order or storage (by
    dependences).
    """

    unnamed: ClassVar[int] = 0
    """How many arguments with defaults are written without their names, where given in order."""

    least: ClassVar[Mapping[str, int]] = {}
    """The least values of the arguments that are whole numbers and have one."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        REGISTRY[cls.__name__] = cls
        for name in sorted(REGISTRY):
            REGISTRY[name] = REGISTRY.pop(name)

    def __post_init__(self) -> None:
        """Lists are tuples, whole numbers ints, one name where names are expected a tuple of it."""
        for name, hint in _hints(type(self)).items():
            given = getattr(self, name)
            number = whole(given) if int in _alternatives(hint) else None
            value = (given,) if isinstance(given, str) and _takes_names(hint) else _as_tuple(given)
            value = value if number is None else number
            object.__setattr__(self, name, value)

    @classmethod
    @abstractmethod
    def candidates(cls, program: Program) -> Iterator[Self]:
        """Steps that would do something to the program, legal or not."""

    @abstractmethod
    def attempt(self, program: Program) -> Rewritten | Refusal:
        """The program after the step, or why it is not legal; without what helps."""

    def repairs(self, program: Program, refusal: Refusal) -> Iterator[Transform]:
        """Steps that may help where `attempt` is a refusal. Those are offered that can be taken and
        then do: another transform where the step is legal after it, at least with other arguments;
        the same with other arguments instead.
        """
        yield from ()

    def check(self, program: Program) -> Refusal | None:
        """Why the step is not legal on the program, with what helps; None where it is."""
        attempted = self._attempted(program)
        if isinstance(attempted, Rewritten):
            return None
        return dataclasses.replace(attempted, help=lambda: self._help(program, attempted))

    def rewrite(self, program: Program) -> Rewritten:
        """The program after the step, which `check` has let pass."""
        attempted = self._attempted(program)
        assert isinstance(attempted, Rewritten), attempted.sentence
        return attempted

    @remembered
    def _attempted(self, program: Program) -> Rewritten | Refusal:
        return self.attempt(program)

    def _help(self, program: Program, refusal: Refusal) -> Help:
        proposals = dict.fromkeys(self.repairs(program, refusal))
        useful = [step for step in proposals if self._helps(program, step)]
        return Help(
            repairs=tuple(step for step in useful if type(step) is not type(self)),
            instead=tuple(step for step in useful if type(step) is type(self)),
        )

    def _helps(self, program: Program, proposal: Transform) -> bool:
        after = taken(program, proposal)
        if after is None or type(proposal) is type(self):
            return after is not None
        judged = _judged(after, self)
        return isinstance(judged, Rewritten) or any(
            type(other) is type(self) and taken(after, other) is not None
            for other in self.repairs(after, judged)
        )

    def __repr__(self) -> str:
        """The step as Python source."""
        return self._written(repr)

    def __str__(self) -> str:
        """The step for reading: of many names the first and the last."""
        return self._written(_cut)

    def _written(self, text: Callable[[object], str]) -> str:
        given = []
        unnamed = self.unnamed
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.default is dataclasses.MISSING:
                given.append(text(value))
            elif value == field.default:
                unnamed = 0
            elif unnamed:
                given.append(text(value))
                unnamed -= 1
            else:
                given.append(f"{field.name}={text(value)}")
        return f"{type(self).__name__}({', '.join(given)})"

    def to_json(self) -> dict[str, Any]:
        """The step as JSON: the transform's name and its arguments."""
        arguments = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return {"transform": type(self).__name__, "arguments": json.loads(json.dumps(arguments))}


def _cut(value: object) -> str:
    """An argument for reading."""
    if isinstance(value, tuple) and len(value) > SHOWN:
        return f"({value[0]!r}, … {len(value) - 2} more …, {value[-1]!r})"
    return repr(value)


def from_json(value: Mapping[str, Any]) -> Transform:
    """The step that `to_json` wrote. Raises WorkbenchError for what is none, with the nearest."""
    name = value.get("transform")
    if not isinstance(name, str) or name not in REGISTRY:
        raise WorkbenchError(
            f"unknown transform {name!r}: {nearest(str(name), REGISTRY, 'transforms')}"
        )
    transform, given = REGISTRY[name], value.get("arguments", {})
    if not isinstance(given, Mapping):
        raise WorkbenchError(f"{name}: arguments are {given!r}; expected an object")
    fields = {field.name: field for field in dataclasses.fields(transform)}
    hints = _hints(transform)
    arguments = {}
    for key, item in given.items():
        if key not in fields:
            raise WorkbenchError(
                f"{name} has no argument {key!r}: {nearest(key, fields, 'arguments')}"
            )
        arguments[key] = _as_tuple(item)
        if not _fits(arguments[key], hints[key]):
            raise WorkbenchError(f"{name}: {key} is {item!r}; expected {_expected(hints[key])}")
    missing = [
        key
        for key, field in fields.items()
        if key not in arguments
        and field.default is dataclasses.MISSING
        and field.default_factory is dataclasses.MISSING
    ]
    if missing:
        raise WorkbenchError(f"{name} lacks its argument {', '.join(missing)}")
    return transform(**arguments)


@functools.cache
def _hints(transform: type[Transform]) -> Mapping[str, Any]:
    """The types of a transform's parameters."""
    hints = typing.get_type_hints(transform)
    return {field.name: hints[field.name] for field in dataclasses.fields(transform)}


def _alternatives(hint: Any) -> tuple[Any, ...]:
    """What a parameter may be, None left out."""
    union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    parts = typing.get_args(hint) if union else (hint,)
    return tuple(part for part in parts if part is not type(None))


def _takes_names(hint: Any) -> bool:
    """Whether a parameter is any number of names."""
    return tuple[str, ...] in _alternatives(hint)


def _can_be_left_out(hint: Any) -> bool:
    return type(None) in typing.get_args(hint)


_EXPECTED = {
    str: "a name",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    tuple[str, ...]: "names",
    tuple[tuple[str, int], ...]: "pairs of a name and a whole number",
}


def _expected(hint: Any) -> str:
    """What a parameter may be, in words."""
    listed = []
    for part in _alternatives(hint):
        choices = [repr(c) for c in typing.get_args(part)]
        listed.append(_EXPECTED[part] if part in _EXPECTED else " or ".join(choices))
    return " or ".join(listed)


def _misfit(step: Transform) -> Refusal | None:
    """The refusal of an argument of another type; of numbers and choices the step says it itself,
    as it knows which ones it takes.
    """
    for name, hint in _hints(type(step)).items():
        value, parts = getattr(step, name), _alternatives(hint)
        says_it = int in parts or any(typing.get_origin(part) is Literal for part in parts)
        empty = isinstance(value, tuple) and not value
        if empty and _takes_names(hint) and _can_be_left_out(hint):
            sentence = f"{step}: {name} is empty; name some, or leave it out"
            return Refusal("input", sentence)
        if not says_it and not _fits(value, hint):
            return Refusal("input", f"{step}: {name} is {value!r}; expected {_expected(hint)}")
    return None


def _as_tuple(item: Any) -> Any:
    """Lists as tuples."""
    return tuple(_as_tuple(entry) for entry in item) if isinstance(item, list) else item


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value read from JSON is of a parameter's type."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, part) for part in parts)
    if origin is Literal:
        return value in parts
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if len(parts) == 2 and parts[1] is Ellipsis:
            return all(_fits(entry, parts[0]) for entry in value)
        return len(value) == len(parts) and all(map(_fits, value, parts))
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, hint)


def schema(transform: type[Transform]) -> dict[str, Any]:
    """A JSON Schema of the transform's parameters, derived from its fields."""
    hints = _hints(transform)
    properties, required = {}, []
    for field in dataclasses.fields(transform):
        properties[field.name] = _type_schema(hints[field.name])
        if field.default is dataclasses.MISSING:
            required.append(field.name)
        else:
            default = field.default
            properties[field.name]["default"] = (
                list(default) if isinstance(default, tuple) else default
            )
        if field.name in transform.least:
            properties[field.name]["minimum"] = transform.least[field.name]
    return {
        "title": transform.__name__,
        "description": (transform.__doc__ or "").strip().split("\n")[0],
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


_SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def _type_schema(hint: Any) -> dict[str, Any]:
    origin = typing.get_origin(hint)
    if hint in _SIMPLE:
        return {"type": _SIMPLE[hint]}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_type_schema(part) for part in typing.get_args(hint)]}
    if origin is tuple:
        parts = typing.get_args(hint)
        if parts[-1] is not Ellipsis:
            items = [_type_schema(part) for part in parts]
            return {"type": "array", "prefixItems": items, "minItems": len(parts), "items": False}
        return {"type": "array", "items": _type_schema(parts[0])}
    if origin is Literal:
        return {"enum": list(typing.get_args(hint))}
    raise TypeError(f"no schema for a parameter of type {hint}")


def check(program: Program, step: Transform) -> Refusal | None:
    """Why the step cannot be taken, the re-check included; None where `apply` will succeed."""
    judged = _judged(program, step)
    return judged if isinstance(judged, Refusal) else None


def taken(program: Program, step: Transform) -> Program | None:
    """The program after a step; None where it is refused."""
    judged = _judged(program, step)
    return None if isinstance(judged, Refusal) else judged.program


def apply(program: Program, step: Transform) -> Rewritten:
    """The program after the step. Raises Refused, and then nothing has changed."""
    judged = _judged(program, step)
    if isinstance(judged, Refusal):
        raise Refused(judged)
    return judged


def _judged(program: Program, step: Transform) -> Rewritten | Refusal:
    """What the step makes of the program, or why it cannot be taken.

    A step whose legality would take too long to decide is refused for that.
    """
    try:
        refusal = _misfit(step) or step.check(program)
        if refusal is not None:
            return refusal
        rewritten = step.rewrite(program)
        rewritten = dataclasses.replace(rewritten, program=without_lost(rewritten.program))
        return _recheck(program, rewritten.program, step) or rewritten
    except TooComplexError as error:
        return Refusal("cost", f"{step}: {error.message}", line=error.line)


def _recheck(before: Program, after: Program, step: Transform) -> Refusal | None:
    """Every rule over the equations, where the step changed any, every dependence, where it changed
    those or the order, and what is folded and handed on.
    """
    same_equations = after.statements is before.statements and after.arrays is before.arrays
    if not same_equations:
        rules.check(after, before)
    assert after.schedule is not None
    if not same_equations or after.schedule is not before.schedule:
        found = violation(after.schedule, dependences(after))
        if found is not None:
            return violated(after, found, str(step))
    return broken_storage(after, str(step))


def violated(program: Program, found: Violation, step: str) -> Refusal:
    """The refusal that a dependence is which the program's order violates."""
    witness = found.witness
    source, sink = (
        instance_text(name, instance)
        for name, instance in zip(witness.statements, witness.instances, strict=True)
    )
    sentence = (
        f"{step}: {sink} reads {element_text(witness)}, which {source} writes, "
        f"but {found.description} (smallest case: {sizes_text(witness)})"
    )
    line = program.statement[witness.statements[1]].line
    return Refusal("dependence", sentence, witness, line, attempted=program)
