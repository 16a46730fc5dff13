"""Layout: the order of an array's dimensions and inner axes in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from workbench.lowering.memory.takeover import Ownership, memory_of
from workbench.lowering.memory.tiles import lanes_of
from workbench.lowering.values.stored import axis_order
from workbench.polyhedral.expression import Expression
from workbench.program.sizes import resolve
from workbench.program.storage import INNER
from workbench.program.values import Array, Program
from workbench.transforms.step.argument_names import ArrayName, MemoryDims, array_called
from workbench.transforms.step.refusal import Refusal
from workbench.transforms.step.transform import Rewritten, Transform

MOST = 3
"""The number of arrays for which orders are proposed."""


@dataclass(frozen=True, repr=False)
class Layout(Transform):
    """An array's dimensions lie in memory in the order given, outermost first. `"..."` stands for
    its inner axes, which stay together.

    Neighbours along the last one are neighbours in memory: that is fast for what runs along it, as
    an array axis or as the lanes of a block, and slow for what takes single elements with all of
    their inner axes, as a gather does. Results keep their order of dimensions.

    Example::

        @wb.program
        def example(B=4, T=3):
            b, t = wb.dims(b=B, t=T)
            state = wb.recurrent("state", 2, over=(b, t))
            state[b, 0] = wb.uniform(shape=2, over=b)
            state[b, t + 1] = wb.sin(state)
            return {"last": state[b, T]}

    Before::

        last over b (B)
        state over b (B), t (T + 1)

    After Layout("state", ("t", "...", "b"))::

        last over b (B)
        state over b (B), t (T + 1), in memory as t, ..., b

    Legal when the order has each dimension of the array once, and `"..."` where there are inner
    axes: no dependence matters. The array must be stored: not added up by Accumulate, nor private
    to a block of Persist, where lanes lie innermost. Should a later Persist make it private, the
    order is that of the other dimensions.
    """

    array: ArrayName
    order: MemoryDims

    @classmethod
    def candidates(cls, program: Program) -> Iterator[Layout]:
        """Yield for the largest arrays that have any: the orders whose last is a dimension along
        which statements run as an axis, or the inner axes, where another one is last now.
        """
        memory, sizes = memory_of(program), resolve(program.equations)
        private = lanes_of(memory.program, memory.lives)
        stored = [a for a in program.arrays if a.name not in {*private, *program.storage.added}]
        largest = sorted(stored, key=lambda a: _elements(memory, a, sizes), reverse=True)
        found = (cls._orders(memory, array) for array in largest)
        yield from chain.from_iterable(islice(filter(None, found), MOST))

    @classmethod
    def _orders(cls, memory: Ownership, array: Array) -> list[Layout]:
        order, axes = axis_order(memory.program, array), {INNER, *_ran_along(memory, array)}
        named = [d for d in order if d != INNER or array.shape]
        return [
            cls(array.name, (*(d for d in named if d != last), last))
            for last in _in_memory(memory, array)[:-1]
            if last in axes
        ]

    def attempt(self, program: Program) -> Rewritten | Refusal:
        """Keep the equations and their order, with an array laid out otherwise."""
        array = program.array[array_called(program, self.array)]
        refusal = self._incomplete(array) or self._not_stored(program, array)
        if refusal is not None:
            return refusal
        others = tuple(pair for pair in program.storage.layouts if pair[0] != array.name)
        storage = replace(program.storage, layouts=(*others, (array.name, self.order)))
        after = replace(program, storage=storage)
        before, laid = (memory_of(p).stored(array.name) for p in (program, after))
        if (before.order, before.lead) == (laid.order, laid.lead):
            return self._no_effect(program, array)
        return Rewritten(after)

    # -- refusals --------------------------------------------------------------------------

    def _incomplete(self, array: Array) -> Refusal | None:
        wanted = (*array.dims, *(INNER,) * bool(array.shape))
        strange = [d for d in self.order if d not in wanted]
        twice = [d for d in wanted if self.order.count(d) > 1]
        lacking = [d for d in wanted if d not in self.order]
        reasons = (
            (strange, f"the order has {_quoted(strange)}, which {array.name} has not"),
            (twice, f"the order has {_quoted(twice)} more than once"),
            (lacking, f"the order lacks {_quoted(lacking)}"),
        )
        wrong = next((reason for names, reason in reasons if names), None)
        if wrong is None:
            return None
        axes = f"each of {_quoted(wanted)} once" if wanted else "nothing: it is one element"
        inner = f" ({INNER!r} stands for its inner axes)" if array.shape else ""
        sentence = f"{self}: {wrong}; expected of {array.name}: {axes}{inner}"
        return Refusal("input", sentence, argument="order")

    def _not_stored(self, program: Program, array: Array) -> Refusal | None:
        line = program.writers[array.name][0].line
        if array.name in program.storage.added:
            reason = f"{array.name} is added up as it is computed (Accumulate), and is never stored"
            return self.refuse("capability", reason, line)
        memory = memory_of(program)
        lanes = lanes_of(memory.program, memory.lives).get(array.name)
        if lanes is None:
            return None
        dim = array.dims[lanes[0]]
        reason = (
            f"{array.name} is private to a block of {dim} (Persist): one block of it is there, and "
            "its lanes lie innermost"
        )
        return self.refuse("capability", reason, line)

    def _no_effect(self, program: Program, array: Array) -> Refusal:
        there = _in_memory(memory_of(program), array)
        reason = f"{array.name} lies in memory as {', '.join(there)} already"
        if len(there) < 2:
            kept = f"only {there[0]}" if there else "one element"
            reason = f"{array.name} has no order in memory: it keeps {kept}"
        return self.refuse("no effect", reason, program.writers[array.name][0].line)


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))


def _in_memory(memory: Ownership, array: Array) -> tuple[str, ...]:
    """Return the order in force, without dimensions that are folded to one slice."""
    stored = memory.stored(array.name)
    dims = [array.dims[p] for p in stored.order]
    return stored.arranged(dims, [INNER] * bool(array.shape))


def _elements(memory: Ownership, array: Array, sizes: Mapping[str, int]) -> int:
    return memory.stored(array.name).buffer.elements.evaluate(sizes)


def _ran_along(memory: Ownership, array: Array) -> frozenset[str]:
    """Return the dimensions of an array along which a statement runs as an array axis."""
    found = set[str]()
    for name in memory.users[array.name]:
        statement, axes = memory.program.statement[name], {*memory.axes[name]}
        indices = [r.index for r in statement.reads if r.array == array.name]
        if statement.array == array.name:
            indices.append(statement.write)
        for index in indices:
            found.update(
                dim
                for dim, e in zip(array.dims, index, strict=True)
                if isinstance(e, Expression) and e.variables & axes
            )
    return frozenset(found)
