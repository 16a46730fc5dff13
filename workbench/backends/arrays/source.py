"""Python source over an array module from a loop program: one text for all sizes, seeds and dtypes.

Functions and sizes are locals, and views stand where the loop program took them. So the innermost
loop holds calls on names and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, islice
from typing import Any, NamedTuple

from workbench.backends.arrays.calls import call_text, pairs
from workbench.lowering.instances.guards import OpenSteps
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.owners import owners
from workbench.lowering.loops.records import (
    HOST,
    WHOLE,
    Allocate,
    Apply,
    Broadcast,
    Buffer,
    Constant,
    Count,
    Enter,
    For,
    Free,
    If,
    Index,
    Record,
    Reshape,
    RuntimeCheck,
    Symbolic,
    Transpose,
    View,
    walk,
)
from workbench.lowering.text import entry_text
from workbench.names import lengthened
from workbench.polyhedral.expression import Expression, size

ENTRY = "program"
"""The name of the generated function: program(xp, functions, memory, host, seed, real, sizes,
results, step); `memory` is the device's.
"""


class SourceText(NamedTuple):
    """A line of the source, and the statement that it serves.

    That is None for loops and for lines that every source has. It also says whether an instance of
    the statement begins here.
    """

    text: str
    statement: str | None
    begins: bool = False


def generate(program: LoopProgram, check_finite: bool = False) -> str:
    """Return the source text; with `check_finite` it checks every statement's result."""
    return "".join(f"{line.text}\n" for line in source_lines(program, check_finite))


def source_lines(program: LoopProgram, check_finite: bool = False) -> list[SourceText]:
    """Return the lines of the source text."""
    return _Writer(program, check_finite).lines()


