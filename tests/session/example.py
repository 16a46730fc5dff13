"""Programs built by hand, in the shape a traced REINFORCE has: nested scopes, recurrences, an
update.

Bodies have the right reads and operations but not the right arithmetic: views draw them, nothing
runs them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from workbench.errors import SourceLine
from workbench.language.template.root_schedule import scheduled
from workbench.polyhedral.expression import (
    Expression,
    ExpressionLike,
    choice,
    expression,
    size,
    variable,
)
from workbench.polyhedral.sets.relations import box, extent_of, image, union
from workbench.program.bodies import Body, Call, Literal, Read
from workbench.program.operations.table import OPERATIONS
from workbench.program.values import Array, Dim, Equations, Output, Parameter, Program, Statement

B, I, T = size("B"), size("I"), size("T")
b, i, t, k = variable("b"), variable("i"), variable("t"), variable("k")
SIZES = {"b": B, "i": I, "t": T}


@dataclass
class Builder:
    """Collects arrays and statements; an operation is one line."""

    statements: list[Statement] = field(default_factory=list)
    arrays: dict[str, Array] = field(default_factory=dict)

    def add(
        self,
        array: str,
        index: tuple[ExpressionLike, ...],
        operation: str,
        *arguments: Body,
        over: str = "",
        scope: str = "",
        shape: tuple[int, ...] = (),
        dtype: str = "float",
        combiner: str | None = None,
        reduce: tuple[str, Expression, Expression] | None = None,
        bare: bool = False,
        dims: str = "",
    ) -> None:
        """One equation `array[index] = operation(arguments)` over the dimensions `over`."""
        write = tuple(expression(e) for e in index)
        path = tuple(scope.split(".")) if scope else ()
        bounds = [(d, expression(0), SIZES[d]) for d in over]
        body = arguments[0] if bare else _call(operation, arguments, dtype, shape)
        self.arrays.setdefault(
            array,
            Array(
                array,
                tuple(dims or over)[: len(write)],
                tuple((expression(0), SIZES[d]) for d in (dims or over)[: len(write)]),
                dtype,
                shape,
                path,
            ),
        )
        number = len(self.statements) + 1
        self.statements.append(
            Statement(
                name=f"{array}{number}",
                dims=tuple(over),
                domain=box(bounds),
                array=array,
                write=write,
                body=body,
                reduction_dims=(reduce[0],) if reduce else (),
                reduction=box([*bounds, reduce]) if reduce else "",
                combiner=combiner,
                scope=path,
                origin=f"{scope}.{array}",
                line=SourceLine("reinforce.py", 10 + number, f"    {array} = {operation}(…)"),
            )
        )

    def written(self) -> tuple[Array, ...]:
        """The arrays, as far as statements write them."""
        elements: dict[str, str] = {}
        for s in self.statements:
            piece = image(s.domain, s.dims, s.write, None, self.arrays[s.array].dims)
            elements[s.array] = union(elements[s.array], piece) if s.array in elements else piece
        return tuple(replace(a, extent=extent_of(elements[a.name])) for a in self.arrays.values())

    def read(self, array: str, *index: Expression | Body | int) -> Read:
        """The element at `index`; without one, at the array's own dimensions."""
        known = self.arrays[array]
        found = index or tuple(variable(d) for d in known.dims)
        return Read(
            array,
            tuple(expression(e) if isinstance(e, int) else e for e in found),
            known.dtype,
            known.shape,
        )


def _call(operation: str, arguments: tuple[Body, ...], dtype: str, shape: tuple[int, ...]) -> Call:
    """The call; a missing second operand is ½, a third one nests."""
    if OPERATIONS[operation].arity == 2 and len(arguments) == 1:
        arguments = (*arguments, Literal(0.5, "float"))
    if OPERATIONS[operation].arity == 2 and len(arguments) == 3:
        arguments = (arguments[0], _call(operation, arguments[1:], dtype, shape))
    return Call(operation, arguments, dtype, shape, _options(operation, shape))


def _options(operation: str, shape: tuple[int, ...]) -> tuple[tuple[str, object], ...]:
    options: dict[str, tuple[tuple[str, object], ...]] = {
        "uniform": (("shape", shape),),
        "contract": (("spec", "a,ab->b"),),
        "stack": (("axis", 0),),
        "max": (("axis", 0),),
    }
    return options.get(operation, ())


def program(
    built: Builder, outputs: tuple[str, ...], name: str = "reinforce", description: str = ""
) -> Program:
    """The program of everything added."""
    equations = Equations(
        name=name,
        parameters=(Parameter("B", 64), Parameter("I", 100), Parameter("T", 200)),
        dims=(Dim("b", B), Dim("i", I), Dim("t", T)),
        arrays=built.written(),
        statements=tuple(built.statements),
        outputs=tuple(Output(o, o) for o in outputs),
        description=description,
    )
    return scheduled(equations)


