"""Exact flow dependences, and the check that every element read is written exactly once.

One instance writes an element, so dependent instances are those that touch one element: the write,
then the reversed read. No "last write before" is needed. A relation is computed once for the texts
it is made from (`RelationKey`), so what an edit leaves alone costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

import islpy as isl

from workbench.polyhedral.accesses import Access, AccessEntry, Extent, Instances
from workbench.polyhedral.dependences.witness import Witness, smallest, written_element
from workbench.polyhedral.hashed import Hashed
from workbench.polyhedral.sets.as_text import box, context, parse_map, parse_set, possible, sizes_in
from workbench.polyhedral.sets.isl_names import dim_name, readable
from workbench.polyhedral.sets.relations import index_text
from workbench.polyhedral.tree import Loop, Standing, standing


@dataclass(frozen=True)
class Dependence(Hashed):
    """A flow dependence: read number `access` of `sink` reads what `source` wrote."""

    source: str
    sink: str
    array: str
    access: int
    kind: str = "flow"


class AccessKey(NamedTuple):
    """An access by its texts: the index relation and the points it starts from.

    An instance has `rank` coordinates; those behind are reduction dimensions.
    """

    subscripts: str
    points: str
    rank: int


class RelationKey(NamedTuple):
    """The key of a relation {source instance -> sink instance}: the texts it is made from.

    `equal` restricts it to pairs at equal values of some loops.
    """

    write: AccessKey
    read: AccessKey
    equal: tuple[tuple[Standing, Standing], ...] = ()


@dataclass(frozen=True, eq=False)
class Dependences:
    """All dependences of some statements, in the order of their sinks and reads."""

    statements: Mapping[str, Instances]
    all: tuple[Dependence, ...]
    keys: Mapping[Dependence, RelationKey] = field(repr=False)

    def relation(self, dependence: Dependence) -> isl.Map:
        """Return {source instance -> sink instance}, where every size is at least 1."""
        return relation(self.keys[dependence])

    @cached_property
    def by_sink(self) -> Mapping[str, tuple[Dependence, ...]]:
        """The dependences that end at each statement."""
        return _grouped(self.statements, self.all, "sink")

    @cached_property
    def _places(self) -> Mapping[str, int]:
        """The position of each statement among those at which dependences end."""
        return {sink: k for k, sink in enumerate(dict.fromkeys(d.sink for d in self.all))}

    @cached_property
    def by_source(self) -> Mapping[str, tuple[Dependence, ...]]:
        """The dependences that start at each statement."""
        return _grouped(self.statements, self.all, "source")

    def text(self, dependence: Dependence) -> str:
        """Return the relation with the user's names; a dimension of both is primed in the sink."""
        source, sink = self.statements[dependence.source], self.statements[dependence.sink]
        pairs = self.relation(dependence)
        pairs = pairs.gist_params(context(sizes_in(pairs))).remove_redundancies()
        for position, dim in enumerate(source.dims):
            pairs = pairs.set_dim_name(isl.dim_type.in_, position, dim_name(dim))
        for position, dim in enumerate(sink.dims):
            name = dim + "'" if dim in source.dims else dim
            pairs = pairs.set_dim_name(isl.dim_type.out, position, dim_name(name))
        return readable(str(pairs))

    def among(self, names: Sequence[str]) -> Dependences:
        """Return only the dependences between the statements `names`."""
        chosen, place = set(names), self._places
        sinks = sorted(chosen.intersection(place), key=place.__getitem__)
        found = (d for sink in sinks for d in self.by_sink[sink] if d.source in chosen)
        kept = {d: self.keys[d] for d in found}
        return Dependences({n: self.statements[n] for n in names}, tuple(kept), kept)

    def within(self, loop: Loop) -> Dependences:
        """Return only the pairs of instances in one iteration of a sequential loop.

        The loop's body is not used, but every statement stands in the loop. Pairs from one
        iteration to a later one are dropped.
        """
        kept: dict[Dependence, RelationKey] = {}
        for d in self.all:
            pair = standings(loop, self.statements[d.source], self.statements[d.sink])
            write, read, equal = self.keys[d]
            key = RelationKey(write, read, (*equal, pair))
            if not is_empty_relation(key):
                kept[d] = key
        return Dependences(self.statements, tuple(kept), kept)


def _grouped(
    statements: Mapping[str, Instances], found: Sequence[Dependence], end: str
) -> dict[str, tuple[Dependence, ...]]:
    groups: dict[str, list[Dependence]] = {name: [] for name in statements}
    for d in found:
        groups[d.sink if end == "sink" else d.source].append(d)
    return {name: tuple(group) for name, group in groups.items()}