@dataclass
class _Writer:
    program: LoopProgram
    check_finite: bool
    functions: dict[str, str] = field(default_factory=dict)
    physical: dict[str, str] = field(default_factory=dict)
    shapes: dict[str, Symbolic] = field(default_factory=dict)
    on_host: set[str] = field(default_factory=set)
    owners: Iterator[str | None] = field(default_factory=lambda: iter(()))
    """The owners of the records that are still to be written, in their order."""

    def lines(self) -> list[SourceText]:
        """Return all lines; written after the body, whose calls decide the functions at the top."""
        main = self.program.main_loop
        self.owners = iter(owners(self.program.body))
        body = list(self.body(self.program.body, "    ", main))
        sizes = [self.program.aliases[name] for name in self.program.sizes]
        head = [
            f'"""{self.program.name}: generated from its loop program."""',
            "",
            "",
            f"def {ENTRY}(xp, functions, memory, host, seed, real, sizes, results, step):",
        ]
        if sizes:
            head.append(f"    {', '.join(sizes)}{',' if len(sizes) == 1 else ''} = sizes")
        head.append("    allocate, free, constant = memory.allocate, memory.free, memory.constant")
        head += [f'    {name} = functions["{key}"]' for key, name in self.functions.items()]
        return [*(SourceText(line, None) for line in head), *body]

    def body(
        self, records: tuple[Record, ...], indent: str, main: For | None
    ) -> Iterator[SourceText]:
        """Yield the lines of a body. `main` is the loop whose iterations are counted."""
        for record in records:
            statement = next(self.owners)
            if isinstance(record, For):
                yield from self.loop(record, indent, record is main)
            elif isinstance(record, If):
                renamed = record.condition.substitute(self.renaming())
                yield SourceText(f"{indent}if {renamed.text}:", None)
                yield from self.nested(record.body, indent + "    ", main)
            else:
                begins = isinstance(record, Enter)
                for line in self.record(record):
                    yield SourceText(indent + line, statement, begins)

    def loop(self, loop: For, indent: str, counted: bool) -> Iterator[SourceText]:
        """Yield a loop; where its iterations are `counted` each ends with a step of progress."""
        own = list(islice(self.owners, sum(1 for _ in walk(loop.body))))
        around, self.owners = self.owners, iter(own)
        part, name = self.program.open_steps(loop), self.show(_name(loop))
        end = [SourceText(f"{indent}    step()", None)] if counted else []
        yield SourceText(f"{indent}for {name} in {self.range(loop)}:", None)
        if part is None:
            yield from self.nested(loop.body, indent + "    ", None)
            yield from end
        else:
            yield from self.steps(loop, part, own, end, indent)
        self.owners = around

    def steps(
        self,
        loop: For,
        part: OpenSteps,
        own: Sequence[str | None],
        end: Sequence[SourceText],
        indent: str,
    ) -> Iterator[SourceText]:
        """Yield the body of a loop over steps of episodes, up to the last at which one is open, and
        behind it a loop of what has to follow; backwards that comes first.
        """
        name, some, inside = self.show(_name(loop)), self.some_open(part), indent + "    "
        whole = list(self.picked(loop, range(len(loop.body)), own, part, inside))
        rest = list(self.picked(loop, part.rest, own, part, inside))
        first, second = (rest, whole) if loop.backwards else (whole, rest)
        yield SourceText(f"{inside}if {some if loop.backwards else f'not {some}'}:", None)
        yield SourceText(f"{inside}    break", None)
        yield from (*first, *end)
        if not second and not end:
            return
        last, turn = (loop.lower - 1, ", -1") if loop.backwards else (loop.upper, "")
        yield SourceText(f"{indent}else:", None)
        yield SourceText(f"{inside}{name} = {self.show(last)}", None)
        yield SourceText(f"{indent}for {name} in range({name}, {self.show(last)}{turn}):", None)
        yield from (*second, *end)

    def picked(
        self,
        loop: For,
        places: Sequence[int],
        own: Sequence[str | None],
        part: OpenSteps,
        indent: str,
    ) -> Iterator[SourceText]:
        """Yield some records of a loop's body, which have the owners `own`; those of statements
        that are left out stand for zeros.
        """
        starts = [0, *accumulate(sum(1 for _ in walk((r,))) for r in loop.body)]
        rest = len(places) < len(loop.body)
        for k in places:
            record, self.owners = loop.body[k], iter(own[starts[k] : starts[k + 1]])
            if rest and isinstance(record, RuntimeCheck) and record.statement in part.zeros:
                yield SourceText(f"{indent}{record.name}[...] = 0", record.statement)
            else:
                yield from self.body((record,), indent, None)

    def some_open(self, part: OpenSteps) -> str:
        """Return a test whether some episode is open at a step."""
        entries = [":" if e is None else self.show(e) for e in part.entries]
        while entries and entries[-1] == ":":
            entries.pop()
        return f"{part.buffer}[{', '.join(entries)}].any()" if entries else f"{part.buffer}.any()"

    def nested(
        self, records: tuple[Record, ...], indent: str, main: For | None
    ) -> Iterator[SourceText]:
        """Yield a body that needs at least one line."""
        lines = list(self.body(records, indent, main))
        if all(line.text.strip().startswith("#") for line in lines):
            lines.append(SourceText(indent + "pass", None))
        yield from lines

    def range(self, loop: For) -> str:
        """Return the values of a loop."""
        if loop.backwards:
            return f"range({self.show(loop.upper - 1)}, {self.show(loop.lower - 1)}, -1)"
        if loop.lower == 0:
            return f"range({self.show(loop.upper)})"
        return f"range({self.show(loop.lower)}, {self.show(loop.upper)})"

    def record(self, record: Record) -> Iterator[str]:
        """Yield the lines of a record that is not a loop."""
        if isinstance(record, Enter):
            yield f"# {record.text}".replace("\n", " ")
        elif isinstance(record, View):
            yield f"{record.name} = {self.view(record)}"
        elif isinstance(record, Apply):
            yield call_text(record, self.function, self.show, self.check_finite)
        elif isinstance(record, Allocate):
            yield from self.allocate(record)
        elif isinstance(record, Free):
            name = self.physical[record.name]
            yield f'{"host." if name in self.on_host else ""}free("{name}")'
            if record.names and not record.name.startswith("scratch"):
                yield f"{' = '.join(record.names)} = None"
        elif isinstance(record, Constant):
            value = (
                self.show(record.value)
                if isinstance(record.value, Expression)
                else _plain(record.value)
            )
            b = record.buffer
            yield f'{b.name} = constant("{b.name}", {value}, {self.shape(b.shape)}, {_dtype(b)})'
        elif isinstance(record, Count):
            b = record.buffer
            yield (
                f'{b.name} = memory.count("{b.name}", {self.show(record.start)}, '
                f"{self.show(b.shape[0])}, {record.step}, {_dtype(b)})"
            )
        elif isinstance(record, RuntimeCheck) and self.check_finite:
            where = ", ".join(pairs(named, self.show) for named in (record.instance, record.axes))
            yield f'{self.function("check_finite")}({record.name}, "{record.statement}", {where})'

    def allocate(self, record: Allocate) -> Iterator[str]:
        """Yield lines that allocate memory or take it over; results are registered."""
        buffer, source = record.buffer, record.source
        if source is not None:
            self.physical[buffer.name] = self.physical[source]
            same = self.shapes.get(source) == buffer.shape
            self.shapes[buffer.name] = buffer.shape
            yield f"{buffer.name} = {source}" + (
                "" if same else f".reshape({self.shape(buffer.shape)})"
            )
            return
        self.shapes[buffer.name] = buffer.shape
        self.physical[buffer.name] = buffer.name
        if buffer.scratch:
            yield f'memory.reserve("{buffer.name}", {self.shape(buffer.shape)}, {_dtype(buffer)})'
            return
        initial = f', "{buffer.initial}"' if buffer.initial else ""
        asked = f"{self.shape(buffer.shape)}, {_dtype(buffer)}{initial}"
        place = ""
        if buffer.space == HOST:
            self.on_host.add(buffer.name)
            place = "host."
        yield f'{buffer.name} = {place}allocate("{buffer.name}", {asked})'
        for result in self.program.results:
            if result.buffer == buffer.name:
                turned = (
                    f".transpose({result.axes})"
                    if result.axes != tuple(sorted(result.axes))
                    else ""
                )
                yield f'results["{result.name}"] = {buffer.name}{turned}'

    def view(self, view: View) -> str:
        """Return the expression that takes a view."""
        how = view.how
        if isinstance(how, Index):
            return f"{view.source}[{self.index(how)}]"
        if isinstance(how, Transpose):
            return f"{view.source}.transpose({', '.join(map(str, how.axes))})"
        if isinstance(how, Reshape):
            return f"{view.source}.reshape({self.shape(how.shape)})"
        assert isinstance(how, Broadcast)
        return f"{self.function('broadcast_to')}({view.source}, {self.shape(how.shape)})"

    def index(self, how: Index) -> str:
        """Return the text of an index.

        Whole axes at the end are left out; a single element is still an array.
        """
        kept = list(how.entries)
        while kept[-1] == WHOLE:
            kept.pop()
        texts = [entry_text(e, self.show) for e in kept]
        if all(isinstance(e, Expression) for e in how.entries):
            texts.append("...")
        return ", ".join(texts)

    def function(self, name: str) -> str:
        """Return the local name of a function of the backend's table."""
        if name not in self.functions:
            taken = {*self._names, *self.functions.values()}
            self.functions[name] = lengthened(name.replace(".", "_"), taken)
        return self.functions[name]

    @cached_property
    def _names(self) -> set[str]:
        """The names of the program: sizes, loop variables, views and buffers."""
        names = set(self.program.aliases.values())
        for record in walk(self.program.body):
            if isinstance(record, View):
                names.add(record.name)
            elif isinstance(record, (Allocate, Constant, Count)):
                names.add(record.buffer.name)
        return names

    def renaming(self) -> dict[str, Expression]:
        """Return sizes and loop variables under their Python names."""
        return {name: size(new) for name, new in self.program.aliases.items() if name != new}

    def show(self, e: Expression) -> str:
        """Return an expression as Python."""
        names = self.renaming()
        return str(e.substitute(names) if names else e)

    def shape(self, shape: Symbolic) -> str:
        """Return a shape as a Python tuple."""
        inside = ", ".join(self.show(n) for n in shape)
        return f"({inside}{',' if len(shape) == 1 else ''})"


def _name(loop: For) -> Expression:
    return size(loop.variable)


def _dtype(buffer: Buffer) -> str:
    return {"float": "real", "bool": "xp.bool_"}.get(buffer.dtype, f"xp.{buffer.dtype}")


def _plain(value: Any) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(_plain(v) for v in value) + "]"
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return "xp.inf" if value > 0 else "-xp.inf"
    return "xp.nan" if value != value else repr(value)
