"""Random differentiable programs as source text: recurrences forwards, backwards, two steps back
and carried over updates, ranges, reductions, masks, gathers, draws, inner axes, matrix products and
softmax; a loss with and without free dims. A program with kinks returns what tells its branches.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random

from tests.soundness.lines import SIZE_OF, Lines, listed, traced
from workbench.program.values import Program

INNER = 2
"""The length of the only inner axis."""


@dataclass(frozen=True)
class Value:
    """A float array or value of a program: its dims, whether it has an inner axis, how many slices
    it has beyond the range of each dim, and whether some of those are missing elsewhere.
    """

    name: str
    dims: tuple[str, ...]
    vector: bool = False
    beyond: tuple[tuple[str, int], ...] = ()
    is_box: bool = True

    def slices_beyond(self, dim: str) -> int:
        """How many slices there are beyond the dim's range."""
        return dict(self.beyond).get(dim, 0)


@dataclass(frozen=True)
class Term:
    """An expression: its text, the dims it varies over, whether it has an inner axis."""

    text: str
    dims: tuple[str, ...] = ()
    vector: bool = False


@dataclass(frozen=True)
class Written:
    """A program in the language: its text, the dims of the loss, the outputs that tell branches."""

    text: str
    seeds: tuple[str, ...]
    branches: tuple[str, ...]

    def traced(self) -> Program:
        """The program. Its outputs: `loss`, `x`, `gradient` and the branches."""
        return traced(self.text)


