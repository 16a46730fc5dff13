"""What keeps a dimension of an array whole, and whether a program's storage holds under its
schedule: what a later step must not break.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from workbench.lowering.lives import lives, shapes
from workbench.polyhedral.lifetimes import along_axes, whole_extent_clash
from workbench.polyhedral.tree import paths
from workbench.program.values import Program
from workbench.transforms.refusal import Refusal, instance_text, sizes_text

Pair = tuple[str, str]
"""An array and one of its dimensions."""


def without_lost(program: Program) -> Program:
    """The program whose storage speaks of no array that an equation step has taken away."""
    storage = program.storage
    kept = replace(
        storage,
        contracted=tuple(pair for pair in storage.contracted if _is_there(program, *pair)),
        donated=tuple(pair for pair in storage.donated if set(pair) <= program.array.keys()),
        swapped=tuple(pair for pair in storage.swapped if pair[0] in program.array),
    )
    return program if kept == storage else replace(program, storage=kept)


def _is_there(program: Program, array: str, dim: str) -> bool:
    return array in program.array and dim in program.array[array].dims


def broken_storage(program: Program, step: str) -> Refusal | None:
    """The refusal of a step after which a dimension that is folded needs its full extent."""
    if not program.storage.contracted:
        return None
    found = lives(program)
    for name, dim in program.storage.contracted:
        array = program.array[name]
        if found[name].windows[array.dims.index(dim)] is None:
            return _unfolded(program, name, dim, step)
    return None


def _unfolded(program: Program, array: str, dim: str, step: str) -> Refusal:
    before = (
        f"{step} would make {array} need all of {dim}, which Contract({array!r}, {dim!r}) has "
        "folded: "
    )
    why = fixed(program).get((array, dim))
    if why is not None:
        line = program.writers[array][0].line
        return Refusal("dependence", before + why.sentence, line=line)
    found = live_at_once(before, program, array, dim)
    assert found is not None, f"{array} is whole along {dim} without a reason"
    return found


class Fixed(NamedTuple):
    """What keeps a dimension whole, whatever the order of reads and writes: in a word, and said of
    the array.
    """

    reason: str
    sentence: str


def fixed(program: Program) -> dict[Pair, Fixed]:
    """The dimensions that are whole because of what the array is, or of how it is touched."""
    found: dict[Pair, Fixed] = {}
    for output in program.outputs:
        name = output.array
        for d in program.array[name].dims:
            sentence = f"{name} is an output: it is returned whole"
            found[name, d] = Fixed("returned whole", sentence)
    assert program.schedule is not None
    around = paths(program.schedule)
    for s in program.statements:
        for access in (s.instances.write, *s.instances.reads):
            name, dims = access.array, program.array[access.array].dims
            for k, blocks in along_axes([(s.instances, access)], around).items():
                if not blocks:
                    found.setdefault((name, dims[k]), _along_axis(s.name, name, dims[k]))
            for k, e in enumerate(access.index):
                if e is None:
                    found.setdefault((name, dims[k]), _anywhere(s.name, name, dims[k]))
    return found


def _along_axis(statement: str, array: str, dim: str) -> Fixed:
    sentence = (
        f"{dim} runs as an array axis in {statement}, which touches all of {array} along {dim} at "
        "one time; in blocks (Tile) it would touch a block at a time"
    )
    return Fixed(f"{dim} runs as an array axis", sentence)


def _anywhere(statement: str, array: str, dim: str) -> Fixed:
    sentence = (
        f"{statement} reads {array} at an index along {dim} that depends on data, so any of its "
        "slices may be read"
    )
    return Fixed("read at an index that depends on data", sentence)


def live_at_once(before: str, program: Program, array: str, dim: str) -> Refusal | None:
    """The refusal that shows an array's first and last slice along a dimension live at one time.

    `before` begins its sentence.
    """
    record = program.array[array]
    assert program.schedule is not None
    position = record.dims.index(dim)
    folded = [k for k, d in enumerate(record.dims) if (array, d) in program.storage.contracted]
    found = whole_extent_clash(
        array, record.extent, program.schedule, shapes(program), position, set(folded) - {position}
    )
    if found is None:
        return None
    witness = found.witness
    writer, user = (
        instance_text(name, at)
        for name, at in zip(witness.statements, witness.instances, strict=True)
    )
    lower, upper = record.extent[position]
    slots = (upper - lower).evaluate(witness.sizes)
    element, written = (
        f"{array}[{', '.join(map(str, e))}]" for e in (witness.element, found.written)
    )
    sentence = (
        f"{before}{user} has still to {'read' if found.is_read else 'write'} {element} when "
        f"{writer} writes {written}, so all {slots} slices along {dim} are live at one time "
        f"(smallest case: {sizes_text(witness)})"
    )
    return Refusal("dependence", sentence, witness, program.statement[witness.statements[1]].line)
