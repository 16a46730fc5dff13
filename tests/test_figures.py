"""Figures that notebooks show although nobody has imported pyplot."""

import subprocess
import sys

SCRIPT = """
import sys
from IPython.core.formatters import DisplayFormatter
from workbench.figures import empty_figure
figure = empty_figure(3, 2)
figure.subplots().plot([1, 2])
data, _ = DisplayFormatter().format(figure)
print(sorted(data), data["image/png"][:4] == b"\\x89PNG", "matplotlib.pyplot" in sys.modules)
"""


def test_a_figure_is_shown_without_pyplot() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert done.stdout == "['image/png', 'text/plain'] True False\n", done.stderr
