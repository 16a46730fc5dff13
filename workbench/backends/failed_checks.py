"""The errors of checks that fail while a program runs: each names array, instance and line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.codegen.kernel_records import Require
from workbench.errors import RunError, SourceLine
from workbench.polyhedral.expression import Expression
from workbench.program.bodies import Call, Read, walk
from workbench.program.sizes import numbers as numbers_text
from workbench.program.values import Equations
from workbench.program.wellformed.sentences import impossible, indefinite, singular, too_low

VALUES = {"regular": singular, "definite": indefinite, "positive": too_low}
"""The sentences of checks that say no more than which value fails."""


def failed(
    equations: Equations,
    kind: str,
    statement: str,
    at: Mapping[str, int],
    numbers: Sequence[int] = (),
    options: Mapping[str, str] | None = None,
) -> RunError:
    """Return the error of a check that failed for a statement's instance `at`.

    "index": an index, the bounds of an `array` along a `dim`; "within": an index and the range that
    the program promises; "possible", "positive", "regular" and "definite": nothing; "existing": an
    index of an `array` along the `dim` of its episodes; "nonempty": nothing, or the `dim` that is
    empty.
    """
    where, options = point_at(equations, statement, at), options or {}
    written = written_by(equations, statement)
    if kind == "index":
        index, lower, upper = numbers
        read = _called(equations, options["array"])
        said = (
            f"{read} is indexed at {options['dim']} = {index}, outside {lower} to {upper - 1}, by "
            f"{written} at {where}"
        )
    elif kind == "within":
        index, lower, upper = numbers
        said = (
            f"the index {index} of {written} at {where} is not within {lower} to {upper - 1}, as "
            "the program promises"
        )
    elif kind == "possible":
        said = impossible(where)
    elif kind == "existing":
        said = (
            f"{_called(equations, options['array'])} is read at {options['dim']} = {numbers[0]}, "
            f"which is past the end of the episode, by {written} at {where}"
        )
    elif kind in VALUES:
        said = VALUES[kind](written, where)
    else:
        dims = equations.statement[statement].reduction_dims
        dim = options.get("dim", dims[0] if len(dims) == 1 else "")
        over = f" over {dim}" if dim else ""
        said = (
            f"{written} at {where} combines no elements{over}: an empty "
            f"{equations.statement[statement].combiner} has no value"
        )
    return RunError(said, _line(equations, statement, kind, options.get("array", "")))


def _line(equations: Equations, statement: str, kind: str, array: str) -> SourceLine | None:
    """Return the line of the read whose check failed, the statement's own where it may be several:
    of an array, or at an index that is promised to lie within a range.
    """
    reader = equations.statement[statement]
    lines = {
        read.line
        for read in reader.reads
        if (_has_promise(read) if kind == "within" else read.array == array)
    }
    return (lines.pop() if len(lines) == 1 else None) or reader.line


def _has_promise(read: Read) -> bool:
    entries = (e for e in read.index if not isinstance(e, Expression))
    return any(isinstance(b, Call) and b.operation == "within" for e in entries for b in walk(e))


def _called(equations: Equations, array: str) -> str:
    return equations.array[array].called if array in equations.array else array


def failed_check(
    equations: Equations, check: Require, instance: Sequence[int], numbers: Sequence[int]
) -> RunError:
    """Return the error of a kernel's check, from the instance and numbers that it has left."""
    return failed(
        equations,
        check.kind,
        check.statement,
        {d: instance[k] for k, (d, _) in enumerate(check.instance)},
        [numbers[k] for k in range(len(check.numbers))],
        check.option,
    )


def error_of(equations: Equations, statement: str, message: str) -> RunError:
    """Return an error that points at a statement's line."""
    return RunError(message, equations.statement[statement].line)


def written_by(equations: Equations, statement: str) -> str:
    """Return the name of the array that a statement writes."""
    return equations.array[equations.statement[statement].array].called


def point_at(equations: Equations, statement: str, at: Mapping[str, int]) -> str:
    """Return an instance as text, its dims in order."""
    dims = equations.statement[statement].dims
    return numbers_text({d: at[d] for d in dims if d in at}) or "its only instance"
