"""A whole program as C: a function for each kernel, and the loops that launch them.

A program has three entries: `begin` runs what stands before the main loop, `iteration` one of its
iterations, `end` what stands behind. Sizes, the seed and all memory are arguments (`run.h`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, count, islice

from workbench.codegen.bodies.addresses import apart, outside
from workbench.codegen.kernel_records import LANES, Invoke, Stamp
from workbench.codegen.kernel_records import Loop as KernelLoop
from workbench.codegen.kernel_records import walk as walk_kernel
from workbench.codegen.kernels import KernelRecords, ProgramKernels
from workbench.codegen.printing.c_expressions import condition_text, expression_text
from workbench.codegen.printing.c_names import C_WORDS, CNames, c_name, title
from workbench.codegen.printing.equal_kernels import COMMENT, PLACES, Functions
from workbench.codegen.printing.kernel_text import KernelText
from workbench.codegen.printing.open_steps_text import loop_over_steps, some_open, zeros
from workbench.codegen.printing.stamping import FUNCTIONS, INCLUDED, NAMES
from workbench.codegen.printing.value_text import KINDS, REALS, STORED
from workbench.codegen.runtime import CALLING, HEADERS, header, own_units, with_runtime
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
    walk,
)
from workbench.names import unique
from workbench.polyhedral.expression import Expression
from workbench.program.operations.table import OPERATIONS

UNIT_CHARACTERS = 60_000
"""About how much text a unit has: several are compiled side by side. A small program is one."""

_WORD = re.compile(r"[A-Za-z_]\w*")
_USED = f"""
{C_WORDS}
run scratch lanes active lane part_of_group begin iteration end ended main
outer first_block behind_blocks lasting some_open memset {PLACES}
"""
"""Words of C, and names that the text uses itself."""

LEFT = "if (*run->stop | run->failed) goto ended;"
"""The line behind each launch."""


@dataclass(frozen=True)
class ProgramText:
    """The C units of a program by name, and the text of each kernel."""

    units: dict[str, str]
    kernels: dict[str, str] = field(repr=False)
    """The kernels by name, each as a function of its own. Units have one function for all whose
    text is equal but for names and places.
    """

    def __str__(self) -> str:
        return "\n".join(own_units(self.units).values())


def program_text(made: ProgramKernels, dtype: str, stamped: bool = False) -> ProgramText:
    """Return a program as C for one dtype of floats. Where it is `stamped`, a stamp follows every
    launch, with the kernel's number, and begins every iteration: kernels themselves stay as they
    are.
    """
    writer = _Writer(made, REALS[dtype], stamped)
    return ProgramText(dict(writer.units()), writer.kernels)


def units_of(made: ProgramKernels, dtype: str, stamped: bool = False) -> Iterator[tuple[str, str]]:
    """Yield the units of a program by name, each when its kernels are made; see `program_text`."""
    return _Writer(made, REALS[dtype], stamped).units()


def _words_of(text: str) -> list[str]:
    """Return the words of a C text, without its comments."""
    return _WORD.findall(COMMENT.sub(" ", text))


def slots(made: ProgramKernels) -> dict[str, int]:
    """Return the number of each buffer."""
    return {name: n for n, name in enumerate(made.buffers)}


@dataclass
class _Part:
    """The functions so far of a unit."""

    functions: list[str] = field(default_factory=list)
    stamped: bool = False

    @property
    def characters(self) -> int:
        """The number of characters of all functions."""
        return sum(map(len, self.functions))

    def add(self, function: str, kernel: KernelRecords) -> None:
        """Add the function of a kernel."""
        self.functions.append(function)
        self.stamped |= any(isinstance(r, Stamp) for r in walk_kernel(kernel.records))

    @property
    def text(self) -> str:
        """The unit."""
        return CALLING + (INCLUDED if self.stamped else "") + "\n".join(self.functions)


class _Writer:
    def __init__(self, made: ProgramKernels, real: str, stamped: bool) -> None:
        self.made = made
        self.real = real
        self.stamped = stamped
        self.taken = {
            *_USED.split(),
            *(NAMES if stamped else ()),
            *(w for name in HEADERS for w in _words_of(header(name)) if len(w) > 1),
        }
        self.slots = slots(made)
        self.names: dict[str, str] = {}
        for parameter in made.program.parameters:
            self._name(parameter.name)
        for record in walk(made.loops.body):
            if isinstance(record, For):
                self._name(record.variable)
        for name in made.buffers:
            self._name(name)
        self.kernels: dict[str, str] = {}
        """The kernels so far by name, each as a function of its own."""
        self.functions = Functions()
        self.alone: set[str] = set()
        """Those that run beside no other: with memory of the run, or calls to Python."""
        self.tasks: list[str] = []
        """The lines of what runs one of several kernels."""

    def units(self) -> Iterator[tuple[str, str]]:
        """Yield all units by name, each when its kernels are made."""
        return with_runtime(self._own_units())

    def _own_units(self) -> Iterator[tuple[str, str]]:
        part, number = _Part(), 1
        for place, kernel in enumerate(self.made.kernels):
            name = unique(c_name(f"kernel_{title(kernel)}"), self.taken)
            self.kernels[name], own_names = self._kernel(name, kernel, place)
            function = self.functions.add(name, self.kernels[name], own_names)
            if function is None:
                continue
            if part.functions and part.characters + len(function) > UNIT_CHARACTERS:
                yield f"kernels_{number}", part.text
                part, number = _Part(), number + 1
            part.add(function, kernel)
        driver = self._driver()
        if number == 1 and part.characters + len(driver) <= UNIT_CHARACTERS:
            yield "program", f"{part.text}\n{driver}"
            return
        yield f"kernels_{number}", part.text
        yield "program", CALLING + driver

    # -- kernels -----------------------------------------------------------------------------------

    def _kernel(
        self, function: str, kernel: KernelRecords, number: int
    ) -> tuple[str, set[str] | None]:
        """Return a kernel as a function of its own, and what it calls things itself; None where its
        blocks are dealt to threads.
        """
        used = kernel.buffers
        kinds = {name: self._kind(self.made.buffers[name].dtype) for name in used}
        local = CNames(self.names, set(self.taken))
        text = KernelText(local, kinds, self.real, self.made.padded)
        for table in kernel.tables:
            text.table(table)
        for name in used:
            c, kind = self.names[name], STORED[kinds[name]]
            text.write(f"{kind} *const {c} = ({kind} *){self._place(name, kernel)};")
        if kernel.dealing is None:
            text.body(kernel.records)
        else:
            text.chunk(kernel.chunk, kernel.records)
        lines = [*self._given(kernel, local), *text.lines]
        if any("scratch" in _WORD.findall(line) for line in lines):
            self.alone.add(function)
            memory = "arena" if kernel.dealing is None else "own"
            lines.insert(0, f"    char *const scratch = run->{memory} + run->scratch[{number}];")
        if any(isinstance(r, Invoke) for r in walk_kernel(kernel.records)):
            self.alone.add(function)
        if kernel.dealing is None:
            names = {*self.names.values(), *local.own.values()}
            return self._function(self._declared(function, kernel), lines), names
        own = [
            f"    const int64_t {self.names[v]} = outer[{k}];"
            for k, v in enumerate(kernel.variables)
        ]
        words = {word for line in lines for word in _WORD.findall(line)}
        lines = [*(line for line in own if _WORD.findall(line)[2] in words), *lines]
        given = f"int64_t {local(kernel.chunk)}, int64_t first_block, int64_t behind_blocks"
        blocks_of = f"static void blocks_of_{function}(Run *run, const int64_t *outer, {given})"
        dealt = self._function(self._declared(function, kernel), [self._dealt(function, kernel)])
        return f"{self._function(blocks_of, lines)}\n{dealt}", None

    def _function(self, declared: str, lines: Sequence[str]) -> str:
        """Return a function, which finds the sizes that it needs."""
        words = {word for line in lines for word in _WORD.findall(line)}
        sizes = [line for line in self._sizes() if _WORD.findall(line)[2] in words]
        return "\n".join([f"{declared} {{", *sizes, *lines, "}", ""])

    def _place(self, name: str, kernel: KernelRecords) -> str:
        """Return where a buffer is: in the memory of the thread, if it is one of a block."""
        if name in kernel.own:
            own = "own_host" if self.made.buffers[name].space == HOST else "own"
            return f"(run->{own} + run->own_places[{self.slots[kernel.own[name]]}])"
        return f"run->buffers[{self.slots[name]}]"

    def _dealt(self, function: str, kernel: KernelRecords) -> str:
        """Return the line that lets threads run the blocks of a kernel."""
        blocks, dealing = kernel.records[-1], kernel.dealing
        assert isinstance(blocks, KernelLoop) and dealing is not None
        outer = ", ".join(self.names[v] for v in kernel.variables) or "0"
        numbers = (blocks.lower, blocks.upper, dealing.first, dealing.blocks, dealing.chunks)
        given = ", ".join(map(self._show, numbers))
        called = f"each_block(run, blocks_of_{function}, (const int64_t[]){{{outer}}}, {given}"
        return f"    static int64_t lasting;\n    {called}, &lasting);"

    def _given(self, kernel: KernelRecords, local: CNames) -> Iterator[str]:
        """Yield the lines that find the values from outside that a kernel reads."""
        if not self.made.given:
            return
        first: dict[str, int] = {}
        for names in self.made.given.values():
            first |= {name: len(first) + k for k, name in enumerate(names)}
        numbers = {name: n for n, name in enumerate(self.made.given)}
        statements = (self.made.program.statement[name] for name in kernel.statements)
        read = {
            str(call.options["name"]): call
            for call in (c for statement in statements for c in statement.calls)
            if OPERATIONS[call.operation].given
        }
        for name, call in read.items():
            kind = STORED[self._kind(call.dtype)]
            where = f"({kind} *)run->given[{numbers[name]}]"
            yield f"    const {kind} *const {local(outside(call))} = {where};"
            for step in apart(call):
                yield f"    const int64_t {local(step)} = run->apart[{first[step]}];"

    def _declared(self, function: str, kernel: KernelRecords, told: bool = False) -> str:
        given = ["Run *run", *(f"int64_t {self.names[v]}" for v in kernel.variables)]
        given[1:1] = [f"const int32_t *{PLACES}"] if told else []
        return f"void {function}({', '.join(given)})"

    def _sizes(self) -> Iterator[str]:
        for k, parameter in enumerate(self.made.program.parameters):
            yield f"    const int64_t {self.names[parameter.name]} = run->sizes[{k}];"

    # -- loops around them -------------------------------------------------------------------------

    def _driver(self) -> str:
        before, main, behind = self.made.loops.parts
        calls = self.functions.calls
        self.launches: Iterator[tuple[int, tuple[str, KernelRecords]]]
        self.launches = enumerate(zip(self.kernels, self.made.kernels, strict=True))
        self.loops = count()
        lines = [
            f"{self._declared(name, kernel, told=bool(calls[name].places))};"
            for name, kernel in zip(self.kernels, self.made.kernels, strict=True)
            if calls[name].function == name
        ]
        variable = self.names[main.variable] if main else "unused"
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
            words = {word for line in inside for word in _WORD.findall(line)}
            sizes = [line for line in self._sizes() if _WORD.findall(line)[2] in words]
            entries += ["", f"EXPORTED void {entry}({given}) {{"]
            entries += ["    const uint64_t floats = begin_exact_floats();"]
            entries += [
                "    watch_interrupts(run);",
                *(stamps if self.stamped else []),
                *sizes,
                *inside,
                "ended: __attribute__((unused));",
            ]
            entries += ["    leave_interrupts(run);", "    end_exact_floats(floats);", "}"]
        lines += [*self.tasks, *entries]
        lanes = f'_Static_assert(LANES * PARTS == {LANES}, "lanes");'
        head = ['#include "interrupt.h"', lanes]
        if self.stamped:
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
                yield f"{margin}if ({condition_text(record.condition, self._c)}) {{"
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
        v, low, high = (self.names[loop.variable], *map(self._show, loop.range))
        begin, turn = f"{v} = {low}", f"{v} < {high}; {v}++"
        if loop.backwards:
            begin, turn = f"{v} = {high} - 1", f"{v} >= {low}; {v}--"
        number, inside = next(self.loops), margin + "    "
        stamp = [f"stamp_iteration(run, {number}, {v});"] if self.stamped else []
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
        place = f"run->buffers[{self.slots[stored.buffer.name]}]"
        kind = STORED[self._kind(stored.buffer.dtype)]
        zero = None
        if launch.statement in part.zeros and not launch.more:
            zero = zeros(statement, launch, stored, f"({kind} *){place}", self._show)
        yield from lines if zero is None else (zero,)

    def _launched(self, number: int, call: str, margin: str) -> Iterator[str]:
        """Yield the lines of a launch."""
        yield f"{margin}{call}"
        if self.stamped:
            yield f"{margin}stamp_launch(run, {number});"
        yield f"{margin}{LEFT}"

    def _some_open(self, part: OpenSteps) -> Iterator[str]:
        for dim, _ in part.step.lanes:
            self._name(dim)
        stored = self.made.loops.stored[part.step.open]
        place = f"run->buffers[{self.slots[part.buffer]}]"
        return some_open(part, stored, place, self._c, self._show)

    def _call(self, function: str, kernel: KernelRecords) -> str:
        """Return the statement that runs a kernel."""
        call = self.functions.calls[function]
        given = ["run", *(self.names[v] for v in kernel.variables)]
        if call.places:
            given[1:1] = [f"(const int32_t[]){{{', '.join(map(str, call.places))}}}"]
        return f"{call.function}({', '.join(given)});"

    def _at_once(self, record: AtOnce, margin: str) -> Iterator[str]:
        """Yield the lines that run launches at once: those first that have the whole run to
        themselves. Each is stamped behind the one before it.
        """
        if self.stamped:
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
        name, number = unique("at_once", self.taken), unique("launch", set(self.taken))
        self.tasks += [
            f"static void {name}(Run *run, const int64_t *outer, int64_t {number}, "
            "int64_t first_block, int64_t behind_blocks) {",
            *(
                f"    const int64_t {self.names[v]} = outer[{place}];"
                for place, v in enumerate(variables)
            ),
            "    (void)outer, (void)first_block, (void)behind_blocks;",
            f"    switch ({number}) {{",
            *(f"    case {k}: {self._call(*one)} break;" for k, one in enumerate(shared)),
            "    }",
            "}",
            f"static int64_t {name}_lasting;",
        ]
        outer = ", ".join(self.names[v] for v in variables) or "0"
        n = len(shared)
        yield (
            f"{margin}each_block(run, {name}, (const int64_t[]){{{outer}}}, "
            f"0, {n}, 0, {n}, {n}, &{name}_lasting);"
        )
        yield f"{margin}{LEFT}"

    def _allocate(self, record: Allocate, margin: str) -> Iterator[str]:
        """Yield the lines that give a buffer its place. Results have theirs from the start."""
        slot = self.slots[record.buffer.name]
        if record.buffer.name in self.made.loops.own:  # kernels find it by themselves
            return
        if record.source is not None:
            yield f"{margin}run->buffers[{slot}] = run->buffers[{self.slots[record.source]}];"
        elif record.buffer.initial != "nan":
            where = "host" if record.buffer.space == HOST else "arena"
            yield f"{margin}run->buffers[{slot}] = run->{where} + run->places[{slot}];"

    # -- names -------------------------------------------------------------------------------------

    def _kind(self, dtype: str) -> str:
        return KINDS.get(dtype, self.real)

    def _name(self, name: str) -> None:
        if name not in self.names:
            self.names[name] = unique(c_name(name), self.taken)

    def _c(self, name: str) -> str:
        return self.names[name]

    def _show(self, e: Expression) -> str:
        return expression_text(e, self._c)


def _is_launched(record: Record) -> bool:
    return isinstance(record, (Launch, AtOnce))
