"""The options that choose a variant of a program: as written, vectorized, or from a recipe."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from workbench.cli.arguments import Parser
from workbench.cli.templates import users_code
from workbench.errors import WorkbenchError, nearest
from workbench.language.template.template import Template
from workbench.transforms import Vectorize
from workbench.variants.recipes import load_recipe
from workbench.variants.variant import Variant, optimize, variant

NAMED = ("as-written", "automatic")
"""Variants that need no recipe's file."""


def add_order(parser: Parser, default: str) -> None:
    """Add `--as-written`, `--vectorized [DIMS]` and `--recipe FILE`."""
    group = parser.add_argument_group(f"order (default: {default})").add_mutually_exclusive_group()
    group.add_argument(
        "--as-written",
        action="store_true",
        help="one instance at a time, in the order of the equations",
    )
    group.add_argument(
        "--vectorized",
        nargs="?",
        const="",
        metavar="DIM,…",
        help="whole arrays over these dimensions; without any, by the automatic recipe",
    )
    group.add_argument(
        "--recipe", metavar="FILE", help="the steps that `workbench optimize --save` wrote"
    )


def traced(template: Template, names: list[str], given: argparse.Namespace) -> Variant:
    """Call the template with the given arguments; return the root variant."""
    arguments: dict[str, Any] = {name: getattr(given, name) for name in names}
    with users_code(template.function.__code__.co_filename):
        return variant(template(**arguments))


def ordered(root: Variant, given: argparse.Namespace, automatic: bool, backend: str) -> Variant:
    """Return the variant that `--as-written`, `--vectorized` or `--recipe` asks for, or else the
    default.
    """
    if given.as_written:
        return root
    if given.recipe is not None:
        return load_recipe(given.recipe, root)
    if given.vectorized is None:
        return optimize(root, backend=backend) if automatic else root
    dims = [dim.strip() for dim in given.vectorized.split(",") if dim.strip()]
    if not dims:
        return optimize(root, backend=backend)
    for dim in dims:
        root = root.apply(Vectorize(dim))
    return root


def named(root: Variant, text: str, backend: str) -> Variant:
    """Return the variant that a word stands for: one of NAMED, or a recipe's file."""
    if text == NAMED[0]:
        return root
    if text == NAMED[1]:
        return optimize(root, backend=backend)
    if not Path(text).exists():
        offered = nearest(text, NAMED, "variants")
        raise WorkbenchError(f"there is no variant {text!r}, and no such file: {offered}")
    return load_recipe(text, root)
