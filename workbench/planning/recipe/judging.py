"""The predicted cost of a plan at given sizes, and where it is spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.bytes import Point, bytes_of
from workbench.lowering.loops.records import DEVICE
from workbench.planning.cost.counted import Counted, counted
from workbench.planning.cost.lengths import UNKNOWN, Lengths
from workbench.planning.cost.prediction import Prediction, predict
from workbench.planning.machine.constants import Machine
from workbench.planning.recipe.aim import SearchListener, silent
from workbench.planning.recipe.plan import Plan
from workbench.program.text.units import bytes_text, seconds_text


@dataclass(frozen=True)
class JudgedPlan:
    """A plan's predicted cost; with `folded`, of its arrays folded to the live slices. It is
    computed when it is asked for.
    """

    plan: Plan
    judge: Judge
    folded: bool

    @property
    def sizes(self) -> Mapping[str, int]:
        """The sizes of the run."""
        return self.judge.sizes

    @cached_property
    def _counted(self) -> Counted:
        as_run = self.plan.folded if self.folded else self.plan
        return counted(as_run.program, self.judge.machine.backend)

    @property
    def loops(self) -> LoopProgram:
        """The loop program of the run."""
        return self._counted.loops

    @cached_property
    def prediction(self) -> Prediction:
        """The whole prediction."""
        return self._predicted(self.judge.machine)

    def _predicted(self, machine: Machine) -> Prediction:
        judge = self.judge
        return predict(
            self._counted, judge.sizes, machine, judge.dtype, judge.threads, judge.lengths
        )

    @property
    def seconds(self) -> float:
        """The seconds of a run."""
        return self.prediction.seconds

    @property
    def peak(self) -> int:
        """The peak in bytes on the device."""
        return self.prediction.peak_bytes[DEVICE]

    @cached_property
    def _fullest(self) -> Point | None:
        points = self.loops.timeline(self.sizes, self.judge.dtype)
        return max(points, key=lambda point: point.bytes, default=None)

    @cached_property
    def largest(self) -> dict[str, int]:
        """The arrays live at the peak, by bytes, largest first."""
        if self._fullest is None:
            return {}
        names = {stored.buffer.name: array for array, stored in self.loops.stored.items()}
        live = [(names[name], n) for name, n in self._fullest.live if name in names]
        return dict(sorted(live, key=lambda pair: -pair[1]))

    @cached_property
    def stored(self) -> dict[str, int]:
        """The bytes of every array's storage."""
        buffers = ((array, stored.buffer) for array, stored in self.loops.stored.items())
        return {array: bytes_of(buffer, self.sizes, self.judge.dtype) for array, buffer in buffers}

    def share(self, statement: str) -> float:
        """Return a statement's share of all seconds."""
        spent = self.prediction.by_statement.get(statement)
        return 0.0 if spent is None else spent.seconds / self.seconds

    @cached_property
    def distant(self) -> float:
        """The share of all seconds that near memory, none of it new, would save."""
        machine = self.judge.machine
        nearest = min(seconds for _, seconds in machine.byte)
        bytes_ = tuple((n, nearest) for n, _ in machine.byte)
        nearby = self._predicted(replace(machine, byte=bytes_, fresh=0.0))
        return 1.0 - nearby.seconds / self.seconds

    def __str__(self) -> str:
        return f"{seconds_text(self.seconds)} and {bytes_text(self.peak)}"


@dataclass(frozen=True)
class Judge:
    """A judge that predicts plans at one machine, size, dtype and number of threads, with episodes
    of some lengths. `told` hears what is tried.
    """

    machine: Machine
    sizes: Mapping[str, int]
    dtype: str
    threads: int
    lengths: Lengths = UNKNOWN
    told: SearchListener = field(default=silent, compare=False, repr=False)

    def of(self, plan: Plan) -> JudgedPlan:
        """Judge the plan with its arrays folded, before memory is donated."""
        return JudgedPlan(plan, self, folded=True)

    def exactly(self, plan: Plan) -> JudgedPlan:
        """Judge a plan as it is."""
        return JudgedPlan(plan, self, folded=False)
