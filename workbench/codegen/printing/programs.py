"""A whole program as C: a function for each kernel, and the loops that launch them.

The program has three entries: `begin` runs what stands before the main loop, `iteration` one of its
iterations, `end` what stands behind. Sizes, the seed and all memory are arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from workbench.codegen.printing.expressions import condition_text, expression_text
from workbench.codegen.printing.kernels import KernelText, scratch_bytes, table_text
from workbench.codegen.writing.emitter import Emitter
from workbench.codegen.writing.instance_writer import InstanceWriter
from workbench.codegen.records import Invoke, KernelRecord, Loop, Require, Table, Where
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.records import Allocate, Buffer, For, Free, If, Launch, Record, walk
from workbench.lowering.values.stored import memory_order
from workbench.names import free, unique
from workbench.polyhedral.expression import Expression, variable
from workbench.polyhedral.loops.axis_blocks import axis_blocks
from workbench.polyhedral.tree import axis_dims, paths
from workbench.program.values import Program

KINDS = {"int32": "i", "int64": "l", "bool": "b"}
TYPES = {"f": "float", "d": "double", "i": "int32_t", "l": "int64_t", "b": "uint8_t"}

HEAD = """\
typedef struct Run Run;
struct Run {
    const int64_t *sizes;
    char **buffers;
    char *arena;
    const int64_t *offsets;
    char *scratch;
    int64_t seed;
    volatile int64_t stop;
    int64_t failed;
    int64_t numbers[8];
    int64_t instance[8];
    int64_t (*call)(int64_t site, const int64_t *instance, void *out, void **operands);
};
#define ROUNDED(bytes) (((bytes) + 63) / 64 * 64)
void fail(Run *run, int64_t check, int64_t n, const int64_t *numbers, int64_t m,
          const int64_t *instance);
