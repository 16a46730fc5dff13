"""Empty matplotlib figures that notebooks show, made without pyplot and so without global state."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def empty_figure(width: float, height: float) -> Figure:
    """Return an empty figure of a width and a height in inches."""
    return _kind()(figsize=(width, height), layout="constrained")


@lru_cache(maxsize=1)
def _kind() -> Callable[..., Figure]:
    from matplotlib.figure import Figure

    class Plot(Figure):
        """A figure that knows how it is shown. A notebook knows that of figures only once pyplot
        has been imported.
        """

        def _repr_png_(self) -> bytes:
            file = io.BytesIO()
            self.savefig(file, format="png")
            return file.getvalue()

    return Plot
