"""Reads past an end that only a run can tell: such a read stands in `existing`, with the element of
`open` that has to be true and the step that is read. A run fails where it is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.polyhedral.expression import Expression
from workbench.program.bodies import Body, Call, IndexValue, Read
from workbench.program.episodes.existing import (
    EpisodeRead,
    episode_reads,
    fails_at_ends,
    needed,
    unproven,
)
from workbench.program.episodes.held import Held, held_in, opens_of
from workbench.program.values import End, Equations, Statement


def with_checked_reads(equations: Equations) -> Equations:
    """Return the equations with a check of each read of which data decides whether what it reads
    exists. What fails wherever an episode ends is left to be refused.
    """
    if not equations.ends:
        return equations
    opens = opens_of(equations)
    return replace(
        equations,
        statements=tuple(
            s if body == s.body else replace(s, body=body)
            for s in equations.statements
            for body in (_checked(s.body, s.guards, s, equations, opens),)
        ),
    )


def _checked(
    body: Body, held: Held, s: Statement, equations: Equations, opens: Mapping[str, End]
) -> Body:
    if isinstance(body, Call):
        arguments = tuple(
            _checked(argument, held_in(body, position, held, opens), s, equations, opens)
            for position, argument in enumerate(body.arguments)
        )
        return replace(body, arguments=arguments)
    if not isinstance(body, Read):
        return body
    index = tuple(
        e if isinstance(e, Expression) else _checked(e, held, s, equations, opens)
        for e in body.index
    )
    read = replace(body, index=index)
    checked: Body = read
    by_end: dict[End, list[EpisodeRead]] = {}
    for one in episode_reads(equations, s, read, held):
        by_end.setdefault(one.end, []).append(one)
    for end, ones in by_end.items():
        open_questions = [one for one in ones if unproven(equations, one) is not None]
        if not open_questions:
            continue
        opened = needed(equations, read, ones)
        if opened is None or any(fails_at_ends(equations, one) for one in open_questions):
            return read
        step = index[equations.array[read.array].dims.index(end.dim)]
        at = IndexValue(step) if isinstance(step, Expression) else step
        arguments = (checked, opened, at)
        checked = Call("existing", arguments, read.dtype, read.shape, (("dim", end.dim),))
    return checked
