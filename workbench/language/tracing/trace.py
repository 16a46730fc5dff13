"""The state of one tracing: sizes, dimensions, scopes, and the user's line that is being executed.

A trace exists while the user's function runs, and records every value made meanwhile. Nothing here
knows operations or programs.
"""

from __future__ import annotations

import contextlib
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from types import FrameType
from typing import TYPE_CHECKING, Protocol

from workbench.errors import (
    PACKAGE,
    ProgramError,
    SourceLine,
    WorkbenchError,
    is_library,
    is_own_file,
    line_in,
)
from workbench.polyhedral.expression import Expression, unequal
from workbench.polyhedral.expressions.atoms import Variable
from workbench.program.data.declared import DataSet
from workbench.program.values import Parameter

if TYPE_CHECKING:
    from workbench.language.episodes.ends import AssumedDelay, OpenEpisodes
    from workbench.language.outside.external_calls import Calls
    from workbench.language.tracing.recurrent import Piece, Recurrent
    from workbench.language.tracing.tensor import Node

USER_CODE = PACKAGE / "algorithms"
_INSTALLED = ("stdlib", "platstdlib", "purelib", "platlib", "scripts")


@dataclass(frozen=True)
class Range:
    """A dimension while tracing: `lower <= name < upper`.

    `declared` ones are the user's. For the anonymous axis of a range read (`t:T`), `axis` is its
    position among the range axes of its tensor. Others are made by `gradient`.
    """

    name: str
    lower: Expression
    upper: Expression
    axis: int | None = None
    line: SourceLine | None = None
    declared: bool = False

    @property
    def text(self) -> str:
        """The dimension's name, or the range as the user wrote it."""
        return self.name if self.axis is None else f"the range {self.lower}:{self.upper}"

    @property
    def length(self) -> Expression:
        """Number of values, an expression over sizes and outer dimensions."""
        return self.upper - self.lower


class ReversePass(Protocol):
    """A pass of `wb.gradient` as what is written later sees it."""

    line: SourceLine | None

    def misses(self, array: Recurrent, piece: Piece) -> bool:
        """Tell whether a piece that an array gets after the pass would have mattered to it."""


@dataclass
class Trace:
    """Everything recorded while one program function runs."""

    name: str
    sizes: dict[str, Parameter] = field(default_factory=dict)
    dims: dict[str, Range] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    computed: dict[object, Node] = field(default_factory=dict)
    written: int = 0
    """The number of values and pieces written so far: positions in the text."""
    recurrents: list[Recurrent] = field(default_factory=list)
    updates: dict[str, None] = field(default_factory=dict)
    """The outermost dims of parameters: each is a candidate for counting updates."""
    scope: tuple[str, ...] = ()
    phase: str = ""
    """The innermost scope that no name has."""
    inline: bool = False
    """True while the recorded operations belong to the statements that read them."""
    everywhere: bool = False
    """True while they exist past the end of an episode too."""
    calls: list[Calls] = field(default_factory=list)
    """The calls of each external object."""
    data: dict[str, DataSet] = field(default_factory=dict)
    """The data sets by name."""
    ends: list[OpenEpisodes] = field(default_factory=list)
    """The dims along which episodes end."""
    derivatives: list[ReversePass] = field(default_factory=list)
    """The passes of `wb.gradient` so far."""
    assumed: list[AssumedDelay] = field(default_factory=list)
    """The assumptions of reductions over such dims."""
    expectations: list[Callable[[], None]] = field(default_factory=list)
    """What has to be written until the function returns: each raises ProgramError where it is not.
    """
    returned: SourceLine | None = None
    """The line on which the program function returned its outputs."""

    def position(self) -> int:
        """Return the next position in the text."""
        self.written += 1
        return self.written

    def range(self, name: str) -> Range:
        """Return the dimension `name`, or an error that lists the declared ones."""
        if name not in self.dims:
            declared = ", ".join(d for d, r in self.dims.items() if r.declared) or "none"
            raise ProgramError(f"unknown dim {name}; declared dims: {declared}", user_line())
        return self.dims[name]

    def ordered(self, names: set[str]) -> tuple[str, ...]:
        """Return dimension names with those of their bounds: declared ones first, as declared."""
        closed: set[str] = set()
        todo = set(names)
        while todo:
            name = todo.pop()
            closed.add(name)
            bounds = self.range(name)
            todo |= (bounds.lower.variables | bounds.upper.variables) - closed
        if len(closed) == 1:
            return tuple(closed)
        position = {d: n for n, d in enumerate(self.dims)}
        return tuple(sorted(closed, key=lambda d: (not self.dims[d].declared, position[d])))

    def fresh(self, base: str) -> str:
        """Return a dimension name not used yet."""
        number = 1
        while f"{base}_{number}" in self.dims:
            number += 1
        return f"{base}_{number}"


_current: ContextVar[Trace | None] = ContextVar("workbench_trace", default=None)


def current() -> Trace:
    """Return the trace of the program function that is running."""
    trace = _current.get()
    if trace is None:
        raise ProgramError(
            "this is only possible inside a function decorated with @wb.program", user_line()
        )
    return trace


@contextlib.contextmanager
def tracing(trace: Trace) -> Iterator[Trace]:
    """Make `trace` the current one."""
    token, heard = _current.set(trace), unequal.set(_refuse_comparison)
    try:
        yield trace
    finally:
        _current.reset(token)
        unequal.reset(heard)