@dataclass(kw_only=True)
class Author(Lines):
    """Writes one program. The dims of the loss (`seeds`) are read in place only: what
    reads them elsewhere is constant to a gradient.
    """

    kinks: bool
    seeds: tuple[str, ...]
    values: list[Value] = field(default_factory=list)
    branches: list[str] = field(default_factory=list)

    def define(self, letter: str, term: Term) -> None:
        """A new variable that later ones may read."""
        self.values.append(Value(self.assign(letter, term.text), term.dims, term.vector))

    def weight(self) -> str:
        """A number that stands nowhere else: a value computed once only is no other value's slice,
        which the differences hold where it is at another point of the loss's dims.
        """
        self.count += 1
        return f"0.9{self.count:03d}"

    def branch(self, text: str) -> None:
        """Note what tells on which side of a kink a program is."""
        self.branches.append(self.assign("branch", text))

    def open_dims(self, value: Value) -> tuple[str, ...]:
        """The dims along which a value may be read anywhere."""
        return tuple(d for d in value.dims if d not in self.seeds)

    # -- reads ---------------------------------------------------------------------------------

    def term(self, env: Sequence[str], vector: bool = False) -> Term:
        """An expression over dims of `env`: a value read somewhere, or something constant."""
        fitting = [v for v in self.values if vector or not v.vector]
        if not fitting or self.happens(0.15):
            return self.constant(env)
        return self.read(self.dice.choice(fitting), env)

    def constant(self, env: Sequence[str]) -> Term:
        """A number, a draw or a position."""
        kind = self.dice.randrange(3)
        if kind == 0 or not env:
            return Term(f"{self.dice.choice((-1.5, 0.25, 0.5, 2.0))}")
        if kind == 1:
            over = self.some(env)
            return Term(f"wb.uniform(-1.0, 1.0, over={listed(over)})", over)
        d = self.dice.choice(list(env))
        return Term(f"wb.cast(wb.index({d}), float) * 0.3", (d,))

    def read(self, value: Value, env: Sequence[str]) -> Term:
        """A value in place, elsewhere, over a range that is summed, or gathered."""
        if not set(value.dims) & set(self.seeds) <= set(env):
            return self.constant(env)
        kind = self.dice.random()
        if kind < 0.3 and set(value.dims) <= set(env):
            return Term(value.name, value.dims, value.vector)
        if kind < 0.5 and value.is_box and self.open_dims(value):
            return self.gather(value, env)
        if kind < 0.75 and self.open_dims(value):
            return self.range(value, env)
        return self.elsewhere(value, env)

    def elsewhere(self, value: Value, env: Sequence[str], **fixed: Term) -> Term:
        """A read at an index per dim; `fixed` gives some."""
        if not value.dims:
            return Term(value.name, (), value.vector)
        entries = [fixed.get(d) or self.index(value, d, env) for d in value.dims]
        text = f"{value.name}[{', '.join(e.text for e in entries)}]"
        return Term(text, self.ordered(*(e.dims for e in entries)), value.vector)

    def index(self, value: Value, d: str, env: Sequence[str]) -> Term:
        """An index of dim d: in place where the loss keeps the dim, else anywhere."""
        if d in self.seeds or (d in env and self.happens(0.4)):
            return Term(d, (d,))
        size, beyond = SIZE_OF[d], value.slices_beyond(d) and value.is_box
        others = [e for e in env if e not in self.seeds and e != d]
        if d not in env and others and self.happens(0.3):
            e = self.dice.choice(others)
            return Term(f"wb.minimum({e}, {size} - 1)", (e,))
        if d not in env or self.happens(0.3):
            return Term(self.dice.choice(["0", f"{size} - 1"] + [size] * bool(beyond)))
        moved = [
            f"wb.maximum({d} - 1, 0)",
            f"wb.minimum({d} + 1, {size} - 1)",
            f"{size} - 1 - {d}",
            f"{d} // 2",
            f"{d} - {d} % 2",
        ]
        return Term(self.dice.choice(moved + [f"{d} + 1", f"{size} - {d}"] * bool(beyond)), (d,))

    def range(self, value: Value, env: Sequence[str]) -> Term:
        """The sum, mean or maximum of a range, perhaps times something else."""
        d = self.dice.choice(self.open_dims(value))
        may_be_empty = self.happens(0.4)
        chosen = self.bounds(value, d, env, may_be_empty)
        places = {e: self.index(value, e, env) for e in value.dims if e != d}
        term = self.elsewhere(value, env, **places, **{d: chosen})
        if self.happens(0.3):
            term = replace(term, text=f"wb.sin({term.text})")
        same = [
            v
            for v in self.values
            if v.dims == value.dims and v.is_box and v.beyond == value.beyond and not v.vector
        ]
        if self.happens(0.3) and same:
            other = self.elsewhere(self.dice.choice(same), env, **places, **{d: chosen})
            term = replace(term, text=f"({term.text} * {other.text})")
        elif self.happens(0.5):
            factor = self.factor(env)
            text = f"({term.text} {self.dice.choice('+*')} {factor.text})"
            term = Term(text, self.ordered(term.dims, factor.dims), term.vector)
        if value.vector or may_be_empty or self.happens(0.55):
            how = "sum"
        elif self.happens(0.6) or not self.kinks:
            how = "mean"
        else:
            name, how = self.assign("r", term.text), "max"
            self.branch(f"{name}.argmax()")
            term = replace(term, text=name)
        return Term(f"{term.text}.{how}()", term.dims)

    def bounds(self, value: Value, d: str, env: Sequence[str], may_be_empty: bool) -> Term:
        """The bounds of a range along dim d."""
        size = SIZE_OF[d]
        end = f"{size} + 1" if value.slices_beyond(d) and value.is_box else size
        others = [e for e in env if e not in (*self.seeds, d)]
        if may_be_empty:
            many = [f"1:{size}", f"2:{size}"]
            if d in env:
                many += [f"{d} + 1:{size}", f"0:{d}", f"wb.minimum({d} + 2, {size}):{end}"]
            if others:
                e = self.dice.choice(others)
                many += [f"{e}:{size}", f"0:wb.minimum({e}, {size})"]
        else:
            many = [f"0:{size}", f"0:{end}", f"{size} - 1:{end}"]
            if d in env:
                many += [
                    f"{d}:{size}",
                    f"{d}:{end}",
                    f"0:{d} + 1",
                    f"{d}:wb.minimum({d} + 2, {size})",
                    f"wb.maximum({d} - 1, 0):{d} + 1",
                ]
        chosen = self.dice.choice(many)
        return Term(chosen, self.ordered(set(re.findall(r"[a-z]+", chosen)) & set(env)))

    def factor(self, env: Sequence[str]) -> Term:
        """A scalar in place, or something constant."""
        fitting = [v for v in self.values if not v.vector and set(v.dims) <= set(env)]
        if not fitting or self.happens(0.4):
            return self.constant(env)
        value = self.dice.choice(fitting)
        return Term(value.name, value.dims)

    def gather(self, value: Value, env: Sequence[str]) -> Term:
        """A read at indices that depend on data, along one or more of the dims."""
        open_dims = self.open_dims(value)
        over = {*self.some(open_dims), *(d for d in value.dims if d not in env)} or {open_dims[0]}
        positions = {d: self.position(value, d, env) for d in value.dims if d in over}
        text = ", ".join(f"{d}={p.text}" for d, p in positions.items())
        used = self.ordered(set(value.dims) - over, *(p.dims for p in positions.values()))
        return Term(f"wb.gather({value.name}, {text})", used, value.vector)

    def position(self, value: Value, d: str, env: Sequence[str]) -> Term:
        """An integer tensor that is a position along dim d."""
        size, over, kind = SIZE_OF[d], self.some(env), self.dice.random()
        if kind < 0.25 and d in env:
            over = self.ordered(over, (d,))
            back = f"(wb.uniform(over={listed(over)}) < 0.5) & (wb.index({d}) > 0)"
            low = f"wb.maximum({d} - 1, 0)"
            text = f"wb.within(wb.index({d}) - wb.cast({back}, int), {low}, {d} + 1)"
        elif kind < 0.4 and d in env:
            text = f"wb.permutation({size}, over={listed(e for e in over if e != d)})[{d}]"
            over = self.ordered(over, (d,))
        else:
            length = f"{size} + 1" if value.slices_beyond(d) and self.happens(0.5) else size
            count = f"wb.cast(wb.index({length}), float)"
            text = f"wb.cast(wb.floor(wb.uniform(over={listed(over)}) * {count}), int)"
        return Term(self.assign("j", text), over)

    # -- values --------------------------------------------------------------------------------

    def elementwise(self) -> None:
        """A function of reads."""
        env = self.ordered(self.some(self.dims), self.seeds)
        vector = self.happens(0.25)
        term = self.term(env, vector)
        for _ in range(self.dice.randrange(3)):
            term = self.joined(term, self.term(env, vector), env)
        self.define("v", self.function(term))

    def joined(self, x: Term, y: Term, env: Sequence[str]) -> Term:
        """Two terms made one."""
        dims, vector = self.ordered(x.dims, y.dims), x.vector or y.vector
        kind = self.dice.randrange(6)
        if kind < 4:
            return Term(f"({x.text} {'+-**'[kind]} {y.text})", dims, vector)
        if kind == 4:
            return Term(f"({x.text}) / (2.0 + wb.cos({y.text}))", dims, vector)
        mask = self.mask(x, y, env)
        text = f"wb.where({mask.text}, {x.text}, {y.text})"
        return Term(text, self.ordered(dims, mask.dims), vector)

    def mask(self, x: Term, y: Term, env: Sequence[str]) -> Term:
        """A condition: of the values, of a position, or drawn."""
        if self.kinks and self.happens(0.3):
            self.branch(f"wb.sin(4.0 * ({x.text} + 0.1)) > 0.5 * ({y.text} + 0.3)")
            return Term(self.branches[-1], self.ordered(x.dims, y.dims))
        if env and self.happens(0.5):
            d = self.dice.choice(list(env))
            return Term(f"wb.index({d}) {self.dice.choice(('<', '>=', '=='))} 1", (d,))
        over = self.some(env)
        return Term(f"wb.uniform(over={listed(over)}) < 0.5", over)

    def function(self, x: Term) -> Term:
        """An elementwise function, with a kink where the program may have some."""
        if not self.kinks or self.happens(0.7):
            return replace(x, text=self.dice.choice(SMOOTH).format(x.text))
        name = self.assign("k", f"wb.sin({x.text})")
        sides, text = self.dice.choice(
            (
                (f"{name} >= 0.1", f"wb.maximum({name}, 0.1)"),
                (f"{name} >= 0.0", f"wb.absolute({name})"),
                (
                    f"wb.cast({name} >= -0.3, int) + wb.cast({name} >= 0.4, int)",
                    f"wb.clip({name}, -0.3, 0.4)",
                ),
            )
        )
        self.branch(sides)
        return replace(x, text=text)

    def reduction(self) -> None:
        """A sum, mean or maximum over dims."""
        value = self.dice.choice(self.values)
        over = self.some(self.open_dims(value))
        how = self.dice.choice(("sum", "mean", "max") if self.kinks else ("sum", "mean"))
        text = f"wb.sin({value.name})" if self.happens(0.5) else value.name
        if how == "max" and not value.vector:
            over = over[:1]
            if over:
                self.branch(f"({text}).argmax(over={over[0]})")
        elif how == "max":
            how = "sum"
        if over:
            rest = tuple(d for d in value.dims if d not in over)
            self.define("s", Term(f"({text}).{how}(over={listed(over)})", rest, value.vector))

    def vectors(self) -> None:
        """Inner axes: made, multiplied, normalised, taken apart."""
        vectors = [v for v in self.values if v.vector]
        if not vectors or self.happens(0.3):
            env = self.ordered(self.some(self.dims), self.seeds)
            x, y = self.term(env), self.term(env)
            dims = self.ordered(x.dims, y.dims)
            self.define("w", Term(f"wb.stack([{x.text}, {y.text}])", dims, True))
            return
        v, w = self.dice.choice(vectors), self.dice.choice(vectors)
        text, vector, both = self.dice.choice(OF_VECTORS)
        dims = self.ordered(v.dims, w.dims) if both else v.dims
        self.define("w", Term(text.format(v=v.name, w=w.name), dims, vector))

    def recurrence(self) -> None:
        """An array in pieces along one dim: forwards, two steps back or backwards."""
        over = self.ordered(self.some(self.dims), self.seeds, (self.dice.choice(self.dims),))
        d = self.dice.choice(over)
        before, target, starts = self.dice.choice(RECURRENCES)
        rest = tuple(e for e in over if e != d)
        vector = self.happens(0.2)
        name = f"a{self.count}"
        shape = f"({INNER},)" if vector else "()"

        def at(place: str) -> str:
            place = place.format(d=d, D=SIZE_OF[d])
            return f"{name}[{', '.join(place if e == d else e for e in over)}]"

        first = [self.term(rest, vector).text for _ in starts]
        text = " + ".join(f"{f} * {at(x)}" for f, x in zip((0.6, 0.3), before, strict=False))
        body = Term(f"wb.tanh({text})" if self.happens(0.4) else f"({text})", over, vector)
        others = [self.term(over, vector) for _ in range(self.dice.randrange(1, 3))]
        self.count += 1
        place = len(self.lines)
        for other in others:
            body = self.joined(body, other, over)
        body = self.function(body)
        self.lines.insert(place, f'{name} = wb.recurrent("{name}", {shape}, over={listed(over)})')
        self.lines += [
            f"{at(s)} = {self.weight()} * {x}" for s, x in zip(starts, first, strict=True)
        ]
        self.lines.append(f"{at(target)} = {body.text}")
        self.values.append(Value(name, over, vector, ((d, len(starts)),)))

    def carried(self) -> None:
        """A state along t that the next update goes on with."""
        over = tuple(d for d in self.dims if d in ("i", "t", *self.seeds) or self.happens(0.6))
        start = self.term([d for d in over if d not in ("i", "t")])
        other = self.term(over)
        self.count += 1
        name = f"q{self.count}"

        def at(i: str, t: str) -> str:
            return f"{name}[{', '.join({'i': i, 't': t}.get(d, d) for d in over)}]"

        place = len(self.lines)
        body = self.function(self.joined(Term(f"(0.7 * {name})", over), other, over))
        self.lines.insert(place, f'{name} = wb.recurrent("{name}", (), over={listed(over)})')
        self.lines += [
            f"{at('0', '0')} = {self.weight()} * {start.text}",
            f"{at('i + 1', '0')} = {at('i', 'T')} * 0.9",
            f"{at('i', 't + 1')} = {body.text}",
        ]
        self.values.append(Value(name, over, False, (("t", 1),), is_box=False))

    # -- the parameter, the loss -----------------------------------------------------------------

    def parameter(self) -> None:
        """What is differentiated with respect to: a draw, or an array in pieces."""
        over = self.some(self.dims)
        vector = self.happens(0.25)
        shape = f"({INNER},)" if vector else "()"
        if not over or self.happens(0.6):
            drawn = f"wb.uniform(0.2, 1.2, shape={shape}, over={listed(over)})"
            if over or self.happens(0.5):
                self.lines.append(f"x = {drawn}")
            else:
                self.lines += [f'x = wb.recurrent("x", {shape})', f"x[()] = {drawn}"]
            self.values.append(Value("x", over, vector))
            return
        d = self.dice.choice(over)
        before, target, starts = self.dice.choice(RECURRENCES)
        rest = listed(e for e in over if e != d)

        def at(place: str) -> str:
            place = place.format(d=d, D=SIZE_OF[d])
            return f"x[{', '.join(place if e == d else e for e in over)}]"

        self.lines.append(f'x = wb.recurrent("x", {shape}, over={listed(over)})')
        self.lines += [
            f"{at(s)} = wb.uniform(0.2, 1.2, shape={shape}, over={rest})" for s in starts
        ]
        added = f"wb.uniform(0.0, 0.3, over={listed(over)})"
        self.lines.append(f"{at(target)} = 0.8 * {at(before[0])} + {added}")
        self.values.append(Value("x", over, vector, ((d, len(starts)),)))

    def loss(self) -> None:
        """A sum of values, each reduced over all dims but those of the loss."""
        terms = []
        several = [self.dice.choice(self.values) for _ in range(self.dice.randrange(3))]
        for value in [self.values[-1], *several]:
            text = f"{value.name}.sum(axis=0)" if value.vector else value.name
            if self.happens(0.5):
                text = f"wb.sin({text})"
            if self.happens(0.5):
                text = f"({text} * {self.factor(value.dims).text})"
            over = self.open_dims(value)
            if over:
                text = f"({text}).{self.dice.choice(('sum', 'mean'))}(over={listed(over)})"
            terms.append(text)
        self.lines.append(f"loss = {' + '.join(terms)}")


