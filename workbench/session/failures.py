"""Errors as views show them: a sentence, the user's line, and the trace of what was no sentence."""

from __future__ import annotations

import traceback

from workbench.errors import SourceLine, WorkbenchError
from workbench.session.snapshot import line_view
from workbench.session.state import ErrorView


def error_view(error: BaseException, line: SourceLine | None = None) -> ErrorView:
    """An error; `line` is the user's where the error itself knows none."""
    if isinstance(error, WorkbenchError):
        return sentence(error.message, error.line or line)
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return ErrorView(what, line_view(line), "".join(traceback.format_exception(error)))


def sentence(text: str, line: SourceLine | None = None) -> ErrorView:
    """What is wrong, in words."""
    return ErrorView(text, line_view(line), "")
