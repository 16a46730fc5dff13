"""`@wb.program`: a Python function of sizes and plain arguments becomes a template of programs."""

from __future__ import annotations

import functools
import inspect
import linecache
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from workbench.collection import without_collection
from workbench.errors import ProgramError, SizeError, SourceLine, WorkbenchError, line_in
from workbench.language.episodes.outputs import returned
from workbench.language.template.build import build
from workbench.language.template.misused import misused
from workbench.language.template.naming import naming
from workbench.language.template.root_schedule import scheduled
from workbench.language.template.written import written
from workbench.language.tracing.nodes import as_tensor
from workbench.language.tracing.tensor import Tensor
from workbench.language.tracing.trace import (
    Trace,
    calling_line,
    current,
    hide_frames,
    is_template,
    line_of,
    tracing,
)
from workbench.polyhedral.expression import size, whole
from workbench.program.values import Parameter, Program
from workbench.program.wellformed.rules import check


class Template:
    """A program function: calling it traces it and returns a `Program` under its root schedule.

    Arguments whose name starts with a capital are sizes: symbolic inside, their value is the
    default when run. All others are plain Python values, fixed when traced.
    """

    def __init__(self, function: Callable[..., Mapping[str, Any]]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.signature = inspect.signature(function)
        self.name = function.__name__
        self.traced = 0
        """The number of traces that reached the end."""

    def __call__(self, *args: Any, **kwargs: Any) -> Program:
        brought = is_template(self.function.__code__.co_filename)
        try:
            with without_collection():
                program = self._traced(*args, **kwargs)
            self.traced += 1
            return program
        except Exception as error:  # whatever it is goes on, without frames that tell nothing
            if brought and isinstance(error, WorkbenchError) and not _is_users_own(error.line):
                error.line = calling_line()  # what was passed to it is wrong
            hide_frames(error, of_templates=brought)
            raise

    def _traced(self, *args: Any, **kwargs: Any) -> Program:
        trace = Trace(self.name)
        bound = self._bound(*args, **kwargs)
        for name, value in bound.items():
            if name[:1].isupper():
                trace.sizes[name] = self._size(name, value)
                bound[name] = size(name)
        with tracing(trace):
            try:
                with naming(trace):
                    outputs = self.function(**bound)
                for calls in trace.calls:
                    calls.link()
            except ProgramError as error:
                if error.line is None:
                    error = ProgramError(error.message, line_of(error))
                raise error from None
            except (TypeError, AttributeError) as error:
                said = misused(error)
                if said is None:
                    raise
                raise ProgramError(said, line_of(error)) from None
            results = returned(self._outputs(outputs))
            equations = build(trace, results, inspect.getdoc(self.function) or "")
        check(equations)
        return scheduled(replace(equations, written=written(self.function, args, kwargs)))

    def _bound(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise ProgramError(f"{self._written()}: {error}", self._line()) from None
        bound.apply_defaults()
        return dict(bound.arguments)

    def _size(self, name: str, value: Any) -> Parameter:
        number = whole(value)
        if number is None or number <= 0:
            raise SizeError(
                f"size {name} must be a positive integer, found {value!r} "
                "(arguments whose name starts with a capital are sizes)",
                self._line(),
            )
        return Parameter(name, number)

    def _outputs(self, outputs: Any) -> dict[str, Tensor]:
        if not isinstance(outputs, Mapping) or not outputs:
            raise ProgramError(
                f"{self.name} returned {outputs!r}; expected a dict of named outputs", self._line()
            )
        return {str(name): self._output(str(name), x) for name, x in outputs.items()}

    def _output(self, name: str, x: Any) -> Tensor:
        line = current().returned or self._line()
        try:
            output = as_tensor(x)
        except ProgramError as error:
            raise ProgramError(f"output {name} of {self.name}: {error.message}", line) from None
        ranges = [current().dims[d].text for d in output.dims if current().dims[d].axis is not None]
        if ranges:
            raise ProgramError(
                f"output {name} of {self.name} varies over {' and '.join(ranges)}; "
                "reduce it, or return the whole array",
                line,
            )
        return output

    def _line(self) -> SourceLine:
        """Return the line of the `def`, as it is written; decorators come before it."""
        code = self.function.__code__
        lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
        for number, text in enumerate(lines, code.co_firstlineno):
            if text.lstrip().startswith(f"def {self.function.__name__}("):
                return line_in(code.co_filename, number, text)
        return line_in(code.co_filename, code.co_firstlineno, f"def {self._written()}")

    def _written(self) -> str:
        """Return the name and the parameters with their defaults."""
        parameters = self.signature.parameters.values()
        bare = [p.replace(annotation=inspect.Parameter.empty) for p in parameters]
        return f"{self.name}{inspect.Signature(bare)}"

    def __repr__(self) -> str:
        return f"<program template {self._written()}>"


def program(function: Callable[..., Mapping[str, Any]]) -> Template:
    """Decorate a function that writes equations and returns a dict of named outputs: arrays as they
    are, or values over dims, which have the elements at these.
    """
    return Template(function)


def _is_users_own(line: SourceLine | None) -> bool:
    """Tell whether the user wrote a line: in an environment given to a template, perhaps."""
    return line is not None and not is_template(line.file)
