"""A request for the automatic recipe: what is searched for, and how its steps come into the tree,
all of them or none.
"""

from __future__ import annotations

from workbench.errors import WorkbenchError
from workbench.session.processes.searching.searcher import Searched, SearchOrder
from workbench.session.protocol.failures import error_view
from workbench.session.protocol.messages import Done, Failed, Optimize
from workbench.session.state.part_cache import Reply
from workbench.session.state.session import Session


def search(session: Session, request: Optimize, reply: Reply) -> None:
    """Start the search, and answer its end with the last variant; with none where it was
    stopped.
    """
    order = SearchOrder(
        session.tree[request.variant],
        request.objective,
        request.capacity,
        request.backend,
        request.sizes,
        request.dtype,
        session.values.found(request.lengths),
    )

    def ended(result: Searched) -> None:
        error = result.error
        last = None
        try:
            last = _take(session, order, result)
        except WorkbenchError as problem:  # the program was traced again meanwhile
            error = error_view(problem)
        if error is not None:
            reply(Failed("failed", request.id, error))
        else:
            reply(Done("done", request.id, last))

    session.under_way.search(order, ended)


def _take(session: Session, order: SearchOrder, result: Searched) -> str | None:
    """Take the variants into the tree under the recipe's name; return the last one's key."""
    if not result.made:
        return None
    known = {one.key: one for one in order.variant.lineage}
    for new in result.made:
        known[new.key] = new.variant(known)
    *_, last = made = [known[new.key] for new in result.made]
    session.adopt(made, order.name)
    if result.picture is not None:
        session.kept.keep(last, result.picture)
    return last.key
