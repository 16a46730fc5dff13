"""The branches of a program's `where`s that an evaluation took, and the statements with
instances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from textwrap import shorten
from typing import Any

import numpy as np

from workbench.backends.reference.evaluator import Reference
from workbench.polyhedral.sets.relations import count
from workbench.program.bodies import Call, Literal, walk
from workbench.program.text.infix import body_text
from workbench.program.values import Statement


@dataclass
class Branches:
    """A watcher of a reference evaluation that notes which ways each `where` went."""

    taken: dict[int, set[bool]] = field(default_factory=dict)

    def __call__(self, statement: Statement, call: Call, operands: Sequence[Any]) -> None:
        """Note one operation evaluated on these operands."""
        if call.operation != "where":
            return
        ways = self.taken.setdefault(id(call), set())
        if len(ways) < 2:
            condition = np.asarray(operands[0])
            if condition.any():
                ways.add(True)
            if not condition.all():
                ways.add(False)


def untaken(reference: Reference, branches: Branches) -> tuple[str, ...]:
    """Return a sentence for each branch of a `where` and each whole statement not evaluated."""
    sentences = []
    for statement in reference.equations.statements:
        if not count(statement.domain, reference.sizes):
            sentences.append(f"nothing runs of {_named(statement)}")
            continue
        for call in dict.fromkeys(_wheres(statement)):
            ways = branches.taken.get(id(call), set())
            condition = body_text(call.arguments[0])
            sentences += [
                f"{_named(statement)} is only checked where {condition} is {str(not way).lower()}"
                for way in (True, False)
                if way not in ways
            ]
    return tuple(dict.fromkeys(sentences))


def _wheres(statement: Statement) -> list[Call]:
    return [
        body
        for body in walk(statement.body)
        if isinstance(body, Call)
        and body.operation == "where"
        and not isinstance(body.arguments[0], Literal)
    ]


def _named(statement: Statement) -> str:
    line = statement.line
    if line is None:
        return statement.name
    return f"{statement.name} (line {line.number}: {shorten(line.text, 80, placeholder=' …')})"
