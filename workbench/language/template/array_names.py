"""Names of a program's arrays: the variable that holds a value, else a name by its use.

A value without a variable is called after the output it is, after the function that returned it, or
after its reader and its operation: the sum over `b` inside `loss = -x.mean(over=b)` is `loss_sum`.
Names are unique: the first in the text keeps the plain one. But a variable wins against an output:
that is `y_output` where `y` is another value's variable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.language.tracing.recurrent import Piece, Recurrent
from workbench.language.tracing.tensor import Node
from workbench.names import unique
from workbench.program.operations.table import OPERATIONS

NamedSource = Node | Recurrent
Reader = Node | Piece


def array_names(
    sources: Sequence[NamedSource],
    readers: Mapping[Node, Sequence[Reader]],
    owners: Mapping[Piece, Recurrent],
    outputs: Mapping[NamedSource, str],
    scoped: bool = True,
) -> dict[NamedSource, str]:
    """Return a name for each of `sources`, which come in textual order, with its scope or without.

    `readers` are the direct readers of a node. `owners` maps a piece, or the node that writes it,
    to its recurrent tensor. `outputs` are the names under which sources are returned.
    """
    taken: set[str] = set()
    names: dict[NamedSource, str] = {}

    def full(source: NamedSource, name: str) -> str:
        """Return the name within its scope; the main value is called like the scope."""
        scope = source.scope if scoped else ()
        return name if scope and scope[-1] == name else ".".join((*scope, name))

    held = {full(source, source.name) for source in sources if source.name is not None}
    for source in sources:
        if isinstance(source, Recurrent):
            name = full(source, source.name)
        elif source.name is None and source in outputs:
            name = outputs[source]
            name = f"{name}_output" if name in held else name
        else:
            name = full(source, _own(source, readers, owners, outputs))
        names[source] = unique(name, taken)
    return names


def _own(
    node: Node,
    readers: Mapping[Node, Sequence[Reader]],
    owners: Mapping[Piece, Recurrent],
    outputs: Mapping[NamedSource, str],
) -> str:
    named = node.name or node.hint
    if named is not None:
        return named
    operation = node.kind or _noun(node.operation)
    reader = _named_reader(node, readers, owners, outputs)
    return operation if reader is None else f"{reader}_{operation}"


def _noun(operation: str) -> str:
    """Return the noun for an operation's result; a copy is just a value."""
    if operation == "copy":
        return "value"
    row = OPERATIONS.get(operation)
    return row.noun if row is not None and row.noun else operation


def _named_reader(
    node: Node,
    readers: Mapping[Node, Sequence[Reader]],
    owners: Mapping[Piece, Recurrent],
    outputs: Mapping[NamedSource, str],
) -> str | None:
    """Return the name of the first named value down the text that needs the node."""
    seen: set[Node] = {node}
    while readers.get(node):
        reader = readers[node][0]
        if isinstance(reader, Piece):
            return owners[reader].name
        if reader.name or reader.hint or reader in outputs:
            return reader.name or outputs.get(reader) or reader.hint
        if reader in seen:
            return None
        seen.add(reader)
        node = reader
    return None
