"""`workbench compare`: variants of an algorithm measured in turn, checked, in one table."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Collection
from typing import Any

from workbench.backends.philox import MOST_SEED
from workbench.cli.arguments import Parser, add_arguments, sizes_of
from workbench.cli.options import add_backend, add_data, add_threads, whole_number
from workbench.cli.templates import chosen
from workbench.cli.variants import NAMED, named, traced
from workbench.measure.compare import Comparison
from workbench.measure.compare import compare as compare_variants
from workbench.measure.rounds.tables import table
from workbench.measure.store import store

PURPOSE = "Measure variants in turn (A B A B …), check each against the reference, print a table."


def main(words: list[str]) -> int:
    """Run the command; return 0, or 1 where a variant does not compute the reference's outputs."""
    template, rest = chosen(words, "compare", PURPOSE)
    parser = Parser(
        prog=f"workbench compare {words[0]}",
        description=f"{(template.__doc__ or '').strip()}\n\n{PURPOSE}".strip(),
    )
    _add_options(parser)
    names = add_arguments(parser, template)
    given = parser.strictly(rest, names)
    root = traced(template, names, given)
    comparison = compare_variants(
        {text: named(root, text, given) for text in given.variant or NAMED},
        backend=given.backend,
        sizes=sizes_of(given),
        seed=given.seed,
        dtype=given.dtype,
        repeats=given.repeats,
        warmup=given.warmup,
        force=given.force,
        progress=not (given.no_progress or given.json),
        threads=given.threads,
    )
    shown = table(comparison.records(), comparison.measurements, _advice(comparison, names))
    print(json.dumps(_record(comparison), indent=1, allow_nan=False) if given.json else shown)
    if given.store is not None:
        kept = store(given.store or None)
        kept.append(comparison)
        print(f"appended to {kept.path}", file=sys.stderr if given.json else sys.stdout)
    return 1 if any(m.checked is False for m in comparison.measurements) else 0


def _advice(found: Comparison, names: Collection[str]) -> str:
    """Return the advice on options to measure variants that are too slow; "" where none is."""
    if not any(m.too_slow for m in found.measurements):
        return ""
    now, smaller = found.measurements[0].sizes, found.affordable or {}
    cut = {name: value for name, value in smaller.items() if value != now[name]}
    options = " ".join(f"--{name} {value}" for name, value in cut.items())
    sizes = f"{options} is soon measured; " if cut and cut.keys() <= set(names) else ""
    return f"{sizes}--force measures it all the same"


def _add_options(parser: Parser) -> None:
    group = parser.add_argument_group("the comparison")
    group.add_argument(
        "--variant",
        action="append",
        metavar="WHAT",
        help=f"{', '.join(NAMED)}, or a file that `workbench optimize --save` wrote; once for each "
        f"variant (default: {' and '.join(NAMED)}); the first is what the others are compared with",
    )
    add_backend(group)
    add_threads(group)
    add_data(group)
    seeds = whole_number(0, MOST_SEED)
    group.add_argument("--seed", type=seeds, default=0, metavar="N", help="default 0")
    group.add_argument(
        "--repeats",
        type=whole_number(1),
        metavar="N",
        help="runs of each variant (default: as many as fit into 2 s, from 5 to 30)",
    )
    group.add_argument(
        "--warmup",
        type=whole_number(0),
        default=1,
        metavar="N",
        help="runs before those that count (default 1)",
    )
    group.add_argument(
        "--force", action="store_true", help="measure what would take minutes all the same"
    )
    group.add_argument("--no-progress", action="store_true", help="no progress line")
    group.add_argument("--json", action="store_true", help="print rows and raw samples as JSON")
    group.add_argument(
        "--store",
        nargs="?",
        const="",
        metavar="FILE",
        help="append what was measured to a file of JSON lines (without FILE: the user's own)",
    )


def _record(found: Comparison) -> dict[str, Any]:
    """Return the rows, and the raw measurement of each; JSON has no NaN: null in its place."""
    rows = [{key: _plain(value) for key, value in row.items()} for row in found.records()]
    return {"rows": rows, "measurements": [m.to_json() for m in found.measurements]}


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value
