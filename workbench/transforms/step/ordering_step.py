"""Steps that change the order of statements: they make a tree first, and judge it then."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace

from workbench.program.identity import remembered
from workbench.program.values import Program
from workbench.transforms.step.refusal import Help, Refusal
from workbench.transforms.step.transform import Rewritten, Transform, taken


class OrderingStep(Transform, abstract=True):
    """A transform whose legality is that of the schedule it makes.

    `attempt` says what the step makes or why not, `repairs` proposes steps for a refusal. Those
    help that can be taken and then do: the same transform with other arguments is what can be done
    instead; after another one the step is legal, at least with other arguments.
    """

    @abstractmethod
    def attempt(self, program: Program) -> Rewritten | Refusal:
        """The program after the step, judged by its dependences; or why not, without repairs."""

    @abstractmethod
    def repairs(self, program: Program, refusal: Refusal) -> Iterator[Transform]:
        """Steps that may help where the step is refused."""

    def check(self, program: Program) -> Refusal | None:
        """The judgement of `attempt`, with what helps."""
        result = self._attempted(program)
        if isinstance(result, Rewritten):
            return None
        return replace(result, help=lambda: self._help(program, result))

    def rewrite(self, program: Program) -> Rewritten:
        """What `attempt` made."""
        result = self._attempted(program)
        assert isinstance(result, Rewritten), result
        return result

    @remembered
    def _attempted(self, program: Program) -> Rewritten | Refusal:
        return self.attempt(program)

    def _help(self, program: Program, refusal: Refusal) -> Help:
        useful = [r for r in self.repairs(program, refusal) if self._helps(program, r)]
        return Help(
            repairs=tuple(r for r in useful if type(r) is not type(self)),
            instead=tuple(r for r in useful if type(r) is type(self)),
        )

    def _helps(self, program: Program, repair: Transform) -> bool:
        after = taken(program, repair)
        if after is None or type(repair) is type(self):
            return after is not None
        result = self._attempted(after)
        return isinstance(result, Rewritten) or any(
            type(other) is type(self) and taken(after, other) is not None
            for other in self.repairs(after, result)
        )
