"""Kernels as functions in CUDA text, and what each is to be given."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from workbench.codegen.cuda.barriers import Block, with_barriers
from workbench.codegen.cuda.block_places import BlockPlaces
from workbench.codegen.cuda.headers import unit_begin
from workbench.codegen.cuda.thread_code import (
    Around,
    Code,
    memory_of,
    most_lanes,
    shared_out,
)
from workbench.codegen.cuda.thread_text import ThreadText
from workbench.codegen.joined_launches import memory_in
from workbench.codegen.kernel_records import Invoke, KernelRecord, Loop, Prefetch, walk
from workbench.codegen.kernels import KernelRecords, ProgramKernels
from workbench.codegen.printing.c_expressions import expression_text
from workbench.codegen.printing.c_names import CNames, c_name, title
from workbench.codegen.printing.value_text import KINDS, STORED
from workbench.lowering.loops.records import For
from workbench.lowering.loops.records import walk as walk_program
from workbench.names import unique
from workbench.polyhedral.expression import Expression, expression, variable

REALS = {"float32": "f", "float64": "d"}

THREADS_OF_LANE = 4
"""The threads that share the rows of a lane."""

LEAST_THREADS = 128

_WORD = re.compile(r"[A-Za-z_]\w*")
_USED = """
auto break case char const continue default do double else enum extern float for goto if int long
register restrict return short signed sizeof static struct switch typedef union unsigned void
volatile while inline asm typeof class new delete this template typename operator private public
protected virtual friend using namespace try catch throw bool true false and or not xor
run thread lane row active shared own_memory own_bytes first_block behind_blocks
TILE ROWS THREADS
"""
"""Words of C and C++, and names that the text uses itself."""
_BLOCKS = {"first_block": "first_block", "behind_blocks": "behind_blocks"}

TOGETHER = frozenset(("product", "lane_sums", "turned"))
"""The functions that all threads of a block run together."""


@dataclass(frozen=True)
class Function:
    """A kernel as a function: its CUDA text, and how it is launched: `blocks` blocks of so many
    threads and bytes of shared memory, with `own_bytes` of other memory for each block. It is given
    `arrays`, then the values of `sizes` and of `variables`.
    """

    name: str
    text: str = field(repr=False)
    kernel: KernelRecords = field(repr=False)
    threads: int
    shared_bytes: int
    own_bytes: Expression
    blocks: Expression
    arrays: tuple[str, ...]
    sizes: tuple[str, ...]
    variables: tuple[str, ...]


def functions(made: ProgramKernels, dtype: str) -> Iterator[Function | None]:
    """Yield the kernels of a program as functions, for one dtype of floats. There is none for a
    kernel that calls what one thread runs alone.
    """
    writer = _Writer(made, dtype)
    for kernel in made.kernels:
        calls = (r for r in walk(kernel.records) if isinstance(r, Invoke))
        yield writer.function(kernel) if all(c.function in TOGETHER for c in calls) else None


class _Writer:
    def __init__(self, made: ProgramKernels, dtype: str) -> None:
        self.made = made
        self.dtype = dtype
        self.taken = {*_USED.split(), *(w for w in _WORD.findall(unit_begin()) if len(w) > 1)}
        self.names: dict[str, str] = {}
        self.memory = memory_in(made.loops)
        for parameter in made.program.parameters:
            self._name(parameter.name)
        for record in walk_program(made.loops.body):
            if isinstance(record, For):
                self._name(record.variable)
        for name in made.buffers:
            self._name(name)

    def function(self, kernel: KernelRecords) -> Function:
        """Return a kernel as a function."""
        name = unique(c_name(f"kernel_{title(kernel)}"), self.taken)
        lanes = most_lanes(kernel.records)
        codes = self._shared_out(kernel, lanes)
        places = BlockPlaces.of(self.made, kernel, codes, self.dtype)
        codes = with_barriers(codes, self._block(kernel, lanes, places))
        text = self._text(kernel, codes, lanes, places)
        threads = max(LEAST_THREADS, THREADS_OF_LANE * lanes)
        words = {word for line in text.lines for word in _WORD.findall(line)}
        arrays = tuple(n for n in kernel.buffers if n not in kernel.own)
        sizes = tuple(p.name for p in self.made.program.parameters if self.names[p.name] in words)
        variables = tuple(v for v in kernel.variables if self.names[v] in words)
        given = [
            "Run *run, unsigned char *own_memory, int64_t own_bytes",
            *(f"ARRAY({self._stored(n)}) {self.names[n]}" for n in arrays),
            *(f"int64_t {self.names[n]}" for n in (*sizes, *variables)),
        ]
        lines = [
            f"#undef THREADS\n#define THREADS {threads}",
            f"KERNEL({name}, THREADS)({', '.join(given)}) {{",
            "    SHARED_MEMORY",
            f"    enum {{ TILE = {lanes}, ROWS = THREADS / TILE }};",
            "    const int thread = THREAD, lane = thread % TILE, row = thread / TILE;",
            "    (void)run, (void)own_memory, (void)own_bytes, (void)shared;",
            "    (void)lane, (void)row;",
            *text.lines,
            "}",
            "",
        ]
        blocks = expression(1) if kernel.dealing is None else kernel.dealing.chunks
        return Function(
            name, "\n".join(lines), kernel, threads, places.shared_bytes, places.other_bytes,
            blocks, arrays, sizes, variables,
        )  # fmt: skip

    def _shared_out(self, kernel: KernelRecords, lanes: int) -> tuple[Code, ...]:
        """Return the code of a kernel's threads: of one chunk, where its blocks are dealt."""
        names = {*kernel.buffers, *self.names, *(t.name for t in kernel.tables)}
        records = _without_hints(kernel.records)
        if kernel.dealing is None:
            return shared_out(records, lanes, names)
        *before, blocks = records
        assert isinstance(blocks, Loop)
        begun: list[KernelRecord] = []
        for record in before:
            ours = isinstance(record, Loop) and record.variable == kernel.chunk
            begun += record.body if ours and isinstance(record, Loop) else [record]
        first, behind = map(variable, _BLOCKS)
        inside = shared_out(blocks.body, lanes, names)
        around = Around(replace(blocks, lower=first, upper=behind), inside)
        return (*shared_out(begun, lanes, names), around)

    def _text(
        self, kernel: KernelRecords, codes: Sequence[Code], lanes: int, places: BlockPlaces
    ) -> ThreadText:
        local = CNames(self.names, set(self.taken))
        scratch = {m.record.name: m for m in memory_of(codes)}
        kinds = {n: self._kind(self.made.buffers[n].dtype) for n in kernel.buffers}
        kinds |= {name: self._kind(m.record.dtype) for name, m in scratch.items()}
        by_lane = frozenset(name for name, m in scratch.items() if m.lanes > 1)
        text = ThreadText(local, kinds, REALS[self.dtype], lanes, by_lane)
        text.tables(kernel.tables)
        for name, piece in places.shared.items():
            given = f"{STORED[kinds[name]]}, {local(name)}, {piece.begin}, {piece.elements}"
            text.write(f"SHARED({given})")
        for name, begin in places.other.items():
            elements = expression_text(self.made.buffers[name].elements, local)
            given = f"{STORED[kinds[name]]}, {local(name)}, own_memory + BLOCK * own_bytes"
            text.write(f"OWN({given}, {expression_text(begin, local)}, {elements})")
        self._name_blocks(kernel, local, text)
        text.codes(codes)
        return text

    def _name_blocks(self, kernel: KernelRecords, local: CNames, text: ThreadText) -> None:
        """Write down the chunk that a block of threads runs, and the blocks in it."""
        dealing, blocks = kernel.dealing, kernel.records[-1]
        if dealing is None:
            return
        assert isinstance(blocks, Loop)
        numbers = (blocks.lower, blocks.upper, dealing.first, dealing.blocks, dealing.chunks)
        given = ", ".join(expression_text(e, local) for e in numbers)
        chunk = local(kernel.chunk)
        text.write(f"const int64_t {chunk} = BLOCK;")
        text.write(f"const int64_t first_block = chunk_begin({given}, {chunk});")
        text.write(f"const int64_t behind_blocks = chunk_begin({given}, {chunk} + 1);")
        local.own |= _BLOCKS

    def _block(self, kernel: KernelRecords, lanes: int, places: BlockPlaces) -> Block:
        """Return what is known of the block that runs code."""
        last = kernel.records[-1]
        number = last.variable if kernel.dealing is not None and isinstance(last, Loop) else ""
        own = frozenset((*kernel.own, *places.shared))
        columns = {name: piece.column(lanes) for name, piece in places.shared.items()}
        return Block(lanes, partial(self._meet, places), own, columns, number)

    def _meet(self, places: BlockPlaces, one: str, other: str) -> bool:
        """Tell whether two buffers may have memory in common."""
        shared = places.shared
        if one in shared and other in shared:
            return shared[one].meets(shared[other])
        return self.memory.get(one, one) == self.memory.get(other, other)

    def _kind(self, dtype: str) -> str:
        return KINDS.get(dtype, REALS[self.dtype])

    def _stored(self, name: str) -> str:
        return STORED[self._kind(self.made.buffers[name].dtype)]

    def _name(self, name: str) -> None:
        if name not in self.names:
            self.names[name] = unique(c_name(name), self.taken)


def _without_hints(records: Sequence[KernelRecord]) -> tuple[KernelRecord, ...]:
    """Return records without loops that ask for what is read soon: while a block waits, others of
    the same multiprocessor run.
    """
    kept: list[KernelRecord] = []
    for record in records:
        if isinstance(record, Loop):
            if any(isinstance(inside, Prefetch) for inside in record.body):
                continue
            record = replace(record, body=_without_hints(record.body))
        kept.append(record)
    return tuple(kept)