SMOOTH = (
    "wb.tanh({})",
    "wb.sin({})",
    "wb.cos({})",
    "wb.exp(0.2 * wb.tanh({}))",
    "wb.sigmoid({})",
    "wb.log(2.0 + wb.sin({}))",
    "wb.sqrt(1.5 + wb.cos({}))",
    "0.3 * ({}) ** 2",
    "0.5 * ({})",
    "({})",
)

OF_VECTORS = (
    ("wb.softmax({v})", True, False),
    ("{v} @ MATRIX", True, False),
    ("{v} @ {w}", False, True),
    ('wb.contract("f,g->fg", {v}, {w}).sum(axis=0)', True, True),
    ("wb.log_softmax({v})[..., 0]", False, False),
    ("{v}[..., 1] * {w}[..., 0]", False, True),
    ("wb.cumsum({v})", True, False),
    ("{v}.sum(axis=0)", False, False),
    ("{v} * {w} + {v}.mean(axis=0)", True, True),
    ("wb.Categorical(logits={v}).entropy()", False, False),
    ("wb.concatenate([{v}[..., 1:], {v}[..., :1]])", True, False),
    (
        "wb.Categorical(logits={v}).log_probability(wb.cast(wb.uniform() < 0.5, int))",
        False,
        False,
    ),
    ("wb.Normal({v}, 0.5 + {w} ** 2).log_probability(0.5 * {w})", False, True),
)
"""Text, whether the result has an inner axis, whether it varies over the dims of both."""

