"""The values of the model: parameters, dimensions, arrays, statements; the equations that they make
up, and a program, which is equations, an order (`polyhedral/tree.py`) and `storage`.

All are immutable and hold isl sets as text. The meaning of a program is in `backends/reference`,
the rules for it in `wellformed`, its text in `text`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from workbench.errors import SourceLine
from workbench.polyhedral.accesses import Access, Extent, Instances
from workbench.polyhedral.expression import Expression, variable
from workbench.polyhedral.tree import Tree
from workbench.program.bodies import Body, Call, DType, Read, Shape, reads, walk
from workbench.program.data.declared import DataSet
from workbench.program.storage import AS_WRITTEN, Storage


@dataclass(frozen=True)
class Parameter:
    """A size.

    `definition` is the defining expression of a derived size (checked when run), else None.
    """

    name: str
    default: int
    definition: Expression | None = None
    exact: bool = True
    line: SourceLine | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Dim:
    """A dimension of the program: `0 <= name < size`."""

    name: str
    size: Expression
    line: SourceLine | None = field(default=None, compare=False)


PART, AGAIN = "a part of ", " (computed again)"
"""What messages say of arrays that steps have made of others."""


@dataclass(frozen=True)
class Array:
    """An array written by statements: dimensions, extent over sizes, inner shape, dtype."""

    name: str
    dims: tuple[str, ...]
    extent: Extent
    dtype: DType
    shape: Shape = ()
    scope: tuple[str, ...] = ()
    described: str = field(default="", repr=False)
    """The name in messages of an array that the user has not named.

    Like a line, it is no part of a variant's key.
    """

    def alias(self, name: str) -> Alias:
        """Return `name` as another name of the array, element by element."""
        return Alias(name, self.name, self.dims, tuple(map(variable, self.dims)))

    @property
    def called(self) -> str:
        """The array's name in messages."""
        return self.described or self.name

    @property
    def part_called(self) -> str:
        """The name in messages of an array that steps have split off its equations."""
        return self.called if self.called.startswith(PART) else PART + self.called

    @property
    def again_called(self) -> str:
        """The name in messages of an array that steps compute a second time."""
        return self.called if self.called.endswith(AGAIN) else self.called + AGAIN


@dataclass(frozen=True)
class Statement:
    """One equation: each instance of `domain` combines `body` over reduction points.

    An instance writes one element. `domain` and `reduction` are isl text of sets over `dims` and
    `dims + reduction_dims` (see `polyhedral/sets/isl_names.py` for the names inside). `combiner` is
    None (no reduction), "sum", "max", "min", "argmax" (the value of the single reduction dimension,
    first of equals) or "collect" (the values themselves, along a leading inner axis as long as the
    single dimension). The empty sum is 0. `origin` survives every step: random draws and lines
    refer to it.
    """

    name: str
    dims: tuple[str, ...]
    domain: str
    array: str
    write: tuple[Expression, ...]
    body: Body
    reduction_dims: tuple[str, ...] = ()
    reduction: str = ""
    combiner: str | None = None
    scope: tuple[str, ...] = ()
    origin: str = ""
    phase: str = field(default="", compare=False, repr=False)
    """The part of the algorithm that it is of: acting, learning. No part of a variant's key."""
    line: SourceLine | None = field(default=None, compare=False)
    guards: tuple[Read, ...] = field(default=(), repr=False)
    """The boolean elements, at the instance's own dimensions, that are all true where an instance
    is executed: one of each episode that it is a step of (see `End`).
    """

    @cached_property
    def reads(self) -> tuple[Read, ...]:
        """The distinct reads, in order: those of the body, and the guards."""
        return tuple(dict.fromkeys((*reads(self.body), *self.guards)))

    @cached_property
    def touched(self) -> tuple[str, ...]:
        """The distinct arrays that it writes or reads, the written one first."""
        return tuple(dict.fromkeys((self.array, *(r.array for r in self.reads))))

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """The calls of the body, arguments before the call."""
        return tuple(b for b in walk(self.body) if isinstance(b, Call))

    @cached_property
    def instances(self) -> Instances:
        """The statement as sets and relations; the same object for statements where it is equal,
        since it is a key of many answers.
        """
        return _only(
            Instances(
                name=self.name,
                dims=self.dims,
                domain=self.domain,
                write=Access(self.array, self.write),
                reads=tuple(dict.fromkeys(r.access for r in self.reads)),
                reduction_dims=self.reduction_dims,
                points=self.reduction or self.domain,
            )
        )


