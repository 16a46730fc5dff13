"""A client of the searching process, which is started for one search and ended with it."""

from __future__ import annotations

from workbench.session.processes.measuring.order_client import Listener, ResultClient
from workbench.session.processes.searching.searcher import Searched, SearchOrder
from workbench.session.protocol.failures import sentence

MODULE = "workbench.session.processes.searching.searcher"


class SearcherClient(ResultClient[Searched]):
    """A search in a process of its own."""

    none = Searched()

    def __init__(self, order: SearchOrder, told: Listener[Searched]) -> None:
        super().__init__(MODULE, order, told)

    def _gone(self, reason: str) -> Searched:
        return Searched(error=sentence(f"The process that looked for steps is gone: {reason}."))