def _refuse_comparison(e: Expression, other: object) -> None:
    """Refuse `if t == 0:` on a line of the user's: Python decides it before the program runs. Two
    dims or sizes may be told apart so.
    """
    asking = sys._getframe(2)
    if asking.f_code.co_name == "__eq__":  # of objects that hold expressions: are they the same?
        return
    if not is_users(asking) or (_is_name(e) and _is_name(other)):
        return
    line = user_line()
    written = line is None or "==" in line.text or "!=" in line.text  # else by np.arange(T)
    if written and (e.terms or (isinstance(other, Expression) and other.terms)):
        raise ProgramError(
            f"{e} == {other} has no value before the program runs, when Python asks for it: "
            f"compare wb.index({e}) == {other}, and choose by wb.where",
            line,
        )


def _is_name(x: object) -> bool:
    """Tell whether `x` is a dim or a size alone."""
    return isinstance(x, Expression) and len(x.terms) == 1 and not x.constant and x.terms[0][1] == 1


@contextlib.contextmanager
def scope(name: str, named: bool = True) -> Iterator[None]:
    """Put statements made inside in the scope `name`: a cluster of the drawn graph, and the
    beginning of their names.

    Where it is not `named`, it is a phase of the algorithm, such as acting, to which `wb.profile`
    counts them. Their names and the variant's key stay as they are without it.
    """
    trace = current()
    outer, phase = trace.scope, trace.phase
    if not named:
        trace.phase = name
    elif not outer or outer[-1] != name:
        trace.scope = (*outer, name)
    try:
        yield
    finally:
        trace.scope, trace.phase = outer, phase


@contextlib.contextmanager
def inline() -> Iterator[None]:
    """Make elementwise operations recorded inside parts of the statements that read them: their
    operands may exist only there. (Otherwise a node is defined for all values of its dims.)
    """
    trace = current()
    outer, trace.inline = trace.inline, True
    try:
        yield
    finally:
        trace.inline = outer


@contextlib.contextmanager
def everywhere() -> Iterator[None]:
    """Make operations recorded inside exist past the end of an episode too, as their operands do.
    (Otherwise a node over its steps is executed up to the end.)
    """
    trace = current()
    outer, trace.everywhere = trace.everywhere, True
    try:
        yield
    finally:
        trace.everywhere = outer


def user_line() -> SourceLine | None:
    """Return the innermost executed line of the user's or an algorithm's, not the workbench's."""
    frame = user_frame()
    return None if frame is None else source_line(frame)


def user_frame() -> FrameType | None:
    """Return the frame that `user_line` finds."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not is_users(frame):
        frame = frame.f_back
    return frame


def line_of(error: BaseException) -> SourceLine | None:
    """Return the innermost line of the user's own that an error's traceback went through."""
    line = None
    for frame, number in traceback.walk_tb(error.__traceback__):
        if is_users(frame) and not is_template(frame.f_code.co_filename):
            line = source_line(frame, number)
    return line


def calling_line() -> SourceLine | None:
    """Return the line that called the workbench; None where that is not the user's but a program's
    that runs it, as on a command line.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_own_file(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None or _is_installed(frame.f_code.co_filename):
        return None
    return source_line(frame)


def hide_frames(error: BaseException, of_templates: bool = False) -> None:
    """Have IPython and pytest leave out of a traceback the frames that are not the user's, unless
    asked for all.

    An error that a user can cause says all there is to know. Of any other one the frames that the
    user's innermost line called stay. `of_templates`: frames of the bundled templates are left out
    too.
    """
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    users = [is_users(frame) for frame in frames]
    if not isinstance(error, WorkbenchError):
        known = len(frames) - users[::-1].index(True) if True in users else 0
        frames, users = frames[:known], users[:known]
    for frame, shown in zip(frames, users, strict=True):
        if not shown or (of_templates and is_template(frame.f_code.co_filename)):
            frame.f_locals["__tracebackhide__"] = True


def is_template(file: str) -> bool:
    """Tell whether a file is one of the bundled algorithms."""
    return file.startswith(str(USER_CODE))


def is_users(frame: FrameType) -> bool:
    """Tell whether a frame is the user's, or a bundled algorithm's."""
    return _is_users_file(frame.f_code.co_filename)


@lru_cache(maxsize=4096)
def _is_users_file(file: str) -> bool:
    return not is_library(file) and (not is_own_file(file) or is_template(file))


@lru_cache(maxsize=4096)
def _is_installed(file: str) -> bool:
    """Tell whether a file came with Python or with a package."""
    places = [path for name, path in sysconfig.get_paths().items() if name in _INSTALLED]
    return file.startswith(("<frozen ", *places))


def source_line(frame: FrameType, number: int | None = None) -> SourceLine:
    """Return the line that a frame is at, unless the number of one is given."""
    return line_in(frame.f_code.co_filename, number or frame.f_lineno)


def dim_name(value: object) -> str:
    """Return the name of the dimension that `value` is."""
    if isinstance(value, Expression) and len(value.terms) == 1 and value.constant == 0:
        atom, coefficient = value.terms[0]
        if isinstance(atom, Variable) and coefficient == 1:
            return atom.name
    said = f"expected a dim, found {value!r}"
    if isinstance(value, str) and value in current().dims:
        said += f", which is its name: write the dim itself, {value} instead of {value!r}"
    raise ProgramError(said, user_line())


def dim_names(over: object) -> tuple[str, ...]:
    """Return the names of one dimension or of a tuple of them."""
    if isinstance(over, (tuple, list)):
        return tuple(dim_name(d) for d in over)
    return (dim_name(over),)
