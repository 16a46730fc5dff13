"""`workbench optimize`: the automatic recipe of an algorithm, step by step, and as a file."""

from __future__ import annotations

import argparse
import json
import textwrap
from typing import Any, get_args

from workbench.backends import or_default
from workbench.cli.arguments import Parser, add_arguments, sizes_of
from workbench.cli.options import add_backend, add_data, add_threads, whole_number, writable
from workbench.cli.templates import chosen
from workbench.cli.variants import shows_search, traced
from workbench.planning.recipe.aim import Objective
from workbench.program.sizes import numbers, resolve, settable
from workbench.program.text.units import bytes_text, on_threads, seconds_text
from workbench.variants.variant import Variant, optimize, threads_of

PURPOSE = "Print the steps of the automatic recipe, and what a run is predicted to cost after each."
STEP_WIDTH = 52


def main(words: list[str]) -> int:
    """Run the command; always return 0, as bad input raises."""
    template, rest = chosen(words, "optimize", PURPOSE)
    parser = Parser(
        prog=f"workbench optimize {words[0]}",
        description=f"{(template.__doc__ or '').strip()}\n\n{PURPOSE}".strip(),
    )
    group = parser.add_argument_group("the recipe")
    group.add_argument(
        "--save",
        type=writable("--save"),
        metavar="FILE",
        help="write the steps to a JSON file, a recipe",
    )
    group.add_argument(
        "--objective",
        default="time",
        choices=get_args(Objective),
        help="what is to be least (default time); memory: in at most twice the time",
    )
    group.add_argument(
        "--capacity",
        type=whole_number(1),
        metavar="BYTES",
        help="what the device's memory holds at most",
    )
    group.add_argument("--json", action="store_true", help="print steps and predictions as JSON")
    group.add_argument(
        "--notes", action="store_true", help="print why each step is taken, and what it leaves"
    )
    add_backend(group)
    add_threads(group)
    add_data(group)
    names = add_arguments(parser, template)
    given = parser.strictly(rest, names)
    best = optimize(
        traced(template, names, given),
        given.objective,
        given.capacity,
        sizes=sizes_of(given),
        backend=given.backend,
        dtype=given.dtype,
        threads=given.threads,
        progress=shows_search(given),
    )
    rows = [_row(v, given) for v in _history(best)]
    if given.save is not None:
        best.save(given.save)
    if given.json:
        print(json.dumps({"program": best.program.name, "steps": rows}, indent=1))
        return 0
    print(_table(best, rows, given))
    if given.save is not None:
        print(f"\nwritten to {given.save}")
    return 0


def _history(found: Variant) -> list[Variant]:
    """Return the variants from the root on."""
    return [found] if found.parent is None else [*_history(found.parent), found]


def _row(variant: Variant, given: argparse.Namespace) -> dict[str, Any]:
    """Return a step with the predicted cost of a run after it."""
    said = variant.predict(sizes_of(given), given.backend, given.dtype, given.threads)
    return {
        "step": "as written" if variant.step is None else str(variant.step),
        **({} if variant.step is None else variant.step.to_json()),
        "seconds": said.seconds,
        "peak_bytes": dict(said.peak_bytes),
        "why": variant.because,
        "notes": list(variant.notes),
    }


def _table(found: Variant, rows: list[dict[str, Any]], given: argparse.Namespace) -> str:
    equations = found.program.equations
    known = resolve(equations, found.rows.sizes(sizes_of(given)))
    sizes = numbers(settable(equations, known))
    backend = or_default(given.backend)
    where = on_threads(backend, threads_of(backend, given.threads))
    lines = [f"{found.program.name}: {f'{sizes}; ' * bool(sizes)}on {where}", ""]
    lines.append(f"{'step':<{STEP_WIDTH}}  {'predicted':>9}  {'peak':>8}")
    for row in rows:
        first, *more = textwrap.wrap(row["step"], STEP_WIDTH, subsequent_indent="  ")
        time = seconds_text(row["seconds"])
        peak = bytes_text(row["peak_bytes"].get("device"))
        lines += [f"{first:<{STEP_WIDTH}}  {time:>9}  {peak:>8}".rstrip(), *more]
        for note in filter(None, (row["why"], *row["notes"])) if given.notes else ():
            lines += textwrap.wrap(note, 76, initial_indent="  ", subsequent_indent="  ")
    return "\n".join(lines)
