"""The options that choose how a program is ordered: as written, or vectorized."""

from __future__ import annotations

import argparse
from typing import Any

from workbench.cli.arguments import Parser
from workbench.cli.templates import users_code
from workbench.language.program import Template
from workbench.transforms import Vectorize
from workbench.variants.variant import Variant, optimize, variant


def add_order(parser: Parser, default: str) -> None:
    """`--as-written` and `--vectorized [DIMS]`."""
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


def traced(template: Template, names: list[str], given: argparse.Namespace) -> Variant:
    """The template called with the arguments given, as a root variant."""
    arguments: dict[str, Any] = {name: getattr(given, name) for name in names}
    with users_code(template.function.__code__.co_filename):
        return variant(template(**arguments))


def ordered(root: Variant, given: argparse.Namespace, automatic: bool) -> Variant:
    """The variant that `--as-written` or `--vectorized` asks for, or else the default."""
    if given.as_written:
        return root
    if given.vectorized is None:
        return optimize(root) if automatic else root
    dims = [dim.strip() for dim in given.vectorized.split(",") if dim.strip()]
    if not dims:
        return optimize(root)
    for dim in dims:
        root = root.apply(Vectorize(dim))
    return root