def flow(statements: Sequence[Instances], extents: Mapping[str, Extent]) -> Dependences:
    """Return every dependence: the pairs of a writing and a reading instance."""
    writers: dict[str, list[Instances]] = {}
    for s in statements:
        writers.setdefault(s.write.array, []).append(s)
    keys: dict[Dependence, RelationKey] = {}
    for sink in statements:
        read = tuple(
            (tuple(writers.get(a.array, ())), extents[a.array] if a.depends_on_data else None)
            for a in sink.reads
        )
        keys.update(_ending_at(sink, read))
    return Dependences({s.name: s for s in statements}, tuple(keys), keys)


@lru_cache(maxsize=16384)
def _ending_at(
    sink: Instances, read: tuple[tuple[tuple[Instances, ...], Extent | None], ...]
) -> dict[Dependence, RelationKey]:
    """Return the dependences that end at a statement, by the writers of what it reads: a step
    leaves most as they are.
    """
    keys: dict[Dependence, RelationKey] = {}
    for position, (access, (sources, extent)) in enumerate(zip(sink.reads, read, strict=True)):
        reading = _read_key(sink, access, extent)
        for source in sources:
            key = RelationKey(write_key(source), reading)
            if not is_empty_relation(key):
                keys[Dependence(source.name, sink.name, access.array, position)] = key
    return keys


# -- accesses and relations by their texts ---------------------------------------------------------


@lru_cache(maxsize=65536)
def write_key(statement: Instances) -> AccessKey:
    """Return the write of a statement."""
    index = _index(statement.dims, statement.write.index, None)
    return AccessKey(index, statement.domain, len(statement.dims))


def read_key(statement: Instances, access: Access, extents: Mapping[str, Extent]) -> AccessKey:
    """Return a read of a statement; data-dependent indices range over the array's extent."""
    return _read_key(statement, access, extents[access.array] if access.depends_on_data else None)


@lru_cache(maxsize=65536)
def _read_key(statement: Instances, access: Access, extent: Extent | None) -> AccessKey:
    dims = statement.dims + statement.reduction_dims
    index = _index(dims, access.index, extent)
    return AccessKey(index, statement.points or statement.domain, len(statement.dims))


@lru_cache(maxsize=65536)
def _index(dims: tuple[str, ...], index: tuple[AccessEntry, ...], extent: Extent | None) -> str:
    return index_text(dims, index, extent)


@lru_cache(maxsize=65536)
def touches(key: AccessKey) -> isl.Map:
    """Return {point -> element}."""
    return parse_map(key.subscripts).intersect_domain(parse_set(key.points))


@lru_cache(maxsize=65536)
def instance_touches(key: AccessKey) -> isl.Map:
    """Return {instance -> element}: touched at any of the instance's reduction points."""
    pairs = touches(key)
    rank = pairs.dim(isl.dim_type.in_)
    if rank > key.rank:
        pairs = pairs.project_out(isl.dim_type.in_, key.rank, rank - key.rank)
    return pairs


@lru_cache(maxsize=65536)
def relation(key: RelationKey) -> isl.Map:
    """Return {source instance -> sink instance} of a dependence, where every size is at least 1."""
    if key.equal:
        *others, last = key.equal
        outer = relation(key._replace(equal=tuple(others)))
        return outer.intersect(
            pair_order(outer.dim(isl.dim_type.in_), outer.dim(isl.dim_type.out), *last)
        )
    pairs = touches(key.write).apply_range(instance_touches(key.read).reverse())
    return pairs.intersect_params(context(sizes_in(pairs))).coalesce()


@lru_cache(maxsize=65536)
def is_empty_relation(key: RelationKey) -> bool:
    """Tell whether no pair of instances is related, at any sizes."""
    return relation(key).is_empty()


def standings(loop: Loop, source: Instances, sink: Instances) -> tuple[Standing, Standing]:
    """Return where two statements stand in a loop around both, in a normal form for keys."""
    key = source.name, source.dims, sink.name, sink.dims
    both = loop.standings.get(key)
    if both is None:  # they are asked again and again
        both = loop.standings[key] = _standings(loop, source, sink)
    return both


def _standings(loop: Loop, source: Instances, sink: Instances) -> tuple[Standing, Standing]:
    first = standing(loop, source.name, source.dims)
    second = standing(loop, sink.name, sink.dims)
    if first.divisor != second.divisor or not second.shift:
        return first, second
    whole = second.shift if first.divisor == 1 else second.shift // first.divisor * first.divisor
    return (
        first._replace(shift=first.shift - whole),
        second._replace(shift=second.shift - whole),
    )


@lru_cache(maxsize=4096)
def pair_order(
    sources: int, sinks: int, source: Standing, sink: Standing, sign: str = "="
) -> isl.Map:
    """Return {source -> sink : the sink's value `sign` the source's} for the given ranks."""
    p = ", ".join(f"p{k}" for k in range(sources))
    q = ", ".join(f"q{k}" for k in range(sinks))
    left, right = _value_text("q", sink), _value_text("p", source)
    return parse_map(f"{{ [{p}] -> [{q}] : {left} {sign} {right} }}")


