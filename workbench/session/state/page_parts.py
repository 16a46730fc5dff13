"""The parts that a page holds beyond those looked at, so that it shows the same without Python:
instances of the shown variant's statements at small sizes, its schedule played beside that of the
program as written, its compiled kernels, predictions over each size, the moves of each variant, and
of the shown one a legal and an illegal move with their explanations.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workbench.backends import default
from workbench.program.values import Program, Statement
from workbench.session.protocol.messages import Answer, Message, Part, Want
from workbench.session.state.part_cache import BEGUN_WITH, PLAYED, PartCache, begun_with
from workbench.session.state.values import Values
from workbench.session.state.variant_tree import VariantTree
from workbench.transforms import Vectorize
from workbench.variants.proposals import steps_about
from workbench.variants.variant import Variant

MOST = 48
"""The most statements whose instances a page holds: outputs first, then the others. It is also the
most kernels."""
MOST_PLAYED = 6
"""The most statements of a large program that a page plays."""
COMPILED = "native"
"""The backend whose kernels a page holds, where it runs here."""
KERNELS = {"backend": COMPILED, "dtype": BEGUN_WITH["dtype"]}
PATIENCE = 20.0
"""Seconds that a page waits for its parts; it is written without later ones."""
MORE = 8.0
"""The same for the moves of variants that are not shown, which take seconds each in large
programs."""

WantedPart = tuple[Part, Variant, Mapping[str, Any]]


def fill(kept: PartCache, values: Values, name: str) -> None:
    """Have the parts computed, and wait for them. One that fails is left out."""
    tree, lengths = values.tree, values.typical
    _wait(kept, name, list(_of_shown(tree, lengths)), PATIENCE)
    _wait(kept, name, list(_explained(tree.shown, lengths)), PATIENCE)
    found = _wait(kept, name, [("play", v, PLAYED) for v in _side_by_side(tree)], PATIENCE)
    _wait(kept, name, list(_played(tree, found)), MORE)
    if default() == COMPILED:
        for listed in _wait(kept, name, [("kernels", tree.shown, KERNELS)], PATIENCE):
            _wait(kept, name, list(_texts(tree.shown, listed["kernels"])), PATIENCE)
    _wait(kept, name, list(_of_others(tree)), MORE)


def _wait(kept: PartCache, name: str, wanted: Sequence[WantedPart], patience: float) -> list[Any]:
    """Return the values that came."""
    left = threading.Semaphore(0)
    values: list[Any] = []

    def came(message: Message) -> None:
        if isinstance(message, Answer):
            values.append(message.value)
        if not isinstance(message, Answer) or message.done:
            left.release()

    until = time.monotonic() + patience
    for number, (part, variant, arguments) in enumerate(wanted):
        kept.want(Want("want", number, name, part, variant.key, arguments), variant, came)
    for _ in wanted:
        if not left.acquire(timeout=max(0.0, until - time.monotonic())):
            break
    kept.forget_all(came)
    return values


def _of_shown(tree: VariantTree, lengths: Mapping[str, str]) -> Iterator[WantedPart]:
    """Yield parts of the shown variant, with the arguments that views begin with, and predictions
    of the program as written, which are drawn beside them.
    """
    shown, root = tree.shown, tree.variants[tree.root]
    program = shown.program
    for variant in dict.fromkeys((root, shown)):
        for parameter in program.parameters:
            if parameter.definition is None:
                run = {"size": parameter.name, "backend": default()}
                yield "sweep", variant, begun_with(lengths) | run
    for statement in _outputs_first(program)[:MOST]:
        yield "domain", shown, {"statements": [statement], "sizes": {}}
    yield "moves", shown, {}


def _explained(shown: Variant, lengths: Mapping[str, str]) -> Iterator[WantedPart]:
    """Yield the explanations of a legal step and of one that would violate a dependence, which the
    tour of a page speaks of: of those that vectorize a dimension, as the tour takes these first.
    """
    on = {"backend": default()}
    for step in Vectorize.candidates(shown.program):
        if shown.check(step) is None:
            yield "preview", shown, {"step": step.to_json()} | on
            yield "reason", shown, {"step": step.to_json(), "sizes": None}
            yield "price", shown, {"step": step.to_json()} | begun_with(lengths) | on
            break
    for statement in _recurrences(shown.program):
        for asked in steps_about(shown.program, [statement]):
            refusal = shown.check(asked) if isinstance(asked, Vectorize) else None
            if refusal is not None and refusal.witness is not None:
                yield "moves", shown, {"statements": [statement.name]}
                yield "preview", shown, {"step": asked.to_json()} | on
                yield "why", shown, {"step": asked.to_json(), "sizes": None}
                return


def _recurrences(program: Program) -> list[Statement]:
    """Return the pieces of recurrences, those outside of scopes and in most loops first."""
    found = [
        s
        for s in program.statements
        if len(program.writers[s.array]) > 1 or any(read.array == s.array for read in s.reads)
    ]
    return sorted(found, key=lambda s: (len(s.scope), -len(s.dims)))


def _side_by_side(tree: VariantTree) -> tuple[Variant, ...]:
    """Return the variants that are played beside each other: as written, and as shown."""
    return tuple(dict.fromkeys((tree.variants[tree.root], tree.shown)))


def _played(tree: VariantTree, found: Sequence[Mapping[str, Any]]) -> Iterator[WantedPart]:
    """Yield these variants' executions at the sizes that suit both, and where a program is too
    large to be played whole, at their own too: a few statements, each with its neighbours.
    """
    program = tree.shown.program
    free = [p.name for p in program.parameters if p.definition is None]
    together = {name: max(one["sizes"][name] for one in found) for name in free if found}
    whole = all(one["whole"] for one in found)
    statements = [] if whole else _outputs_first(program)[:MOST_PLAYED]
    for variant in _side_by_side(tree):
        yield "play", variant, {"statement": None, "sizes": together}
        for statement in statements:
            if statement in variant.program.statement:
                yield "play", variant, {"statement": statement, "sizes": {}}
                yield "play", variant, {"statement": statement, "sizes": together}


def _outputs_first(program: Program) -> list[str]:
    """Return the statements, those of outputs first."""
    outputs = {output.array for output in program.outputs}
    ordered = sorted(program.statements, key=lambda statement: statement.array not in outputs)
    return [statement.name for statement in ordered]


def _texts(shown: Variant, kernels: Sequence[Mapping[str, Any]]) -> Iterator[WantedPart]:
    """Yield the texts of compiled kernels, the longest first."""
    for kernel in sorted(kernels, key=lambda one: -int(one["lines"]))[:MOST]:
        yield "kernel", shown, KERNELS | {"name": kernel["name"]}


def _of_others(tree: VariantTree) -> Iterator[WantedPart]:
    """Yield the moves of the other variants: the first to compute last, as the worker takes the
    newest.
    """
    for variant in reversed(list(tree.variants.values())):
        if variant is not tree.shown:
            yield "moves", variant, {}
