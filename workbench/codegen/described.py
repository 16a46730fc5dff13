"""Kernels as users see them: their text, what they read and write, and the work of a launch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from workbench.codegen.cuda.kernel_functions import functions
from workbench.codegen.cuda.launch_order import gpu_kernels
from workbench.codegen.kernel_records import reads, walk, writes
from workbench.codegen.kernel_work import scratch_bytes, work
from workbench.codegen.kernels import KernelRecords, ProgramKernels, program_kernels
from workbench.codegen.printing.program.program_text import program_text
from workbench.codegen.printing.statement_marks import marked_lines
from workbench.identity import remembered
from workbench.lowering.instances.swapping import copies
from workbench.lowering.loops.bytes import FLOAT_BYTES, check_dtype
from workbench.lowering.loops.records import ITEM_BYTES
from workbench.lowering.memory.tiles import TileStored
from workbench.polyhedral.expression import Expression, expression, maximum
from workbench.program.accumulating import owner
from workbench.program.values import Program

LINE = 200
"""The most characters in which a kernel shows itself."""
FEW = 4
"""The most sizes that it names instead of a formula that is too long."""


@dataclass(frozen=True)
class Kernel:
    """A compiled kernel: what one launch does. It shows itself in one line.

    Amounts are expressions over sizes: `kernel.flops.evaluate(sizes)` is the number at sizes by
    name, of which it needs those in `kernel.flops.sizes`.

    `statements` are those of the program: the start of points that are added up is the points' own.
    `lines` are those of its text, each with the statement that it serves, or None. `loads` and
    `stores` are the arrays that it reads and writes in memory; `private` are those of which a block
    has a copy of its own, and `tile_bytes` what these and scratch memory take. `flops` are
    operations of arithmetic, a fused multiply-add being two, `bytes` those loaded and stored.
    """

    name: str
    statements: tuple[str, ...]
    text: str = field(repr=False)
    lines: tuple[tuple[str, str | None], ...] = field(repr=False)
    loads: tuple[str, ...]
    stores: tuple[str, ...]
    private: tuple[str, ...]
    tile_bytes: Expression
    flops: Expression
    bytes: Expression

    def __str__(self) -> str:
        many = len(self.statements)
        parts = [
            f"{many} statement{'s' if many != 1 else ''}",
            f"loads {', '.join(self.loads) or 'nothing'}",
            f"stores {', '.join(self.stores) or 'nothing'}",
            *(f"{e} {unit}" for e, unit in self._amounts),
        ]
        short = [
            parts[0],
            f"loads {len(self.loads)} arrays",
            f"stores {len(self.stores)} arrays",
            *(f"{unit} over {_listed(e.sizes)}" for e, unit in self._amounts),
        ]
        # those that save most give way first
        for k in sorted(range(len(parts)), key=lambda k: len(short[k]) - len(parts[k])):
            if len(f"{self.name}: {'; '.join(parts)}") > LINE and len(short[k]) < len(parts[k]):
                parts[k] = short[k]
        told = "; ".join(parts)
        room = LINE - len(told) - len(": ")
        name = self.name if len(self.name) <= room else f"{self.name[: max(room - 1, 0)]}…"
        return f"{name}: {told}"

    __repr__ = __str__

    @property
    def _amounts(self) -> tuple[tuple[Expression, str], ...]:
        """The amounts with their units."""
        return (
            (self.flops, "FLOP"),
            (self.bytes, "bytes moved"),
            (self.tile_bytes, "bytes of memory a block"),
        )


def _listed(sizes: frozenset[str]) -> str:
    """Name a few sizes, or count them."""
    return ", ".join(sorted(sizes)) if len(sizes) <= FEW else f"{len(sizes)} sizes"


def kernels(program: Program, dtype: str, backend: str = "native") -> tuple[Kernel, ...]:
    """Return the compiled kernels of a program for a dtype of floats, in the order of the text: as
    C, or as CUDA for the backend of that name.

    Raises WorkbenchError for an unknown dtype, ProgramError for a statement that has no C.
    """
    check_dtype(dtype)
    return _kernels(program, dtype, backend)


@remembered(8)
def _kernels(program: Program, dtype: str, backend: str) -> tuple[Kernel, ...]:
    made = AS_RUN[backend](program_kernels(program))
    texts = KERNEL_TEXTS[backend](made, dtype)
    names = {stored.buffer.name: name for name, stored in made.loops.stored.items()}
    names |= {copy.device: names[copy.host] for copy in copies(made.loops.body)}
    tiles = {
        stored.buffer.name: stored
        for stored in made.loops.stored.values()
        if isinstance(stored, TileStored)
    }
    return tuple(
        _described(name, text, parts, made.program, names, tiles, FLOAT_BYTES[dtype])
        for name, text, parts in texts
    )


_Text = tuple[str, str, tuple[KernelRecords, ...]]
"""The name of a kernel, its text, and what it runs one after the other."""


def _as_c(made: ProgramKernels, dtype: str) -> Iterator[_Text]:
    texts = program_text(made, dtype).kernels
    for (name, text), kernel in zip(texts.items(), made.kernels, strict=True):
        yield name, text, (kernel,)


def _as_cuda(made: ProgramKernels, dtype: str) -> Iterator[_Text]:
    for function in functions(made, dtype):
        yield function.name, function.text, function.kernels


AS_RUN = {"native": lambda made: made, "cuda": gpu_kernels}
"""The kernels of a program as a backend runs them."""

KERNEL_TEXTS = {"native": _as_c, "cuda": _as_cuda}
"""The name and the text of each kernel, by backend."""


def _described(
    name: str,
    text: str,
    parts: Sequence[KernelRecords],
    program: Program,
    names: dict[str, str],
    tiles: dict[str, TileStored],
    real: int,
) -> Kernel:
    records = [record for part in parts for record in walk(part.records)]
    read = dict.fromkeys(buffer for record in records for buffer in reads(record))
    written = dict.fromkeys(buffer for record in records for buffer in writes(record))
    own = list(dict.fromkeys(n for part in parts for n in part.buffers if n in tiles))
    outside = {name for name in names if name not in tiles}
    held = flops = moved = expression(0)
    for part in parts:
        counted = work(part.records, outside, real, part.ranges)
        flops, moved = flops + counted.flops, moved + counted.bytes
        held = maximum(held, scratch_bytes(part.records, real))
    for buffer in (tiles[name].buffer for name in own):
        held = held + buffer.elements * ITEM_BYTES.get(buffer.dtype, real)
    statements = (s for part in parts for s in part.statements)
    return Kernel(
        name=name,
        statements=tuple(dict.fromkeys(owner(program.statement[s]) for s in statements)),
        text=text,
        lines=tuple(marked_lines(text)),
        loads=tuple(dict.fromkeys(names[b] for b in read if b in outside)),
        stores=tuple(dict.fromkeys(names[b] for b in written if b in outside)),
        private=tuple(names[b] for b in own),
        tile_bytes=held,
        flops=flops,
        bytes=moved,
    )