@lru_cache(maxsize=65536)
def _only(instances: Instances) -> Instances:
    return instances


@dataclass(frozen=True)
class External:
    """A Python object outside the program that `external` rows call by name: a simulator.

    `factory.open(count, seed)` makes it at the start of every run. The object has `close()` and for
    each call a method of that name, `method(out, *operands)`, which writes its result into `out`.
    The calls come in the order of the program's dependences: each reads what the one before wrote.
    """

    name: str
    factory: Any
    count: Expression
    """The number of copies side by side."""
    line: SourceLine | None = field(default=None, compare=False)


@dataclass(frozen=True)
class End:
    """Episodes that end: along the dimension `dim` the array `open` is true up to the event.

    `open` has one more slice than the dimension; the last is true where no event came. `after` has
    the number of its slices behind the first that are true. A statement under the guard `open` is
    executed at the instances where that is true, under several where all are. Of the others nothing
    may be read: backends may run them or leave them out. A `where` on an element of `open` reads
    the chosen side only.
    """

    dim: str
    open: str
    after: str
    line: SourceLine | None = field(default=None, compare=False)


@dataclass(frozen=True, repr=False)
class Output:
    """A named result: the array, over its dimensions; whole, but for rows of the past."""

    name: str
    array: str
    past: tuple[str, Expression] | None = None
    """Of a run that goes on: the dimension that counts updates, and how many rows along it are of
    those before. No program as written has it.
    """

    def __repr__(self) -> str:
        past = f", past={self.past!r}" if self.past is not None else ""
        return f"Output(name={self.name!r}, array={self.array!r}{past})"


@dataclass(frozen=True)
class Alias:
    """The user's name of a value that an array holds: at the point `dims` it is the element at
    `index`.
    """

    name: str
    array: str
    dims: tuple[str, ...]
    index: tuple[Expression, ...]

    @property
    def is_whole(self) -> bool:
        """True if the name is of the array, element by element."""
        return self.index == tuple(map(variable, self.dims))

    @property
    def place(self) -> str:
        """The element as text: `state[b, t + 1]`."""
        return f"{self.array}[{', '.join(map(str, self.index))}]" if self.index else self.array


