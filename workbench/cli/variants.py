"""The options that choose a variant of a program: as written, vectorized, or from a recipe."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from workbench.cli.arguments import Parser, sizes_of
from workbench.cli.templates import users_code
from workbench.errors import WorkbenchError, nearest
from workbench.language.template.template import Template
from workbench.transforms import Vectorize
from workbench.variants.recipes import load_recipe
from workbench.variants.variant import Variant, optimize, variant

NAMED = ("as-written", "automatic")
"""Variants that need no recipe's file."""


def add_order(parser: Parser, default: str) -> None:
    """Add `--as-written`, `--automatic`, `--vectorized DIMS` and `--recipe FILE`."""
    group = parser.add_argument_group(f"order (default: {default})").add_mutually_exclusive_group()
    group.add_argument(
        "--as-written",
        action="store_true",
        help="one instance at a time, in the order of the equations",
    )
    group.add_argument(
        "--automatic", action="store_true", help="by the automatic recipe of the backend"
    )
    group.add_argument(
        "--vectorized", type=_dims, metavar="DIM,…", help="whole arrays over these dimensions"
    )
    group.add_argument(
        "--recipe", metavar="FILE", help="the steps that `workbench optimize --save` wrote"
    )


def traced(template: Template, names: list[str], given: argparse.Namespace) -> Variant:
    """Call the template with the given arguments; return the root variant."""
    arguments: dict[str, Any] = {name: getattr(given, name) for name in names}
    with users_code(template.function.__code__.co_filename):
        return variant(template(**arguments), _sources(given))


def _sources(given: argparse.Namespace) -> dict[str, str] | None:
    """Return the files of data sets by name, where there are any."""
    named: dict[str, str] = {}
    for name, file in given.data or ():
        if name in named:
            raise WorkbenchError(f"--data {name}={file}: {name} is {named[name]} already")
        named[name] = file
    return named or None


def ordered(root: Variant, given: argparse.Namespace, automatic: bool) -> Variant:
    """Return the variant that the options of `add_order` ask for; without one of them that of the
    automatic recipe, or the root.
    """
    if given.recipe is not None:
        return load_recipe(given.recipe, root)
    if given.vectorized is not None:
        for dim in given.vectorized:
            root = root.apply(Vectorize(dim))
        return root
    if given.automatic or (automatic and not given.as_written):
        return _best(root, given)
    return root


def named(root: Variant, text: str, given: argparse.Namespace) -> Variant:
    """Return the variant that a word stands for: one of NAMED, or a recipe's file."""
    if text == NAMED[0]:
        return root
    if text == NAMED[1]:
        return _best(root, given)
    if not Path(text).exists():
        offered = nearest(text, NAMED, "variants")
        raise WorkbenchError(f"there is no variant {text!r}, and no such file: {offered}")
    return load_recipe(text, root)


def _best(root: Variant, given: argparse.Namespace) -> Variant:
    """Return the variant of the automatic recipe for the run that the options ask for."""
    return optimize(
        root,
        sizes=sizes_of(given),
        backend=given.backend,
        dtype=given.dtype,
        threads=given.threads,
        progress=shows_search(given),
    )


def shows_search(given: argparse.Namespace) -> bool:
    """Tell whether a line says what the search for steps tries: on a terminal, where nothing is
    left of it; not with the option against progress, which few commands have, nor beside JSON.
    """
    options = vars(given)
    return sys.stderr.isatty() and not (options.get("no_progress") or options.get("json"))


def _dims(text: str) -> list[str]:
    """Return the names of dimensions, of which there is at least one."""
    dims = [dim.strip() for dim in text.split(",") if dim.strip()]
    if not dims:
        raise argparse.ArgumentTypeError(f"expected names of dimensions, found {text!r}")
    return dims
