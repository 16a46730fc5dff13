"""Recurrent tensors: arrays defined in pieces, each by an assignment to slices."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from workbench.errors import ProgramError, SourceLine
from workbench.language.tracing.functions import broadcast_to
from workbench.language.tracing.given_shapes import expect_own_indices, index_of, shape_of
from workbench.language.tracing.nodes import as_tensor, cast, dtype_name
from workbench.language.tracing.quoting import shape_text_with_line
from workbench.language.tracing.tensor import Tensor
from workbench.language.tracing.trace import current, dim_name, dim_names, user_line
from workbench.polyhedral.expression import Expression, variable
from workbench.program.bodies import Shape
from workbench.program.operations.shapes import broadcast_shapes, shape_text


@dataclass(frozen=True, eq=False)
class Piece:
    """A piece `array[index] = value`, over the full box of the index's dims or over `domain` (isl
    text) where given.
    """

    index: tuple[Expression, ...]
    dims: tuple[str, ...]
    value: Tensor
    line: SourceLine | None
    domain: str | None = None
    number: int = 0
    """The position in the text."""
    phase: str = ""
    everywhere: bool = False
    """True if it also defines elements past the end of an episode: a derivative, 0 there."""


class Recurrent(Tensor):
    """An array over dims, defined in pieces. A bare read is at the loop variables."""

    __slots__ = (
        "_dtype",
        "_shape",
        "aliases",
        "declared",
        "line",
        "name",
        "past_end",
        "pieces",
        "scope",
        "trace",
    )

    def __init__(
        self, name: str, shape: Shape, over: tuple[str, ...], dtype: str, scope: tuple[str, ...]
    ) -> None:
        self.name = name
        self.aliases: list[str] = []
        self.declared = over
        self._shape = shape
        self._dtype = dtype
        self.scope = scope
        self.line = user_line()
        self.trace = current()
        self.pieces: list[Piece] = []
        self.past_end = math.nan
        """The value, as an output, past the end of an episode."""
        super().__init__(self)

    @property
    def dims(self) -> tuple[str, ...]:
        return self.declared

    @property
    def shape(self) -> Shape:
        return self._shape

    @property
    def dtype(self) -> str:
        return self._dtype

    def __setitem__(self, key: Any, value: Any) -> None:
        self.define(self._written(key), as_tensor(value))

    def define(
        self,
        index: tuple[Expression, ...],
        value: Tensor,
        domain: str | None = None,
        line: SourceLine | None = None,
        everywhere: bool = False,
    ) -> None:
        """Add the piece `self[index] = value`, by default on the user's present line."""
        line, text = line or user_line(), self._text(index)
        dims = current().ordered({d for e in index for d in e.variables})
        extra = [d for d in value.dims if d not in dims]
        if extra:
            listed = ", ".join(current().dims[d].text for d in extra)
            raise ProgramError(
                f"{text} = …: the value varies over {listed}, which the left side lacks; "
                "read it at fixed indices, or reduce over it",
                line,
            )
        value = self._fitted(value, text)
        trace = current()
        number = trace.position()
        piece = Piece(index, dims, value, line, domain, number, trace.phase, everywhere)
        for derivative in trace.derivatives:
            if derivative.misses(self, piece):
                raise ProgramError(
                    f"{text} = … comes after a derivative that goes through it ({derivative.line});"
                    " write it before",
                    line,
                )
        self.pieces.append(piece)

    def _fitted(self, value: Tensor, text: str) -> Tensor:
        """Return the value with the array's dtype and shape, where it can be widened to them."""
        widens = self.dtype == "float" or value.dtype == "bool"
        if not widens and value.dtype != self.dtype and "float" in (value.dtype, self.dtype):
            raise ProgramError(
                f"{text} is {self.dtype}, but the value is {value.dtype}; convert with wb.cast",
                user_line(),
            )
        if self.dtype == "int32" and value.dtype == "int64":
            raise ProgramError(
                f"{text} is int32, but the value is int64; declare it with "
                'dtype="int64", or convert with wb.cast',
                user_line(),
            )
        if self.dtype == "bool" != value.dtype:
            raise ProgramError(
                f"{text} is bool, but the value is {value.dtype}; convert with wb.cast", user_line()
            )
        value = cast(value, self.dtype)
        try:
            fits = broadcast_shapes([value.shape, self.shape]) == self.shape
        except ProgramError:
            fits = False
        if not fits:
            raise ProgramError(
                f"{text} has shape {shape_text(self.shape)}, but the value has shape "
                f"{shape_text_with_line(value)}",
                user_line(),
            )
        return broadcast_to(value, self.shape)

    def _written(self, key: Any) -> tuple[Expression, ...]:
        entries = key if isinstance(key, tuple) else (key,)
        if entries and entries[-1] is Ellipsis:
            entries = entries[:-1]
        if len(entries) > len(self.declared):
            raise ProgramError(
                f"{self.name} has dims {', '.join(self.declared) or 'none'}: "
                f"{len(entries)} indices are too many on the left side, "
                f"expected at most {len(self.declared)}",
                user_line(),
            )
        given = [self._index(e) for e in entries]
        written = ", ".join(map(str, given))
        expect_own_indices(self.name, written, self.declared, given)
        return (*given, *(variable(d) for d in self.declared[len(given) :]))

    def _index(self, entry: Any) -> Expression:
        index = index_of(entry)
        if index is None:
            raise ProgramError(
                f"{self.name}[…] = …: the index {entry!r} is not an affine expression of dims",
                user_line(),
            )
        if not index.is_affine:
            raise ProgramError(
                f"{self.name}[{index}] = …: the index {index} is not affine "
                "(a product or quotient of sizes or dims)",
                user_line(),
            )
        return index

    def _text(self, index: tuple[Expression, ...]) -> str:
        return f"{self.name}[{', '.join(str(e) for e in index)}]"


def recurrent(name: str, shape: Any = (), over: Any = (), dtype: Any = "float") -> Recurrent:
    """Make a recurrent tensor, defined by assignments: `s[b, i, 0] = …`, `s[b, i, t + 1] = …`.

    `shape` is the inner shape (an int means one axis), `over` its dims, `dtype` float, int or bool.
    """
    trace = current()
    if not isinstance(name, str):
        raise ProgramError(
            f"the name of a recurrent tensor is {name!r}; expected text", user_line()
        )
    shape = shape_of(shape, f"{name}: shape")
    dtype = dtype_name(dtype, f"{name}: dtype")
    if any(r.name == name and r.scope == trace.scope for r in trace.recurrents):
        raise ProgramError(f"there is already a recurrent tensor {name!r}", user_line())
    over = dim_names(over) if not isinstance(over, Expression) else (dim_name(over),)
    for d in over:
        trace.range(d)
    declared = Recurrent(name, shape, over, dtype, trace.scope)
    trace.recurrents.append(declared)
    return declared
