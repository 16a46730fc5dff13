"""Kernels as functions in CUDA text, and what each is to be given."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce

from workbench.codegen.cuda.barriers import Barriers, Block
from workbench.codegen.cuda.block_places import BlockPlaces, Piece, rounded
from workbench.codegen.cuda.headers import unit_begin
from workbench.codegen.cuda.small_kernels import is_of_host, left_by, small_in_a_row
from workbench.codegen.cuda.thread_code import (
    Around,
    Code,
    Elements,
    Everywhere,
    memory_of,
    most_lanes,
    shared_out,
)
from workbench.codegen.cuda.thread_text import ThreadText
from workbench.codegen.joined_launches import memory_in
from workbench.codegen.kernel_records import (
    Invoke,
    KernelRecord,
    Let,
    Loop,
    Prefetch,
    Serves,
    Variable,
    walk,
)
from workbench.codegen.kernel_work import BYTES
from workbench.codegen.kernels import KernelRecords, ProgramKernels
from workbench.codegen.printing.c_expressions import expression_text
from workbench.codegen.printing.c_names import C_WORDS, CNames, c_name
from workbench.codegen.printing.value_text import KINDS, REALS, STORED
from workbench.lowering.loops.bytes import FLOAT_BYTES
from workbench.lowering.loops.records import For
from workbench.lowering.loops.records import walk as walk_program
from workbench.names import unique
from workbench.polyhedral.expression import Expression, expression, maximum, variable

THREADS_OF_LANE = 4
"""The threads that share the rows of a lane."""

LEAST_THREADS = 128

_WORD = re.compile(r"[A-Za-z_]\w*")
_USED = f"""
{C_WORDS}
class new delete this template typename operator private public
protected virtual friend using namespace try catch throw bool true false and or not xor
run thread lane row active shared own_memory own_bytes first_block behind_blocks
TILE ROWS THREADS
"""
"""Words of C and C++, and names that the text uses itself."""
_BLOCKS = {"first_block": "first_block", "behind_blocks": "behind_blocks"}

MANY_THREADS = 1024
"""Those of a block that is alone: it sorts a permutation, or runs small kernels in a row."""


@dataclass(frozen=True)
class Function:
    """Kernels as one function: its CUDA text, and how it is launched: `blocks` blocks of so many
    threads and bytes of shared memory, with `own_bytes` of other memory for each block. It is given
    `arrays`, then the values of `sizes` and of `variables`. It runs where the last of its kernels
    stands.
    """

    name: str
    text: str = field(repr=False)
    kernels: tuple[KernelRecords, ...] = field(repr=False)
    threads: int
    shared_bytes: int
    own_bytes: Expression
    blocks: Expression
    arrays: tuple[str, ...]
    sizes: tuple[str, ...]
    variables: tuple[str, ...]


def functions(made: ProgramKernels, dtype: str) -> Iterator[Function | None]:
    """Yield the kernels of a program as functions, for one dtype of floats. Small ones in a row are
    one. There is none for what the host does: to call an external object, and to hand over values
    from outside.
    """
    writer = _Writer(made, dtype)
    for row in small_in_a_row(made):
        kernels = [made.kernels[number] for number in row]
        yield None if is_of_host(made.program, kernels[0]) else writer.function(kernels)


@dataclass(frozen=True)
class _Part:
    """A kernel in a function: its code and its memory."""

    kernel: KernelRecords
    codes: tuple[Code, ...]
    places: BlockPlaces


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

    def function(self, kernels: Sequence[KernelRecords]) -> Function:
        """Return kernels as a function: of several, a block runs one after the other. Only the last
        may have blocks that are dealt: then each runs all.
        """
        name = unique(c_name(f"kernel_{_title(kernels)}"), self.taken)
        lanes = max(most_lanes(kernel.records) for kernel in kernels)
        dealing = kernels[-1].dealing
        alone = len(kernels) == 1 or dealing is not None
        threads = _threads(kernels[-1], lanes) if alone else MANY_THREADS
        own = self._own_arrays(kernels[:-1]) if dealing is not None else {}
        parts = self._parts(kernels, lanes, threads, max((p.end for p in own.values()), default=0))
        elements = _shared_by_blocks(parts[0]) if len(parts) == 1 else None
        lines = [
            f"    SHARED({self._stored(n)}, {self.names[n]}, {piece.begin}, {piece.elements})"
            for n, piece in own.items()
        ]
        for part in parts:
            text = self._text(part, elements is not None).lines
            lines += text if len(parts) == 1 else ["    {", *text, "    }"]
        blocks = expression(1)
        if elements is not None:
            blocks = (elements.turns + threads - 1) // threads
        elif dealing is not None:
            blocks = dealing.chunks
        words = {word for line in lines for word in _WORD.findall(line)}
        used = dict.fromkeys(n for k in kernels for n in k.buffers if n not in k.own)
        arrays = [n for n in used if n not in own]
        around = dict.fromkeys(v for kernel in kernels for v in kernel.variables)
        sizes = (p.name for p in self.made.program.parameters)
        numbers = [n for n in (*sizes, *around) if self.names[n] in words]
        return Function(
            name=name,
            text=self._function(name, threads, lanes, arrays, numbers, lines),
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
        )

    def _function(
        self,
        name: str,
        threads: int,
        lanes: int,
        arrays: Iterable[str],
        numbers: Iterable[str],
        lines: Sequence[str],
    ) -> str:
        given = [
            "Run *run, unsigned char *own_memory, int64_t own_bytes",
            *(f"ARRAY({self._stored(n)}) {self.names[n]}" for n in arrays),
            *(f"int64_t {self.names[n]}" for n in numbers),
        ]
        head = [
            f"#undef THREADS\n#define THREADS {threads}",
            f"KERNEL({name}, THREADS)({', '.join(given)}) {{",
            "    SHARED_MEMORY",
            f"    enum {{ TILE = {lanes}, ROWS = THREADS / TILE }};",
            "    const int thread = THREAD, lane = thread % TILE, row = thread / TILE;",
            "    (void)run, (void)own_memory, (void)own_bytes, (void)shared;",
            "    (void)lane, (void)row;",
        ]
        return "\n".join([*head, *lines, "}", ""])

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

    def _parts(
        self, kernels: Sequence[KernelRecords], lanes: int, threads: int, begin: int
    ) -> list[_Part]:
        """Return kernels that run one after the other, with barriers in them and between."""
        scratch: dict[str, tuple[int, Piece]] = {}

        def meet(one: str, other: str) -> bool:
            if one in scratch and other in scratch:
                (part, piece), (another, its) = scratch[one], scratch[other]
                return part != another or piece.meets(its)
            return self.memory.get(one, one) == self.memory.get(other, other)

        barriers, parts = Barriers(meet), list[_Part]()
        for number, kernel in enumerate(kernels):
            codes = self._shared_out(kernel, lanes, threads)
            places = BlockPlaces.of(self.made, kernel, codes, self.dtype, rounded(begin))
            names = {name: f"{name} of {number}" for name in (*places.shared, *places.other)}
            scratch |= {names[n]: (number, piece) for n, piece in places.shared.items()}
            last = kernel.records[-1]
            block = Block(
                lanes,
                frozenset((*kernel.own, *names)),
                {name: piece.column(lanes) for name, piece in places.shared.items()},
                names,
                last.variable if kernel.dealing is not None and isinstance(last, Loop) else "",
            )
            parts.append(_Part(kernel, barriers.of(codes, block), places))
        return parts

    def _shared_out(self, kernel: KernelRecords, lanes: int, threads: int) -> tuple[Code, ...]:
        """Return the code of a kernel's threads: of one chunk, where its blocks are dealt."""
        names = {*kernel.buffers, *self.names, *(t.name for t in kernel.tables)}
        records = _without_hints(kernel.records)
        share = partial(shared_out, lanes=lanes, threads=threads, taken=names)
        if kernel.dealing is None:
            return share(records)
        *before, blocks = records
        assert isinstance(blocks, Loop)
        begun: list[KernelRecord] = []
        for record in before:
            ours = isinstance(record, Loop) and record.variable == kernel.chunk
            begun += record.body if ours and isinstance(record, Loop) else [record]
        first, behind = map(variable, _BLOCKS)
        inside = share(blocks.body)
        around = Around(replace(blocks, lower=first, upper=behind), inside)
        return (*share(begun), around)

    def _text(self, part: _Part, by_all_blocks: bool) -> ThreadText:
        kernel, codes, places = part.kernel, part.codes, part.places
        local = CNames(self.names, set(self.taken))
        scratch = {m.record.name: m for m in memory_of(codes)}
        kinds = {n: self._kind(self.made.buffers[n].dtype) for n in kernel.buffers}
        kinds |= {name: self._kind(m.record.dtype) for name, m in scratch.items()}
        each = {name: (m.each, m.times) for name, m in scratch.items() if m.each}
        text = ThreadText(local, kinds, REALS[self.dtype], each)
        text.by_all_blocks = by_all_blocks
        text.tables(kernel.tables)
        for name, piece in places.shared.items():
            given = f"{STORED[kinds[name]]}, {local(name)}, {piece.begin}, {piece.elements}"
            text.write(f"SHARED({given})")
        for name, begin in places.other.items():
            if name in scratch:
                asked = scratch[name].record.elements * scratch[name].times
            else:
                asked = self.made.buffers[name].elements
            elements = expression_text(asked, local)
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

    def _kind(self, dtype: str) -> str:
        return KINDS.get(dtype, REALS[self.dtype])

    def _stored(self, name: str) -> str:
        return STORED[self._kind(self.made.buffers[name].dtype)]

    def _name(self, name: str) -> None:
        if name not in self.names:
            self.names[name] = unique(c_name(name), self.taken)


