"""A walk: steps at random, one after the other, each accepted one run and compared with the
reference evaluation of the program as written.
"""

from __future__ import annotations

import signal
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import workbench as wb
from tests.block_orders import ORDERS, blocks_in, could_be_apart, with_apart
from tests.native_runs import check_native
from tests.soundness.apart import added_at_once
from tests.soundness.order import undefined_read
from tests.soundness.peak import wrong_peak
from tests.soundness.proposals import Chooser, propose
from tests.soundness.refusals import sizes_of
from workbench.backends.numpy import NumPyBackend
from workbench.backends.reference.evaluator import Reference
from workbench.datasets.rows import rows_of
from workbench.lowering.memory.takeover import holding
from workbench.polyhedral.dependences.legality import violation
from workbench.polyhedral.tree import Loop, loops, replaced
from workbench.program.carrying.carried import KEPT, keeping, resumed, starts
from workbench.program.dependences import dependences
from workbench.program.sizes import resolve
from workbench.program.values import Program
from workbench.transforms.step.refusal import Refusal, Refused
from workbench.variants.variant import Variant

Sizes = Mapping[str, int]
SEED = 5
LIMIT = 60.0
"""Seconds of the processor's time after which a step that is neither accepted nor refused hangs."""
APART = "blocks in any order"
"""The name of what no step does alone: a loop's blocks run in any order from now on."""
CHUNKS = (1, 3)
"""The chunks to which blocks are dealt that run in any order."""
SAMPLED = (True, False, False, False)
"""Which steps are checked too, beside being applied: one in four."""


@dataclass(frozen=True)
class Wrong:
    """An accepted step whose program does not compute what the program as written does."""

    program: str
    sizes: Sizes
    recipe: str
    what: str

    def __str__(self) -> str:
        return f"{self.program} at {dict(self.sizes)}: {self.what}\n{self.recipe}"


