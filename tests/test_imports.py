"""A package imports only what lies below it, inside functions too; so does each of its rooms.

The layers are those of CONTRIBUTING.md. Reading syntax instead of importing finds what a function
imports when it is called, and needs nothing installed.
"""

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import workbench

PACKAGE = "workbench"

# A part and the parts directly below it; what lies below those may be imported as well.
DIRECTLY_BELOW = {
    "errors": (),
    "cache_files": ("errors",),
    "collection": (),
    "coming": ("collection",),
    "figures": (),
    "folders": ("errors",),
    "identity": (),
    "names": (),
    "processor": ("errors",),
    "type_hints": (),
    "polyhedral": (
        "cache_files",
        "coming",
        "errors",
        "folders",
        "identity",
        "names",
        "type_hints",
    ),
    "program": ("polyhedral",),
    "datasets": ("program",),
    "lowering": ("program",),
    "codegen": ("coming", "lowering"),
    "transforms": ("codegen", "processor"),
    "planning": ("transforms",),
    "variants": ("planning", "backends", "datasets", "figures"),
    "backends": ("codegen", "datasets", "processor"),
    "measure": ("variants",),
    "session": ("measure", "language"),
    "language": ("collection", "program"),
    "environments": ("language",),
    "algorithms": ("environments",),
}
# The command line joins everything; so does `import workbench`, which is why parts must not use it.
# An algorithm is written as a user writes it, so it alone may say `import workbench as wb`.
UNRESTRICTED = {"", "cli"}
READ_LIKE_USERS = {"algorithms"}

JUPYTER = {"IPython", "anywidget", "comm", "ipykernel", "ipywidgets", "nbformat", "traitlets"}
IMPORTED_WHERE_USED = {"pandas", "cupy", "gymnasium", "matplotlib"}


ASKED_BACK = {
    ("polyhedral/expressions", "polyhedral/expression"): "the parts of an atom are expressions",
    ("language/tracing", "language/outside"): "a trace keeps the calls of external objects",
    ("language/tracing", "language/episodes"): "a trace knows of the episodes that end",
    ("program/values", "program/text"): "a program prints itself",
    ("lowering/loop_program", "lowering/text"): "a loop program prints itself",
    ("variants/variant", "variants/recipes"): "a variant saves and replays itself",
}
"""Imports of what lies above, when a method runs or for a type alone."""


@dataclass(frozen=True)
class Import:
    """One imported module name, e.g. `workbench.program.values`, and where it stands."""

    module: str
    line: int
    at_top_level: bool


def layers_below(part: str) -> set[str]:
    """Every part that `part` may import: the transitive closure, with the part itself."""
    reached = {part}
    for lower in DIRECTLY_BELOW[part]:
        reached |= layers_below(lower)
    return reached


def imports_of(source: str, package: str) -> Iterator[Import]:
    """Every import in a source text. `package` is the dotted package that holds the file."""

    def visit(node: ast.AST, at_top_level: bool) -> Iterator[Import]:
        for name in imported_names(node, package):
            yield Import(name, node.lineno, at_top_level)  # type: ignore[attr-defined]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            at_top_level = False
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            at_top_level = False
        for child in ast.iter_child_nodes(node):
            yield from visit(child, at_top_level)

    return visit(ast.parse(source), True)


def imported_names(node: ast.AST, package: str) -> list[str]:
    """What one syntax node imports, as absolute dotted names."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        parts = package.split(".")
        start = parts[: len(parts) - node.level + 1] if node.level else []
        module = ".".join([*start, *([node.module] if node.module else [])])
        return [f"{module}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
        ("import_module", "__import__")
    ):
        return [name.value for name in node.args[:1] if isinstance(name, ast.Constant)]
    return []


def violations(root: Path) -> list[str]:
    """One sentence for each import under `root`, the package's folder, that breaks the rule."""
    parts = {path.stem for path in root.iterdir() if path.is_dir() or path.suffix == ".py"}
    found = []
    for path in sorted(root.rglob("*.py")):
        inside = path.relative_to(root)
        part = "" if inside.name == "__init__.py" and len(inside.parts) == 1 else inside.parts[0]
        part = part.removesuffix(".py")
        package = ".".join([PACKAGE, *inside.parent.parts])
        if part not in DIRECTLY_BELOW and part not in UNRESTRICTED:
            found.append(f"{inside}: `{part}` has no place in the layers of {Path(__file__).name}")
            continue
        for item in imports_of(path.read_text(encoding="utf-8"), package):
            if reason := objection(item, part, inside.as_posix(), parts):
                found.append(f"{inside}:{item.line}: {reason}")
    return found


