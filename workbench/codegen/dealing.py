"""How the blocks of a kernel are dealt to threads, and what a run of them writes first.

A run has partial sums of its own. Who adds to them begins them, too: where one thread began those
of all runs, they would move from its cache to another processor's and back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from workbench.codegen.writing.kernel_statements import Statements
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.records import Allocate, For, Free, If, Launch, Record, walk
from workbench.polyhedral.expression import Expression, expression
from workbench.polyhedral.tree import loops_above, standing
from workbench.program.accumulating import Adding, Start
from workbench.program.chunks import Chunks


@dataclass(frozen=True)
class Dealing:
    """How the blocks of a kernel are dealt to threads: `blocks` of them from number `first` on, to
    so many `chunks` of consecutive ones. One thread runs the blocks of a chunk, in their order.
    Where chunks are the runs of what blocks add up, `runs` names the loop over these blocks.
    """

    first: Expression
    blocks: Expression
    chunks: Expression
    runs: str = ""


def dealing_of(statements: Statements, blocks: For) -> Dealing:
    """Return how blocks are dealt: to the chunks of what they add up, or each by itself."""
    number = blocks.upper - blocks.lower
    dealt = {Dealing(c.first, c.blocks, c.runs, c.loop) for _, c in _added(statements, blocks)}
    if not dealt:
        return Dealing(blocks.lower, number, number)
    if len(dealt) > 1:  # a chunk of one sum has parts of two of another's
        return Dealing(blocks.lower, number, expression(1))
    return dealt.pop()


def begun_by_runs(statements: Statements, loops: LoopProgram) -> LoopProgram:
    """Return a loop program in which the launches that begin partial sums, and stand in front of
    the blocks that add to them, are part of these: each run begins its own.
    """
    return replace(loops, body=_begun(statements, loops.body))


def _begun(statements: Statements, records: Sequence[Record]) -> tuple[Record, ...]:
    done: list[Record] = []
    for record in records:
        if isinstance(record, For) and record.apart:
            begins = _in_front(statements, done, record)
            done = [other for other in done if all(other is not one for one in begins)]
            record = replace(record, begins=tuple(begins))
        elif isinstance(record, (For, If)):
            record = replace(record, body=_begun(statements, record.body))
        done.append(record)
    return tuple(done)


def _in_front(statements: Statements, before: Sequence[Record], blocks: For) -> list[Launch]:
    """Return the launches right in front of blocks that begin what they add up in their runs."""
    if not dealing_of(statements, blocks).runs:
        return []
    names, found = {adding.name for adding, _ in _added(statements, blocks)}, list[Launch]()
    for record in reversed(before):
        if isinstance(record, (Allocate, Free)):
            continue
        if not isinstance(record, Launch) or record.more:
            break
        start = statements.program.statement[record.statement]
        if not isinstance(start, Start):
            break
        if start.of in names and not statements.axes[start.name]:
            found.insert(0, record)
    return found


def _added(statements: Statements, blocks: For) -> Iterator[tuple[Adding, Chunks]]:
    """Yield what blocks add up in elements that several of them have in common, and its chunks."""
    inside = (record for record in walk(blocks.body) if isinstance(record, Launch))
    for launch in (one for record in inside for one in (record, *record.more)):
        adding = statements.program.statement[launch.statement]
        if not isinstance(adding, Adding):
            continue
        path = statements.paths[adding.name]
        loop = next(loop for loop in loops_above(path) if loop.apart)
        stands = standing(loop, adding.name, adding.dims)
        if adding.dims[stands.position] in adding.over:
            dealt = adding.chunks
            assert dealt is not None and dealt.loop == loop.name, "blocks add to one element"
            yield adding, dealt
