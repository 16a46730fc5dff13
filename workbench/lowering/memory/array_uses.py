"""The uses of arrays in the order of a schedule, and which arrays may share memory by them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from workbench.coming import OnDemand
from workbench.identity import remembered
from workbench.polyhedral.accesses import Instances
from workbench.polyhedral.lifetimes.conflicts import Use, uses
from workbench.polyhedral.lifetimes.shared_memory import Pair, may_share
from workbench.polyhedral.tree import Path, Tree, paths, statements
from workbench.program.values import Equations


@remembered(32, same=2)
def array_uses(equations: Equations, schedule: Tree) -> ArrayUses:
    """Return the uses of the arrays; remembered for the last equations and schedules."""
    return ArrayUses(equations, schedule)


@dataclass(frozen=True, eq=False)
class ArrayUses:
    """The statements that use arrays in the order of a schedule."""

    equations: Equations
    schedule: Tree
    _shares: dict[tuple[Pair, frozenset[str], int], bool] = field(default_factory=dict, repr=False)

    @cached_property
    def turn(self) -> Mapping[str, int]:
        """The place of every statement in the text of the schedule."""
        return {name: n for n, name in enumerate(statements(self.schedule))}

    @cached_property
    def users(self) -> Mapping[str, tuple[str, ...]]:
        """The statements that write or read each array, in order."""
        users: dict[str, list[str]] = {a.name: [] for a in self.equations.arrays}
        for name in self.turn:
            for array in self.equations.statement[name].touched:
                users[array].append(name)
        return {array: tuple(names) for array, names in users.items()}

    @cached_property
    def first_writer(self) -> Mapping[str, str]:
        """The statement that first writes each array."""
        turn = self.turn
        return {
            array: min((s.name for s in writers), key=turn.__getitem__)
            for array, writers in self.equations.writers.items()
        }

    @cached_property
    def paths(self) -> Mapping[str, Path]:
        """The place of every statement in the schedule."""
        return paths(self.schedule)

    @cached_property
    def _used(self) -> Mapping[str, tuple[Use, ...]]:
        """The accesses to each array, in order."""

        def of(array: str) -> tuple[Use, ...]:
            touching = {name: self._instances[name] for name in self.users[array]}
            return tuple(uses({array: self.equations.array[array].extent}, touching)[array])

        return OnDemand(self.users, of)

    @cached_property
    def _instances(self) -> Mapping[str, Instances]:
        statement = self.equations.statement
        return OnDemand(self.turn, lambda name: statement[name].instances)

    def may_share(self, pair: Pair, elementwise: frozenset[str], own: int) -> bool:
        """Tell whether two arrays may share memory, both inside the first `own` of the loops whose
        blocks are apart. The statements `elementwise` may write the second over what they read of
        the first.
        """
        asked = pair, elementwise, own
        if asked not in self._shares:
            first, second = self._used[pair.first], self._used[pair.second]
            if elementwise:
                first = tuple(
                    use._replace(shares=True) if use.statement in elementwise else use
                    for use in first
                )
            used = {pair.first: first, pair.second: second}
            self._shares[asked] = may_share(pair, used, self._instances, self.paths, own)
        return self._shares[asked]