def objection(item: Import, part: str, inside: str, parts: set[str]) -> str | None:
    """Why a file may not have this import, or None."""
    top, _, rest = item.module.partition(".")
    if top == PACKAGE:
        target = rest.partition(".")[0]
        if target not in parts:
            target = ""
        if part in UNRESTRICTED or (target == "" and part in READ_LIKE_USERS):
            return None
        if target == "":
            return f"`{part}` imports `{PACKAGE}` itself, which imports every part"
        if target not in layers_below(part):
            return f"`{part}` imports `{target}`, which is not below it"
        return None
    if top == "islpy" and part != "polyhedral":
        return "islpy is imported only in polyhedral/"
    if top == "cupy" and inside != "backends/cuda/cupy_driver.py":
        return "cupy is imported only in backends/cuda/cupy_driver.py"
    if (top in JUPYTER or top.startswith("jupyter")) and not inside.startswith("session/jupyter/"):
        return f"{top} is imported only in session/jupyter/"
    if top in IMPORTED_WHERE_USED and item.at_top_level:
        return f"{top} is imported where it is used, not at the top: it makes every start slower"
    return None


def room_of(module: str) -> str:
    """A package's room, or the module in its own folder: `workbench.program.text.infix` lies in
    `program/text`, `workbench.program.bodies.Read` in `program/bodies`.
    """
    return "/".join(module.split(".")[1:3])


def rooms(root: Path) -> dict[str, set[str]]:
    """Find what each room imports of its own package."""
    needed: dict[str, set[str]] = {}
    for path in root.rglob("*.py"):
        module = ".".join((PACKAGE, *path.relative_to(root).with_suffix("").parts))
        package, room = module.split(".")[1], room_of(module)
        for item in imports_of(path.read_text(encoding="utf-8"), module.rpartition(".")[0]):
            target = room_of(item.module)
            inside = target.startswith(f"{package}/") and target != room
            if inside and (item.at_top_level or (room, target) not in ASKED_BACK):
                needed.setdefault(room, set()).add(target)
    return needed


