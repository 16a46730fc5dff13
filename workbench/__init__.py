"""Reinforcement-learning programs as recurrence equations: write, check, transform, run.

The language for writing programs is imported here. Transforming, running, measuring and showing are
imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from workbench.language import fixed, nn, optim, rl
from workbench.language.dims import dim, dims, size
from workbench.language.distributions import (
    Bernoulli,
    Beta,
    Categorical,
    Gamma,
    MultiCategorical,
    Normal,
    SquashedNormal,
)
from workbench.language.episodes.ends import until
from workbench.language.gradient import gradient
from workbench.language.linear.matrices import cholesky, solve
from workbench.language.outside.data import data
from workbench.language.random import normal, permutation, uniform
from workbench.language.replay.within import within
from workbench.language.rl import discounted_sum
from workbench.language.tables.updates import add_at, put
from workbench.language.template.template import program
from workbench.language.tracing.functions import (
    absolute,
    cast,
    clip,
    concatenate,
    contract,
    cos,
    cumsum,
    digamma,
    exp,
    floor,
    isfinite,
    lgamma,
    log,
    log1p,
    log_softmax,
    maximum,
    minimum,
    one_hot,
    relu,
    reshape,
    sigmoid,
    sign,
    sin,
    softmax,
    softplus,
    sqrt,
    stack,
    stop_gradient,
    tanh,
    transpose,
    unstack,
    where,
)
from workbench.language.tracing.indexing import gather
from workbench.language.tracing.nodes import index
from workbench.language.tracing.numpy_habits import unknown_function
from workbench.language.tracing.recurrent import recurrent
from workbench.language.tracing.tensor import Tensor
from workbench.language.tracing.trace import scope
from workbench.language.windows import window
from workbench.program.values import Program

if TYPE_CHECKING:
    from workbench import transforms
    from workbench.backends import backends
    from workbench.backends.reference.explain import value
    from workbench.errors import (
        CycleError,
        OutOfMemoryError,
        ProgramError,
        RunError,
        SizeError,
        WorkbenchError,
    )
    from workbench.measure.compare import Comparison, compare
    from workbench.measure.inspect_kernels import inspect_kernels
    from workbench.measure.measure import measure
    from workbench.measure.play import Played, play
    from workbench.measure.profile import Profile, profile
    from workbench.measure.rounds.measurement import Measurement
    from workbench.measure.run import Result, run
    from workbench.measure.store import Store, store
    from workbench.session.panel import Workbench, watch
    from workbench.session.report.report import report
    from workbench.transforms.reasons.reason import Reason
    from workbench.transforms.step.refusal import Refusal, Refused
    from workbench.variants.memory import HeldMemory
    from workbench.variants.move import Move
    from workbench.variants.recipes import RecipeError, load_recipe
    from workbench.variants.variant import Variant, optimize, variant

__all__ = [
    "Bernoulli",
    "Beta",
    "Categorical",
    "Comparison",
    "CycleError",
    "Gamma",
    "HeldMemory",
    "Measurement",
    "Move",
    "MultiCategorical",
    "Normal",
    "OutOfMemoryError",
    "Played",
    "Profile",
    "Program",
    "ProgramError",
    "Reason",
    "RecipeError",
    "Refusal",
    "Refused",
    "Result",
    "RunError",
    "SizeError",
    "SquashedNormal",
    "Store",
    "Tensor",
    "Variant",
    "Workbench",
    "WorkbenchError",
    "absolute",
    "add_at",
    "backends",
    "cast",
    "cholesky",
    "clip",
    "compare",
    "concatenate",
    "contract",
    "cos",
    "cumsum",
    "data",
    "digamma",
    "dim",
    "dims",
    "discounted_sum",
    "exp",
    "fixed",
    "floor",
    "gather",
    "gradient",
    "index",
    "inspect_kernels",
    "isfinite",
    "lgamma",
    "load_recipe",
    "log",
    "log1p",
    "log_softmax",
    "maximum",
    "measure",
    "minimum",
    "nn",
    "normal",
    "one_hot",
    "optim",
    "optimize",
    "permutation",
    "play",
    "profile",
    "program",
    "put",
    "recurrent",
    "relu",
    "report",
    "reshape",
    "rl",
    "run",
    "scope",
    "sigmoid",
    "sign",
    "sin",
    "size",
    "softmax",
    "softplus",
    "solve",
    "sqrt",
    "stack",
    "stop_gradient",
    "store",
    "tanh",
    "transforms",
    "transpose",
    "uniform",
    "unstack",
    "until",
    "value",
    "variant",
    "watch",
    "where",
    "window",
    "within",
]

for _package in ("backends", "measure"):  # named like functions, whose places they would take later
    import_module(f"workbench.{_package}")
    del globals()[_package]

_WHERE = {
    "workbench.backends": ("backends",),
    "workbench.backends.reference.explain": ("value",),
    "workbench.errors": (
        "CycleError",
        "OutOfMemoryError",
        "ProgramError",
        "RunError",
        "SizeError",
        "WorkbenchError",
    ),
    "workbench.measure.compare": ("Comparison", "compare"),
    "workbench.measure.rounds.measurement": ("Measurement",),
    "workbench.measure.measure": ("measure",),
    "workbench.measure.inspect_kernels": ("inspect_kernels",),
    "workbench.measure.play": ("Played", "play"),
    "workbench.measure.profile": ("Profile", "profile"),
    "workbench.measure.run": ("Result", "run"),
    "workbench.measure.store": ("Store", "store"),
    "workbench.session.panel": ("Workbench", "watch"),
    "workbench.session.report.report": ("report",),
    "workbench.transforms.reasons.reason": ("Reason",),
    "workbench.transforms.step.refusal": ("Refusal", "Refused"),
    "workbench.variants.memory": ("HeldMemory",),
    "workbench.variants.move": ("Move",),
    "workbench.variants.recipes": ("RecipeError", "load_recipe"),
    "workbench.variants.variant": ("Variant", "optimize", "variant"),
}
_MODULE_OF = {name: module for module, names in _WHERE.items() for name in names}


def __getattr__(name: str) -> object:
    if name == "transforms":
        return import_module("workbench.transforms")
    if name not in _MODULE_OF:
        if name.startswith("_"):  # Python and its libraries ask whether it is there
            raise AttributeError(name)
        raise AttributeError(unknown_function(name, __all__))
    found = globals()[name] = getattr(import_module(_MODULE_OF[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _drawn(
    self: Program | Variant, include: object = None, exclude: object = None
) -> dict[str, object]:
    """Show a program in Jupyter as its dependence graph. Imported when Jupyter asks for it."""
    from workbench.session.outputs.mime_bundle import mimebundle

    return mimebundle(self)


setattr(Program, "_repr_mimebundle_", _drawn)  # noqa: B010  # a program may not know its views
