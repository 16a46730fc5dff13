"""A template's arguments as options of the command line: types from the defaults, errors as one
sentence."""

from __future__ import annotations

import argparse
import ast
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from workbench.errors import WorkbenchError, nearest
from workbench.language.template.template import Template

Reader = Callable[[str], Any]

GIVEN_SIZES = "sizes given"
"""The place of the given sizes among parsed options: no option has such a name."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are a `WorkbenchError` of one sentence, without usage."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **options
        )

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing usage and exiting."""
        raise WorkbenchError(message.removeprefix("argument "))

    def strictly(self, words: Sequence[str], first: Sequence[str] = ()) -> argparse.Namespace:
        """Parse the words; refuse an unknown option with the nearest known one.

        The known options named in `first` are listed first.
        """
        known, unknown = self.parse_known_args(words)
        if not unknown:
            return known
        option = next((word for word in unknown if word.startswith("-")), None)
        if option is None:
            raise WorkbenchError(f"{self.prog} does not know what to do with {unknown[0]!r}")
        name = option.split("=")[0]
        actions = sorted(self._actions, key=lambda action: action.dest not in first)
        shown = [action.option_strings[0] for action in actions if action.option_strings]
        raise WorkbenchError(f"{self.prog} has no option {name}: {nearest(name, shown, 'options')}")


def add_arguments(parser: Parser, template: Template) -> list[str]:
    """Add one option for each argument of the template; return their names."""
    taken = {action.dest for action in parser._actions}
    group = parser.add_argument_group(f"arguments of {template.name}")
    parameters = [p for p in template.signature.parameters.values() if p.kind in _NAMED]
    for parameter in parameters:
        if parameter.name in taken:
            raise WorkbenchError(
                f"{template.name} has an argument {parameter.name}, which {parser.prog} needs for "
                "itself: call it something else"
            )
        _add(group, parameter)
    return [parameter.name for parameter in parameters]


_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def _add(group: argparse._ArgumentGroup, parameter: inspect.Parameter) -> None:
    name, default = parameter.name, parameter.default
    required = default is inspect.Parameter.empty
    # `--learning-rate` beside `--learning_rate`, since that is how command lines spell names
    flags = list(dict.fromkeys([f"--{name}", f"--{name.replace('_', '-')}"]))
    text = "required" if required else f"default {written(default)}"
    if isinstance(default, bool):
        group.add_argument(
            *flags, dest=name, action=argparse.BooleanOptionalAction, default=default, help=text
        )
        return
    reader, form = reader_of(name, None if required else default)
    group.add_argument(
        *flags,
        action=_Size if name[:1].isupper() else "store",
        dest=name,
        type=reader,
        default=None if required else default,
        required=required,
        metavar=form,
        help=text,
    )


class _Size(argparse.Action):
    """A size, remembered as one that the user gave."""

    def __call__(
        self, parser: Any, namespace: argparse.Namespace, value: Any, option: str | None = None
    ) -> None:
        setattr(namespace, self.dest, value)
        setattr(namespace, GIVEN_SIZES, {**sizes_of(namespace), self.dest: value})


def sizes_of(given: argparse.Namespace) -> dict[str, int]:
    """Return the sizes that the user gave, and no default."""
    return dict(getattr(given, GIVEN_SIZES, {}))


def written(value: Any) -> str:
    """Return a default as one would type it: `64,64`."""
    if isinstance(value, tuple | list):
        return ",".join(written(entry) for entry in value) or '""'
    return str(value)


def reader_of(name: str, default: Any) -> tuple[Reader, str]:
    """Return the reader of an argument's text, and the word that stands for it in the help."""
    if name[:1].isupper():
        return _size, "N"
    if isinstance(default, bool):
        return _truth, "true|false"
    for kind in (int, float, str):
        if isinstance(default, kind):
            return _READERS[kind]
    if isinstance(default, tuple | list):
        entry, form = reader_of("", default[0]) if default else (_literal, "X")
        return _entries(entry, type(default)), f"{form},…"
    return _literal, "VALUE"


def _size(text: str) -> int:
    value = _whole(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"a size must be at least 1, found {text}")
    return value


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a whole number, found {text!r}") from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a number, found {text!r}") from None


def _truth(text: str) -> bool:
    if text.casefold() not in ("true", "false"):
        raise argparse.ArgumentTypeError(f"expected true or false, found {text!r}")
    return text.casefold() == "true"


def _literal(text: str) -> Any:
    """Return a Python literal where the text is one, else the text itself: no default says its
    type.
    """
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _entries(entry: Reader, kind: type) -> Reader:
    def read(text: str) -> Any:
        parts = text.strip().strip("()[]").split(",")
        return kind(entry(part.strip()) for part in parts if part.strip())

    return read


_READERS: dict[type, tuple[Reader, str]] = {
    int: (_whole, "N"),
    float: (_number, "X"),
    str: (str, "TEXT"),
}
