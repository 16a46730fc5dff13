"""Places of what belongs to one block: in shared memory, or beside the arrays.

Buffers of one block come first, laid out as those of a thread of compiled C. Scratch memory lies
behind them. Shared memory is asked for when a kernel is compiled, so that nothing lies there whose
size a run gives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from workbench.codegen.cuda.threads.thread_code import Around, Code, EachWarp, Memory, Tile
from workbench.codegen.kernel_work import BYTES
from workbench.codegen.kernels import KernelRecords, ProgramKernels
from workbench.lowering.loops.arena import LINE, block_memory
from workbench.lowering.loops.bytes import FLOAT_BYTES
from workbench.lowering.loops.records import HOST, Allocate, Buffer, walk
from workbench.polyhedral.expression import Expression, expression

MOST_SHARED = 99 * 1024
"""Scratch memory that would end behind so many bytes is not shared: a block may have 99 KiB on the
smallest GPUs.
"""

WIDEST = 16
"""The bytes of four floats, which are loaded at once where they begin at a multiple of this."""


@dataclass(frozen=True)
class Piece:
    """A piece of shared memory: its first byte, its elements and the bytes of each. Where each of
    so many warps has one, that of the next begins `stride` bytes behind.
    """

    begin: int
    elements: int
    item: int
    warps: int = 1
    stride: int = 0

    @property
    def end(self) -> int:
        """The byte behind it, and behind those of all warps."""
        return self.begin + self.elements * self.item + (self.warps - 1) * self.stride

    def column(self, lanes: int) -> tuple[int, int]:
        """Return what pieces have in common whose elements of a lane have the same column, where so
        many lanes make up a row.
        """
        return self.item, self.begin % (lanes * self.item)

    def meets(self, other: Piece) -> bool:
        """Tell whether two pieces have bytes in common."""
        return self.begin < other.end and other.begin < self.end


@dataclass(frozen=True)
class BlockPlaces:
    """The places of a block's buffers and scratch memory: in shared memory, and the first byte in
    the block's part of other memory, which has `other_bytes`.
    """

    shared: Mapping[str, Piece]
    other: Mapping[str, Expression]
    other_bytes: Expression

    @classmethod
    def of(
        cls,
        made: ProgramKernels,
        kernel: KernelRecords,
        codes: Sequence[Code],
        dtype: str,
        begin: int,
    ) -> BlockPlaces:
        """Lay out what a kernel's blocks have each, in shared memory from a byte on."""
        real = FLOAT_BYTES[dtype]
        large = frozenset(n for n in kernel.own if is_other(made.buffers[n]))
        scratch = _Scratch(real)
        by_warps = next(of_warps(codes), None)
        if by_warps is None:
            shared = _small_buffers(made, kernel, dtype, large, begin)
            scratch.lay(codes, _behind(shared, begin))
        else:
            scratch.lay(codes, begin)
            first, of_warp = _behind(scratch.found, begin), _Scratch(real)
            of_warp.found |= _small_buffers(made, kernel, dtype, large, first)
            of_warp.lay(by_warps.body, _behind(of_warp.found, first))
            assert not of_warp.large, kernel.statements
            stride = _behind(of_warp.found, first) - first
            shared = {
                name: replace(piece, warps=by_warps.warps, stride=stride)
                for name, piece in of_warp.found.items()
            }
        buffers = (made.buffers[n] for n in dict.fromkeys(kernel.own.values()) if n in large)
        asked = {b.name: (b.dtype, b.elements) for b in buffers} | scratch.large
        other: dict[str, Expression] = {}
        end = expression(0)
        for name, (of, elements) in asked.items():
            other[name] = end
            end = end + (elements * BYTES.get(of, real) + LINE - 1) // LINE * LINE
        places = {name: other[memory] for name, memory in kernel.own.items() if memory in other}
        places |= {name: other[name] for name in scratch.large}
        return cls({**shared, **scratch.found}, places, end)

    @property
    def shared_bytes(self) -> int:
        """The bytes of shared memory."""
        return max((piece.end for piece in self.shared.values()), default=0)


def of_warps(codes: Sequence[Code]) -> Iterator[EachWarp]:
    """Yield the code that each warp runs."""
    for code in codes:
        if isinstance(code, EachWarp):
            yield code
        elif isinstance(code, Around):
            yield from of_warps(code.body)


def _behind(pieces: Mapping[str, Piece], begin: int) -> int:
    """Return the byte behind pieces that begin somewhere, where others may begin."""
    return rounded(max((piece.end for piece in pieces.values()), default=begin))


def is_other(buffer: Buffer) -> bool:
    """Tell whether a buffer of one block lies in other memory: where sizes say how large it is, or
    where it is swapped out.
    """
    return bool(buffer.elements.terms) or buffer.space == HOST


def _small_buffers(
    made: ProgramKernels, kernel: KernelRecords, dtype: str, large: frozenset[str], begin: int
) -> dict[str, Piece]:
    """Lay out the buffers of one block that have the same size in all runs."""
    begun = (r for r in walk(kernel.body) if isinstance(r, Allocate) and not r.source)
    inside = {record.buffer.name for record in begun}
    held = (n for n in dict.fromkeys(kernel.own.values()) if n not in inside and n not in large)
    outside = [made.buffers[name] for name in held]
    layout = block_memory(kernel.body, outside, {}, dtype, elsewhere=large, beyond=0)
    places: dict[str, Piece] = {}
    for name, memory in kernel.own.items():
        if memory not in large:
            buffer = made.buffers[name]
            item = BYTES.get(buffer.dtype, FLOAT_BYTES[dtype])
            places[name] = Piece(begin + layout.places[memory], buffer.elements.constant, item)
    return places


@dataclass
class _Scratch:
    """The places of scratch memory, held from where it is asked for to the end of the body, and the
    dtype and elements of what is too large.
    """

    real: int
    found: dict[str, Piece] = field(default_factory=dict)
    large: dict[str, tuple[str, Expression]] = field(default_factory=dict)

    def lay(self, codes: Sequence[Code], begin: int) -> None:
        for code in codes:
            if isinstance(code, Memory) and code.each == "registers":
                continue
            if isinstance(code, Memory):
                record, elements = code.record, code.record.elements * code.times
                piece = Piece(begin, elements.constant, BYTES.get(record.dtype, self.real))
                if elements.terms or piece.end > MOST_SHARED:
                    self.large[record.name] = record.dtype, elements
                    continue
                self.found[record.name] = piece
                begin = rounded(piece.end)
            elif isinstance(code, (Around, Tile)):
                self.lay(code.body, begin)


def rounded(bytes: int) -> int:
    """Return the bytes up to where four floats may begin."""
    return (bytes + WIDEST - 1) // WIDEST * WIDEST
