"""`workbench run`: an algorithm at given sizes, with a progress bar, a table, a results file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from workbench.backends.philox import MOST_SEED
from workbench.cli.arguments import Parser, add_arguments, sizes_of
from workbench.cli.options import add_backend, add_data, add_threads, whole_number, writable
from workbench.cli.results import FORMATS, save, table
from workbench.cli.templates import chosen
from workbench.cli.variants import add_order, ordered, traced
from workbench.measure.run import Result
from workbench.measure.run import run as run_variant
from workbench.measure.runs.checkpoint import expect_savable

PURPOSE = "Run an algorithm and print its outputs. Ctrl-C ends the run and keeps what was done."


def main(words: list[str]) -> int:
    """Run the command; return 0, or 130 after Ctrl-C."""
    template, rest = chosen(words, "run", PURPOSE)
    parser = Parser(
        prog=f"workbench run {words[0]}",
        description=f"{(template.__doc__ or '').strip()}\n\n{PURPOSE}".strip(),
    )
    _add_options(parser)
    add_order(parser, "by the automatic recipe of the backend")
    names = add_arguments(parser, template)
    given = parser.strictly(rest, names)
    chosen_variant = ordered(traced(template, names, given), given, True)
    if given.save is not None:
        expect_savable(chosen_variant.root.program, given.save)
    result = run_variant(
        chosen_variant,
        backend=given.backend,
        sizes=sizes_of(given),
        seed=given.seed,
        dtype=given.dtype,
        progress=not given.no_progress,
        check_finite=given.check_finite,
        parameters=given.resume,
        threads=given.threads,
        keep=given.save is not None,
    )
    return _report(result, given.output, given.save)


def _report(result: Result, output: Path | None, parameters: Path | None) -> int:
    if result.completed:
        print(table(result))
        if output is not None:
            save(result, output)
            print(f"written to {output}")
    done = f"interrupted after {result.completed} of {result.total} updates"
    if parameters is not None and not result.interrupted:
        result.save(parameters)
        print(f"parameters written to {parameters}")
    elif parameters is not None:
        done += f"; parameters are kept at the end of a run only, {parameters} is not written"
    if not result.interrupted:
        return 0
    print(f"workbench: {done}", file=sys.stderr)
    return 130


def _add_options(parser: Parser) -> None:
    group = parser.add_argument_group("the run")
    add_backend(group)
    add_threads(group)
    add_data(group)
    group.add_argument(
        "--seed",
        type=whole_number(0, MOST_SEED),
        metavar="N",
        help="default 0, or that of the file of --resume",
    )
    group.add_argument(
        "--check-finite",
        action="store_true",
        help="stop at the first NaN or new infinity, naming it",
    )
    group.add_argument("--no-progress", action="store_true", help="no progress bar")
    group.add_argument(
        "--output",
        type=_output,
        metavar="FILE",
        help=f"write the outputs to a {' or '.join(FORMATS)} file",
    )
    group.add_argument(
        "--save",
        type=Path,
        metavar="FILE",
        help="write parameters and all else that updates carry over to a safetensors file",
    )
    group.add_argument(
        "--resume", type=Path, metavar="FILE", help="go on from a file that --save wrote"
    )


def _output(text: str) -> Path:
    """Return a path whose suffix says how to write."""
    if Path(text).suffix not in FORMATS:
        raise argparse.ArgumentTypeError(
            f"expected a name that ends in {' or '.join(FORMATS)}, found {text!r}"
        )
    return writable("--output")(text)