@dataclass(frozen=True)
class Equations:
    """What a program computes: sizes, dimensions, arrays and their statements, results.

    Tracing and `wb.gradient` yield them. Well-formedness, cycles and the reference evaluator know
    nothing else.
    """

    name: str
    parameters: tuple[Parameter, ...]
    dims: tuple[Dim, ...]
    arrays: tuple[Array, ...]
    statements: tuple[Statement, ...]
    outputs: tuple[Output, ...]
    description: str = ""
    aliases: tuple[Alias, ...] = ()
    """The users' names of values that are written straight into arrays of another name."""
    updates: str = ""
    """The dimension that counts updates (of `nn.parameters`), where there is one."""
    externals: tuple[External, ...] = ()
    """The external objects that its calls use."""
    data: tuple[DataSet, ...] = ()
    """The data sets that it reads, as declared: their rows are given to a run."""
    ends: tuple[End, ...] = ()
    """The dimensions along which episodes end; `after` of each is an output."""
    written: str = field(default="", compare=False)
    """Python source that makes them, as the value of `program`; empty where it is not known."""

    def __repr__(self) -> str:
        """Return one short line, for errors: all of them would be pages."""
        return f"<equations {self.name}: {len(self.statements)} statements>"

    def __str__(self) -> str:
        from workbench.program.text.listing import listing  # it is written in terms of these values

        return listing(self)

    @cached_property
    def statement(self) -> Mapping[str, Statement]:
        """The statements by name."""
        return {s.name: s for s in self.statements}

    @cached_property
    def array(self) -> Mapping[str, Array]:
        """The arrays by name."""
        return {a.name: a for a in self.arrays}

    @cached_property
    def dim(self) -> Mapping[str, Dim]:
        """The dimensions by name."""
        return {d.name: d for d in self.dims}

    @cached_property
    def writers(self) -> Mapping[str, tuple[Statement, ...]]:
        """The statements that write each array, in order."""
        by_array: dict[str, list[Statement]] = {a.name: [] for a in self.arrays}
        for statement in self.statements:
            by_array[statement.array].append(statement)
        return {name: tuple(writers) for name, writers in by_array.items()}

    @cached_property
    def users(self) -> Mapping[str, tuple[Statement, ...]]:
        """The statements that write or read each array, in order."""
        by_array: dict[str, list[Statement]] = {a.name: [] for a in self.arrays}
        for statement in self.statements:
            for name in statement.touched:
                by_array[name].append(statement)
        return {name: tuple(users) for name, users in by_array.items()}


@dataclass(frozen=True)
class Program:
    """Three separate values held as one immutable value: equations (what), schedule (when) and
    storage (where).

    The schedule has every statement. A template returns programs under the root schedule; a step
    replaces one or several of the three, and a program that has passed its checks is legal. Where
    a step keeps one, it keeps the very object: programs have the same equations where
    `after.equations is before.equations`.
    """

    equations: Equations
    schedule: Tree
    storage: Storage = AS_WRITTEN

    def __repr__(self) -> str:
        """Return one short line, for errors: the whole program would be pages."""
        return f"<program {self.name}: {len(self.statements)} statements>"

    def __str__(self) -> str:
        from workbench.program.text.listing import listing  # it is written in terms of values

        return listing(self.equations, self.storage.added)

    @cached_property
    def canonical(self) -> str:
        """The exact text that keys are made from: written once, and pickled with the program."""
        from workbench.program.text.canonical import canonical  # it is written in terms of values

        return canonical(self)

    @property
    def name(self) -> str:
        """The name of the function that wrote it."""
        return self.equations.name

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The sizes."""
        return self.equations.parameters

    @property
    def dims(self) -> tuple[Dim, ...]:
        """The dimensions."""
        return self.equations.dims

    @property
    def arrays(self) -> tuple[Array, ...]:
        """The arrays."""
        return self.equations.arrays

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The equations, in textual order."""
        return self.equations.statements

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The named results."""
        return self.equations.outputs

    @property
    def description(self) -> str:
        """The docstring of the function that wrote it."""
        return self.equations.description

    @property
    def aliases(self) -> tuple[Alias, ...]:
        """The users' names of values that arrays of another name hold."""
        return self.equations.aliases

    @property
    def updates(self) -> str:
        """The dimension that counts updates; empty where there is none."""
        return self.equations.updates

    @property
    def externals(self) -> tuple[External, ...]:
        """The external objects that its calls use."""
        return self.equations.externals

    @property
    def data(self) -> tuple[DataSet, ...]:
        """The data sets that it reads, as declared."""
        return self.equations.data

    @property
    def statement(self) -> Mapping[str, Statement]:
        """The statements by name."""
        return self.equations.statement

    @property
    def array(self) -> Mapping[str, Array]:
        """The arrays by name."""
        return self.equations.array

    @property
    def dim(self) -> Mapping[str, Dim]:
        """The dimensions by name."""
        return self.equations.dim

    @property
    def writers(self) -> Mapping[str, tuple[Statement, ...]]:
        """The statements that write each array, in order."""
        return self.equations.writers
