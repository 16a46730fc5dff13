"""Local rules applied to whole bodies, operands before the calls that use them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from workbench.polyhedral.expression import Expression
from workbench.program.bodies import Body, Call, Read
from workbench.program.values import Program
from workbench.transforms.rules.row import RuleRow

BodyRewrite = Callable[[Body], Body]


def rebuilt(body: Body, change: BodyRewrite) -> Body:
    """Apply `change` to everything directly below the body; return it if nothing changed."""
    if isinstance(body, Call):
        arguments = tuple(change(a) for a in body.arguments)
        same = all(a is b for a, b in zip(arguments, body.arguments, strict=True))
        return body if same else replace(body, arguments=arguments)
    if isinstance(body, Read):
        index = tuple(e if isinstance(e, Expression) else change(e) for e in body.index)
        same = all(a is b for a, b in zip(index, body.index, strict=True))
        return body if same else replace(body, index=index)
    return body


class Rewriter:
    """A rewriter by the local rows, by operation. A shared sub-body is rewritten once."""

    def __init__(self, program: Program, rows: Sequence[RuleRow]) -> None:
        self.program = program
        self.applied: list[RuleRow] = []
        """The rows that applied, once for each time."""
        self._everywhere = [r for r in rows if r.local is not None and not r.operations]
        self._rows: dict[str, list[RuleRow]] = {}
        for row in rows:
            for operation in row.operations:
                self._rows.setdefault(operation, []).append(row)
        self._known: dict[int, Body] = {}
        self._held: list[Body] = []

    def __call__(self, body: Body) -> Body:
        """Return the simplified body."""
        if id(body) in self._known:
            return self._known[id(body)]
        simplified = rebuilt(body, self)
        while isinstance(simplified, Call):
            following = self._once(simplified)
            if following is None:
                break
            simplified = rebuilt(following, self)
        self._known[id(body)] = simplified
        self._held.append(body)  # an id is a body's as long as the body lives
        return simplified

    def _once(self, call: Call) -> Body | None:
        for row in (*self._everywhere, *self._rows.get(call.operation, ())):
            assert row.local is not None
            simplified: Body | None = row.local(call, self.program)
            if simplified is not None:
                assert (simplified.dtype, simplified.shape) == (call.dtype, call.shape), row.name
                self.applied.append(row)
                return simplified
        return None
