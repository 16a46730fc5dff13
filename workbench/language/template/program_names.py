"""The names of a program: of arrays and statements, of origins, and the users' own of what arrays
hold.

An origin decides a statement's draws. It is a name without scopes, and of a value that is written
straight into a recurrent tensor its own. So the draws stay when a value is grouped otherwise, or
returned too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from workbench.language.template.array_names import NamedSource, Reader, array_names
from workbench.language.template.uses import Uses
from workbench.language.tracing.recurrent import Recurrent
from workbench.language.tracing.tensor import Node
from workbench.names import unique
from workbench.polyhedral.expression import Expression, variable
from workbench.polyhedral.expressions.atoms import Choice
from workbench.program.values import Alias, Statement


class Names:
    """The names of the live values; `arrays` are those of what is stored."""

    def __init__(self, uses: Uses, returned: Mapping[str, NamedSource]) -> None:
        self._uses = uses
        sources = sorted(filter(self._is_named, uses.live), key=_place)
        stored = [source for source in sources if uses.claim(source) is None]
        owners = {p: s for s in stored if isinstance(s, Recurrent) for p in s.pieces}
        outputs = {source: name for name, source in reversed([*returned.items()])}
        self.arrays = array_names(stored, self._readers(set(stored)), owners, outputs)
        readers = self._readers(set(sources))
        self._origins = array_names(sources, readers, owners, outputs, scoped=False)

    def _is_named(self, source: NamedSource) -> bool:
        """Tell whether a live value has a name: it is stored, or the user named what he writes into
        a recurrent tensor.
        """
        if isinstance(source, Recurrent):
            return True
        return self._uses.is_statement(source) and (
            self._uses.claim(source) is None or source.name is not None
        )

    def _readers(self, named: set[NamedSource]) -> dict[Node, list[Reader]]:
        """Return the readers in textual order; a node that writes a piece without a name of its own
        stands for the piece.
        """

        def reader(r: Reader) -> Reader:
            claim = self._uses.claim(r)
            return r if claim is None or r in named else claim[1]

        return {
            node: sorted(map(reader, use.readers), key=lambda r: r.number)
            for node, use in self._uses.of.items()
        }

    def statements(self, written: Sequence[tuple[NamedSource, Statement]]) -> tuple[Statement, ...]:
        """Name each after its array, or after its piece of it: `state[0]`, `state[t+1]`. Its origin
        is named in the same way, or as the user calls what is written.
        """
        pieces = Counter(s.array for _, s in written)
        names: set[str] = set()
        origins: set[str] = set()
        named = []
        for source, s in written:
            piece = "" if pieces[s.array] == 1 else _piece_text(s)
            claim = self._uses.claim(source)
            if claim is None:
                origin = self._origins[source] + piece
            else:
                origin = self._origins.get(source) or self._origins[claim[0]] + piece
            name = unique(s.array + piece, names)
            named.append(replace(s, name=name, origin=unique(origin, origins)))
        return tuple(named)

    def aliases(self) -> tuple[Alias, ...]:
        """Return the user's names of values that arrays of another name hold."""
        claims = self._uses.claims.items()
        held: list[tuple[NamedSource, NamedSource, tuple[Expression, ...]]] = [
            *((node, array, piece.index) for node, (array, piece) in claims),
            *((source, source, tuple(map(variable, source.dims))) for source in self.arrays),
        ]
        aliases: dict[str, Alias] = {}
        for source, array, index in held:
            for name in source.aliases:
                alias = Alias(name, self.arrays[array], source.dims, index)
                aliases.setdefault(name, alias)
        return tuple(alias for name, alias in aliases.items() if name != alias.array)


def _place(source: NamedSource) -> int:
    """Return the place in the text at which a value is first written."""
    return source.pieces[0].number if isinstance(source, Recurrent) else source.number


def _piece_text(statement: Statement) -> str:
    """Return the indices of the left side that are not the loop variables, without spaces."""
    if any(isinstance(a, Choice) for e in statement.write for a in e.atoms()):
        return "[next]"
    told = [e for e in statement.write if e not in [variable(d) for d in statement.dims]]
    return f"[{','.join(str(e).replace(' ', '') for e in told)}]" if told else ""
