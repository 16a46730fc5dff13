"""The predicted cost of a plan at given sizes, and where it is spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.bytes import Point, bytes_of
from workbench.lowering.loops.records import DEVICE
from workbench.lowering.lower import lower
from workbench.planning.cost.prediction import Prediction, predict
from workbench.planning.cost.work import CostItem, steps_of
from workbench.planning.machine.constants import Machine
from workbench.planning.recipe.plan import Plan
from workbench.program.text.units import bytes_text, seconds_text


@dataclass(frozen=True)
class JudgedPlan:
    """A plan's predicted cost, its arrays folded to the live slices."""

    plan: Plan
    loops: LoopProgram
    machine: Machine
    sizes: Mapping[str, int]
    dtype: str

    @cached_property
    def _steps(self) -> tuple[CostItem, ...]:
        return steps_of(self.loops)

    @cached_property
    def prediction(self) -> Prediction:
        """The whole prediction."""
        return predict(self.loops, self.sizes, self.machine, self.dtype, self._steps)

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
        points = self.loops.timeline(self.sizes, self.dtype)
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
        return {array: bytes_of(buffer, self.sizes, self.dtype) for array, buffer in buffers}

    def share(self, statement: str) -> float:
        """Return a statement's share of all seconds."""
        spent = self.prediction.by_statement.get(statement)
        return 0.0 if spent is None else spent.seconds / self.seconds

    @cached_property
    def distant(self) -> float:
        """The share of all seconds that near memory, none of it new, would save."""
        nearest = min(seconds for _, seconds in self.machine.byte)
        bytes_ = tuple((n, nearest) for n, _ in self.machine.byte)
        near = replace(self.machine, byte=bytes_, fresh=0.0)
        nearby = predict(self.loops, self.sizes, near, self.dtype, self._steps)
        return 1.0 - nearby.seconds / self.seconds

    def __str__(self) -> str:
        return f"{seconds_text(self.seconds)} and {bytes_text(self.peak)}"


@dataclass(frozen=True)
class Judge:
    """A judge that predicts plans at one machine, size and dtype."""

    machine: Machine
    sizes: Mapping[str, int]
    dtype: str

    def of(self, plan: Plan) -> JudgedPlan:
        """Judge the plan with its arrays folded, before memory is donated."""
        return self._of(plan, plan.folded())

    def exactly(self, plan: Plan) -> JudgedPlan:
        """Judge a plan as it is."""
        return self._of(plan, plan)

    def _of(self, plan: Plan, as_run: Plan) -> JudgedPlan:
        return JudgedPlan(plan, lower(as_run.program), self.machine, self.sizes, self.dtype)