def write_package(root: Path, **sources: str) -> Path:
    """A package folder from `part__file="source"` pairs, one file for each part without `__`."""
    for name, source in sources.items():
        path = root.joinpath(*name.split("__")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return root


def test_every_import_of_the_package_goes_to_a_lower_layer(repository: Path) -> None:
    assert violations(repository / PACKAGE) == []


def test_the_rooms_of_a_package_are_in_an_order(repository: Path) -> None:
    assert "program/values" in rooms(repository / PACKAGE)["program/text"]
    list(TopologicalSorter(rooms(repository / PACKAGE)).static_order())


def test_rooms_that_import_each_other_are_found(tmp_path: Path) -> None:
    sources = {
        "planning__cost__seconds": "def f():\n    from workbench.planning.recipe.plan import Plan",
        "planning__recipe__plan": "from workbench.planning import prices",
        "planning__prices": "from workbench.planning.cost.seconds import seconds",
    }
    with pytest.raises(CycleError, match="nodes are in a cycle"):
        TopologicalSorter(rooms(write_package(tmp_path, **sources))).prepare()


def test_no_folder_is_too_full_to_be_read(repository: Path) -> None:
    """At most 12 files, but where the files are a list of things of one kind."""
    lists = {
        "workbench/algorithms",
        "workbench/environments",
        "workbench/session/parts",
        "workbench/transforms/order",
    }
    files = Counter(
        path.relative_to(repository).parent.as_posix()
        for folder in (PACKAGE, "extensions/jupyterlab-workbench/src")
        for path in (repository / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )
    assert {folder: n for folder, n in files.items() if n > 12 and folder not in lists} == {}


def test_every_room_says_what_it_knows(repository: Path) -> None:
    for folder in sorted((repository / PACKAGE).rglob("*")):
        if folder.is_dir() and any(folder.glob("*.py")):
            text = (folder / "__init__.py").read_text(encoding="utf-8")
            assert ast.get_docstring(ast.parse(text)), f"{folder}/__init__.py says nothing"


@pytest.mark.parametrize(
    ("name", "source", "sentence"),
    [
        ("program__text", "import workbench.errors\nfrom workbench.polyhedral import tree", None),
        ("program__text", "import workbench.session.jupyter.notebook", "which is not below it"),
        ("program__text", "from workbench import session", "`program` imports `session`"),
        ("program__text", "def f():\n    from workbench.session import x", "text.py:2:"),
        ("program__text", "from ..session import x", "`program` imports `session`"),
        ("program__text", "import importlib\nimportlib.import_module('workbench.session')", ":2:"),
        ("program__text", "import workbench", "imports `workbench` itself"),
        ("program__text", "from workbench import where", "imports `workbench` itself"),
        ("program__text", "import islpy as isl", "islpy is imported only in polyhedral/"),
        ("polyhedral__sets__boxes", "import islpy as isl", None),
        ("algorithms__ppo", "import workbench as wb\nfrom workbench import where", None),
        ("algorithms__ppo", "import workbench.session", "`algorithms` imports `session`"),
        ("cli", "import workbench.session\nfrom workbench import session", None),
        ("cli", "import jupyterlab", "jupyterlab is imported only in session/jupyter/"),
        (
            "session__jupyter__notebook",
            "import anywidget, ipywidgets\nfrom IPython import display",
            None,
        ),
        ("session__picture__snapshot", "import ipywidgets", "only in session/jupyter/"),
        ("backends__cuda__cupy_driver", "def f():\n    import cupy", None),
        (
            "backends__cuda__cupy_driver",
            "try:\n    import cupy\nexcept ImportError: ...",
            "where it is used",
        ),
        (
            "backends__arrays__source",
            "def f():\n    import cupy",
            "only in backends/cuda",
        ),
        ("measure__store", "from pandas import DataFrame", "where it is used, not at the top"),
        ("measure__store", "if TYPE_CHECKING:\n    import pandas as pd", None),
        ("helpers", "", "`helpers` has no place in the layers"),
    ],
)
def test_import_is_judged_by_file_and_place(
    tmp_path: Path, name: str, source: str, sentence: str | None
) -> None:
    write_package(tmp_path, errors="", polyhedral____init__="", session____init__="")
    found = violations(write_package(tmp_path, **{name: source}))
    if sentence is None:
        assert found == []
    else:
        assert len(found) == 1
        assert sentence in found[0]


@given(st.sampled_from(sorted(DIRECTLY_BELOW)), st.sampled_from(sorted(DIRECTLY_BELOW)))
def test_two_parts_never_import_each_other(first: str, second: str) -> None:
    """The layers are a partial order, so an import that is allowed is refused the other way."""
    both = second in layers_below(first) and first in layers_below(second)
    assert both == (first == second)
    allowed = objection(Import(f"{PACKAGE}.{second}.x", 1, True), first, "x", set(DIRECTLY_BELOW))
    assert (allowed is None) == (second in layers_below(first))


def said(code: str) -> list[str]:
    """The words that a fresh process prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_importing_the_package_loads_nothing_heavy() -> None:
    heavy = sorted(IMPORTED_WHERE_USED | {"IPython", "ipywidgets", "anywidget", "jupyterlab"})
    heavy += ["asyncio", "cloudpickle", "graphviz", "safetensors", "tqdm"]
    parts = ["lowering", "transforms", "planning", "variants", "session", "cli", "algorithms"]
    heavy += [f"{PACKAGE}.{part}" for part in [*parts, "backends.numpy", "measure.run"]]
    code = f"import sys, {PACKAGE}; print(*[name for name in {heavy} if name in sys.modules])"
    assert said(code) == []


def test_every_public_name_is_there_when_it_is_asked_for() -> None:
    listed = "assert not {*wb.__all__} - {*dir(wb)}"
    resolved = "print(*[name for name in wb.__all__ if getattr(wb, name) is None])"
    assert said(f"import {PACKAGE} as wb; {listed}; {resolved}") == []
    assert said(f"from {PACKAGE} import *; print(run.__name__, transforms.__name__)") == [
        "run",
        f"{PACKAGE}.transforms",
    ]


def test_a_function_keeps_its_name_when_the_package_of_that_name_is_imported() -> None:
    names = ["backends", "measure", "program"]
    modules = f"{PACKAGE}.backends.numpy, {PACKAGE}.measure.run, {PACKAGE}.program.values"
    functions = ", ".join(f"wb.{name}" for name in names)
    shown = f"print(*[function.__name__ for function in ({functions})])"
    before = f"import {modules}; import {PACKAGE} as wb; {shown}"
    after = f"import {PACKAGE} as wb; {functions}; import {modules}; {shown}"
    assert said(before) == said(after) == names


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("rum", "did you mean run?"),
        ("sum", "write x.sum(…)"),
        ("abs", "write wb.absolute(x)"),
        ("einsum", 'write wb.contract("ij,j->i", x, y)'),
    ],
)
def test_a_name_that_is_not_there_is_an_attribute_error(name: str, hint: str) -> None:
    with pytest.raises(AttributeError) as error:
        getattr(workbench, name)
    assert str(error.value) == f"workbench has no {name}; {hint}"
