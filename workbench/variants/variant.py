"""Variants: a program, the variant it came from and the step that made it. Undo is `.parent`."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from workbench.backends import backends, or_default, unknown
from workbench.backends.threads import expect_threads
from workbench.codegen.described import KERNEL_TEXTS, Kernel, kernels
from workbench.collection import without_collection
from workbench.datasets.rows import CheckRows, GivenRows, Rows, in_checks, rows_of
from workbench.errors import WorkbenchError
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.bytes import check_dtype
from workbench.lowering.lower import lower
from workbench.lowering.memory.lives import described
from workbench.planning.cost.counted import Counted, counted
from workbench.planning.cost.lengths import cut, lengths_of
from workbench.planning.cost.prediction import Prediction, predict
from workbench.planning.machine.calibrated import machine
from workbench.planning.recipe.aim import Aim, Objective, SearchListener, expect_aim, telling
from workbench.planning.recipe.automatic import planned
from workbench.polyhedral import tree
from workbench.polyhedral.outline import outline
from workbench.processor import usable_cores
from workbench.program import gradients
from workbench.program.sizes import resolve
from workbench.program.values import Program
from workbench.transforms.reasons.reason import Reason
from workbench.transforms.reasons.why import why as why_legal
from workbench.transforms.step.refusal import WIDTH, Refusal, Refused
from workbench.transforms.step.transform import REGISTRY, Transform
from workbench.transforms.step.transform import apply as apply_step
from workbench.transforms.step.transform import check as check_step
from workbench.variants.held import HeldBy
from workbench.variants.holding import held_memory
from workbench.variants.memory import HeldMemory
from workbench.variants.move import Move, Moves
from workbench.variants.progress_line import progress_line

Data = Mapping[str, Any] | GivenRows | CheckRows | None
"""Sources of data sets by name, or their rows."""


@dataclass(frozen=True)
class Variant:
    """A program after a list of steps. Two steps on one variant are two branches.

    `notes` say what the last step left as it was, or what it costs. `because` is the automatic
    recipe's reason for taking it. `data` are the rows of the program's data sets, None where they
    are not given: no part of its key.
    """

    program: Program
    parent: Variant | None = None
    step: Transform | None = None
    notes: tuple[str, ...] = field(default=(), compare=False)
    because: str = field(default="", compare=False)
    data: GivenRows | CheckRows | None = field(default=None, compare=False, repr=False)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Any:
        """Show the variant in Jupyter by the views of programs."""
        return getattr(Program, "_repr_mimebundle_")(self, include, exclude)  # noqa: B009

    @property
    def root(self) -> Variant:
        """The program as written."""
        return self if self.parent is None else self.parent.root

    @property
    def lineage(self) -> tuple[Variant, ...]:
        """All variants from the root to this one."""
        return (*(() if self.parent is None else self.parent.lineage), self)

    @cached_property
    def steps(self) -> tuple[Transform, ...]:
        """The steps from the root, in order."""
        if self.parent is None or self.step is None:
            return ()
        return (*self.parent.steps, self.step)

    @cached_property
    def key(self) -> str:
        """SHA-256 of the root program's text and the steps: equal keys mean equal runs."""
        return key_of(self.root.program.canonical, self.to_json())

    @property
    def rows(self) -> Rows:
        """The rows of the program's data sets: those given, else drawn within their bounds."""
        return rows_of(self.root.program.equations, None) if self.data is None else self.data

    @without_collection()
    def apply(self, step: Transform) -> Variant:
        """Return the variant after `step`. Raises `Refused` where the step is not legal."""
        rewritten = apply_step(self.program, _step(step))
        return Variant(rewritten.program, self, step, rewritten.notes, data=self.data)

    def check(self, step: Transform) -> Refusal | None:
        """Explain why `step` cannot be applied; None where it can."""
        return check_step(self.program, _step(step))

    def why(self, step: Transform, sizes: Mapping[str, int] | None = None) -> Reason:
        """Explain why `step` is legal: the pairs of statements that it moves, each with what orders
        it, or the conditions of its rule. `sizes` are the drawing's, small ones unless given.

        Raises `Refused` where it is not, SizeError for sizes that the program does not take.
        """
        return why_legal(self.program, _step(step), sizes or {})

    @without_collection()
    def moves(self, *kinds: type[Transform]) -> Moves:
        """List every step that would do something, or those of some transforms only; legal ones
        first.

        The list shows itself in a few lines; each `Move` has `.step`, and `.notes` or a `.refusal`.
        """
        return Moves(sorted(self.each_move(*kinds), key=lambda move: not move.legal))

    def each_move(self, *kinds: type[Transform]) -> Iterator[Move]:
        """Yield the same moves transform by transform, each judged when it is asked for."""
        for transform in kinds or REGISTRY.values():
            for step in transform.candidates(self.program):
                yield self._move(step)

    def _move(self, step: Transform) -> Move:
        try:
            return Move(step, None, apply_step(self.program, step).notes)
        except Refused as refused:
            return Move(step, refused.refusal)

    @cached_property
    def loop_program(self) -> LoopProgram:
        """Return the loop program of this variant: loops of array operations, explicit memory."""
        return lower(self.program)

    @cached_property
    def _counted(self) -> dict[str, Counted]:
        return {}

    def predict(
        self,
        sizes: Mapping[str, int] | None = None,
        backend: str | None = None,
        dtype: str = "float32",
        threads: int | None = None,
        lengths: Mapping[str, Any] | None = None,
    ) -> Prediction:
        """Predict the cost of a run: seconds, peak bytes, operations, bytes moved, launches.
        `backend`: "native" where there is a C compiler, else "numpy", unless given. Compiled
        kernels run on `threads` (the cores that this process may use, unless given).

        `lengths`: by a dim along which episodes end (`wb.until`) the number of instances after
        which its loops end on average, or an array of the lengths of episodes over the other dims
        of the event, as in `result.lengths`: then a loop ends with the longest of its lanes. Unless
        given, they are those that the last run of this variant found; without one all instances
        run. Memory is held for all; the peak is that of a measured run. `wb.run` holds beside it
        what the last update hands on, for `Result.save`.

        Seconds use the constants that `workbench doctor --calibrate` measures, else built-in ones;
        `.note` then says so. Raises SizeError for sizes that the program does not take,
        ProgramError for lengths that no run has, UnavailableError for a backend without known
        constants.
        """
        equations = self.program.equations
        known = resolve(equations, self.rows.sizes(sizes))
        if lengths is None:
            lengths = cut(self.lengths, equations, known)
        ended = lengths_of(lengths, equations, known)
        backend = or_default(backend)
        constants, used = machine(backend), threads_of(backend, threads)
        return predict(self._counted_on(backend), known, constants, dtype, used, ended)

    @cached_property
    def _found(self) -> dict[str, Any]:
        return {}

    @property
    def lengths(self) -> Mapping[str, Any]:
        """The lengths of episodes by dim that the last run found; none before one."""
        return {dim: found for dim, found in self._found.items() if found.size}

    def ran(self, lengths: Mapping[str, Any]) -> None:
        """Keep the lengths of episodes that a run has found, for predictions."""
        self._found.update(lengths)

    def loops_on(self, backend: str) -> LoopProgram:
        """Return the loop program that predictions for a backend count: with launches of kernels
        where it compiles them.
        """
        return self._counted_on(backend).loops

    def copies_on(self, backend: str, sizes: Mapping[str, int], threads: int) -> Mapping[str, int]:
        """Return how many there are at a time, on a backend, of each buffer that a block of
        compiled kernels has for itself.
        """
        return self._counted_on(backend).copies(sizes, threads)

    def _counted_on(self, backend: str) -> Counted:
        if backend not in self._counted:
            self._counted[backend] = counted(self.program, backend)
        return self._counted[backend]

    def memory(
        self,
        sizes: Mapping[str, int] | None = None,
        backend: str | None = None,
        dtype: str = "float32",
        threads: int | None = None,
    ) -> HeldMemory:
        """Return what a run holds over its schedule, array by array: where it begins and ends to be
        held, and which statement is the last to read it. `.frame()` is a pandas table, `.plot()` a
        matplotlib Figure, `.most_bytes(arrays)` what some arrays hold at one time.

        Backend, dtype and threads are those of `predict`, and so is the peak: a run of NumPy holds
        just that. Compiled kernels have the arrays of a block once for each thread, and in front of
        a run all the memory that they ever need; what of it is no array's stands beside the arrays.
        Raises SizeError for sizes that the program does not take, WorkbenchError for an unknown
        dtype, UnavailableError for an unknown backend.
        """
        backend = or_default(backend)
        known = resolve(self.program.equations, self.rows.sizes(sizes))
        check_dtype(dtype)
        if backend not in backends():
            raise unknown(backend)
        counted, used = self._counted_on(backend), threads_of(backend, threads)
        return held_memory(self.program, counted, known, HeldBy(backend, dtype, used))

    def gradients(self, of: str) -> tuple[str, ...]:
        """Return the names of the arrays that hold the gradients of a network's parameters
        ("policy"), or of one of them ("policy.weight_1"), in the order of the equations.

        A name of an array stands for the statement that computes it, so steps take them:
        `Fuse(variant.gradients("policy"))` all at once, and a step about one statement one by one,
        `variant.replay([Incrementalize(name, "t", block=20) for name in
        variant.gradients("policy")])`. Queries do too:
        `variant.memory().most_bytes(variant.gradients("policy"))`. What is taken is a step with
        plain names; a recipe has these spelled out.

        Raises WorkbenchError, with the known names, where there are none.
        """
        return gradients.gradients(self.program, of)

    def replay(self, steps: Variant | Sequence[Transform | Mapping[str, Any]]) -> Variant:
        """Apply those steps to this variant, or the steps that another variant took since the two
        parted. Every step is checked anew.

        Raises RecipeError at the first that does not fit; its `applied` is the variant until then.
        """
        from workbench.variants.recipes import replay  # it is written in terms of variants

        return replay(self, steps)

    def save(self, path: str | Path) -> None:
        """Write the steps as a JSON file; `wb.load_recipe(path, program)` applies them anew."""
        from workbench.variants.recipes import save

        save(self, path)

    def recipe(self) -> str:
        """Return Python source that rebuilds this variant from its program."""
        lines = [
            "import workbench as wb",
            "",
            f"# {self.program.name}: {len(self.steps)} step{'s' if len(self.steps) != 1 else ''}",
            "variant = wb.variant(program)",
        ]
        lines += [f"variant = variant.apply(wb.transforms.{step!r})" for step in self.steps]
        return "\n".join(lines) + "\n"

    def to_json(self) -> list[dict[str, Any]]:
        """Return the steps as JSON."""
        return [step.to_json() for step in self.steps]

    def explain(self) -> str:
        """List the steps from the root, each with its reason where one is known."""
        lines = [] if self.parent is None else [self.parent.explain()]
        if self.step is not None:
            lines.append(f"{self.step}: {self.because}" if self.because else str(self.step))
        return "\n".join(line for line in lines if line)

    def kernels(self, backend: str = "native", dtype: str = "float32") -> tuple[Kernel, ...]:
        """Return the compiled kernels of a run: text, arrays, private memory, work of a launch. On
        `cuda`, calls of external objects have no kernel: the host makes them.

        Raises WorkbenchError for a backend that has none and an unknown dtype.
        """
        if backend not in KERNEL_TEXTS:
            known = " or ".join(f'"{name}"' for name in KERNEL_TEXTS)
            raise WorkbenchError(f"backend {backend!r} has no compiled kernels; expected {known}")
        return kernels(self.program, dtype, backend)

    @property
    def schedule(self) -> str:
        """The order of all statements as indented text."""
        return tree.text(self.program.schedule)

    @property
    def storage(self) -> str:
        """Return a line for every array: what it keeps of each of its dimensions."""
        return described(self.program)

    def __str__(self) -> str:
        steps = f" {', '.join(map(str, self.steps)) or 'as written'}"
        if len(steps) > WIDTH:
            steps = "".join(f"\n  {k}. {step}" for k, step in enumerate(self.steps, 1))
        shown = outline(self.program.schedule)
        more = "" if shown == self.schedule else "\n.schedule names every statement"
        return f"{self.program.name}:{steps}\n\n{shown}{more}"

    __repr__ = __str__


