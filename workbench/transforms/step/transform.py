"""Transforms: frozen dataclasses with their parameters as fields, registered by being subclassed.

A step is a transform with its arguments. `attempt` returns the program after the step or a refusal,
`repairs` what may help then. `apply` is the one way to take a step: its own check first, then the
rewrite, then the whole program's well-formedness and every dependence again, so that no step can
break what an earlier one relied on.
"""

from __future__ import annotations

import dataclasses
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar, Self

from workbench.errors import SourceLine, TooComplexError
from workbench.identity import remembered
from workbench.polyhedral.dependences.legality import Violation, violation
from workbench.polyhedral.expression import whole
from workbench.program.dependences import dependences
from workbench.program.values import Equations, Program
from workbench.program.wellformed import rules
from workbench.program.wellformed.ended import why_missing
from workbench.transforms.step.argument_names import array_called, dims_of
from workbench.transforms.step.arguments import (
    as_tuple,
    misfit,
    names_in,
    names_of,
    takes_names,
    unknown,
)
from workbench.transforms.step.condition import Condition
from workbench.transforms.step.refusal import (
    Help,
    Kind,
    Refusal,
    Refused,
    element_text,
    instance_texts,
    sizes_text,
)
from workbench.transforms.step.storage_holds import broken_storage, no_longer_added, without_lost
from workbench.type_hints import field_hints

MOST = 2**31 - 1
"""The greatest whole number of a step: positions are counted in 32 bits."""

SHOWN = 4
"""The number of a step's names in its text for reading."""

REGISTRY: dict[str, type[Transform]] = {}
"""Every transform by its class name, sorted, whichever module was imported first."""


@dataclasses.dataclass(frozen=True)
class Rewritten:
    """The program after a step, and notes, a sentence each: what the step left as it was and why,
    or what it costs.
    """

    program: Program
    notes: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Named:
    """The statements, arrays and dims of a program that a step names."""

    statements: tuple[str, ...]
    arrays: tuple[str, ...]
    dims: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Transform(ABC):
    """The base of transforms. Their docstrings have *Example*, *Before*, *After*, *Legal when*."""

    equation_step: ClassVar[bool] = False
    """True if the step changes equations (legal by rule), not order or storage (by dependences)."""

    unnamed: ClassVar[int] = 0
    """The number of arguments with defaults that are written without their names, in order."""

    least: ClassVar[Mapping[str, int]] = {}
    """The least values of whole-number arguments; the greatest is `MOST`."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        REGISTRY[cls.__name__] = cls
        for name in sorted(REGISTRY):
            REGISTRY[name] = REGISTRY.pop(name)

    def __post_init__(self) -> None:
        """Turn lists into tuples, whole numbers into ints, and one name into a tuple if needed."""
        for name, hint in field_hints(type(self)).items():
            given = getattr(self, name)
            number = whole(given) if hint.what == "whole number" else None
            value = (given,) if isinstance(given, str) and takes_names(hint) else as_tuple(given)
            value = value if number is None else number
            object.__setattr__(self, name, value)

    @classmethod
    @abstractmethod
    def candidates(cls, program: Program) -> Iterator[Self]:
        """Yield steps that would do something to the program, legal or not."""

    @abstractmethod
    def attempt(self, program: Program) -> Rewritten | Refusal:
        """Return the program after the step, or a refusal without help. Its names are known."""

    def repairs(self, program: Program, refusal: Refusal) -> Iterator[Transform]:
        """Yield steps that may help where `attempt` is a refusal. Those that can be taken and do
        help are offered: another transform if the step is legal after it, at least with other
        arguments; the same transform with other arguments instead.
        """
        yield from ()

    def conditions(self, program: Program, after: Program) -> Iterator[Condition]:
        """Yield the conditions by which a step on equations is legal, each with what meets it.

        Steps on order and storage have none: what they move is ordered. `after` is the program
        after the step.
        """
        yield from ()

    def refuse(self, kind: Kind, reason: str, line: SourceLine | None = None) -> Refusal:
        """Return the refusal of the step for a reason other than a dependence."""
        return Refusal(kind, f"{self}: {reason}", line=line)

    def unfit(self, argument: str, reason: str, line: SourceLine | None = None) -> Refusal:
        """Return the refusal of an argument."""
        return Refusal("input", f"{self}: {reason}", line=line, argument=argument)

    def in_range(self, argument: str) -> bool:
        """Tell whether an argument is a whole number from its least value to `MOST`."""
        value = getattr(self, argument)
        return type(value) is int and self.least[argument] <= value <= MOST

    def expected(self, argument: str) -> str:
        """Describe the range of an argument, up to where what was given says that it ends."""
        value = getattr(self, argument)
        ends = f"to {MOST}" if type(value) is int and value > MOST else "on"
        return f"a whole number from {self.least[argument]} {ends}"

    def check(self, program: Program) -> Refusal | None:
        """Explain why the step is not legal on the program, with what helps; None where it is."""
        attempted = self._attempted(program)
        if isinstance(attempted, Rewritten):
            return None
        return dataclasses.replace(attempted, help=lambda: self._help(program, attempted))

    def rewrite(self, program: Program) -> Rewritten:
        """Return the program after the step, which `check` has let pass."""
        attempted = self._attempted(program)
        assert isinstance(attempted, Rewritten), attempted.sentence
        return attempted

    @remembered(16, same=2)
    def _attempted(self, program: Program) -> Rewritten | Refusal:
        return misfit(self) or unknown(self, program) or self.attempt(program)

    def _proposals(self, program: Program, refusal: Refusal) -> Iterable[Transform]:
        """Return what may help; nothing does where an argument is wrong."""
        return () if refusal.kind == "input" else dict.fromkeys(self.repairs(program, refusal))

    def _help(self, program: Program, refusal: Refusal) -> Help:
        proposals = self._proposals(program, refusal)
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
            for other in self._proposals(after, judged)
        )

    def named(self, program: Program) -> Named:
        """Return the statements, arrays and dims that the step names."""
        texts: dict[str, list[str]] = {}
        for argument, names in names_of(type(self)).items():
            texts.setdefault(names.kind, []).extend(names_in(getattr(self, argument)))
        owners = [*texts.get("statement", ()), *texts.get("array", ())]
        arrays = {array_called(program, name) for name in owners}
        dims = {*texts.get("dim", ()), *texts.get("loop", ())}
        return Named(
            statements=tuple(s.name for s in program.statements if s.name in owners),
            arrays=tuple(a.name for a in program.arrays if a.name in arrays),
            dims=tuple(d for d in dims_of(program) if d in dims),
        )

    def __repr__(self) -> str:
        """Return the step as Python source."""
        return self._written(repr)

    def __str__(self) -> str:
        """Print the step for reading: of many names the first and the last."""
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
        """Return the step as JSON: the transform's name and its arguments."""
        arguments = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return {"transform": type(self).__name__, "arguments": json.loads(json.dumps(arguments))}


