"""Kernel records as C.

Each kernel is a function of the run's arguments and of the values of the loops around it. A value
that depends on the variable of a loop of lanes is a vector, every other one a scalar.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.codegen.printing.expressions import condition_text, expression_text
from workbench.codegen.records import (
    LANES,
    Compute,
    Draw,
    Holds,
    Invoke,
    KernelRecord,
    Let,
    Load,
    Local,
    Loop,
    Note,
    Number,
    Position,
    Require,
    Scratch,
    Store,
    Table,
    Total,
    Update,
    Value,
    Variable,
    Where,
    walk,
)
from workbench.polyhedral.expression import Expression, variable
from workbench.program.keys import statement_key

KINDS = {"int32": "i", "int64": "l", "bool": "b", "word": "u"}
SCALARS = {
    "f": "float",
    "d": "double",
    "i": "int32_t",
    "l": "int64_t",
    "b": "int",
    "u": "uint32_t",
}
STORED = {**SCALARS, "b": "uint8_t"}
ITEM_BYTES = {"f": 4, "d": 8, "i": 4, "l": 8, "b": 1}
COUNTERS = {0: (32, 32), 1: (32, 32), 2: (32, 32), 3: (32, 32), 4: (24, 26), 5: (23, 21)}


@dataclass(frozen=True)
class Text:
    """A value's C text, its kind, and whether it is a vector."""

    text: str
    kind: str
    vector: bool = False

    @property
    def suffix(self) -> str:
        """The suffix of functions of this kind."""
        return f"v{self.kind}" if self.vector else self.kind