def small() -> Program:
    """Five statements: a recurrence, its use, a range, a sum."""
    x = Builder()
    x.add("x", (b, t), "uniform", over="bt", dtype="float")
    x.add("s", (b, 0), "", Literal(0.0, "float"), over="b", dims="bt", bare=True)
    x.add("s", (b, t + 1), "add", x.read("s"), x.read("x"), over="bt")
    x.add(
        "y", (b, t), "", x.read("s", b, k), over="bt", bare=True, combiner="sum", reduce=("k", t, T)
    )
    x.add("loss", (), "multiply", x.read("y", 0, 0), Literal(2.0, "float"))
    return program(x, ("loss",), name="small", description="Five equations.")


def reinforce(layers: int = 2) -> Program:
    """About sixty statements for two layers; every layer adds sixteen."""
    x = Builder()
    _parameters(x, layers)
    _environment_start(x)
    x.add("observation", (b, i, t), "multiply", x.read("state"), Literal(1.0, "float"),
          over="bit", scope="environment", shape=(4,))  # fmt: skip
    last = _forward(x, layers)
    _sampling(x, last)
    _environment_step(x)
    _loss(x)
    _backward(x, layers)
    _adam(x, layers)
    return program(
        x, ("loss", "episode_return"), description="REINFORCE with return-to-go (Williams 1992)."
    )


def _names(layers: int) -> list[str]:
    return [f"policy.{kind}{n}" for n in range(layers + 1) for kind in ("weight", "bias")]


def _parameters(x: Builder, layers: int) -> None:
    for name in _names(layers):
        x.add(name, (0,), "uniform", over="", dims="i", scope="policy.initial", shape=(64, 64))


def _environment_start(x: Builder) -> None:
    scope = "environment.reset"
    x.add("start", (b, i), "uniform", over="bi", scope=scope, shape=(4,))
    x.add("state", (b, i, 0), "", x.read("start"), over="bi", dims="bit", scope=scope, shape=(4,),
          bare=True)  # fmt: skip
    x.add("alive", (b, i, 0), "", Literal(True, "bool"), over="bi", dims="bit", scope=scope,
          dtype="bool", bare=True)  # fmt: skip


def _forward(x: Builder, layers: int) -> str:
    last = "observation"
    for n in range(layers + 1):
        scope = f"policy.layer{n}"
        weight, bias = x.read(f"policy.weight{n}", i), x.read(f"policy.bias{n}", i)
        x.add(f"product{n}", (b, i, t), "contract", x.read(last), weight, over="bit", scope=scope,
              shape=(64,))  # fmt: skip
        x.add(f"linear{n}", (b, i, t), "add", x.read(f"product{n}"), bias, over="bit", scope=scope,
              shape=(64,))  # fmt: skip
        last = f"linear{n}"
        if n < layers:
            x.add(f"hidden{n}", (b, i, t), "tanh", x.read(last), over="bit", scope=scope,
                  shape=(64,))  # fmt: skip
            last = f"hidden{n}"
    return last


def _sampling(x: Builder, logits: str) -> None:
    scope = "policy.categorical"
    x.add("largest", (b, i, t), "max", x.read(logits), over="bit", scope=scope)
    x.add("shifted", (b, i, t), "subtract", x.read(logits), x.read("largest"), over="bit",
          scope=scope, shape=(2,))  # fmt: skip
    x.add("log_sum", (b, i, t), "log", x.read("shifted"), over="bit", scope=scope)
    x.add("log_probabilities", (b, i, t), "subtract", x.read("shifted"), x.read("log_sum"),
          over="bit", scope=scope, shape=(2,))  # fmt: skip
    x.add("draw", (b, i, t), "uniform", over="bit", scope=scope)
    x.add("action", (b, i, t), "less", x.read("log_probabilities"), x.read("draw"), over="bit",
          scope=scope, dtype="int32")  # fmt: skip


