"""The translation of isl's schedule tree into one of ours, where ours can express it.

A band's member becomes a loop if all its statements stand at plus or minus one of their dimensions,
shifted by numbers. Statements at one value come before or behind the loop, as dependences allow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import islpy as isl

from workbench.polyhedral.dependences.components import components
from workbench.polyhedral.dependences.flow import Dependences
from workbench.polyhedral.ordering.groups import Group, GroupRegion
from workbench.polyhedral.sets.as_text import context
from workbench.polyhedral.sets.isl_names import readable
from workbench.polyhedral.tree import Leaf, Loop, Tree, sequence, statements

KIND: Any = isl.schedule_node_type

SLANTS = (-2, -1, 0, 1, 2)
"""The factors with which an outer loop's value may occur in a place.

isl adds such multiples so that loops could be interchanged.
"""


class Inexpressible(Exception):
    """The error that isl's proposal is no tree of ours, and why.

    `outside` are statements in the middle of a loop over `dim`, which they lack.
    """

    def __init__(self, text: str, outside: Sequence[str] = (), dim: str = "") -> None:
        self.outside = tuple(outside)
        self.dim = dim
        super().__init__(text)


@dataclass(frozen=True)
class _Row:
    """The place of a group in a band's member: `sign` times `dim` plus `rest`, a function of sizes.

    Without a dimension (`sign` 0) it stands at one value. In one iteration of the outer loops their
    values, each times its `slant`, are constant and do not change the order.
    """

    dim: str
    sign: int
    rest: isl.PwAff
    slant: tuple[int, ...] = ()

    def runs_with(self, other: _Row) -> bool:
        """Tell whether both can be in one loop, if they are apart by a number."""
        mine, theirs = ((r.dim, r.sign, r.slant) for r in (self, other))
        return mine == theirs


@dataclass
class _Unit:
    """Groups that come together: in one loop, or at one value (`at`, a function of sizes)."""

    loop: Loop | None
    members: tuple[int, ...]
    at: isl.PwAff | None = None


class Reader:
    """A reader of isl's schedule of some groups into a tree."""

    def __init__(self, groups: Sequence[Group], region: GroupRegion, sizes: Sequence[str]) -> None:
        self.groups = groups
        self.region = region
        self.known = context(sizes)

    def read(self, schedule: isl.Schedule) -> Tree:
        """Return the tree. Raises Inexpressible."""
        everything = tuple(range(len(self.groups)))
        left = {k: self.region.free[group[0]] for k, group in enumerate(self.groups)}
        return self._node(schedule.get_root(), everything, self.region.dependences, left, ())

    def _node(
        self,
        node: isl.ScheduleNode,
        members: tuple[int, ...],
        dependences: Dependences,
        left: Mapping[int, tuple[str, ...]],
        outer: tuple[Loop, ...],
    ) -> Tree:
        kind = KIND(node.get_type()).name.rstrip("_")
        if kind == "leaf":
            return sequence([self._body(k, left[k]) for k in members])
        if kind == "band":
            return self._member(node, 0, members, dependences, left, outer)
        if kind in ("domain", "filter", "context"):
            return self._node(node.get_child(0), members, dependences, left, outer)
        assert kind in ("sequence", "set"), kind
        parts = []
        for position in range(node.n_children()):
            child = node.get_child(position)
            held = _numbers(child.filter_get_filter())
            own = tuple(k for k in members if k in held)
            if own:
                parts.append(self._node(child, own, dependences, left, outer))
        return sequence(parts)

    def _body(self, group: int, left: Sequence[str]) -> Tree:
        """Return a group's statements; a dimension of one value has no place in isl's schedule."""
        tree = sequence([Leaf(name) for name in self.groups[group]])
        for dim in reversed(left):
            tree = Loop(dim, tree)
        return tree

    def _member(
        self,
        node: isl.ScheduleNode,
        number: int,
        members: tuple[int, ...],
        dependences: Dependences,
        left: Mapping[int, tuple[str, ...]],
        outer: tuple[Loop, ...],
    ) -> Tree:
        """Read a band from one of its members inwards."""
        if number == node.band_n_member():
            return self._node(node.get_child(0), members, dependences, left, outer)
        function = node.band_get_partial_schedule().get_at(number)
        units = self._units(dict(_rows(function)), members, left, outer)
        parts = []
        for unit in self._one_by_one(units, dependences):
            names = [n for k in unit.members for n in self.groups[k]]
            own = dependences.among(names)
            rest, around = dict(left), outer
            if unit.loop is not None:
                own, around = own.within(unit.loop), (*outer, unit.loop)
                for k in unit.members:
                    rest[k] = tuple(d for d in left[k] if d != unit.loop.dim)
            body = self._member(node, number + 1, unit.members, own, rest, around)
            parts.append(body if unit.loop is None else replace(unit.loop, child=body))
        return sequence(parts)

    # -- one member of a band ----------------------------------------------------------------------

    def _units(
        self,
        functions: Mapping[int, isl.PwAff],
        members: Sequence[int],
        left: Mapping[int, tuple[str, ...]],
        outer: tuple[Loop, ...],
    ) -> list[_Unit]:
        """Put the groups into loops: one for those over one dimension in one direction.

        Groups in one loop are a number apart.
        """
        ways = {k: list(self._ways(k, functions[k], left[k], outer)) for k in members}
        units: list[_Unit] = []
        loops: list[list[tuple[int, _Row, int]]] = []
        for k in members:
            row = self._chosen(k, ways, functions[k])
            if row.sign == 0:
                units.append(_Unit(None, (k,), row.rest))
                continue
            for over in loops:
                first = over[0][1]
                if first.runs_with(row):
                    apart = self._whole(row.rest.sub(first.rest))
                    if apart is not None:
                        over.append((k, row, row.sign * apart))
                        break
            else:
                loops.append([(k, row, 0)])
        return [*units, *map(self._loop, loops)]

    def _chosen(self, group: int, ways: Mapping[int, Sequence[_Row]], function: isl.PwAff) -> _Row:
        """Choose the form of a group's place that most other groups have too."""
        if not ways[group]:
            raise Inexpressible(f"isl proposes a loop in which {self._said(group, function)}")
        used = Counter(
            (r.dim, r.sign) for rows in ways.values() if _moves(rows) for r in rows if r.sign
        )
        moving = [r for r in ways[group] if used[r.dim, r.sign]]
        return max(moving, key=lambda r: used[r.dim, r.sign], default=ways[group][-1])

    def _loop(self, found: Sequence[tuple[int, _Row, int]]) -> _Unit:
        least = min(offset for _, _, offset in found)
        offsets = tuple(
            (name, offset - least)
            for k, _, offset in found
            for name in self.groups[k]
            if offset != least
        )
        row = found[0][1]
        loop = Loop(row.dim, Leaf(""), backwards=row.sign < 0, offsets=offsets)
        return _Unit(loop, tuple(k for k, _, _ in found))

    def _said(self, group: int, function: isl.PwAff) -> str:
        name = self.groups[group][0]
        text = readable(str(function)).replace(f"G{group}[", f"{name}[")
        return f"{name} stands at {text[text.index('{') :]}"

    def _ways(
        self, group: int, function: isl.PwAff, left: Sequence[str], outer: Sequence[Loop]
    ) -> Iterator[_Row]:
        """Yield the forms in which a group's place can be written."""
        name = self.groups[group][0]
        domain = self.region.domains[name].set_tuple_name(function.domain().get_tuple_name())
        function = function.intersect_domain(domain)
        space = isl.LocalSpace.from_space(domain.get_space())
        dims = self.region.free[name]

        def value(dim: str) -> isl.PwAff:
            return isl.PwAff.var_on_domain(space, isl.dim_type.set, dims.index(dim))

        values = [value(p.dim).add_constant_val(_number(p.offset(name))) for p in outer]
        for slant in sorted(product(SLANTS, repeat=len(outer)), key=lambda s: sum(map(abs, s))):
            upright = function
            for times, one in zip(slant, values, strict=True):
                upright = upright.sub(one.scale_val(_number(times)))
            for dim in left:
                for sign in (1, -1):
                    rest = self._of_sizes(upright.sub(value(dim).scale_val(_number(sign))))
                    if rest is not None:
                        yield _Row(dim, sign, rest, slant)
            rest = self._of_sizes(upright)
            if rest is not None:
                yield _Row("", 0, rest, slant)
                return

    def _of_sizes(self, function: isl.PwAff) -> isl.PwAff | None:
        """Return the function's value over sizes, or None where it changes from point to point."""
        values = isl.Map.from_pw_aff(function).range().intersect_params(self.known)
        least, most = values.dim_min(0), values.dim_max(0)
        return least if least.is_equal(most) else None

    def _whole(self, function: isl.PwAff) -> int | None:
        """Return the function's whole number if that is the same at all sizes, else None."""
        least, most = function.min_val(), function.max_val()
        return int(least.to_python()) if least.is_int() and least.eq(most) else None

    def _one_by_one(self, units: Sequence[_Unit], dependences: Dependences) -> list[_Unit]:
        """Order the units, and join neighbours at one value.

        Raises Inexpressible where they wait for each other.
        """
        parts = [[n for k in unit.members for n in self.groups[k]] for unit in units]
        in_turn: list[_Unit] = []
        for part in _in_order(parts, dependences):
            own = [units[p] for p in part]
            if len(own) > 1:
                self._refuse(own)
            last, unit = in_turn[-1] if in_turn else None, own[0]
            if last and last.at and unit.at and last.at.is_equal(unit.at):
                in_turn[-1] = replace(last, members=(*last.members, *unit.members))
            else:
                in_turn.append(unit)
        return in_turn

    def _refuse(self, own: Sequence[_Unit]) -> None:
        """Raise Inexpressible with a description of units that wait for each other."""
        loops = [unit.loop for unit in own if unit.loop is not None]
        names = [n for u in own if u.loop is None for k in u.members for n in self.groups[k]]
        if not names:
            raise Inexpressible(f"isl proposes several loops over {loops[0].dim} by turns")
        if not loops:
            raise Inexpressible(f"isl proposes to run {', '.join(names)} by turns")
        dim = loops[0].dim
        listed = f"{', '.join(names)}, without the dimension {dim},"
        text = f"isl proposes to run {listed} in the middle of a loop over it"
        raise Inexpressible(text, names, dim)