@dataclass
class KernelText:
    """The C text of a kernel's body. `name` gives sizes, loop variables and buffers their C names.

    `real` is the kind of floats.
    """

    name: Callable[[str], str]
    kinds: Mapping[str, str]
    """The kinds of buffers."""
    real: str
    lines: list[str] = field(default_factory=list)
    indent: int = 1
    lane: str = ""
    """The variable of the loop of lanes around, while there is one."""
    varying: set[str] = field(default_factory=set)
    """The locals that are vectors."""
    private: dict[str, str] = field(default_factory=dict)
    """The kinds of scratch memory with an element a lane."""
    local: dict[str, str] = field(default_factory=dict)
    """The kinds of scratch memory and tables."""
    parts: set[str] = field(default_factory=set)
    depth: int = 0

    # -- records -----------------------------------------------------------------------------------

    def write(self, text: str) -> None:
        """Write a line."""
        self.lines.append("    " * self.indent + text)

    def body(self, records: Sequence[KernelRecord]) -> None:
        """Write records."""
        depth = self.depth
        for record in records:
            self.record(record)
        self.depth = depth

    def record(self, record: KernelRecord) -> None:
        """Write a record."""
        getattr(self, f"_{type(record).__name__.lower()}")(record)

    def _note(self, record: Note) -> None:
        self.write(f"/* {record.text.replace('*/', '* /')} */")

    def _let(self, record: Let) -> None:
        value = self.value(record.value)
        self._declare(record.name, value.kind, value.vector)
        self.write(f"const {_type(value)} {record.name} = {value.text};")

    def _declare(self, name: str, kind: str, vector: bool) -> None:
        self.local.pop(name, None)
        if vector:
            self.varying.add(name)

    def _variable(self, record: Variable) -> None:
        value = self.value(record.value)
        if record.parts:
            self.parts.add(record.name)
            every = f"all_v{value.kind}({value.text})"
            self.write(f"v{value.kind} {record.name}[PARTS];")
            self.write(f"for (int part = 0; part < PARTS; part++) {record.name}[part] = {every};")
            return
        if self.lane:
            value = self.vector(value)
        self._declare(record.name, value.kind, value.vector)
        self.write(f"{_type(value)} {record.name} = {value.text};")

    def _update(self, record: Update) -> None:
        value = self.value(record.value)
        place = record.name
        if record.name in self.parts:
            value = self.vector(value)
            place = f"{record.name}[part_of_group]"
            identity = {"add": "0", "maximum": "-INFINITY", "minimum": "INFINITY"}
            if value.kind in "il" and record.operation != "add":
                identity = {"maximum": "INT32_MIN", "minimum": "INT32_MAX"}
            nothing = f"all_v{value.kind}({identity[record.operation]})"
            value = Text(
                f"where_v{value.kind}(active, {value.text}, {nothing})", value.kind, True
            )
        elif record.name in self.varying:
            value = self.vector(value)
        if record.operation:
            self.write(f"{place} = {record.operation}_{value.suffix}({place}, {value.text});")
        else:
            self.write(f"{place} = {value.text};")

    def _total(self, record: Total) -> None:
        kind = self.kind(record.variable.dtype)
        function = {"add": "sum16", "maximum": "maximum16", "minimum": "minimum16"}
        self.write(
            f"const {SCALARS[kind]} {record.name} = "
            f"{function[record.operation]}_v{kind}({record.variable.name});"
        )

    def _scratch(self, record: Scratch) -> None:
        kind = self.kind(record.dtype)
        before = f"scratch{self.depth}" if self.depth else "scratch"
        self.depth += 1
        if self.lane:
            self.private[record.name] = kind
            element = f"v{'i' if kind == 'b' else kind}"
        else:
            self.local[record.name] = kind
            element = STORED[kind]
        elements = self.expression(record.elements)
        self.write(f"{element} *const {record.name} = ({element} *){before};")
        self.write(
            f"char *const scratch{self.depth} = {before} + "
            f"ROUNDED({elements} * (int64_t)sizeof({element}));"
        )
        self.write(f"(void)scratch{self.depth};")

    def _store(self, record: Store) -> None:
        value = self.value(record.value)
        if record.buffer in self.private:
            value = self.vector(value)
            place = f"{record.buffer}[{self.expression(record.at)}]"
            self._assign(place, place, value, record.operation)
            return
        kind = self._kind_of(record.buffer)
        if not self._varies(record.at):
            place = f"{self.buffer(record.buffer)}[{self.expression(record.at)}]"
            assert not value.vector, f"a vector has no one place {record.at}"
            self._assign(place, place, value, record.operation)
            return
        value = self.vector(value)
        step = self._step(record.at)
        assert step is not None, f"lanes cannot be stored at {record.at}"
        begin = f"{self.buffer(record.buffer)} + {self.expression(record.at)}"
        if record.operation:
            old = self.load(record.buffer, record.at, kind)
            value = Text(
                f"{record.operation}_{value.suffix}({old.text}, {value.text})", kind, True
            )
        if step == 1:
            self.write(
                f"if (lanes == LANES) store_v{kind}({begin}, {value.text}); "
                f"else store_some_v{kind}({begin}, 1, lanes, {value.text});"
            )
        else:
            self.write(
                f"store_some_v{kind}({begin}, {self.expression(step)}, lanes, {value.text});"
            )

    def _assign(self, place: str, old: str, value: Text, operation: str) -> None:
        text = f"{operation}_{value.suffix}({old}, {value.text})" if operation else value.text
        self.write(f"{place} = {text};")

    def _draw(self, record: Draw) -> None:
        vector = any(self._varies(e) for e in (*record.coordinates, record.block))
        kind = "vu" if vector else "uint32_t"
        names = ", ".join(record.names)
        self.write(f"{kind} {names};")
        low, width = COUNTERS[len(record.coordinates)]
        coordinates = ", ".join(self.position(e, vector) for e in record.coordinates)
        places = "".join(f", &{name}" for name in record.names)
        self.write(
            f"words{len(record.coordinates)}_{'vu' if vector else 'u'}(run->seed, "
            f"{statement_key(record.origin):#x}u, {coordinates}{', ' if coordinates else ''}"
            f"{self.position(record.block, vector)}{places});"
        )
        if vector:
            self.varying.update(record.names)

    def position(self, e: Expression, vector: bool) -> str:
        """Return an expression as 32-bit words, in all lanes where it is asked for."""
        text = self.value(Position(e, "int32"))
        return f"(vu){self.vector(text).text}" if vector else f"(uint32_t){text.text}"

    def _require(self, record: Require) -> None:
        value = self.value(record.value)
        numbers = [self.value(n) for n in record.numbers]
        told = [self.value(Position(e, "int64")) for _, e in record.instance]
        if value.vector:
            self.write(f"if (any_vb(active & ~{value.text}))")
            texts = [f"{self.vector(n).text}[at]" if n.vector else n.text for n in numbers]
            where = [f"{n.text}[at]" if n.vector else n.text for n in told]
            self.write(
                "    for (int at = 0; at < LANES; at++) "
                f"if ((active & ~{value.text})[at]) "
                f"fail(run, {record.number}, {_listed(texts)}, {_listed(where)});"
            )
            return
        texts, where = [n.text for n in numbers], [n.text for n in told]
        self.write(
            f"if (!{value.text}) fail(run, {record.number}, {_listed(texts)}, {_listed(where)});"
        )

    def _loop(self, record: Loop) -> None:
        name = self.name(record.variable)
        lower, upper = self.expression(record.lower), self.expression(record.upper)
        if record.lanes:
            self._lanes(record, name, lower, upper)
            return
        self.write(f"for (int64_t {name} = {lower}; {name} < {upper}; {name}++) {{")
        self._nested(record.body)

    def _nested(self, body: Sequence[KernelRecord]) -> None:
        self.indent += 1
        self.body(body)
        self.indent -= 1
        self.write("}")

    def _lanes(self, record: Loop, name: str, lower: str, upper: str) -> None:
        assert not self.lane, "a loop of lanes inside another"
        first, last = f"first_{name}", f"last_{name}"
        self.write(f"const int64_t {first} = {lower}, {last} = {upper};")
        self.write(f"for (int64_t {name} = {first}; {name} < {last}; {name} += LANES) {{")
        self.indent += 1
        self.write(f"const int64_t lanes = minimum_l({last} - {name}, LANES); (void)lanes;")
        body = walk(record.body)
        if any(isinstance(r, (Require, Update)) for r in body):
            self.write("const vb active = first_vb(lanes); (void)active;")
        if self.parts:
            self.write(f"const int part_of_group = (({name} - {first}) / LANES) % PARTS;")
            self.write("(void)part_of_group;")
        self.indent -= 1
        self.lane = record.variable
        varying = set(self.varying)
        self._nested(record.body)
        self.lane, self.varying = "", varying

    def _where(self, record: Where) -> None:
        self.write(f"if ({condition_text(record.condition, self._name)}) {{")
        self._nested(record.body)

    def _invoke(self, record: Invoke) -> None:
        out, *operands = (
            f"{self.buffer(name)} + {self.expression(at)}" for name, at in (record.out, *record.operands)
        )
        option = record.option
        if record.function == "orthogonalize":
            rows, columns = (self.expression(option[k]) for k in ("rows", "columns"))
            listed = ", ".join((out, *operands))
            self.write(f"orthogonalize_{self.real}({listed}, {rows}, {columns});")
        elif record.function == "permutation":
            coordinates = "".join(f", {self.position(e, False)}" for e in option["coordinates"])
            self.write(
                f"permutation{len(option['coordinates'])}({out}, {operands[0]}, "
                f"{self.expression(option['n'])}, run->seed, "
                f"{statement_key(option['origin']):#x}u{coordinates});"
            )
        else:
            where = [f"(int64_t)({self.expression(e)})" for _, e in option["instance"]]
            self.write(
                f"run->call({option['site']}, (const int64_t[]){{{', '.join(where) or '0'}}}, "
                f"{out}, (void *[]){{{', '.join(operands) or 'NULL'}}});"
            )

    # -- values ------------------------------------------------------------------------------------

    def kind(self, dtype: str) -> str:
        """Return the letter of a dtype."""
        return KINDS.get(dtype, self.real)

    def value(self, value: Value) -> Text:
        """Return a value as C."""
        if isinstance(value, Number):
            return Text(_number(value, self.kind(value.dtype)), self.kind(value.dtype))
        if isinstance(value, Position):
            return self._position(value)
        if isinstance(value, Holds):
            return self._holds(value)
        if isinstance(value, Local):
            return Text(value.name, self.kind(value.dtype), value.name in self.varying)
        if isinstance(value, Load):
            return self.load(value.buffer, value.at, self.kind(value.dtype))
        return self._compute(value)

    def vector(self, value: Text) -> Text:
        """Return a value in all lanes."""
        if value.vector:
            return value
        return Text(f"all_v{value.kind}({value.text})", value.kind, True)

    def _compute(self, value: Compute) -> Text:
        arguments = [self.value(a) for a in value.arguments]
        if any(a.vector for a in arguments):
            arguments = [self.vector(a) for a in arguments]
        kind, first = self.kind(value.dtype), arguments[-1]
        vector = first.vector
        texts = ", ".join(a.text for a in arguments)
        if value.operation == "copy":
            return Text(texts, kind, vector)
        if value.operation == "cast":
            mark = "v" if vector else ""
            if first.kind == kind:
                return first
            return Text(f"cast_{mark}{kind}_{mark}{first.kind}({texts})", kind, vector)
        if value.operation == "fma":
            if kind in "fd":
                return Text(f"fused_{first.suffix}({texts})", kind, vector)
            a, b, c = (a.text for a in arguments)
            s = first.suffix
            return Text(f"add_{s}(multiply_{s}({a}, {b}), {c})", kind, vector)
        if value.operation in ("uniform", "normal"):
            mark = "v" if vector else ""
            return Text(f"{value.operation}_{mark}{kind}({texts})", kind, vector)
        return Text(f"{value.operation}_{first.suffix}({texts})", kind, vector)

    def _holds(self, value: Holds) -> Text:
        names = _names_of(value)
        if not any(self._is_varying(n) for n in names):
            return Text(f"({condition_text(value.condition, self._name)})", "b")
        text = condition_text(value.condition, self._in_lane)
        return Text(f"({{ vb r; EACH_LANE r[lane] = -({text}); r; }})", "b", True)

    def _position(self, value: Position) -> Text:
        kind = self.kind(value.dtype)
        e = value.expression
        if not self._varies(e):
            return Text(f"({SCALARS[kind]}){self.expression(e)}", kind)
        step = self._step(e)
        if step is not None and not step.terms and kind == "i":
            scaled = "lanes_vi()" if step == 1 else f"lanes_vi() * {step.constant}"
            return Text(f"(all_vi((int32_t){self.expression(e)}) + {scaled})", kind, True)
        text = expression_text(e, self._in_lane)
        made = f"({{ v{kind} r; EACH_LANE r[lane] = ({SCALARS[kind]}){text}; r; }})"
        return Text(made, kind, True)

    def load(self, buffer: str, at: Expression, kind: str) -> Text:
        """Return the element of a buffer as C."""
        if buffer in self.private:
            return self._private(buffer, at, kind)
        base = self.buffer(buffer)
        if not self._varies(at):
            text = f"{base}[{self.expression(at)}]"
            return Text(text, kind)
        step = self._step(at)
        if step is not None and step == 1:
            return Text(f"load_v{kind}({base} + {self.expression(at)})", kind, True)
        sign = "-(int32_t)" if kind == "b" else ""
        vector = "vi" if kind == "b" else f"v{kind}"
        if step is not None:
            place = f"at[minimum_l(lane, lanes - 1) * step]"
            return Text(
                f"({{ const {STORED[kind]} *at = {base} + {self.expression(at)}; "
                f"const int64_t step = {self.expression(step)}; {vector} r; "
                f"EACH_LANE r[lane] = {sign}{place}; r; }})",
                kind,
                True,
            )
        place = expression_text(at, self._in_lane)
        return Text(
            f"({{ {vector} r; EACH_LANE r[lane] = {sign}{base}[{place}]; r; }})", kind, True
        )

    def _private(self, buffer: str, at: Expression, kind: str) -> Text:
        if not self._varies(at):
            return Text(f"{buffer}[{self.expression(at)}]", kind, True)
        place = expression_text(at, self._in_lane)
        vector = "vi" if kind == "b" else f"v{kind}"
        return Text(
            f"({{ {vector} r; EACH_LANE r[lane] = {buffer}[{place}][lane]; r; }})", kind, True
        )

    # -- names and places --------------------------------------------------------------------------

    def buffer(self, name: str) -> str:
        """Return a buffer's C name."""
        return name if name in self.local else self.name(name)

    def _kind_of(self, buffer: str) -> str:
        return self.local[buffer] if buffer in self.local else self.kinds[buffer]

    def expression(self, e: Expression) -> str:
        """Return an expression as C; of lanes, in the first."""
        return expression_text(e, self._name)

    def _name(self, name: str) -> str:
        if name in self.varying:
            return f"{name}[0]"
        return self.name(name)

    def _in_lane(self, name: str) -> str:
        """Return a name's value in the lane `lane`; inactive lanes are like the last."""
        if name == self.lane:
            return f"({self.name(name)} + minimum_l(lane, lanes - 1))"
        return f"{name}[lane]" if name in self.varying else self.name(name)

    def _is_varying(self, name: str) -> bool:
        return name == self.lane or name in self.varying

    def _varies(self, e: Expression) -> bool:
        return bool(self.lane) and any(self._is_varying(n) for n in e.variables)

    def _step(self, e: Expression) -> Expression | None:
        """Return how far apart the places of neighbouring lanes are; None where that differs."""
        if any(n in self.varying for n in e.variables):
            return None
        step = e.substitute({self.lane: variable(self.lane) + 1}) - e
        return None if self.lane in step.variables else step


