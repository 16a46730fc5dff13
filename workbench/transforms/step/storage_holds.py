"""Checks of storage: why a dimension of an array stays whole, and whether a program's storage holds
under its schedule. A later step must not break it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from workbench.identity import remembered
from workbench.lowering.memory.lives import lives, shapes, windows_but_for_blocks
from workbench.lowering.memory.overwriting import in_itself, may_overwrite
from workbench.lowering.memory.takeover import Hindrance, Ownership, heirs, hindrance, memory_of
from workbench.polyhedral.dependences.witness import Witness, smallest
from workbench.polyhedral.expression import Expression
from workbench.polyhedral.lifetimes.windows import along_axes, whole_extent_clash
from workbench.polyhedral.sets.as_text import parse_set
from workbench.polyhedral.tree import Tree, axis_dims, paths
from workbench.program.accumulating import derived, why_stored
from workbench.program.storage import INNER, Storage
from workbench.program.values import Equations, Program
from workbench.transforms.step.added_apart import added_at_once
from workbench.transforms.step.refusal import (
    Refusal,
    element_text,
    instance_text,
    instance_texts,
    sizes_text,
)

Pair = tuple[str, str]
"""An array and one of its dimensions."""


def without_lost(program: Program) -> Program:
    """Drop storage entries of arrays that an equation step has taken away."""
    storage = program.storage
    kept = replace(
        storage,
        contracted=tuple(pair for pair in storage.contracted if _is_there(program, *pair)),
        donated=tuple(pair for pair in storage.donated if set(pair) <= program.array.keys()),
        swapped=tuple(pair for pair in storage.swapped if pair[0] in program.array),
        added=tuple(array for array in storage.added if array in program.array),
        layouts=tuple(pair for pair in storage.layouts if _has_dims(program, *pair)),
    )
    return program if kept == storage else replace(program, storage=kept)


def _is_there(program: Program, array: str, dim: str) -> bool:
    return array in program.array and dim in program.array[array].dims


def _has_dims(program: Program, array: str, order: tuple[str, ...]) -> bool:
    return array in program.array and set(program.array[array].dims) == {*order} - {INNER}


def folding(program: Program, wanted: list[Pair]) -> list[Pair]:
    """Return the wanted dimensions that lifetimes let fold, in the best way for each array.

    An array stays as it is where folding more of it would unfold a dimension.
    """
    folded = program.storage.contracted
    windows = _windows(program, replace(program.storage, contracted=(*folded, *wanted)))
    unfolded = {array for array, dim in folded if windows[array, dim] is None}
    return [
        (array, dim)
        for array, dim in wanted
        if (array, dim) not in folded and array not in unfolded and windows[array, dim] is not None
    ]


def _windows(program: Program, storage: Storage) -> Mapping[Pair, Expression | None]:
    """Return the window of every dimension that a storage contracts."""
    lifetimes, arrays = lives(program, storage), derived(program).array
    return {
        (array, dim): lifetimes[array].windows[arrays[array].dims.index(dim)]
        for array, dim in storage.contracted
    }


def no_longer_added(before: Program, after: Program, step: str) -> Refusal | None:
    """Refuse a step after which a sum reads stored points in place of those that it adds up."""
    lost = {name for name in before.storage.added if name not in after.array}
    for s in before.statements if lost else ():
        result, points = after.statement.get(s.name), lost & {r.array for r in s.reads}
        new = [r.array for r in result.reads if r.array not in before.array] if result else []
        if points and new:
            reason = f"{s.name} would read {new[0]}"
            return _stored(after, new[0], points.pop(), reason, step)
    return None


def broken_storage(program: Program, step: str) -> Refusal | None:
    """Refuse a step after which points that are added up would have to be stored or are added at
    once, a folded dimension needs its full extent, or two arrays in one piece of memory conflict.
    """
    for name in program.storage.added:
        reason = why_stored(program, name)
        if reason is not None:
            return _stored(program, name, name, reason, step)
    refusal = added_at_once(program, step)
    if refusal is not None:
        return refusal
    program = derived(program)
    if not program.storage.contracted and not program.storage.donated:
        return None
    memory = memory_of(program)
    for name, dim in program.storage.contracted:
        array = program.array[name]
        if memory.lives[name].windows[array.dims.index(dim)] is None:
            return _unfolded(program, name, dim, step)
    for giver, to in program.storage.donated:
        if giver != to:
            refusal = _no_longer_together(memory, giver, to, step)
            if refusal is not None:
                return refusal
    return None


def _stored(program: Program, array: str, added: str, reason: str, step: str) -> Refusal:
    elements = " x ".join(str(upper - lower) for lower, upper in program.array[array].extent)
    sentence = (
        f"{step} would store {array}, all {elements} elements, but {added} is added up by "
        f"Accumulate: {reason}"
    )
    return Refusal("capability", sentence, line=program.writers[array][0].line)


def _no_longer_together(memory: Ownership, array: str, to: str, step: str) -> Refusal | None:
    """Explain why `to` and its successors cannot hold the memory of `array` and its
    predecessors.
    """
    for second in heirs(memory.program, array):
        reason = hindrance(memory, array, second)
        if reason is not None:
            before = (
                f"{step} would take from {to} the memory that Donate({array!r}, {to!r}) gave it: "
            )
            return shown_together(before, memory.program, reason, (array, second), (array, to))
    return None


def shown_together(
    before: str, program: Program, found: Hindrance, pair: Pair, meant: Pair
) -> Refusal:
    """Return the refusal for a hindrance. `pair` are the arrays that cannot share memory;
    `meant` are refused because of them.
    """
    line = program.writers[pair[1]][0].line
    if found.clash is None:
        return Refusal("capability", before + found.sentence, line=line)
    witness, (array, to) = found.clash.witness, pair
    writer, user = instance_texts(witness)
    element, written = (
        f"{name}[{', '.join(map(str, e))}]" if e else name
        for name, e in ((array, witness.element), (to, found.clash.written))
    )
    verb = "read" if found.clash.is_read else "write"
    when = (
        f"{user} {verb}s {element} in the operation that writes {written}, and not element by "
        "element"
        if witness.statements[0] == witness.statements[1]
        and witness.instances[0] == witness.instances[1]
        else f"{user} has still to {verb} {element} when {writer} writes {written}"
    )
    through = "" if pair == meant else f" (in one memory with {meant[0]} and {meant[1]})"
    sentence = f"{before}{when}, in the same place{through} (smallest case: {sizes_text(witness)})"
    return Refusal(
        "dependence",
        sentence,
        witness,
        program.statement[witness.statements[1]].line,
        attempted=_storing(program, donated=(pair,)),
    )


def _unfolded(program: Program, array: str, dim: str, step: str) -> Refusal:
    before = (
        f"{step} would make {array} need all of {dim}, which Contract({array!r}, {dim!r}) has "
        "folded: "
    )
    windows_before = whole(before, program, array, dim)
    assert windows_before is not None, f"{array} is whole along {dim} without a reason"
    return windows_before


def whole(before: str, program: Program, array: str, dim: str) -> Refusal | None:
    """Return the refusal that says why a dimension stays whole: the kind of array, blocks, or two
    ends that are live at one time. None where it need not.

    `before` begins its sentence.
    """
    why = fixed(program).get((array, dim)) or whole_blocks(program, array, dim)
    if why is None:
        return live_at_once(before, program, array, dim)
    return Refusal("capability", before + why.sentence, line=program.writers[array][0].line)


class Fixed(NamedTuple):
    """A reason why a dimension is whole in any order: in a word, and said of the array."""

    reason: str
    sentence: str


def fixed(program: Program) -> Mapping[Pair, Fixed]:
    """Return the dimensions that are whole because of the kind of array or its accesses. Reasons
    that no other order helps with come first, an array axis (which may run in blocks) last.
    """
    program = derived(program)
    returned: dict[Pair, Fixed] = {}
    for output in program.outputs:
        name = output.array
        for d in program.array[name].dims:
            sentence = f"{name} is an output: it is returned whole"
            returned[name, d] = Fixed("returned whole", sentence)
    return {**touched_whole(program), **returned}


def touched_whole(program: Program) -> Mapping[Pair, Fixed]:
    """Return those that are whole because of their accesses: an output may be made in slices."""
    program = derived(program)
    return _touched_whole(program.equations, program.schedule)


@remembered(16, same=2)
def _touched_whole(equations: Equations, schedule: Tree) -> Mapping[Pair, Fixed]:
    anywhere: dict[Pair, Fixed] = {}
    axes: dict[Pair, Fixed] = {}
    around = paths(schedule)
    for s in equations.statements:
        for access in (s.instances.write, *s.instances.reads):
            name, dims = access.array, equations.array[access.array].dims
            for k, blocks in along_axes([(s.instances, access)], around).items():
                if not blocks:
                    axes.setdefault((name, dims[k]), _along_axis(s.name, name, dims[k]))
            for k, e in enumerate(access.index):
                if e is None:
                    anywhere.setdefault((name, dims[k]), _anywhere(s.name, name, dims[k]))
    return {**axes, **anywhere}


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


def whole_blocks(program: Program, array: str, dim: str) -> Fixed | None:
    """Explain why a dimension stays whole that runs in blocks, and could be folded if slots need
    not come in whole blocks.
    """
    program = derived(program)
    storage, record = program.storage, program.array[array]
    contracted = tuple(dict.fromkeys((*storage.contracted, (array, dim))))
    after = replace(storage, contracted=contracted)
    position = record.dims.index(dim)
    slots = windows_but_for_blocks(program, after, array)[position]
    if slots is None or lives(program, after)[array].windows[position] is not None:
        return None
    statement, size = _in_blocks(program, array, position)
    lower, upper = record.extent[position]
    if lower != 0:
        why = f"blocks keep their places only where {dim} counts from 0, and {array} from {lower}"
    elif slots.sizes:
        why = f"the {slots} slices that are live at one time are no such number at all sizes"
    else:
        why = f"for the {slots} slices that are live at one time it needs all {upper}"
    return Fixed(
        f"{dim} runs in blocks of {size}",
        f"{statement} touches {array} in blocks of {size} along {dim}, so {array} keeps a whole "
        f"number of blocks; {why}",
    )


def _in_blocks(program: Program, array: str, position: int) -> tuple[str, int]:
    """Return the first statement that touches an array in blocks along a dimension, and its
    size.
    """
    around = paths(program.schedule)
    return next(
        (s.name, min(touched[position]))
        for s in program.statements
        for access in (s.instances.write, *s.instances.reads)
        if access.array == array
        and position in (touched := along_axes([(s.instances, access)], around))
    )


def live_at_once(before: str, program: Program, array: str, dim: str) -> Refusal | None:
    """Return the refusal that shows an array's first and last slice along a dimension live at one
    time.

    `before` begins its sentence.
    """
    program = derived(program)
    record = program.array[array]
    position = record.dims.index(dim)
    folded = [k for k, d in enumerate(record.dims) if (array, d) in program.storage.contracted]
    met = whole_extent_clash(
        array, record.extent, program.schedule, shapes(program), position, set(folded) - {position}
    )
    if met is None:
        return None
    witness = met.witness
    writer, user = instance_texts(witness)
    lower, upper = record.extent[position]
    slots = (upper - lower).evaluate(witness.sizes)
    element, written = (
        f"{array}[{', '.join(map(str, e))}]" for e in (witness.element, met.written)
    )
    sentence = (
        f"{before}{user} has still to {'read' if met.is_read else 'write'} {element} when "
        f"{writer} writes {written}, so all {slots} slices along {dim} are live at one time "
        f"(smallest case of {slots} slices: {sizes_text(witness)})"
    )
    return Refusal(
        "dependence",
        sentence,
        witness,
        program.statement[witness.statements[1]].line,
        attempted=_storing(program, contracted=((array, dim),)),
    )


def _storing(
    program: Program, contracted: tuple[Pair, ...] = (), donated: tuple[Pair, ...] = ()
) -> Program:
    """Return the program with further storage, whether it holds or not."""
    storage = program.storage
    after = replace(
        storage,
        contracted=tuple(dict.fromkeys((*storage.contracted, *contracted))),
        donated=tuple(dict.fromkeys((*storage.donated, *donated))),
    )
    return replace(program, storage=after)


def in_place_clash(before: str, program: Program, array: str) -> Refusal | None:
    """Return the refusal that shows an instance reading an array, not element by element, in the
    operation that writes it.
    """
    axes = axis_dims(program.schedule)
    for s in program.writers[array]:
        reads = [r for r in s.instances.reads if r.array == array]
        if not reads or may_overwrite(s, axes[s.name], array, in_itself(s)):
            continue
        point = smallest(parse_set(s.domain))
        assert point is not None, f"{s.name} has no instances"
        instance = dict(zip(s.dims, point[1], strict=True))
        indices = [e for e in (*s.write, *reads[0].index) if e is not None]
        sizes = {**{n: 1 for e in indices for n in e.sizes}, **point[0]}
        values = {**sizes, **instance}
        places = [
            str(e.evaluate(values)) if isinstance(e, Expression) else "any" for e in reads[0].index
        ]
        written = tuple(e.evaluate(values) for e in s.write)
        witness = Witness((s.name, s.name), (instance, instance), array, written, sizes)
        sentence = (
            f"{before}{instance_text(s.name, instance)} reads {array}[{', '.join(places)}] in the "
            f"operation that writes {element_text(witness)}, and not element by element "
            f"(smallest case: {sizes_text(witness)})"
        )
        attempted = _storing(program, donated=((array, array),))
        return Refusal("dependence", sentence, witness, s.line, attempted=attempted)
    return None