@dataclass
class Tally:
    """What many walks met with."""

    accepted: Counter[str] = field(default_factory=Counter)
    having: Counter[str] = field(default_factory=Counter)
    """Accepted steps by the transforms that the variant then has, the step's own among them."""
    refused: Counter[str] = field(default_factory=Counter)
    """By transform and kind of refusal."""
    wrong: list[Wrong] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Take in what another met with."""
        self.accepted += other.accepted
        self.having += other.having
        self.refused += other.refused
        self.wrong += other.wrong


class Meaning:
    """A program as written, and what the reference says it computes at some sizes.

    What the last update carries on is compared too, where the program can say it.
    """

    def __init__(self, name: str, program: Program, sizes: Sizes) -> None:
        self.name = name
        self.root = wb.variant(program)
        self.sizes = {p.name: sizes[p.name] for p in program.parameters if p.name in sizes}
        kept = keeping(program)
        self.rows = rows_of(program.equations, None)
        reference = Reference(kept.equations, self.sizes, SEED, data=self.given(self.sizes))
        self.arrays = {o.name: reference.array(o.array) for o in kept.outputs}
        self.defined = {o.name: reference.mask(o.array) for o in kept.outputs}

    def given(self, sizes: Sizes) -> dict[str, Any]:
        """The rows of its data sets at some sizes."""
        return self.rows.tables(resolve(self.root.program.equations, sizes), "float64")

    def difference(self, variant: Variant) -> str | None:
        """What the variant computes otherwise, in float64 at 1e-9; None where nothing.

        Blocks that are apart run in several orders.
        """
        orders = ORDERS if any(loop.apart for loop in loops(variant.program.schedule)) else ()
        try:
            program = holding(
                keeping(variant.program, self.root.program.equations), variant.program
            )
            compiled = NumPyBackend().compile(program)
            for order in orders or ORDERS[:1]:
                with blocks_in(order):  # whose source is not yet generated
                    own = replace(compiled)
                    done = own.run(self.sizes, SEED, "float64", given=self.given(self.sizes))
                found = self.unlike(done.outputs)
                if found is None:
                    sizes = resolve(program.equations, self.sizes)
                    found = wrong_peak(compiled.loop_program, sizes, done.peak_bytes)
                if found is not None:
                    return f"blocks {order}: {found}" if orders else found
                if order == ORDERS[0]:
                    name = f"{self.name} {variant.steps!r}"
                    check_native(program, done.outputs, self.sizes, SEED, name)
        except Exception as error:  # whatever it is, an accepted step must run
            return described(error)
        return None

    def difference_when_resumed(self, variant: Variant) -> str | None:
        """What the variant computes otherwise where it stops after an update and goes on from what
        it carried; None where nothing does, or where there are no two updates.
        """
        written = self.root.program
        if not starts(written.equations):
            return None
        (updates,) = written.dim[written.updates].size.sizes
        total = resolve(written.equations, self.sizes)[updates]
        if total == 1:
            return None
        try:
            compiled = NumPyBackend().compile(
                holding(keeping(variant.program, written.equations), variant.program)
            )
            sizes = self.sizes | {updates: 1}
            first = compiled.run(sizes, SEED, "float64", given=self.given(sizes))
            given = {
                start.name: first.outputs[KEPT + start.name] for start in starts(written.equations)
            }
            program = holding(
                resumed(variant.program, given, 1, written.equations), variant.program
            )
            compiled = NumPyBackend().compile(holding(keeping(program, written.equations), program))
            sizes = self.sizes | {updates: total - 1}
            rest = compiled.run(sizes, SEED, "float64", given=given | self.given(sizes))
        except Exception as error:  # whatever it is, a run must go on
            return f"resumed: {described(error)}"
        found = self.unlike(rest.outputs, first=1)
        return found and f"resumed: {found}"

    def unlike(
        self, outputs: Mapping[str, Any], first: int = 0, carried: bool = True
    ) -> str | None:
        """The first of a run's outputs that is not what the reference says, of updates from `first`
        on: of what the last one carries on too, where the run returns it.
        """
        written = self.root.program
        dims = {o.name: written.array[o.array].dims for o in written.outputs}
        for name, wanted in self.arrays.items():
            if name not in dims and not carried:
                continue
            if name not in outputs:
                return f"{name} is not among the outputs"
            found, defined = outputs[name], self.defined[name]
            if first and name in dims:
                if written.updates not in dims[name]:
                    continue  # of all updates, which a run that goes on does not see
                part = (slice(None),) * dims[name].index(written.updates) + (slice(first, None),)
                wanted, defined = wanted[part], defined[part]
            if found.shape != wanted.shape:
                return f"{name} has shape {found.shape} instead of {wanted.shape}"
            found, wanted = found[defined], wanted[defined]
            if not agree(found, wanted):
                return f"{name} is {found.ravel()[:6]} instead of {wanted.ravel()[:6]}"
        return None


def described(error: Exception) -> str:
    """What went wrong, and where."""
    at = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({at.filename}:{at.lineno})"


def agree(found: Any, wanted: Any) -> bool:
    """True if two results are the same: floats at 1e-9, all else to the bit."""
    if wanted.dtype.kind != "f":
        return bool(np.array_equal(found, wanted))
    finite = np.isfinite(wanted)
    if not np.array_equal(found[~finite], wanted[~finite], equal_nan=True):
        return False
    scale = np.abs(wanted[finite]).max(initial=0.0)
    near = np.abs(found[finite] - wanted[finite]) <= 1e-9 * (np.abs(wanted[finite]) + scale)
    return bool(near.all())


def walk(meaning: Meaning, chooser: Chooser, names: Sequence[str], length: int) -> Tally:
    """Try steps until `length` are accepted or as many again have been refused in a row."""
    tally, variant, stuck = Tally(), meaning.root, 0

    def note(what: str) -> None:
        tally.wrong.append(Wrong(meaning.name, meaning.sizes, variant.recipe(), what))

    while len(variant.steps) < length and stuck < length:
        stuck += 1
        step = None
        try:
            with within(LIMIT):
                step = propose(variant.program, chooser, names)
                if step is None:
                    continue
                following = variant.apply(step)
        except Refused as refused:
            tally.refused[f"{type(step).__name__}: {refused.refusal.kind}"] += 1
            said = variant.check(step) if step is not None and chooser.choose(SAMPLED) else refused
            if said is None:
                note(f"{step} is refused when applied, and not when checked: {refused}")
                break
            continue
        except Exception as error:  # neither accepted nor refused in a sentence
            note(f"{step}: {described(error)}")
            break
        said = variant.check(step) if chooser.choose(SAMPLED) else None
        if said is not None:
            note(f"{step} is accepted when applied, and refused when checked: {said}")
            break
        variant, stuck = following, 0
        tally.accepted[type(step).__name__] += 1
        tally.having.update({type(taken).__name__ for taken in variant.steps})
        in_order = could_be_apart(variant.program)
        if in_order and chooser.choose((True, False)):
            loop = chooser.choose(in_order)
            chunks = chooser.choose(CHUNKS)
            marked = with_apart(variant.program, loop, chunks)
            if isinstance(marked, Program):
                variant = replace(variant, program=marked)
                tally.accepted[APART] += 1
            else:
                tally.refused[f"{APART}: {marked.kind}"] += 1
                if needless(marked, replace(loop, apart=True, chunks=chunks)):
                    note(f"without need: {marked}")
                    break
        what = meaning.difference(variant)
        if what is not None:
            note(what)
            break
    if not tally.wrong:
        what = meaning.difference_when_resumed(variant)
        if what is not None:
            note(what)
    return tally


def needless(refusal: Refusal, loop: Loop) -> bool:
    """Whether the blocks of `loop` can run from the last to the first, executed by hand at the
    witness's sizes, though they are refused in any order because of what is read; or do not add to
    one element, though they are refused for that.
    """
    after, witness = refusal.attempted, refusal.witness
    if after is None or witness is None:  # what a step before it holds has no two instances
        return False
    sizes = sizes_of(after, witness)
    if sizes is None:
        return False
    if violation(after.schedule, dependences(after.equations)) is None:
        return witness.statements[0] == witness.statements[1] and not added_at_once(after, sizes)
    apart = next(other for other in loops(after.schedule) if other == loop)
    backwards = replaced(
        after.schedule, apart, replace(loop, apart=False, chunks=1, backwards=True)
    )
    return undefined_read(after, backwards, sizes) is None


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise TimeoutError inside, once so many seconds of the processor's time are used up."""

    def raised(*_: object) -> None:
        raise TimeoutError(f"not done after {seconds} s")

    before = signal.signal(signal.SIGPROF, raised)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