def _value_text(coordinates: str, at: Standing) -> str:
    value = f"{coordinates}{at.position} + {at.shift}"
    return value if at.divisor == 1 else f"floor(({value})/{at.divisor})"


# -- every element that is read is written, once ---------------------------------------------------


def undefined_read(
    readers: Sequence[Instances],
    writers: Iterable[Instances],
    extents: Mapping[str, Extent],
    known: str = "",
) -> Witness | None:
    """Return the first point that reads an element nothing writes, in the order of the readers.

    `known` is what its sizes satisfy.
    """
    written: dict[str, list[AccessKey]] = {a.array: [] for s in readers for a in s.reads}
    for s in writers:
        if s.write.array in written:
            written[s.write.array].append(write_key(s))
    for s in readers:
        for access in s.reads:
            read = read_key(s, access, extents)
            if not _is_defined(read, tuple(written[access.array])):
                missing = _unwritten(read, tuple(written[access.array]))
                witness = _read_witness(s, access, missing, known)
                if witness is not None:
                    return witness
    return None


def outside(
    statements: Sequence[Instances], extents: Mapping[str, Extent], known: str = ""
) -> Witness | None:
    """Return the first point that reads an element outside its array's extent.

    `known` is what its sizes satisfy.
    """
    for s in statements:
        for access in s.reads:
            read, inside = read_key(s, access, extents), _extent_text(extents[access.array])
            if not _is_inside(read, inside):
                beyond = touches(read).subtract_range(parse_set(inside))
                witness = _read_witness(s, access, beyond, known)
                if witness is not None:
                    return witness
    return None


def overlap(
    statements: Sequence[Instances], extents: Mapping[str, Extent], known: str = ""
) -> Witness | None:
    """Return two instances, of two statements or of one, that write one element.

    `known` is what their sizes satisfy.
    """
    earlier: dict[str, list[Instances]] = {}
    for s in statements:
        for other in [*earlier.get(s.write.array, ()), s]:
            keys = write_key(other), write_key(s)
            if not _is_disjoint(*keys, other is s):
                bad = _collisions(*keys, other is s)
                bad = possible(bad.wrap(), known).unwrap()
                if not _is_empty(bad):
                    return _write_witness(other, s, bad)
        earlier.setdefault(s.write.array, []).append(s)
    return None


def _unwritten(read: AccessKey, written: tuple[AccessKey, ...]) -> isl.Map:
    missing = touches(read)
    for write in written:
        missing = missing.subtract_range(touches(write).range())
    return missing


@lru_cache(maxsize=65536)
def _is_defined(read: AccessKey, written: tuple[AccessKey, ...]) -> bool:
    return _is_empty(_unwritten(read, written))


@lru_cache(maxsize=65536)
def _is_inside(read: AccessKey, inside: str) -> bool:
    return _is_empty(touches(read).subtract_range(parse_set(inside)))


@lru_cache(maxsize=65536)
def _is_disjoint(first: AccessKey, second: AccessKey, same: bool) -> bool:
    return _is_empty(_collisions(first, second, same))


def _is_empty(pairs: isl.Map) -> bool:
    return pairs.intersect_params(context(sizes_in(pairs))).is_empty()


def _collisions(first: AccessKey, second: AccessKey, same: bool) -> isl.Map:
    """Return pairs of instances that write one element; where `same`, two different ones."""
    pairs = touches(first).apply_range(touches(second).reverse())
    if same:
        pairs = pairs.subtract(isl.Map.identity(pairs.get_space()))
    return pairs


@lru_cache(maxsize=4096)
def _extent_text(extent: Extent) -> str:
    return box([(str(k), lower, upper) for k, (lower, upper) in enumerate(extent)])


def _read_witness(statement: Instances, access: Access, bad: isl.Map, known: str) -> Witness | None:
    point = smallest(possible(bad.wrap().flatten(), known))
    if point is None:
        return None
    sizes, values = point
    dims = statement.dims + statement.reduction_dims
    instance = dict(zip(dims, values, strict=False))
    return Witness((statement.name,), (instance,), access.array, values[len(dims) :], sizes)


def _write_witness(first: Instances, second: Instances, bad: isl.Map) -> Witness:
    return pair_witness(first, second, first.write.array, bad)


def pair_witness(source: Instances, sink: Instances, array: str, bad: isl.Map) -> Witness:
    """Return the smallest pair of a relation {instance of `source` -> instance of `sink`}.

    The element is the one that the source's instance writes.
    """
    point = smallest(bad.wrap().flatten())
    assert point is not None
    sizes, values = point
    rank = len(source.dims)
    left = dict(zip(source.dims, values[:rank], strict=True))
    right = dict(zip(sink.dims, values[rank:], strict=True))
    sizes = {**{n: 1 for e in source.write.index if e is not None for n in e.sizes}, **sizes}
    sizes = dict(sorted(sizes.items()))
    element = written_element(source, left, sizes)
    return Witness((source.name, sink.name), (left, right), array, element, sizes)
