"""Simplify: identities over the equations, as a table of rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from workbench.identity import remembered
from workbench.program.values import Program
from workbench.program.wellformed.ended import why_missing
from workbench.transforms.rules import BY_NAME, ROWS
from workbench.transforms.rules.rewriting import Rewriter
from workbench.transforms.rules.row import RuleRow
from workbench.transforms.step.argument_names import KnownNames
from workbench.transforms.step.condition import Condition
from workbench.transforms.step.refusal import Refusal
from workbench.transforms.step.transform import Rewritten, Transform

RuleNames = Annotated[tuple[str, ...], KnownNames("rule", lambda program: BY_NAME)]

NAMES_SHOWN = 4
"""The number of names in a note before the rest are only counted."""


@dataclass(frozen=True, repr=False)
class Simplify(Transform):
    """Equations are replaced by equal ones that compute less, as long as a rule applies.

    Without `rules`, all rows of the table `transforms.rules.ROWS`; with them, those. The notes say
    what each row did, and which of them round otherwise.

    Example::

        @wb.program
        def example(B=4, T=3):
            b, t = wb.dims(b=B, t=T)
            x = wb.uniform(over=(b, t))
            decay = 0.5 ** wb.index(b)
            return {"left": x * decay, "right": (x - decay) / 1.0}

    Before::

        for b:
            for t:
                x
                left
                right

    After Simplify()::

        for b:
            left.common
            for t:
                x
                left
                right

    Legal when the rule of every row that applies holds: an identity of the operations (marked where
    it rounds otherwise, or holds for finite numbers only), the same equations, or equations that no
    output needs. Draws are equal where their origins are. A new statement stands in front of its
    first reader, within as many of its loops as it has dimensions for; where no such place respects
    all dependences, the row does not apply.
    """

    rules: RuleNames | None = None

    equation_step = True

    @classmethod
    def candidates(cls, program: Program) -> Iterator[Simplify]:
        """Yield all rows at once."""
        yield cls()

    def attempt(self, program: Program) -> Rewritten | Refusal:
        """Apply all rows, again and again until none applies."""
        after, applied = simplified(program, self._rows())
        if not applied:
            return self._without_effect(program)
        notes = [_note(row, names) for row, names in applied.items()]
        return Rewritten(after, tuple(notes))

    def repairs(self, program: Program, refusal: Refusal) -> Iterator[Transform]:
        """Yield the step with only the rows that apply."""
        applied = simplified(program, ROWS)[1]
        if refusal.kind == "no effect" and applied:
            yield Simplify(tuple(row.name for row in applied))

    def conditions(self, program: Program, after: Program) -> Iterator[Condition]:
        """Yield each identity that applies, and where."""
        for row, names in simplified(program, self._rows())[1].items():
            text = "equal bit by bit" if row.exact else "equal but for what it is marked with"
            yield Condition(text, _note(row, names), names[0])

    def _rows(self) -> tuple[RuleRow, ...]:
        return ROWS if self.rules is None else tuple(BY_NAME[n] for n in dict.fromkeys(self.rules))

    def _without_effect(self, program: Program) -> Refusal:
        """Refuse, naming what other rows would do, if any would."""
        if self.rules is None:
            return self.refuse("no effect", f"none of the {len(ROWS)} rules applies")
        forms = "; ".join(f"{r.name} ({r.before} → {r.after or 'nothing'})" for r in self._rows())
        others = simplified(program, ROWS)[1]
        sentence = f"no equation has the form of {forms}"
        if not others:
            return self.refuse("no effect", f"{sentence}; no other rule applies either")
        names = ", ".join(row.name for row in others)
        return self.refuse("no effect", f"{sentence}; others apply: {names}")


Applied = dict[RuleRow, list[str]]
"""For each row that applied, the statements or arrays it changed, once for each time."""


@remembered(8)
def simplified(program: Program, rows: tuple[RuleRow, ...]) -> tuple[Program, Applied]:
    """Return the program after the rows, and the effect of each."""
    applied: Applied = {}
    while True:
        before = program
        program = _locally(program, rows, applied)
        for row in rows:
            if row.whole is not None:
                done = row.whole(program)
                if why_missing(done.program.equations) is not None:
                    continue
                program = done.program
                if done.where:
                    applied.setdefault(row, []).extend(done.where)
        if program is before:
            return program, applied


def _locally(program: Program, rows: Sequence[RuleRow], applied: Applied) -> Program:
    """Return every body after the local rows; the program itself where none applied."""
    rewriter = Rewriter(program, rows)
    statements = []
    for statement in program.statements:
        body = rewriter(statement.body)
        for row in rewriter.applied:
            applied.setdefault(row, []).append(statement.name)
        rewriter.applied.clear()
        statements.append(statement if body is statement.body else replace(statement, body=body))
    if all(new is old for new, old in zip(statements, program.statements, strict=True)):
        return program
    return replace(program, equations=replace(program.equations, statements=tuple(statements)))


def _note(row: RuleRow, names: Sequence[str]) -> str:
    """Return the note `times_one: x * 1 → x, 3 times (loss, gain)`."""
    distinct = list(Counter(names))
    shown = ", ".join(distinct[:NAMES_SHOWN])
    more = len(distinct) - NAMES_SHOWN
    listed = f"{shown} and {more} more" if more > 0 else shown
    times = f"{len(names)} times" if len(names) > 1 else "once"
    marks = [*(["rounds"] if row.rounds else []), *(["for finite numbers"] if row.finite else [])]
    mark = f" [{', '.join(marks)}]" if marks else ""
    return f"{row.name}: {row.before} → {row.after or 'nothing'}, {times} ({listed}){mark}"
