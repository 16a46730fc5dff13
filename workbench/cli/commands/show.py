"""`workbench show`: an algorithm's equations, schedule, loop program, generated source, steps."""

from __future__ import annotations

from collections.abc import Callable

from workbench.backends import get
from workbench.cli.arguments import Parser, add_arguments
from workbench.cli.templates import chosen
from workbench.cli.variants import add_order, ordered, traced
from workbench.lowering.lower import lower, stages
from workbench.lowering.stage_text import STAGES, stage_text
from workbench.variants.variant import Variant

PURPOSE = "Print an algorithm's equations, or what becomes of them."

VIEWS: dict[str, tuple[Callable[[Variant], str], str]] = {
    "equations": (lambda v: str(v.program), "what is computed (the default)"),
    "schedule": (lambda v: v.schedule, "when: the order of the statements"),
    "loops": (lambda v: str(lower(v.program)), "the loop program, with allocations"),
    "source": (lambda v: get("numpy").compile(v.program).source, "the Python that is run"),
    "python": (lambda v: v.recipe(), "Python that applies the variant's steps"),
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
    names = add_arguments(parser, template)
    given = parser.strictly(rest, names)
    variant = ordered(traced(template, names, given), given, False, "numpy")
    texts = {name: VIEWS[name][0] for name in VIEWS if getattr(given, name)}
    if given.stage:
        texts[given.stage] = lambda v: stage_text(stages(v.program), given.stage)
    texts = texts or {"equations": VIEWS["equations"][0]}
    for number, (name, written) in enumerate(texts.items()):
        if number:
            print()
        if len(texts) > 1:
            print(f"# {name}\n")
        print(written(variant).rstrip("\n"))
    return 0
