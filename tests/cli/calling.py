"""Calling the command line in tests: what a call leaves, a quick algorithm, a user's file."""

import contextlib
import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from workbench.cli import main

SMALL = ["--B", "3", "--I", "2", "--T", "5", "--hidden", "4", "--backend", "numpy", "--no-progress"]

USERS_FILE = '''
import workbench as wb


@wb.program
def walk(B=2, T=4, drift=0.5, name="x", up=True, steps=(1, 2), start=None):
    """A random walk."""
    b, t = wb.dims(b=B, t=T)
    x = wb.recurrent("x", (), over=(b, t))
    x[b, 0] = float(start or 0.0)
    x[b, t + 1] = x + (drift if up else -drift) * wb.uniform(over=(b, t)) + len(steps)
    return {"x": x}
'''


@dataclass(frozen=True)
class Done:
    """What a call left: exit code and both streams."""

    code: int
    out: str
    err: str


Call = Callable[..., Done]


@cache
def printed(*words: str) -> Done:
    """What a call leaves that reads and writes no file: it is made once for all who ask."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(words))
    return Done(code, out.getvalue(), err.getvalue())
