"""The template that a word of the command line names: one of ours, or one in a user's file."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from workbench.algorithms import ALGORITHMS, DISTRIBUTED, FROM_LOGS, OFF_POLICY, TABULAR
from workbench.cli.arguments import Parser
from workbench.errors import WorkbenchError, nearest
from workbench.language.template.template import Template

PACKAGE = Path(__file__).parents[1]
TEMPLATES = ALGORITHMS | DISTRIBUTED | OFF_POLICY | TABULAR | FROM_LOGS
WHICH = "ALGORITHM is a name of `workbench list`, or a template of your own: FILE.py:NAME."


def chosen(words: list[str], command: str, purpose: str) -> tuple[Template, list[str]]:
    """Return the template that the first word names, and the words after it. `--help` alone exits
    here.
    """
    prog = f"workbench {command}"
    if words and words[0] in ("-h", "--help"):
        Parser(
            prog=prog,
            usage=f"{prog} ALGORITHM [options]",
            description=f"{purpose}\n\n{WHICH}",
            epilog=f"`{prog} ALGORITHM --help` lists the options and the algorithm's arguments.",
        ).parse_args(words[:1])
    if not words or words[0].startswith("-"):
        instead = f"found {words[0]}" if words else "found nothing"
        raise WorkbenchError(
            f"{prog} expects the algorithm first, {instead} (algorithms: {', '.join(TEMPLATES)})"
        )
    return find(words[0]), words[1:]


def find(word: str) -> Template:
    """Find an algorithm by its name, or `path/to/file.py:template`."""
    path, colon, name = word.rpartition(":")
    if not colon or not path.endswith(".py"):
        path, name = word, ""
    if path.endswith(".py"):
        return _in_file(Path(path), name)
    if word not in TEMPLATES:
        offered = nearest(word, TEMPLATES, "algorithms")
        raise WorkbenchError(f"unknown algorithm {word!r}: {offered}; or FILE.py:NAME")
    return TEMPLATES[word]


def _in_file(path: Path, name: str) -> Template:
    if not path.is_file():
        raise WorkbenchError(f"there is no file {path}")
    templates = {key: x for key, x in vars(_load(path)).items() if isinstance(x, Template)}
    if not templates:
        raise WorkbenchError(f"{path} defines no template (a function under @wb.program)")
    if not name and len(templates) == 1:
        return next(iter(templates.values()))
    if not name:
        first = next(iter(templates))
        raise WorkbenchError(f"{path} defines {', '.join(templates)}: say which, {path}:{first}")
    if name not in templates:
        raise WorkbenchError(
            f"{path} has no template {name!r}: {nearest(name, templates, 'templates')}"
        )
    return templates[name]


def _load(path: Path) -> ModuleType:
    """Load the file as a module. Like a script it finds the files that lie beside it."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent.resolve()))
    try:
        with users_code(path):
            spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    return module


@contextlib.contextmanager
def users_code(path: str | Path) -> Iterator[None]:
    """Turn an error of a user's file into a sentence with the line of that file.

    An error of our own files is a mistake of ours, and stays a traceback.
    """
    if Path(path).is_relative_to(PACKAGE):
        yield
        return
    try:
        yield
    except WorkbenchError:
        raise
    except SyntaxError as error:
        raise WorkbenchError(f"{path}, line {error.lineno}: {error.msg}") from error
    except Exception as error:  # a user's file may raise anything
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if Path(frame.filename) == Path(path)]
        place = f"{path}, line {lines[-1]}" if lines else f"{path}"
        raise WorkbenchError(f"{place}: {type(error).__name__}: {error}") from error