def _threads(kernel: KernelRecords, lanes: int) -> int:
    """Return the threads of a block."""
    if any(isinstance(r, Invoke) and r.function == "permutation" for r in walk(kernel.records)):
        return MANY_THREADS
    return max(LEAST_THREADS, THREADS_OF_LANE * lanes)


def _title(kernels: Sequence[KernelRecords]) -> str:
    """Return the name of kernels in a row: that of the first statement, and how many more."""
    first, *more = dict.fromkeys(s for kernel in kernels for s in kernel.statements)
    return f"{first} and {len(more)} more" if more else first


def _shared_by_blocks(part: _Part) -> Elements | None:
    """Return the elements that are all that a kernel is about, outside of blocks of a program: any
    number of blocks of threads may share them.
    """
    if part.kernel.dealing is not None:
        return None
    shared = [code for code in part.codes if isinstance(code, Elements)]
    others = [code for code in part.codes if not isinstance(code, Elements)]
    plain = all(
        isinstance(code, Everywhere) and not any(map(_does_more, code.records)) for code in others
    )
    return shared[0] if len(shared) == 1 and plain else None


def _does_more(record: KernelRecord) -> bool:
    """Tell whether a record does more than to name a value."""
    return not isinstance(record, (Let, Serves, Variable))


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
