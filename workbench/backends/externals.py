"""The external objects of one run: made when it starts, called by its statements.

They are closed when the run ends, however it ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Any

from workbench.errors import RunError, SourceLine, WorkbenchError
from workbench.program.sizes import numbers
from workbench.program.values import Equations


class Externals:
    """The external objects of a program during one run. A context manager."""

    def __init__(self, equations: Equations, sizes: Mapping[str, int], seed: int) -> None:
        self._equations = equations
        self._objects: dict[str, Any] = {}
        self._stack = ExitStack()
        with ExitStack() as opened:
            for external in equations.externals:
                try:
                    made = external.factory.open(external.count.evaluate(sizes), seed)
                except Exception as error:  # another package's code: whatever it raises
                    raise _failure(error, external.name, "", external.line) from error
                opened.callback(made.close)
                self._objects[external.name] = made
            self._stack = opened.pop_all()

    def __enter__(self) -> Externals:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close every object; a second time does nothing."""
        self._stack.close()

    def call(
        self,
        name: str,
        method: str,
        statement: str,
        instance: Sequence[tuple[str, int]],
        out: Any,
        *operands: Any,
    ) -> None:
        """Write an object's answer to `out`.

        Raises RunError, with the instance, for whatever the object raises.
        """
        function = getattr(self._objects[name], method)
        try:
            function(out, *operands)
        except Exception as error:  # another package's code: whatever it raises
            at = numbers(dict(instance))
            line = self._equations.statement[statement].line
            raise _failure(error, f"{name}.{method}", f"at {at}" if at else "", line) from error


def _failure(error: Exception, who: str, where: str, line: SourceLine | None) -> RunError:
    if isinstance(error, WorkbenchError):
        return RunError(f"{where}: {error.message}" if where else error.message, line)
    where = f" {where}" if where else ""
    return RunError(f"{who} failed{where}: {type(error).__name__}: {error}", line)
