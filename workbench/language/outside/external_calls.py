"""Calls of an external object, in the order in which they happen.

A token orders them: an array over the dims of that order, with the calls' results as elements. Each
call reads the element of the call before it, so the order is one of dependences like any other.
Nothing here knows the object's work.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from workbench.errors import ProgramError, SourceLine
from workbench.language.tracing.nodes import apply, index, literal, record
from workbench.language.tracing.recurrent import Recurrent
from workbench.language.tracing.reductions import collect
from workbench.language.tracing.tensor import Node, Tensor
from workbench.language.tracing.trace import current, user_line
from workbench.names import unique
from workbench.polyhedral.expression import Expression, variable
from workbench.program.bodies import Shape
from workbench.program.values import External


class Calls:
    """The calls of one external object: `start`, `step`, and `follow` behind a step.

    `over` is the dim of the parts side by side. It becomes the leading inner axis of operands and
    results; the rest of the result's inner shape is `shape`. A call's result is a tensor over the
    dims of its place in the order.
    """

    def __init__(self, factory: Any, name: str, over: str, shape: Shape) -> None:
        trace = current()
        length = trace.range(over).length
        taken = {c.external.name for c in trace.calls}
        self.external: External = External(unique(name, taken), factory, length, user_line())
        self.over = over
        self.shape: Shape = (length, *shape)
        self.order: tuple[str, ...] = ()
        self.starts: tuple[str, ...] = ()
        """The dims of the starts: the outermost of the order."""
        self.started: Tensor | None = None
        self.stepped: Tensor | None = None
        self.followed: Tensor | None = None
        self.token: Recurrent | None = None
        self.before: Recurrent | None = None
        """The token before a start, where starts follow one another."""
        trace.calls.append(self)

    def start(self, method: str, starts: tuple[str, ...]) -> Tensor:
        """Call before all steps, at every instance of the dims `starts`."""
        self._once(self.started, method)
        self.starts = starts
        operands = []
        if starts:
            self.before = self._recurrent("before", starts)
            operands.append(Tensor(self.before))
        self.started = self._call(method, starts, operands)
        return self.started

    def step(self, method: str, order: tuple[str, ...], **operands: Tensor) -> Tensor:
        """Call at every instance of the dims `order`, in their lexicographic order."""
        self._once(self.stepped, method)
        if not order:
            raise ProgramError(
                f"{self.external.name} is stepped over {self.over} alone; "
                "its state needs a dim for time too",
                user_line(),
            )
        self.order, self.token = order, self._recurrent("token", order)
        self.stepped = self._call(method, order, [self.token, *self._collected(operands)])
        return self.stepped

    def follow(self, method: str, **operands: Tensor) -> Tensor:
        """Call behind each step."""
        self._once(self.followed, method)
        assert self.stepped is not None
        self.followed = self._call(method, self.order, [self.stepped, *self._collected(operands)])
        return self.followed

    def at(self, result: Tensor) -> Tensor:
        """Return a call's result, or views of it, as a tensor over `over` again."""
        return apply("take", result, index(variable(self.over)))

    def link(self) -> None:
        """Define the token, once all calls are known."""
        if self.started is None or self.stepped is None or self.token is None:
            missing = "stepped" if self.stepped is None else "reset"
            done = "reset" if self.stepped is None else "stepped"
            raise ProgramError(
                f"{self.external.name} is {done}, but never {missing}", self.external.line
            )
        order, r = self.order, len(self.starts)
        if self.starts != order[:r] or r == len(order):
            allowed = [(self.over, *order[:k]) for k in range(len(order))]
            raise ProgramError(
                f"{self.external.name} is reset over {_dims((self.over, *self.starts))}, but "
                f"stepped over {_dims((self.over, *order))}: reset it over "
                f"{' or '.join(map(_dims, allowed))}",
                _line(self.started),
            )
        token, here = self.token, tuple(variable(d) for d in order)
        last = self.stepped if self.followed is None else self.followed
        token.define((*here[:-1], here[-1] + 1), last, line=_line(last))
        token.define(_at_start(here[:r], len(order)), self.started, line=_line(self.started))
        for p in range(r, len(order) - 1):  # the end of an inner loop leads to the next outer step
            _lead(token, here[: p + 1], token, len(order))
        if self.before is not None:
            nothing = literal(0.0)
            self.before.define(_at_start((), r), nothing, line=_line(self.started))
            _lead(self.before, here[:r], token, len(order))
            for p in range(r - 1):
                _lead(self.before, here[: p + 1], self.before, r)

    # -- making calls ----------------------------------------------------------------------------

    def _call(self, method: str, dims: tuple[str, ...], operands: list[Tensor]) -> Tensor:
        name = self.external.name
        return record(
            current(),
            operation="external",
            operands=tuple(operands),
            dims=current().ordered(set(dims)),
            shape=self.shape,
            dtype="float",
            options={"name": name, "method": method, "shape": self.shape, "dtype": "float"},
        )

    def _collected(self, operands: Mapping[str, Tensor]) -> list[Tensor]:
        tensors = []
        for name, x in operands.items():
            extra = [d for d in x.dims if d not in (self.over, *self.order)]
            if extra:
                raise ProgramError(
                    f"{self.external.name} is stepped over {_dims((self.over, *self.order))}, but "
                    f"{x!r} varies over {_dims(tuple(extra))} too",
                    user_line(),
                )
            collected = collect(x, self.over)
            if isinstance(collected.source, Node):
                collected.source.hint = name
            tensors.append(collected)
        return tensors

    def _recurrent(self, name: str, dims: tuple[str, ...]) -> Recurrent:
        trace = current()
        recurrent = Recurrent(name, self.shape, dims, "float", trace.scope)
        trace.recurrents.append(recurrent)
        return recurrent

    def _once(self, known: Tensor | None, method: str) -> None:
        if known is not None:
            raise ProgramError(
                f"a second {method} of {self.external.name}, which has one state that only one "
                f"equation can lead on (the first: {_line(known)}); make a second environment",
                user_line(),
            )


def called(calls: Iterable[Calls], live: Iterable[object]) -> tuple[External, ...]:
    """Return the external objects that live nodes call."""
    nodes = (x for x in live if isinstance(x, Node) and x.operation == "external")
    names = {x.options["name"] for x in nodes}
    return tuple(c.external for c in calls if c.external.name in names)


def _lead(target: Recurrent, here: tuple[Expression, ...], source: Recurrent, inner: int) -> None:
    """Define `target` one further along the last of `here` as `source` at the inner dim's end."""
    end = current().range(source.dims[len(here)]).upper
    at = dict(zip(source.dims, _at_start((*here, end), inner), strict=True))
    index_ = _at_start((*here[:-1], here[-1] + 1), len(target.dims))
    target.define(index_, source.substitute(at), line=source.line)


def _at_start(here: tuple[Expression, ...], rank: int) -> tuple[Expression, ...]:
    """Return the first element with the given outer indices."""
    return (*here, *[Expression(0)] * (rank - len(here)))


def _line(x: Tensor) -> SourceLine | None:
    return x.source.line


def _dims(names: tuple[str, ...]) -> str:
    return f"({', '.join(names)})" if len(names) > 1 else names[0]
