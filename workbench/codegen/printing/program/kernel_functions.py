"""A kernel as a C function, which finds its sizes, buffers and values by itself. One whose blocks
are dealt to threads is two: what some blocks do, and what lets threads run them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workbench.codegen.bodies.addresses import apart, outside
from workbench.codegen.kernel_records import Invoke
from workbench.codegen.kernel_records import Loop as KernelLoop
from workbench.codegen.kernel_records import walk as walk_kernel
from workbench.codegen.kernels import KernelRecords, ProgramKernels
from workbench.codegen.printing.c_names import CNames
from workbench.codegen.printing.kernel_text import KernelText
from workbench.codegen.printing.program.equal_kernels import PLACES
from workbench.codegen.printing.program.program_names import WORD, ProgramNames
from workbench.codegen.printing.value_text import STORED
from workbench.lowering.loops.records import HOST
from workbench.program.operations.table import OPERATIONS


@dataclass(frozen=True)
class KernelFunction:
    """A kernel's text as a function of its own."""

    text: str
    own: set[str] | None
    """The names that are its own; None where its blocks are dealt to threads."""
    alone: bool
    """True if it runs beside no other: with memory of the run, or calls to Python."""


def declared(names: ProgramNames, function: str, kernel: KernelRecords, told: bool = False) -> str:
    """Return how the function of a kernel is declared, which may be `told` its places."""
    given = ["Run *run", *(f"int64_t {names.of(v)}" for v in kernel.variables)]
    given[1:1] = [f"const int32_t *{PLACES}"] if told else []
    return f"void {function}({', '.join(given)})"


@dataclass
class KernelFunctions:
    """A writer of a program's kernels, each as a function of its own."""

    made: ProgramKernels
    names: ProgramNames

    def of(self, function: str, kernel: KernelRecords, number: int) -> KernelFunction:
        """Return a kernel as a function of that name; `number` is the kernel's."""
        used = kernel.buffers
        kinds = {name: self.names.kind(self.made.buffers[name].dtype) for name in used}
        local = CNames(self.names.names, set(self.names.taken))
        text = KernelText(local, kinds, self.names.real, self.made.padded)
        for table in kernel.tables:
            text.table(table)
        for name in used:
            c, kind = self.names.of(name), STORED[kinds[name]]
            text.write(f"{kind} *const {c} = ({kind} *){self._place(name, kernel)};")
        if kernel.dealing is None:
            text.body(kernel.records)
        else:
            text.chunk(kernel.chunk, kernel.records)
        lines = [*self._given(kernel, local), *text.lines]
        alone = any(isinstance(r, Invoke) for r in walk_kernel(kernel.records))
        if any("scratch" in WORD.findall(line) for line in lines):
            alone = True
            memory = "arena" if kernel.dealing is None else "own"
            lines.insert(0, f"    char *const scratch = run->{memory} + run->scratch[{number}];")
        whole = declared(self.names, function, kernel)
        if kernel.dealing is None:
            own = {*self.names.names.values(), *local.own.values()}
            return KernelFunction(self._function(whole, lines), own, alone)
        given = f"int64_t {local(kernel.chunk)}, int64_t first_block, int64_t behind_blocks"
        blocks_of = f"static void blocks_of_{function}(Run *run, const int64_t *outer, {given})"
        lines = [*self._outer(kernel, lines), *lines]
        dealt = self._function(whole, [self._dealt(function, kernel)])
        return KernelFunction(f"{self._function(blocks_of, lines)}\n{dealt}", None, alone)

    def _function(self, declared: str, lines: Sequence[str]) -> str:
        """Return a function, which finds the sizes that it needs."""
        return "\n".join([f"{declared} {{", *self.names.sizes_in(lines), *lines, "}", ""])

    def _outer(self, kernel: KernelRecords, lines: Sequence[str]) -> Iterator[str]:
        """Yield the lines that find the outer loops' values of which some lines speak."""
        words = {word for line in lines for word in WORD.findall(line)}
        for k, variable in enumerate(kernel.variables):
            name = self.names.of(variable)
            if name in words:
                yield f"    const int64_t {name} = outer[{k}];"

    def _place(self, name: str, kernel: KernelRecords) -> str:
        """Return where a buffer is: in the memory of the thread, if it is one of a block."""
        if name in kernel.own:
            own = "own_host" if self.made.buffers[name].space == HOST else "own"
            return f"(run->{own} + run->own_places[{self.names.slots[kernel.own[name]]}])"
        return f"run->buffers[{self.names.slots[name]}]"

    def _dealt(self, function: str, kernel: KernelRecords) -> str:
        """Return the line that lets threads run the blocks of a kernel."""
        blocks, dealing = kernel.records[-1], kernel.dealing
        assert isinstance(blocks, KernelLoop) and dealing is not None
        outer = ", ".join(self.names.of(v) for v in kernel.variables) or "0"
        numbers = (blocks.lower, blocks.upper, dealing.first, dealing.blocks, dealing.chunks)
        given = ", ".join(map(self.names.show, numbers))
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
            kind = self.names.stored(call.dtype)
            where = f"({kind} *)run->given[{numbers[name]}]"
            yield f"    const {kind} *const {local(outside(call))} = {where};"
            for step in apart(call):
                yield f"    const int64_t {local(step)} = run->apart[{first[step]}];"