def _names_of(value: Holds) -> set[str]:
    names: set[str] = set()

    def visit(condition: Any) -> None:
        for part in getattr(condition, "parts", ()):
            visit(part)
        if hasattr(condition, "left"):
            names.update(condition.left.variables | condition.right.variables)

    visit(value.condition)
    return names


def _listed(texts: Sequence[str]) -> str:
    if not texts:
        return "0, NULL"
    listed = ", ".join(f"(int64_t)({t})" for t in texts)
    return f"{len(texts)}, (const int64_t[]){{{listed}}}"


def _type(value: Text) -> str:
    if value.vector:
        return f"v{value.kind}"
    return SCALARS[value.kind]


def _number(value: Number, kind: str) -> str:
    x = value.value
    if kind in "fd":
        if math.isnan(x):
            return f"({SCALARS[kind]})NAN"
        if math.isinf(x):
            return f"{'-' if x < 0 else ''}({SCALARS[kind]})INFINITY"
        text = f"({SCALARS[kind]}){float(x).hex()}"
        return text if x >= 0 and math.copysign(1, x) > 0 else f"({text})"
    if kind == "b":
        return str(int(bool(x)))
    if int(x) == -(2**31):
        return "INT32_MIN"
    return str(int(x)) if x >= 0 else f"({int(x)})"


def table_text(table: Table, kind: str) -> str:
    """Return a table of constants as C."""
    numbers = ", ".join(_number(Number(v, table.dtype), kind) for v in table.values)
    return f"static const {STORED[kind]} {table.name}[] = {{{numbers}}};"


def scratch_bytes(body: Sequence[KernelRecord], real: int, lanes: bool = False) -> list[Expression]:
    """Return the bytes of scratch memory that are in use at once, for every path into the body."""
    here: Expression | None = None
    paths: list[Expression] = []
    for record in body:
        if isinstance(record, Scratch):
            item = {"int32": 4, "int64": 8, "bool": 4 if lanes else 1}.get(record.dtype, real)
            each = record.elements * (item * (LANES if lanes else 1)) + 64
            here = each if here is None else here + each
        elif isinstance(record, (Loop, Where)):
            inside = isinstance(record, Loop) and record.lanes
            for more in scratch_bytes(record.body, real, lanes or inside):
                paths.append(more if here is None else here + more)
    if here is not None:
        paths.append(here)
    return paths


__all__ = ["KernelText", "scratch_bytes", "table_text"]