def _number(value: int) -> isl.Val:
    return isl.Val.int_from_si(isl.DEFAULT_CONTEXT, value)


def _moves(ways: Sequence[_Row]) -> bool:
    """Tell whether a place is no single value."""
    return all(row.sign for row in ways)


def as_written(tree: Tree, dependences: Dependences, place: Mapping[str, int]) -> Tree:
    """Order the parts of each sequence by the `place` of their statements.

    isl takes any order where dependences leave a choice.
    """
    if isinstance(tree, Leaf):
        return tree
    if isinstance(tree, Loop):
        return replace(tree, child=as_written(tree.child, dependences.within(tree), place))
    parts = [list(statements(child)) for child in tree.children]
    written = sorted(range(len(parts)), key=lambda p: min(place[name] for name in parts[p]))
    ordered = [
        written[p] for part in _in_order([parts[p] for p in written], dependences) for p in part
    ]
    return sequence(
        [as_written(tree.children[p], dependences.among(parts[p]), place) for p in ordered]
    )


def _in_order(parts: Sequence[Sequence[str]], dependences: Dependences) -> list[tuple[int, ...]]:
    """Return positions of the parts in an order of their dependences, the present one if possible.

    Positions that come together wait for each other.
    """
    owner = {name: p for p, part in enumerate(parts) for name in part}
    between = [
        replace(d, source=str(owner[d.source]), sink=str(owner[d.sink]))
        for d in dependences.all
        if d.source in owner and d.sink in owner and owner[d.source] != owner[d.sink]
    ]
    order = components([str(p) for p in range(len(parts))], between)
    return [tuple(int(p) for p in part) for part in order]


def _rows(function: isl.UnionPwAff) -> Iterator[tuple[int, isl.PwAff]]:
    parts = function.get_pw_aff_list()
    for position in range(parts.n_pw_aff()):
        part = parts.get_at(position)
        yield int(part.domain().get_tuple_name()[1:]), part


def _numbers(points: isl.UnionSet) -> set[int]:
    parts = points.get_set_list()
    return {int(parts.get_at(k).get_tuple_name()[1:]) for k in range(parts.n_set())}
