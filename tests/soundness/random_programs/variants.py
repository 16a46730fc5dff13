"""Variants of a random program: as written, some steps further, by a recipe; and whether all
backends compute what the program as written means.
"""

from __future__ import annotations

from random import Random

import workbench as wb
from tests.codegen.cuda.fibres import SEED as FIBRES_SEED
from tests.codegen.cuda.fibres import fibres, watched
from tests.native_runs import DTYPES, THREADS, compiled, other_bits, shared_cache
from tests.soundness.lines import traced
from tests.soundness.proposals import Dice, accepted
from tests.soundness.random_programs.author import Source
from tests.soundness.walks import SEED, Meaning
from workbench.transforms import Contract, Donate
from workbench.variants.variant import Variant

TRIED = 16
"""Steps that are tried on a program, of which about every third is accepted."""
WAYS = ("steps", "steps", "kernel", "kernel", "written", "numpy", "native", "cuda")
"""Ways in which a variant comes about: by steps at random, by those that make one kernel of much
and then change what is in it, not at all, by the recipe of a backend.
"""
IN_A_KERNEL = ("Vectorize", "Vectorize", "Persist", "Recompute", "Simplify", "Contract")


def changed(root: Variant, dice: Random) -> Variant:
    """Another variant of the same program, half of the time with as little memory as may be."""
    way, chooser = dice.choice(WAYS), Dice(f"{dice.random()}")
    variant = root
    if way == "steps":
        *_, variant = [root, *accepted(root, chooser, TRIED)]
    elif way == "kernel":
        *_, variant = [root, *accepted(root, chooser, 2, ("Persist",))]
        *_, variant = [variant, *accepted(variant, chooser, TRIED // 2, IN_A_KERNEL)]
    elif way != "written":
        variant = wb.optimize(root, backend=way)
    if dice.random() < 0.5:
        for step in (Contract(), Donate()):
            if variant.check(step) is None:
                variant = variant.apply(step)
    return variant


def unlike_the_reference(source: Source, dice: Random) -> str | None:
    """The first difference of a variant from the reference, on any backend; None without one."""
    meaning = Meaning("random", traced(source.text), source.sizes(dice))
    variant = changed(meaning.root, dice)
    found = (
        meaning.difference(variant)
        or unlike_as_compiled_c(meaning, variant)
        or unlike_as_cuda(meaning, variant, dice.choice(DTYPES))
    )
    return found and f"{dict(meaning.sizes)}\n{variant.recipe()}\n{found}"


def unlike_as_compiled_c(meaning: Meaning, variant: Variant) -> str | None:
    """The same of compiled C alone, with one thread and with several."""
    made = compiled(variant.program)
    with shared_cache():
        made.prepare("float64")
    for threads in THREADS:
        outputs = made.run(meaning.sizes, SEED, "float64", threads=threads).outputs
        found = meaning.unlike(outputs, carried=False)
        if found is not None:
            return f"native, {threads} threads: {found}"
    return None


def unlike_as_cuda(meaning: Meaning, variant: Variant, dtype: str) -> str | None:
    """The outputs of which CUDA text has other bits than compiled C, or its first fault."""
    program, sizes = variant.program, meaning.sizes
    found, fault = watched(fibres(program, sizes), sizes, dtype)
    if fault:
        return f"CUDA in {dtype}: {fault}"
    made = compiled(program)
    with shared_cache():
        made.prepare(dtype)
    wanted = made.run(sizes, FIBRES_SEED, dtype).outputs
    other = ", ".join(other_bits(found, wanted))
    return f"CUDA in {dtype}: {other} has other bits than in C" if other else None