def _cut(value: object) -> str:
    """Shorten an argument for reading."""
    if isinstance(value, tuple) and len(value) > SHOWN:
        return f"({value[0]!r}, … {len(value) - 2} more …, {value[-1]!r})"
    return repr(value)


def check(program: Program, step: Transform) -> Refusal | None:
    """Explain why the step cannot be taken, after a re-check; None where `apply` will succeed."""
    judged = _judged(program, step)
    return judged if isinstance(judged, Refusal) else None


def taken(program: Program, step: Transform) -> Program | None:
    """Return the program after a step; None where it is refused."""
    judged = _judged(program, step)
    return None if isinstance(judged, Refusal) else judged.program


def apply(program: Program, step: Transform) -> Rewritten:
    """Return the program after the step. Raises Refused, and then nothing has changed."""
    judged = _judged(program, step)
    if isinstance(judged, Refusal):
        raise Refused(judged)
    return judged


def _judged(program: Program, step: Transform) -> Rewritten | Refusal:
    """Return the result of the step, or why it cannot be taken.

    A step whose legality would take too long to decide is refused for that.
    """
    try:
        refusal = step.check(program)
        if refusal is not None:
            return refusal
        rewritten = step.rewrite(program)
        refusal = no_longer_added(program, rewritten.program, str(step))
        if refusal is not None:
            return refusal
        rewritten = dataclasses.replace(rewritten, program=without_lost(rewritten.program))
        return _recheck(program, rewritten.program, step) or rewritten
    except TooComplexError as error:
        return Refusal("cost", f"{step}: {error.message}", line=error.line)


def _recheck(before: Program, after: Program, step: Transform) -> Refusal | None:
    """Check every rule over the equations if the step changed any, every dependence if it changed
    those or the order, and folded and donated storage.
    """
    same_equations = after.equations is before.equations
    if not same_equations:
        missing = why_missing(after.equations)
        if missing is not None:
            return Refusal("capability", f"{step}: {missing.message}", line=missing.line)
        _expect_well_formed(after.equations, before.equations)
    if not same_equations or after.schedule is not before.schedule:
        broken = violation(after.schedule, dependences(after.equations))
        if broken is not None:
            return violated(after, broken, str(step))
    return broken_storage(after, str(step))


@remembered(16, same=2)
def _expect_well_formed(after: Equations, before: Equations) -> None:
    """Raise ProgramError where a step has broken a rule. What passes is kept: steps that differ in
    the order alone have the same equations.
    """
    rules.check(after, before)


def violated(program: Program, found: Violation, step: str) -> Refusal:
    """Return the refusal for a dependence that the program's order violates."""
    witness = found.witness
    source, sink = instance_texts(witness)
    sentence = (
        f"{step}: {sink} reads {element_text(witness)}, which {source} writes, "
        f"but {found.description} (smallest case: {sizes_text(witness)})"
    )
    return out_of_order(program, found, sentence)


def out_of_order(program: Program, found: Violation, sentence: str) -> Refusal:
    """Return the refusal for an order that violates a dependence, in a sentence of the step's."""
    line = program.statement[found.dependence.sink].line
    return Refusal("dependence", sentence, found.witness, line, attempted=program)