"""

FAIL = """\
void fail(Run *run, int64_t check, int64_t n, const int64_t *numbers, int64_t m,
          const int64_t *instance) {
    if (run->failed) return;
    run->failed = check;
    for (int64_t k = 0; k < n; k++) run->numbers[k] = numbers[k];
    for (int64_t k = 0; k < m; k++) run->instance[k] = instance[k];
}
"""


@dataclass(frozen=True)
class WrittenKernel:
    """A kernel: its C name, its records, the loop variables that it is called with."""

    name: str
    launch: Launch
    records: tuple[KernelRecord, ...]
    tables: tuple[Table, ...]
    arguments: tuple[str, ...]


class ProgramWriter:
    """The kernels of a loop program of launches, and their C text for one dtype."""

    def __init__(self, program: Program, loops: LoopProgram, reserved: frozenset[str]) -> None:
        self.program = program
        self.loops = loops
        self.taken = set(reserved)
        self.names: dict[str, str] = {}
        self.checks: list[Require] = []
        self.calls: list[Invoke] = []
        self.kernels: dict[int, WrittenKernel] = {}
        assert program.schedule is not None
        self._axes = axis_dims(program.schedule)
        self._paths = paths(program.schedule)
        self._ranks = {d: n for n, d in enumerate(memory_order(program))}
        for p in program.parameters:
            self.names[p.name] = unique(_ascii(p.name), self.taken)
        for record in walk(loops.body):
            if isinstance(record, For):
                self._name(record.variable)
            elif isinstance(record, Allocate):
                self._name(record.buffer.name)
        self.buffers = {
            r.buffer.name: r.buffer for r in walk(loops.body) if isinstance(r, Allocate)
        }
        self.slots = {name: n for n, name in enumerate(self.buffers)}
        self._write(loops.body, ())

    def _name(self, name: str) -> str:
        if name not in self.names:
            self.names[name] = unique(_ascii(name), self.taken)
        return self.names[name]

    def _write(self, body: Sequence[Record], around: tuple[str, ...]) -> None:
        for record in body:
            if isinstance(record, For):
                self._write(record.body, (*around, record.variable))
            elif isinstance(record, If):
                self._write(record.body, around)
            elif isinstance(record, Launch):
                self.kernels[id(record)] = self._kernel(record, around)

    def _kernel(self, launch: Launch, around: tuple[str, ...]) -> WrittenKernel:
        statement = self.program.statement[launch.statement]
        out = Emitter(self.taken | set(self.names.values()) | set(self.names))
        writer = InstanceWriter(
            out,
            statement,
            self._axes[statement.name],
            dict(launch.values),
            self.loops.stored,
            self._ranks,
            axis_blocks(statement.name, statement.dims, self._paths[statement.name]),
        )
        writer.write()
        name = unique(_ascii(f"kernel_{launch.statement}"), self.taken)
        records = tuple(self._numbered(r, launch) for r in out.records)
        arguments = tuple(v for v in dict.fromkeys(around) if v in _variables(launch, records))
        return WrittenKernel(name, launch, records, tuple(out.tables), arguments)

    def _numbered(self, record: KernelRecord, launch: Launch) -> KernelRecord:
        """Number the checks and the calls of a kernel."""
        if isinstance(record, (Loop, Where)):
            body = tuple(self._numbered(r, launch) for r in record.body)
            return replace(record, body=body)
        if isinstance(record, Require):
            record = replace(
                record,
                number=len(self.checks) + 1,
                options=(*record.options, ("statement", launch.statement)),
            )
            self.checks.append(record)
        elif isinstance(record, Invoke) and record.function == "external":
            options = (
                *record.options,
                ("site", len(self.calls)),
                ("statement", launch.statement),
                ("instance", launch.values),
            )
            record = replace(record, options=options)
            self.calls.append(record)
        return record

    # -- text --------------------------------------------------------------------------------------

    def kind(self, dtype: str, real: str) -> str:
        """Return the letter of a dtype."""
        return KINDS.get(dtype, real)

    def kernel_text(self, kernel: WrittenKernel, real: str) -> str:
        """Return a kernel's function."""
        used = [*kernel.launch.reads, *kernel.launch.writes]
        kinds = {name: self.kind(self.buffers[name].dtype, real) for name in used}
        text = KernelText(lambda n: self.names.get(n, n), kinds, real)
        for table in kernel.tables:
            text.local[table.name] = self.kind(table.dtype, real)
            text.write(table_text(table, text.local[table.name]))
        head = f"void {kernel.name}({', '.join(['Run *run', *self._given(kernel)])}) {{"
        for p_index, p in enumerate(self.program.parameters):
            c = self.names[p.name]
            text.write(f"const int64_t {c} = run->sizes[{p_index}]; (void){c};")
        for name in dict.fromkeys(used):
            c, t = self.names[name], TYPES[kinds[name]]
            text.write(f"{t} *const {c} = ({t} *)run->buffers[{self.slots[name]}];")
        text.write("char *const scratch = run->scratch; (void)scratch;")
        text.body(kernel.records)
        return "\n".join([head, *text.lines, "}", ""])

    def _given(self, kernel: WrittenKernel) -> list[str]:
        return [f"int64_t {self.names[v]}" for v in kernel.arguments]

    def driver_text(self, real: str) -> str:
        """Return the loops around the kernels."""
        before, main, behind = split(self.loops)
        lines = [HEAD]
        for kernel in self.kernels.values():
            lines.append(f"void {kernel.name}({', '.join(['Run *run', *self._given(kernel)])});")
        lines.append(FAIL)
        self._number = 0
        for entry, records in (("begin", before), ("iteration", main.body if main else ())):
            given = ["Run *run"]
            if entry == "iteration":
                given.append(f"int64_t {self.names[main.variable] if main else 'unused'}")
            lines += [f"EXPORTED int64_t {entry}({', '.join(given)}) {{", *self._sizes()]
            lines += list(self._lines(records, 1, real))
            lines += ["    return 0;", "}"]
        lines += ["EXPORTED int64_t end(Run *run) {", *self._sizes()]
        lines += [*self._lines(behind, 1, real), "    return 0;", "}", ""]
        return "\n".join(lines)

    def _sizes(self) -> Iterator[str]:
        for k, p in enumerate(self.program.parameters):
            c = self.names[p.name]
            yield f"    const int64_t {c} = run->sizes[{k}]; (void){c};"

    def _lines(self, body: Sequence[Record], indent: int, real: str) -> Iterator[str]:
        margin = "    " * indent
        for record in body:
            if isinstance(record, For):
                v = self.names[record.variable]
                low, high = self.show(record.lower), self.show(record.upper)
                if record.backwards:
                    yield f"{margin}for (int64_t {v} = {high} - 1; {v} >= {low}; {v}--) {{"
                else:
                    yield f"{margin}for (int64_t {v} = {low}; {v} < {high}; {v}++) {{"
                yield from self._lines(record.body, indent + 1, real)
                yield f"{margin}}}"
            elif isinstance(record, If):
                yield f"{margin}if ({condition_text(record.condition, self._c)}) {{"
                yield from self._lines(record.body, indent + 1, real)
                yield f"{margin}}}"
            elif isinstance(record, Launch):
                kernel = self.kernels[id(record)]
                given = ", ".join(["run", *(self.names[v] for v in kernel.arguments)])
                yield f"{margin}if (run->stop | run->failed) return 1;"
                yield f"{margin}{kernel.name}({given});"
            elif isinstance(record, Allocate):
                yield from self._allocate(record, margin, real)
            else:
                assert isinstance(record, Free), record

    def _allocate(self, record: Allocate, margin: str, real: str) -> Iterator[str]:
        slot = self.slots[record.buffer.name]
        if record.source is not None:
            yield f"{margin}run->buffers[{slot}] = run->buffers[{self.slots[record.source]}];"
            return
        if record.buffer.initial == "nan":
            return  # a result: it has its memory from the start
        yield f"{margin}run->buffers[{slot}] = run->arena + run->offsets[{slot}];"

    def _c(self, name: str) -> str:
        return self.names[name]

    def show(self, e: Expression) -> str:
        """Return an expression as C."""
        return expression_text(e, self._c)

    @cached_property
    def scratch(self) -> tuple[Expression, ...]:
        """The bytes of scratch memory of every kernel, by paths, with floats of eight bytes."""
        return tuple(e for k in self.kernels.values() for e in scratch_bytes(k.records, 8))


