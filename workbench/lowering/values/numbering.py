"""Bodies as a numbered graph: equal sub-bodies have one number, so each is computed once."""

from __future__ import annotations

from typing import Any

from workbench.identity import remembered
from workbench.polyhedral.expression import Expression
from workbench.program.bodies import Body, Call, IndexValue, Literal, Read


class Numbering:
    """The numbers of the bodies below a root. Works on shared bodies in linear time."""

    def __init__(self, root: Body) -> None:
        self._by_identity: dict[int, int] = {}
        self._by_key: dict[Any, int] = {}
        self.bodies: list[Body] = []
        self.children: list[tuple[int, ...]] = []
        self.root = self._visit(root)
        self.uses = [0] * len(self.bodies)
        for children in self.children:
            for child in children:
                self.uses[child] += 1

    def __getitem__(self, body: Body) -> int:
        return self._by_identity[id(body)]

    def _visit(self, root: Body) -> int:
        stack: list[tuple[Body, bool]] = [(root, False)]
        while stack:
            body, ready = stack.pop()
            if id(body) in self._by_identity:
                continue
            below = _below(body)
            if not ready:
                stack.append((body, True))
                stack.extend((child, False) for child in reversed(below))
                continue
            children = tuple(self._by_identity[id(child)] for child in below)
            key = _key(body, children)
            if key not in self._by_key:
                self._by_key[key] = len(self.bodies)
                self.bodies.append(body)
                self.children.append(children)
            self._by_identity[id(body)] = self._by_key[key]
        return self._by_identity[id(root)]


@remembered(4096)
def numbered(root: Body) -> Numbering:
    """Return the numbers of the bodies below a root. Those of a program are asked for again with
    each of its variants.
    """
    return Numbering(root)


def _below(body: Body) -> tuple[Body, ...]:
    if isinstance(body, Call):
        return body.arguments
    if isinstance(body, Read):
        return tuple(e for e in body.index if not isinstance(e, Expression))
    return ()


def _key(body: Body, children: tuple[int, ...]) -> Any:
    if isinstance(body, Call):
        return (body.operation, children, body.dtype, body.shape, body.attributes)
    if isinstance(body, Read):
        fixed = tuple(e if isinstance(e, Expression) else None for e in body.index)
        return ("read", body.array, fixed, children)
    if isinstance(body, IndexValue):
        return ("index", body.expression, body.dtype)
    assert isinstance(body, Literal)
    return ("literal", repr(body.value), body.dtype, body.shape)
