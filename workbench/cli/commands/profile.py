"""`workbench profile`: where the time of an algorithm goes, as tables and as a trace."""

from __future__ import annotations

import argparse

from workbench.backends import or_default
from workbench.backends.philox import MOST_SEED
from workbench.cli.arguments import Parser, add_arguments, sizes_of
from workbench.cli.options import add_backend, add_data, thread_count, whole_number, writable
from workbench.cli.templates import chosen
from workbench.cli.variants import add_order, ordered, traced
from workbench.errors import TooLongError, WorkbenchError
from workbench.measure.profile import profile
from workbench.measure.profiles.parts import KEYS

KERNELS = "native"
"""The backend that launches kernels."""
PURPOSE = "Tell where the time of a run goes, by scope, kernel and statement."


def main(words: list[str]) -> int:
    """Run the command; return 0."""
    template, rest = chosen(words, "profile", PURPOSE)
    parser = Parser(
        prog=f"workbench profile {words[0]}",
        description=f"{(template.__doc__ or '').strip()}\n\n{PURPOSE}".strip(),
    )
    _add_options(parser)
    add_order(parser, "by the automatic recipe of the backend")
    names = add_arguments(parser, template)
    given = parser.strictly(rest, names)
    _expect_kernels(given)
    try:
        found = profile(
            ordered(traced(template, names, given), given, True),
            given.backend,
            sizes_of(given),
            seed=given.seed,
            dtype=given.dtype,
            threads=given.threads,
            force=given.force,
            progress=not given.no_progress,
        )
    except TooLongError as error:
        raise WorkbenchError(f"{error.reason}; --force profiles it all the same") from None
    print(found if given.by is None else found.by(given.by))
    if given.trace is not None:
        found.trace(given.trace)
        print(f"trace written to {given.trace}")
    return 0


def _expect_kernels(given: argparse.Namespace) -> None:
    """Refuse, before anything is run, what only compiled C has."""
    backend = or_default(given.backend)
    if given.by == "kernel" and backend != KERNELS:
        raise WorkbenchError(f"--by kernel: {backend} has no kernels, {KERNELS} has")


def _add_options(parser: Parser) -> None:
    group = parser.add_argument_group("the profile")
    add_backend(group)
    add_data(group)
    group.add_argument("--threads", type=thread_count, default=1, metavar="N", help="default 1")
    seeds = whole_number(0, MOST_SEED)
    group.add_argument("--seed", type=seeds, default=0, metavar="N", help="default 0")
    group.add_argument(
        "--by", choices=tuple(KEYS), help="only these rows, and more of them (default: all kinds)"
    )
    group.add_argument(
        "--trace",
        type=writable("--trace"),
        metavar="FILE",
        help="write the first launches as trace events, for https://ui.perfetto.dev",
    )
    group.add_argument(
        "--force", action="store_true", help="profile what would take minutes all the same"
    )
    group.add_argument("--no-progress", action="store_true", help="no progress line")
