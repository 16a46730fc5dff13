"""`workbench show`: an algorithm's equations, schedule, loop program, generated source, steps."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from workbench.backends import get
from workbench.cli.arguments import Parser, add_arguments
from workbench.cli.options import add_backend, add_data, add_threads
from workbench.cli.templates import chosen
from workbench.cli.variants import add_order, ordered, traced
from workbench.lowering.lower import lower, stages
from workbench.lowering.stage_text import STAGES, stage_text
from workbench.variants.variant import Variant

PURPOSE = "Print an algorithm's equations, or what becomes of them."

Printer = Callable[[Variant, argparse.Namespace], str]
"""A function that writes a variant, given the command's options."""


def _kernels(variant: Variant, given: argparse.Namespace) -> str:
    """Return the text of all compiled kernels, each after a line on what it is."""
    found = variant.kernels(dtype=given.dtype)
    return "\n".join(f"// {kernel}\n{kernel.text}" for kernel in found)


VIEWS: dict[str, tuple[Printer, str]] = {
    "equations": (lambda v, _: str(v.program), "what is computed (the default)"),
    "schedule": (lambda v, _: v.schedule, "when: the order of the statements"),
    "loops": (lambda v, _: str(lower(v.program)), "the loop program, with allocations"),
    "source": (lambda v, _: get("numpy").compile(v.program).source, "the Python of array backends"),
    "kernels": (_kernels, "the C that the backend native compiles"),
    "python": (lambda v, _: v.recipe(), "Python that applies the variant's steps"),
}


def main(words: list[str]) -> int:
    """Run the command; always return 0, as bad input raises."""
    template, rest = chosen(words, "show", PURPOSE)
    parser = Parser(
        prog=f"workbench show {words[0]}",
        description=f"{(template.__doc__ or '').strip()}\n\n{PURPOSE}".strip(),
    )
    group = parser.add_argument_group("what to print")
    for name, (_, text) in VIEWS.items():
        group.add_argument(f"--{name}", action="store_true", help=text)
    group.add_argument(
        "--stage",
        choices=STAGES,
        help="one stage of lowering: "
        + "; ".join(f"{n}, {text}" for n, (text, _) in STAGES.items()),
    )
    add_order(parser, "as written")
    run = parser.add_argument_group("the run that the automatic recipe is for")
    add_backend(run)
    add_threads(run)
    add_data(run)
    names = add_arguments(parser, template)
    given = parser.strictly(rest, names)
    variant = ordered(traced(template, names, given), given, False)
    texts = {name: VIEWS[name][0] for name in VIEWS if getattr(given, name)}
    if given.stage:
        texts[given.stage] = lambda v, _: stage_text(stages(v.program), given.stage)
    texts = texts or {"equations": VIEWS["equations"][0]}
    for number, (name, written) in enumerate(texts.items()):
        if number:
            print()
        if len(texts) > 1:
            print(f"# {name}\n")
        print(written(variant, given).rstrip("\n"))
    return 0
