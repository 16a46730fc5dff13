"""The code of a block's threads as CUDA text, which a C compiler understands as well.

The first lines of `device/gpu_threads.h` say what the words are that are no C.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.codegen.cuda.permutations import BEGUN, COUNTED, DEALT, MOST_SORTED
from workbench.codegen.cuda.sums.kept_sums import KEPT, WRITTEN
from workbench.codegen.cuda.threads.independent_turns import width
from workbench.codegen.cuda.threads.thread_code import (
    Around,
    Barrier,
    Code,
    EachWarp,
    Elements,
    Everywhere,
    First,
    Lane,
    Memory,
    Points,
    Rows,
    Tile,
    Together,
    Totals,
    WarpTurns,
)
from workbench.codegen.kernel_records import (
    Invoke,
    KernelRecord,
    Let,
    Loop,
    Require,
    Scratch,
    Serves,
    Store,
    Table,
    Update,
    Variable,
    walk,
)
from workbench.codegen.printing.c_expressions import condition_text
from workbench.codegen.printing.kernel_text import FLAGS, MOST_COORDINATES, KernelText
from workbench.codegen.printing.row_pairs import has_function
from workbench.codegen.printing.value_text import SCALARS, STORED, Text, ValueText, number_text
from workbench.polyhedral.expression import Expression, expression
from workbench.program.keys import statement_key

POINTS = 16
"""The threads that add up points: as many as a sum has parts."""

OF_LOADS, OF_SUMS = "UNROLLED_BY(8)", "UNROLLED_BY(4)"
"""In front of a loop that adds up what it loads, and of one over such sums: several turns load at
one time, since one waits for memory as long as for many.
"""
SHORT = 6
"""The most records of a turn that is written out."""
OF_MANY_LOADS, LONG = "UNROLLED_BY(4)", 24
"""The same where all blocks share the elements, of which a thread then has registers for more at a
time.
"""
OF_FUNCTIONS = "UNROLLED_BY(4)"
"""In front of a loop of rows with a function whose steps wait for each other: those of several rows
take turns.
"""
MANY = 4 * POINTS
"""The least points of which several come at one time."""


@dataclass
class ThreadValues(ValueText):
    """The text of values in one thread. `each` is the scratch memory with its elements for each
    lane or thread: of which of the two, and of how many; `whose` is the lane whose they are.
    """

    each: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    whose: str = "lane"

    def load(self, buffer: str, at: Expression, kind: str) -> Text:
        """Return the element of a buffer."""
        return Text(f"LD({self.name(buffer)}, {self.place(buffer, at)})", kind)

    def place(self, buffer: str, at: Expression) -> str:
        """Return the place of an element."""
        if buffer not in self.each:
            return self.expression(at)
        own, times = self.each[buffer]
        return f"{self.expression(at * times)} + {self.whose if own == 'lane' else own}"


class ThreadText(KernelText):
    """The lines of a kernel that the threads of a block run."""

    def __init__(
        self,
        name: Callable[[str], str],
        kinds: dict[str, str],
        real: str,
        each: Mapping[str, tuple[str, int]],
    ) -> None:
        super().__init__(name, kinds, real)
        self.values: ThreadValues = ThreadValues(name, real, dict(kinds), each=each)
        self.by_all_blocks = False
        """True if all blocks share the elements, instead of each having its own."""
        self._stores = "thread == 0"
        """When a thread stores."""
        self._like = "lane"
        """The lane of the tile that a thread's is like: its own, or the last there is."""

    def codes(self, codes: Sequence[Code]) -> None:
        """Write code."""
        for code in codes:
            getattr(self, f"_of_{type(code).__name__.lower()}")(code)

    # -- code --------------------------------------------------------------------------------------

    def _of_everywhere(self, code: Everywhere) -> None:
        self.body(code.records)

    def _of_first(self, code: First) -> None:
        self.write("if (thread == 0) {")
        self._storing(code.records)

    def _of_elements(self, code: Elements) -> None:
        values, loop, inside = self.values, code.loop, code.inside
        first, step = "thread", "THREADS"
        if self.by_all_blocks:
            first, step = "BLOCK * THREADS + thread", "BLOCKS * THREADS"
        lower, upper = map(values.expression, loop.turns)
        if inside is None:
            name = self._c(loop.variable)
            self._dealt("", name, f"{lower} + {first}", upper, step, code.body)
            return
        low, high = map(values.expression, inside.range)
        turn, columns = self._c(f"turn of {loop.variable}"), self._c(f"columns of {loop.variable}")
        self.write(f"const int64_t {columns} = {high} - {low};")
        turns = f"({upper} - {lower}) * {columns}"
        self.write(f"ROLLED for (int64_t {turn} = {first}; {turn} < {turns}; {turn} += {step}) {{")
        row, lane = self._c(loop.variable), self._c(inside.variable)
        self._indent += 1
        self.write(f"const int64_t {row} = {lower} + {turn} / {columns};")
        self.write(f"const int64_t {lane} = {low} + {turn} % {columns};")
        self._indent -= 1
        self._storing(code.body)

    def _of_points(self, code: Points) -> None:
        loop, name = code.loop, self._c(code.loop.variable)
        lower, upper = map(self.values.expression, loop.range)
        when = f"if (thread < {POINTS}) "
        many = (width(loop) or MANY) >= MANY and _only_loads(loop)
        turns = OF_SUMS if many else "ROLLED"
        self._dealt(when, name, f"{lower} + thread", upper, str(POINTS), loop.body, turns)

    def _of_totals(self, code: Totals) -> None:
        record = code.record
        kind, name = self.values.kind(record.variable.dtype), self._c(record.name)
        parts = self._c(record.variable.name)
        self.write(f"{SCALARS[kind]} {name} = {parts};")
        self.write(f"if (thread < WARP) {name} = {record.operation}_of_parts_{kind}({parts});")

    def _of_warpturns(self, code: WarpTurns) -> None:
        """Write a loop whose turns are dealt to warps: in it the threads are those of one."""
        name, turns = self._c(code.loop.variable), OF_SUMS if _sums_points(code.body) else "ROLLED"
        lower, upper = map(self.values.expression, code.loop.turns)
        self.write("if (thread < THREADS / WARP * WARP)")
        first, step = f"int64_t {name} = {lower} + thread / WARP", f"{name} += THREADS / WARP"
        self.write(f"    {turns} for ({first}; {name} < {upper}; {step}) {{")
        self._indent += 2
        self.write("const int thread = THREAD % WARP;")
        self.codes(code.body)
        self._indent -= 1
        self.write("}")
        self._indent -= 1

    def _of_together(self, code: Together) -> None:
        self._invoke(code.record)

    def _of_around(self, code: Around) -> None:
        record = code.record
        if isinstance(record, Loop):
            self._begin_loop(record, OF_SUMS if _sums_points(code.body) else "ROLLED")
        else:
            self.write(f"if ({condition_text(record.condition, self._c)}) {{")
        self._indent += 1
        self.codes(code.body)
        self._indent -= 1
        self.write("}")

    def _of_eachwarp(self, code: EachWarp) -> None:
        self.write("{")
        self._indent += 1
        self.write("const int thread = THREAD % WARP;")
        self.write("int lane = thread % TILE, row = thread / TILE;")
        self.write("(void)lane, (void)row;")
        self.codes(code.body)
        self._indent -= 1
        self.write("}")

    def _of_tile(self, code: Tile) -> None:
        """Write the lanes of a tile. A lane that there is not, at its end, is like the last one,
        and stores nothing. Where a kernel has few registers, places of lanes are not kept from tile
        to tile.
        """
        loop, name = code.loop, self._c(code.loop.variable)
        lower, upper = map(self.values.expression, loop.range)
        self.write(f"if ({lower} < {upper}) {{")
        self._indent += 1
        self.write("FORGET")
        self.write(f"const int active = {lower} + lane < {upper};")
        self.write(f"const int64_t {name} = minimum_l({lower} + lane, {upper} - 1);")
        self._like = f"({name} - {lower})"
        self.codes(code.body)
        self._indent -= 1
        self.write("}")

    def _of_lane(self, code: Lane) -> None:
        if code.by_all:
            before, self._stores = self._stores, "active && row == 0"
            self.values.whose = self._like
            self.body(code.records)
            self._stores, self.values.whose = before, "lane"
            return
        self.write("if (active && row == 0) {")
        self._storing(code.records)

    def _of_rows(self, code: Rows) -> None:
        loop, name = code.loop, self._c(code.loop.variable)
        lower, upper = map(self.values.expression, loop.range)
        turns = OF_FUNCTIONS if has_function(loop.body, self.values) else "ROLLED"
        self._dealt("if (active) ", name, f"{lower} + row", upper, "ROWS", loop.body, turns)

    def _of_memory(self, code: Memory) -> None:
        """Write what a thread keeps, of zeros. Other memory a kernel names at the beginning."""
        if code.each == "registers":
            record = code.record
            number, elements = STORED[self.values.kind(record.dtype)], record.elements.constant
            self.write(f"{number} {self._c(record.name)}[{elements}] = {{0}};")

    def _of_barrier(self, code: Barrier) -> None:
        self.write("WARP_BARRIER" if code.of_warps else "BARRIER")

    def _dealt(
        self,
        when: str,
        name: str,
        begin: str,
        end: str,
        step: str,
        body: Sequence[KernelRecord],
        turns: str = "ROLLED",
    ) -> None:
        """Write a loop whose turns are dealt to threads."""
        self.write(
            f"{when}{turns} for (int64_t {name} = {begin}; {name} < {end}; {name} += {step}) {{"
        )
        self._storing(body)

    def _storing(self, body: Sequence[KernelRecord]) -> None:
        """Write a body in which each thread stores, and end it."""
        before, self._stores = self._stores, ""
        self._indent += 1
        self.body(body)
        self._indent -= 1
        self.write("}")
        self._stores = before

    def tables(self, tables: Sequence[Table]) -> None:
        """Write tables of constants."""
        for table in tables:
            kind = self.values.kinds[table.name] = self.values.kind(table.dtype)
            numbers = ", ".join(number_text(v, kind) for v in table.values)
            name, count = self._c(table.name), len(table.values)
            self.write(f"CONSTANTS({STORED[kind]}, {name}, {count}, {numbers})")

    # -- records -----------------------------------------------------------------------------------

    def _variable(self, record: Variable) -> None:
        value = self.values.value(record.value)
        if record.parts:
            self.write(f"{value.type} {self._c(record.name)} = {value.text};")
            return
        super()._variable(record)

    def _store(self, record: Store) -> None:
        values, name = self.values, self._c(record.buffer)
        value, place = values.value(record.value), values.place(record.buffer, record.at)
        new = value.text
        if record.operation:
            new = f"{record.operation}_{value.kind}(LD({name}, {place}), {new})"
        when = f"if ({self._stores}) " if self._stores else ""
        self.write(f"{when}ST({name}, {place}, {new});")

    def _scratch(self, record: Scratch) -> None:
        """Write nothing, as for the memory of code, of which this is."""

    def _require(self, record: Require) -> None:
        values = self.values
        held = values.value(record.value)
        numbers = [f"(int64_t){values.value(number).text}" for number in record.numbers]
        instance = [f"(int64_t){values.expression(e)}" for _, e in record.instance]
        when = f"{self._stores} && " if self._stores else ""
        self.write(f"if ({when}!{held.text}) {{")
        self.write(f"    const int64_t numbers[] = {{{', '.join(numbers) or '0'}}};")
        self.write(f"    const int64_t instance[] = {{{', '.join(instance) or '0'}}};")
        self.write(
            f"    fail(run, {record.number}, {len(numbers)}, numbers, {len(instance)}, instance);"
        )
        self.write("}")

    def _loop(self, record: Loop) -> None:
        if _only_loads(record):
            turns = OF_LOADS
        elif self.by_all_blocks and _only_loads(record, LONG):
            turns = OF_MANY_LOADS
        else:
            turns = "ROLLED"
        self._begin_loop(record, turns)
        self._nested(record.body)

    def _begin_loop(self, record: Loop, turns: str = "ROLLED") -> None:
        name, (low, high) = self._c(record.variable), map(self.values.expression, record.turns)
        if record.backwards:
            self.write(f"{turns} for (int64_t {name} = {high} - 1; {name} >= {low}; {name}--) {{")
        else:
            self.write(f"{turns} for (int64_t {name} = {low}; {name} < {high}; {name}++) {{")

    def _invoke(self, record: Invoke) -> None:
        values, option = self.values, record.option
        places = [
            f"{self._c(name)}, {values.place(name, at)}"
            for name, at in (record.out, *record.operands)
        ]
        out, *operands = places
        n = {
            k: values.expression(expression(v))
            for k, v in option.items()
            if k not in (*FLAGS, "origin", "coordinates")
        }
        real, thread = values.real, "thread);"
        if record.function == "turned":
            steps = f"{n['in_step']}, {out}, {n['out_step']}, {n['rows']}, {n['columns']}"
            self.write(f"block_turned_{real}({operands[0]}, {steps}, {thread}")
            return
        if record.function.startswith("permutation"):
            self._permutation(record, out, operands)
            return
        if record.function == "orthogonalize":
            x, memory = operands
            sides = f"{n['rows']}, {n['columns']}"
            self.write(f"block_orthogonalize_{real}({x}, {out}, {sides}, {memory}, {thread}")
            return
        if record.function.startswith(KEPT):
            self._kept(record, out, operands, n)
            return
        left, right = operands
        sizes = f"{n['rows']}, {n['columns']}, {n['times']}, {int(option['into'])}"
        if record.function == "product":
            factors = f"{left}, {n['row_step']}, {n['step']}, {right}, {n['right_step']}"
            along = "" if option["high"] == 1 else "_by_row" if option["row_step"] == 1 else "_by_k"
            function = f"block_product_{option['high']}x{option['wide']}{along}_{real}"
            self.write(f"{function}({factors}, {out}, {n['out_step']}, {sizes}, {thread}")
        else:
            assert record.function == "lane_sums", record
            factors = f"{left}, {n['row_step']}, {right}, {n['right_step']}"
            to = f"{out}, {n['out_step']}, {n['next']}"
            self.write(f"block_lane_sums_{real}({factors}, {to}, {sizes}, {thread}")

    def _kept(
        self, record: Invoke, out: str, operands: Sequence[str], n: Mapping[str, str]
    ) -> None:
        """Write a function of what threads keep: that adds to it, or writes it."""
        real, sides = self.values.real, f"{n['rows']}, {n['columns']}"
        pieces = f"{n['high']}, {n['wide']}, {n['each']}, THREADS, thread);"
        if record.function == WRITTEN:
            sums = self._c(record.operands[0][0])
            self.write(f"block_kept_written_{real}({sums}, {out}, {sides}, {pieces}")
            return
        sums, (left, right) = self._c(record.out[0]), operands
        sizes = f"{sums}, {sides}, {n['times']}"
        if record.function == f"{KEPT}product":
            factors = f"{left}, {n['row_step']}, {n['step']}, {right}, {n['right_step']}"
            self.write(f"block_kept_product_{real}({factors}, {sizes}, {pieces}")
        else:
            factors = f"{left}, {n['row_step']}, {right}, {n['right_step']}"
            each = f"{n['next']}, {n['each']}, THREADS, thread);"
            self.write(f"block_kept_lane_sums_{real}({factors}, {sizes}, {each}")

    def _permutation(self, record: Invoke, out: str, operands: Sequence[str]) -> None:
        """Write a permutation by one block, or one of the stages by many."""
        values, option = self.values, record.option
        coordinates = [values.word(e, vector=False) for e in option["coordinates"]]
        zeros = ["0u"] * (MOST_COORDINATES - len(coordinates))
        key = [
            "(uint32_t)run->seed",
            f"{statement_key(option['origin']):#x}u",
            str(len(coordinates)),
        ]
        count, drawn = values.expression(option["n"]), [*key, *coordinates, *zeros]
        if record.function == "permutation":
            self._call("block_permutation", out, count, *drawn, *operands)
            return
        function, ranges = record.function.replace(" ", "_"), values.expression(option["ranges"])
        names = [self._c(name) for name, _ in record.operands]
        if record.function == BEGUN:
            self._call(function, out, ranges)
        elif record.function == COUNTED:
            self._call(function, out, ranges, count, *drawn)
        elif record.function == DEALT:
            self._call(function, out, operands[0], ranges, count, *drawn, *names[1:])
        else:
            self._call(function, out, operands[0], ranges, str(MOST_SORTED), *drawn, *names[1:])

    def _call(self, function: str, *given: str) -> None:
        self.write(f"{function}({', '.join(given)}, thread);")


def _only_loads(loop: Loop, most: int = SHORT) -> bool:
    """Tell whether turns do nothing but add to what the thread has, in so many records at most."""
    body = list(walk(loop.body))
    return len(body) <= most and all(isinstance(r, (Let, Serves, Update)) for r in body)


def _sums_points(codes: Sequence[Code]) -> bool:
    """Tell whether code adds up points, in short turns, and does little else."""
    points = [code for code in codes if isinstance(code, Points)]
    little = all(isinstance(code, (Everywhere, First, Points, Totals)) for code in codes)
    return little and bool(points) and all(_only_loads(code.loop) for code in points)