def _environment_step(x: Builder) -> None:
    scope = "environment.step"
    state, action = x.read("state"), x.read("action")
    x.add("force", (b, i, t), "where", action, Literal(10.0, "float"), Literal(-10.0, "float"),
          over="bit", scope=scope)  # fmt: skip
    x.add("acceleration", (b, i, t), "divide", state, x.read("force"), over="bit", scope=scope,
          shape=(2,))  # fmt: skip
    x.add("following", (b, i, t), "stack", state, x.read("acceleration"), over="bit", scope=scope,
          shape=(4,))  # fmt: skip
    for flag in ("terminated", "truncated"):
        x.add(flag, (b, i, t), "greater", x.read("following"), Literal(2.4, "float"), over="bit",
              scope=scope, dtype="bool")  # fmt: skip
    x.add("reward", (b, i, t), "", Literal(1.0, "float"), over="bit", scope=scope, bare=True)
    x.add("state", (b, i, t + 1), "", x.read("following"), over="bit", scope="environment",
          bare=True, shape=(4,))  # fmt: skip
    x.add("alive", (b, i, t + 1), "logical_and", x.read("alive"), x.read("terminated"),
          x.read("truncated"), over="bit", scope="environment", dtype="bool")  # fmt: skip


def _loss(x: Builder) -> None:
    x.add("gain", (b, i, t), "where", x.read("alive"), x.read("reward"), Literal(0.0, "float"),
          over="bit", scope="returns")  # fmt: skip
    x.add("to_go", (b, i, t), "multiply", x.read("gain", b, i, k), Literal(0.99, "float"),
          over="bit", scope="returns", combiner="sum", reduce=("k", t, T))  # fmt: skip
    x.add("log_probability", (b, i, t), "take", x.read("log_probabilities"), x.read("action"),
          over="bit", scope="loss")  # fmt: skip
    x.add("weighted", (b, i, t), "multiply", x.read("log_probability"), x.read("to_go"),
          over="bit", scope="loss")  # fmt: skip
    x.add("masked", (b, i, t), "where", x.read("alive"), x.read("weighted"), over="bit",
          scope="loss")  # fmt: skip
    zero = expression(0)
    x.add("per_environment", (b, i), "negative", x.read("masked", b, i, k), over="bi", scope="loss",
          combiner="sum", reduce=("k", zero, T))  # fmt: skip
    x.add("loss", (i,), "divide", x.read("per_environment", k, i), over="i", scope="loss",
          combiner="sum", reduce=("k", zero, B))  # fmt: skip
    x.add("return_", (b, i), "", x.read("gain", b, i, k), over="bi", scope="returns", bare=True,
          combiner="sum", reduce=("k", zero, T))  # fmt: skip
    x.add("episode_return", (i,), "divide", x.read("return_", k, i), over="i", scope="returns",
          combiner="sum", reduce=("k", zero, B))  # fmt: skip


def _backward(x: Builder, layers: int) -> None:
    x.add("d_logits", (b, i, t), "multiply", x.read("log_probabilities"), x.read("to_go"),
          over="bit", scope="gradient", shape=(2,))  # fmt: skip
    above = "d_logits"
    for n in reversed(range(layers + 1)):
        scope = f"gradient.layer{n}"
        below = f"hidden{n - 1}" if n else "observation"
        zero = expression(0)
        x.add(f"d_weight{n}", (b, i), "contract", x.read(above, b, i, k), x.read(below, b, i, k),
              over="bi", scope=scope, shape=(64, 64), combiner="sum",
              reduce=("k", zero, T))  # fmt: skip
        x.add(f"d_bias{n}", (b, i), "", x.read(above, b, i, k), over="bi", scope=scope, shape=(64,),
              bare=True, combiner="sum", reduce=("k", zero, T))  # fmt: skip
        if n:
            x.add(f"d_hidden{n}", (b, i, t), "contract", x.read(above),
                  x.read(f"policy.weight{n}", i), over="bit", scope=scope, shape=(64,))  # fmt: skip
            x.add(f"d_tanh{n}", (b, i, t), "multiply", x.read(f"d_hidden{n}"), x.read(below),
                  over="bit", scope=scope, shape=(64,))  # fmt: skip
            above = f"d_tanh{n}"


def _adam(x: Builder, layers: int) -> None:
    following = choice((i - I + 1,), I, i + 1)
    for n in range(layers + 1):
        for kind in ("weight", "bias"):
            scope, name = f"optimizer.{kind}{n}", f"{kind}{n}"
            gradient = x.read(f"d_{kind}{n}", k, i)
            x.add(f"mean_{name}", (i,), "multiply", gradient, over="i", scope=scope, combiner="sum",
                  reduce=("k", expression(0), B), shape=(64, 64))  # fmt: skip
            x.add(f"m_{name}", (following,), "add", x.read(f"mean_{name}"), over="i", scope=scope,
                  shape=(64, 64))  # fmt: skip
            x.add(f"change_{name}", (i,), "divide", x.read(f"m_{name}", i), over="i", scope=scope,
                  shape=(64, 64))  # fmt: skip
            x.add(f"policy.{name}", (following,), "subtract", x.read(f"policy.{name}", i),
                  x.read(f"change_{name}"), over="i", scope="optimizer",
                  shape=(64, 64))  # fmt: skip
