"""The entries of a program, and the loops in them that launch its kernels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import chain, count, islice

from workbench.codegen.kernel_records import LANES
from workbench.codegen.kernels import KernelRecords, ProgramKernels
from workbench.codegen.printing.c_expressions import condition_text
from workbench.codegen.printing.program.equal_kernels import Call
from workbench.codegen.printing.program.kernel_functions import declared
from workbench.codegen.printing.program.open_steps_text import loop_over_steps, some_open, zeros
from workbench.codegen.printing.program.program_names import ProgramNames
from workbench.codegen.printing.program.stamping import FUNCTIONS, INCLUDED
from workbench.lowering.instances.guards import OpenSteps
from workbench.lowering.loops.records import (
    HOST,
    Allocate,
    AtOnce,
    For,
    Free,
    If,
    Launch,
    Record,
)
from workbench.names import unique

LEFT = "if (*run->stop | run->failed) goto ended;"
"""The line behind each launch."""


@dataclass
class Driver:
    """A writer of the entries; each kernel is launched once, in the order of `kernels`."""

    made: ProgramKernels
    names: ProgramNames
    kernels: Mapping[str, KernelRecords]
    calls: Mapping[str, Call]
    """The call of each kernel's function."""
    alone: AbstractSet[str]
    """The kernels that run beside no other."""
    tasks: list[str] = field(default_factory=list)
    """The lines of what runs one of several kernels."""

    def text(self) -> str:
        """Return the text behind the kernels."""
        before, main, behind = self.made.loops.parts
        self.launches: Iterator[tuple[int, tuple[str, KernelRecords]]]
        self.launches = enumerate(self.kernels.items())
        self.loops = count()
        lines = [
            f"{declared(self.names, name, kernel, told=bool(self.calls[name].places))};"
            for name, kernel in self.kernels.items()
            if self.calls[name].function == name
        ]
        variable = self.names.of(main.variable) if main else "unused"
        entries: list[str] = []
        for entry, given, body in (
            ("begin", "Run *run", before),
            ("iteration", f"Run *run, int64_t {variable}", main.body if main else ()),
            ("end", "Run *run", behind),
        ):
            stamps = ["    begin_stamps(run);"]
            if entry == "iteration" and main:
                stamps.append(f"    stamp_iteration(run, {next(self.loops)}, {variable});")
            inside = list(self._entry(body, main if entry == "iteration" else None))
            entries += [
                "",
                f"EXPORTED void {entry}({given}) {{",
                "    const uint64_t floats = begin_exact_floats();",
                "    watch_interrupts(run);",
                *(stamps if self.names.stamped else []),
                *self.names.sizes_in(inside),
                *inside,
                "ended: __attribute__((unused));",
                "    leave_interrupts(run);",
                "    end_exact_floats(floats);",
                "}",
            ]
        lines += [*self.tasks, *entries]
        lanes = f'_Static_assert(LANES * PARTS == {LANES}, "lanes");'
        of_zeros = ["#include <string.h>"] if any("memset(" in line for line in lines) else []
        head = ['#include "interrupt.h"', *of_zeros, lanes]
        if self.names.stamped:
            return "\n".join([*head, INCLUDED, *lines, FUNCTIONS])
        return "\n".join([*head, *lines, ""])

    def _entry(self, body: Sequence[Record], main: For | None) -> Iterator[str]:
        """Yield the lines of an entry. Iterations of a main loop over steps of episodes are called
        one by one: each looks whether some episode is open.
        """
        part = None if main is None else self.made.loops.open_steps(main)
        if main is None or part is None:
            yield from self._lines(body, "    ")
            return
        whole, rest = self._of_steps(main, part)
        yield from (f"    {line}" for line in self._some_open(part))
        yield "    if (some_open) {"
        yield from (f"        {line}" for line in whole)
        yield "    } else {"
        yield from (f"        {line}" for line in rest)
        yield "    }"

    def _lines(self, body: Sequence[Record], margin: str) -> Iterator[str]:
        for record in body:
            if isinstance(record, Launch) or (isinstance(record, For) and record.apart):
                number, (function, kernel) = next(self.launches)
                yield from self._launched(number, self._call(function, kernel), margin)
            elif isinstance(record, For):
                yield from self._loop(record, margin)
            elif isinstance(record, AtOnce):
                yield from self._at_once(record, margin)
            elif isinstance(record, If):
                yield f"{margin}if ({condition_text(record.condition, self.names.of)}) {{"
                yield from self._lines(record.body, margin + "    ")
                yield f"{margin}}}"
            elif isinstance(record, Allocate):
                yield from self._allocate(record, margin)
            else:
                assert isinstance(record, Free), record

    def _loop(self, loop: For, margin: str) -> Iterator[str]:
        """Yield a loop. One over steps of episodes ends where none is open any more, and backwards
        begins where one is: what has to follow there is in a loop of its own.
        """
        v, low, high = (self.names.of(loop.variable), *map(self.names.show, loop.range))
        begin, turn = f"{v} = {low}", f"{v} < {high}; {v}++"
        if loop.backwards:
            begin, turn = f"{v} = {high} - 1", f"{v} >= {low}; {v}--"
        number, inside = next(self.loops), margin + "    "
        stamp = [f"stamp_iteration(run, {number}, {v});"] if self.names.stamped else []
        part = self.made.loops.open_steps(loop)
        if part is None:
            yield f"{margin}for (int64_t {begin}; {turn}) {{"
            yield from (f"{inside}{line}" for line in stamp)
            yield from self._lines(loop.body, inside)
            yield f"{margin}}}"
            return
        test, whole, rest = list(self._some_open(part)), *self._of_steps(loop, part)
        for line in loop_over_steps(loop, begin, turn, test, [*stamp, *whole], [*stamp, *rest]):
            yield f"{margin}{line}"

    def _of_steps(self, loop: For, part: OpenSteps) -> tuple[list[str], list[str]]:
        """Return the lines of a step at which some episode is open, and of one at which none is."""
        whole: list[str] = []
        rest: list[str] = []
        for k, record in enumerate(loop.body):
            launches = record.body if isinstance(record, AtOnce) else (record,)
            own = list(islice(self.launches, len(launches))) if _is_launched(record) else []
            self.launches = chain(own, self.launches)
            lines = list(self._lines((record,), ""))
            whole += lines
            if k in part.rest and own:
                for launch, (number, (function, kernel)) in zip(launches, own, strict=True):
                    assert isinstance(launch, Launch)
                    called = self._launched(number, self._call(function, kernel), "")
                    rest += self._closed(launch, part, called)
            elif k in part.rest:
                rest += lines
        return whole, rest

    def _closed(self, launch: Launch, part: OpenSteps, lines: Iterator[str]) -> Iterator[str]:
        """Yield what is left of a launch at a step at which no episode is open."""
        statements = {one.statement for one in (launch, *launch.more)}
        if statements <= part.statements - part.zeros:
            return
        statement = self.made.program.statement[launch.statement]
        stored = self.made.loops.stored[statement.array]
        place = f"run->buffers[{self.names.slots[stored.buffer.name]}]"
        kind = self.names.stored(stored.buffer.dtype)
        zero = None
        if launch.statement in part.zeros and not launch.more:
            zero = zeros(statement, launch, stored, f"({kind} *){place}", self.names.show)
        yield from lines if zero is None else (zero,)

    def _launched(self, number: int, call: str, margin: str) -> Iterator[str]:
        """Yield the lines of a launch."""
        yield f"{margin}{call}"
        if self.names.stamped:
            yield f"{margin}stamp_launch(run, {number});"
        yield f"{margin}{LEFT}"

    def _some_open(self, part: OpenSteps) -> Iterator[str]:
        for dim, _ in part.step.lanes:
            self.names.add(dim)
        stored = self.made.loops.stored[part.step.open]
        place = f"run->buffers[{self.names.slots[part.buffer]}]"
        return some_open(part, stored, place, self.names.of, self.names.show)

    def _call(self, function: str, kernel: KernelRecords) -> str:
        """Return the statement that runs a kernel."""
        call = self.calls[function]
        given = ["run", *(self.names.of(v) for v in kernel.variables)]
        if call.places:
            given[1:1] = [f"(const int32_t[]){{{', '.join(map(str, call.places))}}}"]
        return f"{call.function}({', '.join(given)});"

    def _at_once(self, record: AtOnce, margin: str) -> Iterator[str]:
        """Yield the lines that run launches at once: those first that have the whole run to
        themselves. Each is stamped behind the one before it.
        """
        if self.names.stamped:
            yield from self._lines(record.body, margin)
            return
        launched = [next(self.launches)[1] for _ in record.body]
        shared = [one for one in launched if one[0] not in self.alone]
        if len(shared) < 2:
            shared = []
        for one in launched:
            if one not in shared:
                yield f"{margin}{self._call(*one)}"
                yield f"{margin}{LEFT}"
        if not shared:
            return
        variables = list(dict.fromkeys(v for _, kernel in shared for v in kernel.variables))
        name, number = unique("at_once", self.names.taken), unique("launch", set(self.names.taken))
        self.tasks += [
            f"static void {name}(Run *run, const int64_t *outer, int64_t {number}, "
            "int64_t first_block, int64_t behind_blocks) {",
            *(
                f"    const int64_t {self.names.of(v)} = outer[{place}];"
                for place, v in enumerate(variables)
            ),
            "    (void)outer, (void)first_block, (void)behind_blocks;",
            f"    switch ({number}) {{",
            *(f"    case {k}: {self._call(*one)} break;" for k, one in enumerate(shared)),
            "    }",
            "}",
            f"static int64_t {name}_lasting;",
        ]
        outer = ", ".join(self.names.of(v) for v in variables) or "0"
        n = len(shared)
        yield (
            f"{margin}each_block(run, {name}, (const int64_t[]){{{outer}}}, "
            f"0, {n}, 0, {n}, {n}, &{name}_lasting);"
        )
        yield f"{margin}{LEFT}"

    def _allocate(self, record: Allocate, margin: str) -> Iterator[str]:
        """Yield the lines that give a buffer its place. Results have theirs from the start."""
        slot = self.names.slots[record.buffer.name]
        if record.buffer.name in self.made.loops.own:  # kernels find it by themselves
            return
        if record.source is not None:
            yield f"{margin}run->buffers[{slot}] = run->buffers[{self.names.slots[record.source]}];"
        elif record.buffer.initial != "nan":
            where = "host" if record.buffer.space == HOST else "arena"
            yield f"{margin}run->buffers[{slot}] = run->{where} + run->places[{slot}];"


def _is_launched(record: Record) -> bool:
    return isinstance(record, (Launch, AtOnce))
