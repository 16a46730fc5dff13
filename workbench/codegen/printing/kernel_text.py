"""Kernel records as the C text of a function's body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from workbench.codegen.kernel_records import (
    LANES,
    Draw,
    Invoke,
    KernelRecord,
    Leave,
    Let,
    Local,
    Loop,
    Position,
    Prefetch,
    Require,
    Scratch,
    Serves,
    Stamp,
    Store,
    Table,
    Total,
    Update,
    Value,
    Variable,
    Where,
    walk,
)
from workbench.codegen.printing.c_expressions import condition_text
from workbench.codegen.printing.packed_rows import PackedText, packs
from workbench.codegen.printing.row_pairs import RowNames, has_pairs, innermost_call, with_local
from workbench.codegen.printing.statement_marks import mark
from workbench.codegen.printing.value_text import SCALARS, STORED, Text, ValueText, number_text
from workbench.polyhedral.expression import expression
from workbench.program.keys import statement_key

MOST_COORDINATES = 5
"""The coordinates that a counter of `philox.h` has."""

TOTALS = {"add": "sum16", "maximum": "maximum16", "minimum": "minimum16"}
NOTHING = {"add": 0, "maximum": -float("inf"), "minimum": float("inf")}
FLAGS = frozenset(("whole", "into"))
"""The options of a product that are no numbers."""
LEAST, MOST = -(2**31), 2**31 - 1


class KernelText:
    """The lines of one kernel. `name` gives everything its C name, `kinds` are its buffers'."""

    def __init__(
        self,
        name: Callable[[str], str],
        kinds: dict[str, str],
        real: str,
        padded: frozenset[str] = frozenset(),
    ) -> None:
        self.values = ValueText(name, real, dict(kinds))
        self.lines: list[str] = []
        self._indent = 1
        self._padded = padded
        """The buffers that have room for all lanes of a group."""
        self._parts: set[str] = set()
        self._held: list[str] = []
        """The bytes of the scratch memory in use."""
        self._shared = True
        """Whether all threads of the run may help."""

    def write(self, text: str) -> None:
        """Write a line."""
        self.lines.append("    " * self._indent + text)

    def table(self, table: Table) -> None:
        """Write a table of constants."""
        kind = self.values.kinds[table.name] = self.values.kind(table.dtype)
        numbers = ", ".join(number_text(v, kind) for v in table.values)
        self.write(f"static const {STORED[kind]} {self._c(table.name)}[] = {{{numbers}}};")

    def body(self, records: Sequence[KernelRecord]) -> None:
        """Write records; scratch memory that they ask for is free behind them."""
        before = list(self._held)
        for record in records:
            getattr(self, f"_{type(record).__name__.lower()}")(record)
        self._held = before

    def chunk(self, chunk: str, records: Sequence[KernelRecord]) -> None:
        """Write what a thread runs of a kernel in blocks, of one chunk: of a loop over all chunks
        its turn, and the loop over the blocks, until a check fails.
        """
        *before, blocks = records
        self._shared = False
        for record in before:
            if isinstance(record, Loop) and record.variable == chunk:
                self.body(record.body)
            else:
                self.body([record])
        assert isinstance(blocks, Loop)
        name = self._c(blocks.variable)
        self.write(f"for (int64_t {name} = first_block; {name} < behind_blocks; {name}++) {{")
        self._nested(blocks.body, "if (*run->stop | run->failed) break;")

    def _c(self, name: str) -> str:
        return self.values.name(name)

    def _serves(self, record: Serves) -> None:
        self.write(mark(record.statement))

    def _stamp(self, record: Stamp) -> None:
        self.write(f"stamp(run, {record.number});")

    # -- locals ------------------------------------------------------------------------------------

    def _let(self, record: Let) -> None:
        self._define(record.name, self.values.value(record.value), "const ")

    def _variable(self, record: Variable) -> None:
        value, name = self.values.value(record.value), self._c(record.name)
        if record.parts:
            self._parts.add(record.name)
            self.write(f"v{value.kind} {name}[PARTS];")
            self.write(f"for (int k = 0; k < PARTS; k++) {name}[k] = {value.wide.text};")
            return
        self._define(record.name, value.wide if self.values.lane else value)

    def _define(self, name: str, value: Text, mark: str = "") -> None:
        if value.vector:
            self.values.varying.add(name)
        self.write(f"{mark}{value.type} {self._c(name)} = {value.text};")

    def _update(self, record: Update) -> None:
        value, place = self.values.value(record.value), self._c(record.name)
        if record.name in self._parts:
            place = f"{place}[part_of_group]"
            nothing = number_text(_nothing(record.operation, value.kind), value.kind)
            masked = f"where_v{value.kind}(active, {value.wide.text}, all_v{value.kind}({nothing}))"
            value = Text(masked, value.kind, True)
        elif record.name in self.values.varying:
            value = value.wide
        self._assign(place, value, record.operation)

    def _assign(self, place: str, value: Text, operation: str) -> None:
        new = f"{operation}_{value.suffix}({place}, {value.text})" if operation else value.text
        self.write(f"{place} = {new};")

    def _total(self, record: Total) -> None:
        kind = self.values.kind(record.variable.dtype)
        total = f"{TOTALS[record.operation]}_v{kind}({self._c(record.variable.name)})"
        self.write(f"const {SCALARS[kind]} {self._c(record.name)} = {total};")

    # -- memory ------------------------------------------------------------------------------------

    def _scratch(self, record: Scratch) -> None:
        kind, name = self.values.kind(record.dtype), self._c(record.name)
        if self.values.lane:
            self.values.private[record.name] = kind
            element = f"v{kind}"
        else:
            self.values.kinds[record.name] = kind
            element = STORED[kind]
        begin = "".join(f" + {n}" for n in self._held)
        self.write(f"{element} *const {name} = ({element} *)(scratch{begin});")
        elements = self.values.expression(record.elements)
        self._held.append(f"ROUNDED({elements} * (int64_t)sizeof({element}))")

    def _store(self, record: Store) -> None:
        values = self.values
        value, name, at = values.value(record.value), self._c(record.buffer), record.at
        if isinstance(values, PackedText):
            rows, value = values.rows(record.buffer, at), value.wide
            self.write(f"store_rows_v{value.kind}({rows}, {value.text});")
            return
        if record.buffer in values.private:
            self._assign(f"{name}[{values.expression(at)}]", value.wide, record.operation)
            return
        if not values.varies(at):
            assert not value.vector, f"lanes have no one place {at} in {record.buffer}"
            self._assign(f"{name}[{values.expression(at)}]", value, record.operation)
            return
        value, step = value.wide, values.step(at)
        if step is None:
            self._scatter(record, value)
            return
        begin, new, kind = f"{name} + {values.expression(at)}", value.text, value.kind
        if record.operation:
            old = values.load(record.buffer, at, kind).text
            new = f"{record.operation}_v{kind}({old}, {new})"
        if step == 1 and record.buffer in self._padded:
            self.write(f"store_v{kind}({begin}, {new});")
        elif step == 1:
            self.write(f"if (lanes == LANES) store_v{kind}({begin}, {new});")
            self.write(f"else store_some_v{kind}({begin}, 1, lanes, {new});")
        else:
            apart = values.expression(step)
            self.write(f"store_some_v{kind}({begin}, {apart}, lanes, {new});")

    def _scatter(self, record: Store, value: Text) -> None:
        """Store lanes one after the other, where their places have no step."""
        place = f"{self._c(record.buffer)}[{self.values.in_lane(record.at)}]"
        one = f"({value.text})[lane]" if value.kind != "b" else f"(({value.text})[lane] & 1)"
        if record.operation:
            one = f"{record.operation}_{value.kind}({place}, {one})"
        self.write(f"for (int lane = 0; lane < lanes; lane++) {place} = {one};")

    def _prefetch(self, record: Prefetch) -> None:
        name, values = self._c(record.buffer), self.values
        if values.varies(record.at):
            self.write(f"EACH_LANE __builtin_prefetch({name} + {values.in_lane(record.at)});")
        else:
            self.write(f"__builtin_prefetch({name} + {values.expression(record.at)});")

    # -- loops -------------------------------------------------------------------------------------

    def _loop(self, record: Loop) -> None:
        name, (lower, upper) = self._c(record.variable), map(self.values.expression, record.turns)
        if record.lanes:
            self._lanes(record, name, lower, upper)
            return
        if packs(record, self.values, self._padded):
            packed = PackedText.of(record, self.values)
            self.write("if (FILL_A_VECTOR(lanes))")
            if has_pairs(record, self.values):
                self._two_by_two(record, name, lower, upper)
            else:
                self._one_by_one(record, name, lower, upper)
            self.write("else")
            self._packed(record, packed, lower, upper)
            return
        self._one_by_one(record, name, lower, upper)

    def _one_by_one(self, record: Loop, name: str, lower: str, upper: str) -> None:
        if record.backwards:
            self.write(f"for (int64_t {name} = {upper} - 1; {name} >= {lower}; {name}--) {{")
        else:
            self.write(f"for (int64_t {name} = {lower}; {name} < {upper}; {name}++) {{")
        self._nested(record.body, "if (*run->stop) break;" if record.ends else "")

    def _two_by_two(self, record: Loop, name: str, lower: str, upper: str) -> None:
        """Write a loop over rows, two at a time, of which none needs another's."""
        self.write(f"for (int64_t {name} = {lower}; {name} < {upper}; {name} += 2) {{")
        self._indent += 1
        one_by_one = self.values.name
        own = {record.variable, *(r.name for r in record.body if isinstance(r, Let))}
        instead = {name: f"second {name}" for name in own}
        rows = (RowNames(one_by_one, {}, {}), RowNames(one_by_one, instead, {}))
        self.write(f"const int64_t {rows[1](record.variable)} = {name} + 1;")
        for inner in record.body:
            if isinstance(inner, (Let, Store)):
                inner = replace(inner, value=self._of_two(inner, rows))
                for self.values.name in rows:
                    self.body([inner])
                self.values.name = one_by_one
            else:
                self.body([inner])
        self._indent -= 1
        self.write("}")

    def _of_two(self, record: Let | Store, rows: tuple[RowNames, RowNames]) -> Value:
        """Write the calls in a record's value that are computed of two rows at a time; return the
        value that is left.
        """
        value, values = record.value, self.values
        of = record.name if isinstance(record, Let) else record.buffer
        while (call := innermost_call(value, values)) is not None:
            local = Local(f"{call.operation} of two {of}", call.dtype)
            two, arguments = rows[0](local.name), []
            for values.name in rows:
                arguments.append(values.value(call.arguments[0]).wide.text)
            self.write(f"vf {two}[2] = {{{', '.join(arguments)}}};")
            self.write(f"{call.operation}_of_vf({two}, 2);")
            for place, row in enumerate(rows):
                row.given[local.name] = f"{two}[{place}]"
            values.varying.add(local.name)
            value, of = with_local(value, call, local), f"{of} again"
        return value

    def _packed(self, record: Loop, packed: PackedText, lower: str, upper: str) -> None:
        """Write a loop over rows, as many at a time as share a vector."""
        name = self._c(record.variable)
        step = f"{name} += SHARED_BY(width)"
        self.write(f"for (int64_t {name} = {lower}, width; {name} < {upper}; {step}) {{")
        one_by_one, self.values = self.values, packed
        self._nested(record.body, f"width = width_of_rows(lanes, {upper} - {name});")
        self.values = one_by_one

    def _nested(self, body: Sequence[KernelRecord], first: str = "") -> None:
        self._indent += 1
        if first:
            self.write(first)
        self.body(body)
        self._indent -= 1
        self.write("}")

    def _lanes(self, record: Loop, name: str, lower: str, upper: str) -> None:
        """Write a loop over groups of lanes, the last of which may not be full."""
        assert not self.values.lane, "a loop of lanes inside another"
        first, behind = self._c(f"first {record.variable}"), self._c(f"behind {record.variable}")
        self.write(f"const int64_t {first} = {lower}, {behind} = {upper};")
        self.write(f"for (int64_t {name} = {first}; {name} < {behind}; {name} += LANES) {{")
        self._indent += 1
        full = (record.upper - record.lower) % LANES == 0
        lanes = "LANES" if full else f"minimum_l({behind} - {name}, LANES)"
        self.write(f"const int64_t lanes = {lanes};")
        self.write("(void)lanes;")
        updated = {r.name for r in walk(record.body) if isinstance(r, Update)}
        if updated & self._parts or any(isinstance(r, Require) for r in walk(record.body)):
            self.write("const vb active = first_vb(lanes);")
            self.write("(void)active;")
        if updated & self._parts:
            self.write(f"const int part_of_group = ({name} - {first}) / LANES % PARTS;")
        self._indent -= 1
        self.values.lane, varying = record.variable, set(self.values.varying)
        self._nested(record.body)
        self.values.lane, self.values.varying = "", varying

    def _where(self, record: Where) -> None:
        self.write(f"if ({condition_text(record.condition, self._c)}) {{")
        self._nested(record.body)

    def _leave(self, _: Leave) -> None:
        self.write("break;")

    # -- draws, checks, calls ----------------------------------------------------------------------

    def _draw(self, record: Draw) -> None:
        values = self.values
        vector = any(values.varies(e) for e in (*record.coordinates, record.block))
        mark, zero = ("_v", "(vu){0}") if vector else ("", "0")
        count = len(record.coordinates)
        given = [values.word(e, vector) for e in (record.block, *record.coordinates)]
        counter = ", ".join([*given, *[zero] * (MOST_COORDINATES - count)])
        drawn = self._c(f"drawn {record.names[0]}")
        self.write(
            f"const words{mark} {drawn} = philox{mark}(counter{mark}({count}, {counter}), "
            f"(uint32_t)run->seed, {statement_key(record.origin):#x}u);"
        )
        for k, name in enumerate(record.names):
            self._define(name, Text(f"{drawn}.word[{k}]", "u", vector), "const ")
            self.write(f"(void){self._c(name)};")

    def _require(self, record: Require) -> None:
        values = self.values
        held = values.value(record.value)
        numbers = [values.value(number) for number in record.numbers]
        instance = [values.value(Position(e, "int64")) for _, e in record.instance]
        lane = "[at]" if held.vector else ""
        told = f"fail(run, {record.number}, {_listed(numbers, lane)}, {_listed(instance, lane)});"
        if not held.vector:
            self.write(f"if (!{held.text}) {told}")
            return
        failing = f"(active & ~{held.text})"
        self.write(f"if (any_vb({failing}))")
        self.write(f"    for (int at = 0; at < LANES; at++) if ({failing}[at]) {told}")

    def _invoke(self, record: Invoke) -> None:
        values, option = self.values, record.option
        out, *operands = (
            f"{self._c(name)} + {values.expression(at)}"
            for name, at in (record.out, *record.operands)
        )
        if record.function == "orthogonalize":
            rows, columns = (values.expression(option[k]) for k in ("rows", "columns"))
            x, spare = operands
            self.write(f"orthogonalize_{values.real}({x}, {out}, {rows}, {columns}, {spare});")
        elif record.function == "turned":
            n = {k: values.expression(expression(v)) for k, v in option.items()}
            self.write(
                f"turned_{values.real}({operands[0]}, {n['in_step']}, {out}, {n['out_step']}, "
                f"{n['rows']}, {n['columns']});"
            )
        elif record.function == "product":
            n = {k: values.expression(expression(v)) for k, v in option.items() if k not in FLAGS}
            room = f"WHOLE_VECTORS({n['columns']})" if option["whole"] else n["columns"]
            left, right = operands
            self.write(
                f"product_{values.real}({left}, {n['row_step']}, {n['step']}, {right}, "
                f"{n['right_step']}, {out}, {n['out_step']}, {n['rows']}, "
                f"{n['columns']}, {room}, {n['times']}, {int(option['into'])});"
            )
        elif record.function == "lane_sums":
            n = {k: values.expression(expression(v)) for k, v in option.items() if k not in FLAGS}
            left, right = operands
            self.write(
                f"lane_sums_{values.real}({left}, {n['row_step']}, {right}, {n['right_step']}, "
                f"{out}, {n['out_step']}, {n['next']}, {n['rows']}, {n['columns']}, {n['times']}, "
                f"{int(option['into'])});"
            )
        elif record.function == "permutation":
            coordinates = [values.word(e, vector=False) for e in option["coordinates"]]
            helped = "run" if self._shared else "0"
            self.write(
                f"permutation({helped}, {out}, {values.expression(option['n'])}, "
                f"(uint32_t)run->seed, "
                f"{statement_key(option['origin']):#x}u, {len(coordinates)}, "
                f"(const uint32_t[]){{{', '.join(coordinates) or '0'}}}, "
                f"(uint32_t *)({operands[0]}));"
            )
        else:
            at = [f"(int64_t){values.expression(e)}" for _, e in option["instance"]]
            self.write(
                f"run->call({option['site']}, (const int64_t[]){{{', '.join(at) or '0'}}}, {out}, "
                f"(void *[]){{{', '.join(f'(void *)({o})' for o in operands) or '0'}}});"
            )


def _nothing(operation: str, kind: str) -> float:
    """Return what changes no result."""
    if kind in "fd" or operation == "add":
        return NOTHING[operation]
    return LEAST if operation == "maximum" else MOST


def _listed(values: Sequence[Text], lane: str) -> str:
    """Return the number of some integers and a C array of them, in a lane where they are many."""
    if not values:
        return "0, 0"
    place = lane or "[0]"
    texts = [f"(int64_t){v.text}{place if v.vector else ''}" for v in values]
    return f"{len(values)}, (const int64_t[]){{{', '.join(texts)}}}"
