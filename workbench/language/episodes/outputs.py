"""The outputs of a program whose episodes end: what they hold past an end, and the lengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.errors import ProgramError
from workbench.language.episodes.ends import OpenEpisodes, all_open, check_assumed, refuse_calls
from workbench.language.tracing.nodes import apply, literal
from workbench.language.tracing.recurrent import Piece, Recurrent
from workbench.language.tracing.tensor import Tensor
from workbench.language.tracing.trace import current, inline
from workbench.polyhedral.expression import Expression, variable
from workbench.polyhedral.sets.relations import box


def returned(outputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the outputs as a result holds them, and behind them the lengths of episodes."""
    for expect in current().expectations:
        expect()
    check_assumed()
    ends = current().ends
    if ends:
        refuse_calls(ends[0].line)
    result = {name: _filled(name, x) for name, x in outputs.items()}
    for episodes in ends:
        name = f"open_{episodes.dim}"
        if name in result:
            raise ProgramError(
                f"an output is called {name}, as the lengths of the episodes along {episodes.dim}",
                current().returned,
            )
        result[name] = episodes.after
    return result


def _filled(name: str, x: Tensor) -> Tensor:
    """Return an output of which each element has a value, past the end of an episode too."""
    ends = [e for e in current().ends if e.covers(x.dims) and x.source is not e.open]
    if not ends:
        return x
    filled = Recurrent(f"{name}_output", x.shape, x.dims, x.dtype, current().scope)
    current().recurrents.append(filled)
    source = x.source
    if not isinstance(source, Recurrent) or not x.is_plain:
        here = tuple(variable(d) for d in x.dims)
        _define(filled, here, x.dims, _or_nothing(x, ends), None)
        return filled
    for piece in source.pieces:
        value = Tensor(source, piece.index)
        own = [] if piece.everywhere else [e for e in ends if e.covers(piece.dims)]
        _define(filled, piece.index, piece.dims, _or_nothing(value, own), piece)
    return filled


def _or_nothing(x: Tensor, ends: Sequence[OpenEpisodes]) -> Tensor:
    if not ends:
        return x
    nothing = literal(x.source.past_end if x.dtype == "float" else 0, x.dtype)
    with inline():  # a value of its own would not be there past the end
        return apply("where", all_open([(e, e.here) for e in ends]), x, nothing)


def _define(
    filled: Recurrent,
    index: tuple[Expression, ...],
    dims: tuple[str, ...],
    value: Tensor,
    piece: Piece | None,
) -> None:
    ranges = [current().dims[d] for d in dims]
    whole = box([(r.name, r.lower, r.upper) for r in ranges])
    domain = whole if piece is None or piece.domain is None else piece.domain
    filled.define(index, value, domain, current().returned, everywhere=True)