def split(loops: LoopProgram) -> tuple[list[Record], For | None, list[Record]]:
    """Return what stands before the main loop, that loop, and what stands behind.

    It is the outermost loop with the most work: its iterations count as progress.
    """
    outermost = [r for r in loops.body if isinstance(r, For)]
    main = max(outermost, key=lambda loop: sum(1 for _ in walk(loop.body)), default=None)
    if main is None:
        return list(loops.body), None, []
    at = next(k for k, r in enumerate(loops.body) if r is main)
    return list(loops.body[:at]), main, list(loops.body[at + 1 :])


def offsets(loops: LoopProgram, sizes: Mapping[str, int], real: int) -> tuple[dict[str, int], int]:
    """Return the place of every buffer in one arena, and the arena's bytes.

    A buffer gets the first gap that is large enough among those held when it is allocated.
    """
    item = {"int32": 4, "int64": 8, "bool": 1}
    held: dict[str, tuple[int, int]] = {}
    owner: dict[str, str] = {}
    places: dict[str, int] = {}
    top = 0

    def allocate(buffer: Buffer) -> None:
        nonlocal top
        n = buffer.elements.evaluate(sizes) * item.get(buffer.dtype, real)
        n = (n + 64 + 63) // 64 * 64
        at = 0
        for low, high in sorted(held.values()):
            if low - at >= n:
                break
            at = max(at, high)
        held[buffer.name] = (at, at + n)
        owner[buffer.name] = buffer.name
        places[buffer.name] = at
        top = max(top, at + n)

    for record in walk(loops.body):
        if isinstance(record, Allocate):
            if record.source is not None:
                owner[record.buffer.name] = owner[record.source]
            elif record.buffer.initial != "nan":
                allocate(record.buffer)
        elif isinstance(record, Free):
            held.pop(owner[record.name], None)
    return places, top


def _variables(launch: Launch, records: Sequence[KernelRecord]) -> set[str]:
    return {v for _, e in launch.values for v in e.variables}


def _ascii(name: str) -> str:
    text = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return f"x{text}" if not text or text[0].isdigit() else text


