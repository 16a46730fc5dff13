"""Errors as views show them: a sentence, the user's line, a cycle of instances if there is one, and
the trace of an error that is no sentence.
"""

from __future__ import annotations

import traceback
from dataclasses import replace

from workbench.errors import CycleError, SourceLine, WorkbenchError, line_in
from workbench.language.template.template import Template
from workbench.language.tracing.trace import is_template
from workbench.session.picture.snapshot import line_view
from workbench.session.protocol.state import CycleView, ErrorView, UntracedView, WaitingView
from workbench.transforms.step.step_json import ArgumentError


def error_view(error: BaseException, line: SourceLine | None = None) -> ErrorView:
    """Describe an error; `line` is the user's where the error itself knows none."""
    if isinstance(error, CycleError):
        return replace(sentence(error.message, error.line or line), cycle=_cycle_view(error))
    if isinstance(error, ArgumentError):
        return replace(sentence(error.message, line), arguments=error.reasons)
    if isinstance(error, WorkbenchError):
        return sentence(error.message, error.line or line)
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return ErrorView(what, line_view(line), "".join(traceback.format_exception(error)), None, {})


def sentence(text: str, line: SourceLine | None = None) -> ErrorView:
    """Return a sentence as an error."""
    return ErrorView(text, line_view(line), "", None, {})


def untraced(template: Template, error: ErrorView) -> UntracedView:
    """Describe a template with the error that stands in the way of its program."""
    code = template.function.__code__
    place = line_in(code.co_filename, code.co_firstlineno).origin
    if is_template(code.co_filename):
        place = "" if error.line is None else error.line.place.rpartition(",")[0]
    return UntracedView(template.name, place, error)


def _cycle_view(error: CycleError) -> CycleView:
    waiting = (WaitingView(text, line_view(line)) for text, line in error.instances)
    return CycleView(tuple(waiting), error.sizes)
