"""Kernels as functions in CUDA text, and what each is to be given."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from math import prod

from workbench.codegen.bodies.addresses import apart, outside
from workbench.codegen.cuda.functions import Function, Stages
from workbench.codegen.cuda.headers import unit_begin
from workbench.codegen.cuda.kernel_parts import (
    BLOCKS,
    SIDE_BY_SIDE_BLOCKS,
    KernelPart,
    PartWriter,
)
from workbench.codegen.cuda.memory.block_places import Piece, rounded
from workbench.codegen.cuda.permutations import sorting
from workbench.codegen.cuda.small_kernels import ends_stage, is_wide, left_by
from workbench.codegen.cuda.threads.sharing import most_lanes
from workbench.codegen.cuda.threads.thread_accesses import pieces
from workbench.codegen.cuda.threads.thread_code import memory_of
from workbench.codegen.cuda.threads.thread_text import ThreadText
from workbench.codegen.cuda.threads.warps import NUMBER
from workbench.codegen.joined_launches import memory_in
from workbench.codegen.kernel_records import (
    Invoke,
    KernelRecord,
    Loop,
    Scratch,
    Serves,
    walk,
)
from workbench.codegen.kernel_work import BYTES
from workbench.codegen.kernels import KernelRecords, ProgramKernels
from workbench.codegen.printing.c_expressions import expression_text
from workbench.codegen.printing.c_names import C_WORDS, CNames, c_name
from workbench.codegen.printing.value_text import KINDS, REALS, STORED
from workbench.errors import ProgramError
from workbench.lowering.loops.bytes import FLOAT_BYTES
from workbench.lowering.loops.records import For
from workbench.lowering.loops.records import walk as walk_program
from workbench.names import unique
from workbench.polyhedral.expression import Expression, expression, maximum
from workbench.program.operations.table import OPERATIONS

THREADS_OF_LANE = 8
"""The threads that share the rows of a lane."""

LEAST_THREADS = 128
LEAST_OF_BLOCKS = 256
"""The fewest threads of a block, and those that share the rows of few lanes: a multiprocessor that
has only one block of the program then has two warps for each of its schedulers.
"""

_WORD = re.compile(r"[A-Za-z_]\w*")
_USED = f"""
{C_WORDS}
class new delete this template typename operator private public
protected virtual friend using namespace try catch throw bool true false and or not xor
run thread lane row active shared own_memory own_bytes first_block behind_blocks
TILE ROWS THREADS FORGET warp
"""
"""Words of C and C++, and names that the text uses itself."""

BLOCKS_OF = "BLOCKS_OF"
"""What this and the name of a kernel are defined as, so many blocks are to have registers side by
side on a multiprocessor.
"""
FEW_REGISTERS = "FEW_REGISTERS"
"""Where this and the name of a kernel are defined, it keeps no places of lanes from tile to
tile."""

MOST_THREADS = 1024
"""Those that a block may have. A block that sorts a permutation, alone, has so many."""
ROW_THREADS = 512
"""Those of a block that runs small kernels in a row, alone: twice as many have too few registers
for what stands in them.
"""

OF_WARPS = 512
"""The threads of a block each of whose warps runs blocks of the program: while one waits for
memory, the others run.
"""


class FunctionWriter:
    """A writer of kernels as functions, for one dtype of floats."""

    def __init__(self, made: ProgramKernels, dtype: str) -> None:
        self.made = made
        self.dtype = dtype
        self.taken = {*_USED.split(), *(w for w in _WORD.findall(unit_begin()) if len(w) > 1)}
        self.names: dict[str, str] = {}
        self.memory = memory_in(made.loops)
        self.in_main_loop = False
        """True while kernels of the main loop are written, whose variable is in the run's state."""
        self.main = made.loops.main_loop
        self.dtypes = {name: buffer.dtype for name, buffer in made.buffers.items()}
        """The dtype of each array: of buffers, values from outside and what calls hand on."""
        self.sizes = [p.name for p in made.program.parameters]
        for call in (c for s in made.program.statements for c in s.calls):
            if OPERATIONS[call.operation].given:
                self.dtypes[outside(call)] = call.dtype
                self.sizes += apart(call)
        self.sizes = list(dict.fromkeys(self.sizes))
        for name in self.sizes:
            self._name(name)
        for record in walk_program(made.loops.body):
            if isinstance(record, For):
                self._name(record.variable)
        for name in self.dtypes:
            self._name(name)
        self.parts = PartWriter(made, dtype, self.names)

    def stages(self, kernel: KernelRecords) -> Stages:
        """Return what a kernel becomes that calls an external object or draws a permutation.
        Raises ProgramError where an object is called in a loop of the kernel.
        """
        self._expect_calls_outside(kernel)
        drawn = [r for r in kernel.records if isinstance(r, Invoke) and r.function == "permutation"]
        words = {name for record in drawn for name, _ in record.operands}
        top = [r for r in kernel.records if isinstance(r, Scratch) and r.name not in words]
        memory = {record.name: (record.dtype, record.elements) for record in top}
        for name, (dtype, _) in memory.items():
            self._hold(name, dtype)
        stages: list[Function | Invoke] = []
        between: list[KernelRecord] = []
        serving: list[KernelRecord] = []

        def add(*records: KernelRecord, blocks: Expression | None = None) -> None:
            buffers = (*kernel.buffers, *memory)
            one = replace(kernel, records=records, buffers=buffers)
            stages.append(self.function([one], blocks))

        def close() -> None:
            if not all(isinstance(record, Serves) for record in between):
                add(*between)
            between.clear()

        for record in kernel.records:
            if not ends_stage(record):
                if isinstance(record, Serves):
                    serving = [record]
                if not isinstance(record, Scratch):
                    between.append(record)
                continue
            close()
            assert isinstance(record, Invoke)
            if record.function == "external":
                stages.append(record)
                continue
            made = sorting(record, lambda wish: unique(wish, {*self.dtypes, *kernel.variables}))
            memory[made.counts] = "int32", made.elements
            self._hold(made.counts, "int32")
            for stage, blocks in made.stages:
                add(*serving, stage, blocks=blocks)
        close()
        return Stages(tuple(stages), memory)

    def _hold(self, name: str, dtype: str) -> None:
        """Make the memory of stages known."""
        self.dtypes[name] = dtype
        self._name(name)

    def _expect_calls_outside(self, kernel: KernelRecords) -> None:
        """Raise ProgramError where a kernel's loop calls an external object."""
        inside = tuple(record for record in kernel.records if not isinstance(record, Invoke))
        for record in walk(inside):
            if isinstance(record, Invoke) and record.function == "external":
                called = f"{record.option['name']}.{record.option['method']}"
                statement = self.made.program.statement[record.option["statement"]]
                raise ProgramError(
                    f"{statement.name} calls {called} inside of blocks that a GPU runs; only the "
                    f"host can call it: take it out of their loop with Distribute",
                    statement.line,
                )

    def function(
        self, kernels: Sequence[KernelRecords], blocks: Expression | None = None
    ) -> Function:
        """Return kernels as a function: of several, a block runs one after the other. Only the last
        may have blocks that are dealt: then each runs all. Of wide ones many blocks share the
        elements. One of a permutation's stages is run by so many `blocks`.
        """
        stage = _stage(kernels[0]) if blocks is not None else ""
        name = unique(c_name(f"kernel_{_title(kernels)}{stage}"), self.taken)
        lanes = max(most_lanes(kernel.records) for kernel in kernels)
        dealing = kernels[-1].dealing
        many = len(kernels) == 1 or dealing is not None or is_wide(self.made, kernels[0])
        threads = _threads(kernels, lanes, many)
        own = self._own_arrays(kernels[:-1]) if dealing is not None else {}
        begin = max((piece.end for piece in own.values()), default=0)
        parts = self.parts.parts(kernels, lanes, threads, begin)
        if parts[-1].is_by_warps:
            of_more = self.parts.parts(kernels, lanes, OF_WARPS, begin)
            if of_more[-1].is_by_warps:
                threads, parts = OF_WARPS, of_more
        shared = [part.shared_elements for part in parts] if many else []
        elements = [one for one in shared if one is not None]
        by_all_blocks = bool(shared) and len(elements) == len(shared)
        assert by_all_blocks or dealing is not None or len(kernels) == 1 or not many, name
        lines = [
            f"    SHARED({self._stored(n)}, {self.names[n]}, {piece.begin}, {piece.elements})"
            for n, piece in own.items()
        ]
        for part in parts:
            text = self._text(part, by_all_blocks).lines
            lines += text if len(parts) == 1 else _among_others(part, text)
        if blocks is not None:
            assert not by_all_blocks and dealing is None, name
        elif by_all_blocks:
            needed = ((one.turns + threads - 1) // threads for one in elements)
            blocks = reduce(maximum, needed)
        elif dealing is not None:
            blocks = dealing.chunks
        else:
            blocks = expression(1)
        words = {word for line in lines for word in _WORD.findall(line)}
        used = dict.fromkeys(n for k in kernels for n in self._arrays(k) if n not in k.own)
        arrays = [n for n in used if n not in own and self.names[n] in words]
        around = dict.fromkeys(v for kernel in kernels for v in kernel.variables)
        numbers = [n for n in (*self.sizes, *around) if self.names[n] in words]
        if self.in_main_loop and self.main is not None and self.main.variable in numbers:
            numbers.remove(self.main.variable)
            lines.insert(0, f"    const int64_t {self.names[self.main.variable]} = ITERATION;")
        return Function(
            name=name,
            text=self._function(name, threads, lanes, arrays, numbers, lines, many),
            kernels=tuple(kernels),
            threads=threads,
            shared_bytes=max(
                *(part.places.shared_bytes for part in parts), *(p.end for p in own.values()), 0
            ),
            own_bytes=reduce(maximum, (part.places.other_bytes for part in parts)),
            blocks=blocks,
            arrays=tuple(arrays),
            sizes=tuple(n for n in numbers if n not in around),
            variables=tuple(n for n in numbers if n in around),
            barriers=tuple(one for part in parts for one in part.barriers.items()),
            by_pieces=_widest(kernels) >= threads,
        )

    def _function(
        self,
        name: str,
        threads: int,
        lanes: int,
        arrays: Iterable[str],
        numbers: Iterable[str],
        lines: Sequence[str],
        many: bool,
    ) -> str:
        given = [
            "Run *run, unsigned char *own_memory, int64_t own_bytes",
            *(f"ARRAY({self._stored(n)}) {self.names[n]}" for n in arrays),
            *(f"int64_t {self.names[n]}" for n in numbers),
        ]
        blocks = f"{BLOCKS_OF}_{name}"
        head = [
            f"#undef THREADS\n#define THREADS {threads}",
            *(_forgetting(name) if any(line.strip() == "FORGET" for line in lines) else ()),
            *([f"#ifndef {blocks}", f"#define {blocks} {SIDE_BY_SIDE_BLOCKS}", "#endif"] * many),
            f"KERNEL({name}, THREADS, {blocks if many else 1})({', '.join(given)}) {{",
            "    SHARED_MEMORY",
            f"    enum {{ TILE = {lanes}, ROWS = THREADS / TILE }};",
            "    const int thread = THREAD;",
            "    int lane = thread % TILE, row = thread / TILE;",
            "    (void)run, (void)own_memory, (void)own_bytes, (void)shared;",
            "    (void)lane, (void)row;",
        ]
        return "\n".join([*head, *lines, "}", ""])

    def _arrays(self, kernel: KernelRecords) -> Iterator[str]:
        """Yield the arrays of a kernel, and the values from outside that it reads."""
        yield from kernel.buffers
        for name in kernel.statements:
            for call in self.made.program.statement[name].calls:
                if OPERATIONS[call.operation].given:
                    yield outside(call)

    def _own_arrays(self, kernels: Sequence[KernelRecords]) -> dict[str, Piece]:
        """Return where a block keeps the arrays of kernels that it runs for itself."""
        pieces: dict[str, Piece] = {}
        places: dict[str, Piece] = {}
        end = 0
        for name in sorted(left_by(self.made, kernels)):
            buffer, memory = self.made.buffers[name], self.memory.get(name, name)
            item = BYTES.get(buffer.dtype, FLOAT_BYTES[self.dtype])
            if memory not in pieces:
                pieces[memory] = Piece(end, buffer.elements.constant, item)
                end = rounded(pieces[memory].end)
            places[name] = Piece(pieces[memory].begin, buffer.elements.constant, item)
        return places

    def _text(self, part: KernelPart, by_all_blocks: bool) -> ThreadText:
        kernel, codes, places = part.kernel, part.codes, part.places
        local = CNames(self.names, set(self.taken))
        scratch = {m.record.name: m for m in memory_of(codes)}
        kinds = {n: self._kind(self.dtypes[n]) for n in self._arrays(kernel)}
        kinds |= {name: self._kind(m.record.dtype) for name, m in scratch.items()}
        dealt = {name: m for name, m in scratch.items() if m.each in ("lane", "thread")}
        each = {name: (m.each, m.times) for name, m in dealt.items()}
        text = ThreadText(local, kinds, REALS[self.dtype], each)
        text.by_all_blocks = by_all_blocks
        text.tables(kernel.tables)
        local.own |= {NUMBER: "warp"}
        if part.is_by_warps:
            text.write("const int64_t warp = THREAD / WARP;")
        for name, piece in places.shared.items():
            first = f"{piece.begin} + {piece.stride} * warp" if piece.stride else piece.begin
            text.write(f"SHARED({STORED[kinds[name]]}, {local(name)}, {first}, {piece.elements})")
        for name, begin in places.other.items():
            if name in scratch:
                asked = scratch[name].record.elements * scratch[name].times
            else:
                asked = self.made.buffers[name].elements
            elements = expression_text(asked, local)
            given = f"{STORED[kinds[name]]}, {local(name)}, own_memory + BLOCK * own_bytes"
            text.write(f"OWN({given}, {expression_text(begin, local)}, {elements})")
        self._name_blocks(kernel, local, text)
        text.codes(codes[1:] if part.waits else codes)
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
        first, behind = BLOCKS
        text.write(f"const int64_t {first} = chunk_begin({given}, {chunk});")
        text.write(f"const int64_t {behind} = chunk_begin({given}, {chunk} + 1);")
        local.own |= {name: name for name in BLOCKS}

    def _kind(self, dtype: str) -> str:
        return KINDS.get(dtype, REALS[self.dtype])

    def _stored(self, name: str) -> str:
        return STORED[self._kind(self.dtypes[name])]

    def _name(self, name: str) -> None:
        if name not in self.names:
            self.names[name] = unique(c_name(name), self.taken)


def _forgetting(name: str) -> Iterator[str]:
    """Yield the lines that define the word by which a kernel with few registers forgets places."""
    yield "#undef FORGET"
    yield f"#ifdef {FEW_REGISTERS}_{name}"
    yield "#define FORGET AFRESH(lane) AFRESH(row)"
    yield from ("#else", "#define FORGET", "#endif")


def _among_others(part: KernelPart, lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a kernel in a function with others, which may have other threads."""
    begin, threads = part.placed.begin, part.placed.threads
    if part.waits:
        yield "    BARRIER"
    yield "    {"
    if begin:
        yield f"    const int thread = (THREAD + THREADS - {begin}) % THREADS;"
    if threads is None:
        yield from lines
    else:
        yield from (f"    if (thread < {threads}) {{", *lines, "    }")
    yield "    }"


def _threads(kernels: Sequence[KernelRecords], lanes: int, many: bool) -> int:
    """Return the threads of a block, of which there are `many` or only one: as many for each lane.
    Raises ProgramError where a tile has more lanes than a block has threads.
    """
    if lanes > MOST_THREADS:
        raise ProgramError(
            f"{kernels[-1].statements[0]} has tiles of {lanes} lanes; on a GPU a block has at most "
            f"{MOST_THREADS} threads, one for each lane: take smaller blocks"
        )
    records = walk(tuple(record for kernel in kernels for record in kernel.records))
    if any(isinstance(r, Invoke) and r.function.startswith("permutation") for r in records):
        wanted = MOST_THREADS
    elif many:
        least = LEAST_THREADS if kernels[-1].dealing is None else LEAST_OF_BLOCKS
        wanted = max(least, THREADS_OF_LANE * lanes)
    else:
        wanted = ROW_THREADS
    return min(-(-wanted // lanes), MOST_THREADS // lanes) * lanes


def _widest(kernels: Sequence[KernelRecords]) -> int:
    """Return how many threads the widest product of a block can have, each with a whole piece."""
    records = walk(tuple(record for kernel in kernels for record in kernel.records))
    products = [r for r in records if isinstance(r, Invoke) and r.function == "product"]
    return max((prod(n or 1 for n in pieces(record)) for record in products), default=0)


def _stage(kernel: KernelRecords) -> str:
    """Return what the name of a stage ends with: the last word of its function."""
    record = kernel.records[-1]
    assert isinstance(record, Invoke)
    return f"_{record.function.split()[-1]}"


def _title(kernels: Sequence[KernelRecords]) -> str:
    """Return the name of kernels in a row: that of the first statement, and how many more."""
    first, *more = dict.fromkeys(s for kernel in kernels for s in kernel.statements)
    return f"{first} and {len(more)} more" if more else first