def key_of(program: str, steps: Sequence[Mapping[str, Any]]) -> str:
    """Return the key of a variant, from the exact text of its program and its steps as JSON."""
    listed = json.dumps(list(steps), sort_keys=True)
    return hashlib.sha256(f"{program}\n{listed}".encode()).hexdigest()


def _step(given: object) -> Transform:
    """Return the argument if it is a step. Raises WorkbenchError that says where to get one."""
    if isinstance(given, Transform):
        return given
    if isinstance(given, Move):
        raise WorkbenchError(f"a move is not a step, but has one: .step, here {given.step}")
    if isinstance(given, Variant):
        raise WorkbenchError("a variant is not a step; .replay(variant) takes the steps of one")
    if isinstance(given, type) and issubclass(given, Transform):
        fields = ", ".join(field.name for field in dataclasses.fields(given))
        raise WorkbenchError(f"{given.__name__} is a kind of step; its arguments are {fields}")
    raise WorkbenchError(f"{given!r} is not a step; expected one of {', '.join(sorted(REGISTRY))}")


def variant(program: Program | Variant, data: Data = None) -> Variant:
    """Return the root variant: the program as written. A variant stays as it is.

    `data` are the sources of the program's data sets by name, as `wb.run` takes them.
    """
    if isinstance(program, Variant):
        return program if data is None else _with_data(program, data)
    if not isinstance(program, Program):
        raise WorkbenchError(f"expected a program, found {program!r}; call the template first")
    return Variant(program, data=_given_rows(program, data))