RECURRENCES = (
    (("{d}",), "{d} + 1", ("0",)),
    (("{d} + 1", "{d}"), "{d} + 2", ("0", "1")),
    (("{d} + 1",), "{d}", ("{D}",)),
)
"""The places read, the place written, the places where it starts."""


def written(dice: Random, kinks: bool) -> Written:
    """One program, decided by the dice."""
    dims = dice.choice((("b", "t"), ("b", "t"), ("t",), ("b", "i", "t"), ("i", "t")))
    seeds = () if dice.random() < 0.6 else (dice.choice(dims),)
    author = Author(dice=dice, kinks=kinks, dims=dims, seeds=seeds)
    author.parameter()
    ways = [author.elementwise] * 4 + [author.reduction] + [author.vectors] * 2
    ways += [author.recurrence] * 3
    if {"i", "t"} <= set(dims) and "t" not in seeds:
        ways += [author.carried] * 2
    for _ in range(dice.randrange(1, 5)):
        dice.choice(ways)()
    author.loss()
    sizes = ", ".join(f"{SIZE_OF[d]}=2" for d in dims)
    ranges = ", ".join(f"{d}={SIZE_OF[d]}" for d in dims)
    outputs = ['"loss": loss', '"x": x', '"gradient": wb.gradient(loss, x)']
    outputs += [f'"{name}": {name}' for name in author.branches]
    lines = [
        f"{listed(dims)[1:-1]} = wb.dims({ranges})" if len(dims) > 1 else f"t = wb.dim({ranges})",
        *author.lines,
        f"return {{{', '.join(outputs)}}}",
    ]
    body = "\n    ".join(lines)
    text = f"MATRIX = [[0.5, -0.3], [0.2, 0.8]]\n\n@wb.program\ndef random({sizes}):\n    {body}\n"
    return Written(text, seeds, tuple(author.branches))