def on_first_rows(variant: Variant) -> Variant:
    """Return the same variant with its rows as checks at small sizes take them."""
    rows = in_checks(variant.root.program.equations, variant.rows)
    return _with_data(variant, rows) if isinstance(rows, CheckRows) else variant


def _with_data(variant: Variant, data: Data) -> Variant:
    """Return the same variant with rows, which those that it came from have too."""
    rows, parent = _given_rows(variant.root.program, data), None
    for one in variant.lineage:
        parent = dataclasses.replace(one, parent=parent, data=rows)
    assert parent is not None
    return parent


def _given_rows(program: Program, data: Data) -> GivenRows | CheckRows | None:
    if data is None or isinstance(data, GivenRows | CheckRows):
        return data
    return GivenRows(program.equations, data)


def threads_of(backend: str, threads: int | None) -> int:
    """Return the threads of a predicted run on a backend: of arrays always one, and of kernels as
    many as are asked for, which another machine may have. Raises WorkbenchError where `threads` is
    no such number.
    """
    asked = usable_cores() if threads is None else expect_threads(threads, anywhere=True)
    return asked if backend == "native" else 1


_root = variant  # `optimize` has a parameter of that name


def optimize(
    variant: Variant | Program,
    objective: Objective = "time",
    capacity: int | None = None,
    *,
    sizes: Mapping[str, int] | None = None,
    backend: str | None = None,
    dtype: str = "float32",
    threads: int | None = None,
    progress: bool | SearchListener = False,
    data: Data = None,
    lengths: Mapping[str, Any] | None = None,
) -> Variant:
    """Return the variant after the automatic recipe: ordinary steps, each visible and undoable.

    "time" looks for the shortest predicted run, "memory" for the least memory of the device in at
    most twice the time of the fastest plan. `capacity` bounds the device's memory in bytes. On
    "native" and "numpy" the host's memory is the device's own: there arrays move to the host
    (`Swap`) only for the sake of a capacity.
    Predictions are at `sizes` (the program's own unless given). `because` of each variant on the
    way says why its step was taken. A program is taken as written. `backend`: "native" where there
    is a C compiler, else "numpy", unless given. For "native" and "cuda" all that runs over an
    independent dimension runs in blocks (`Persist`), enough of them for `threads` or for the GPU.
    `progress`: a line that says what is tried, nothing, or a function of (idea, cost of the best
    plan so far in words); nothing is tried where the recipe was found before. `data` are the
    sources of data sets, as `wb.run` takes them: what they decide is sizes. `lengths` are those of
    episodes that end, as `Variant.predict` takes them; unless given all instances count.

    Raises WorkbenchError where no plan fits under the capacity, and for an unknown dtype,
    ProgramError for lengths that no run has.
    """
    most = expect_aim(objective, capacity)
    check_dtype(dtype)
    root = _root(variant, data)
    backend = or_default(backend)
    known = resolve(root.program.equations, root.rows.sizes(sizes))
    shared = threads_of(backend, threads)
    ended = lengths_of(lengths or {}, root.program.equations, known)
    aim = Aim(objective, most, known, machine(backend), dtype, shared, ended)
    with progress_line(root.program.name, progress is True) as say:
        told = telling(say) if isinstance(progress, bool) else progress
        plan = planned(root.program, dataclasses.replace(aim, told=told))
    for taken in plan.taken:
        root = Variant(taken.program, root, taken.step, taken.notes, taken.why, root.data)
    return root
